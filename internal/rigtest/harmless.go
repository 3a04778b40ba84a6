package rigtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ruinous are programs that harmful texts of tests name, and that no test needs. rm is apart: it works below own folders.
var ruinous = []string{"sudo", "doas", "dd", "mkfs", "mkfs.ext4", "shred", "wipefs", "shutdown", "reboot", "halt", "poweroff", "systemctl"}

// Guarded returns path, led by a folder in which the programs that harmful texts name do no harm, whatever lets these texts pass: rm
// deletes only what lies below the test's own temporary folder and below dirs, the others do nothing. One that was refused fails the test.
// What a text does without a program of PATH (another path, an interpreter's own call) is not held up.
func Guarded(t testing.TB, path string, dirs ...string) string {
	t.Helper()
	dir := t.TempDir()
	own, err := filepath.EvalSymlinks(filepath.Dir(dir)) // all of a test's folders are siblings
	if err != nil {
		t.Fatal(err)
	}
	refused := filepath.Join(dir, "refused")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	no := fmt.Sprintf("{ echo \"${0##*/} $*\" >>%s; echo \"a test does not run ${0##*/} $*\" >&2; exit 99; }\n", quoted(refused))
	for _, name := range ruinous {
		write(name, no)
	}
	below := quoted(own) + "/?*"
	for _, dir := range dirs {
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			t.Fatal(err)
		}
		below += " | " + quoted(dir) + "/?*"
	}
	write("rm", `PATH=/usr/bin:/bin
for a; do
	case $a in -*) continue ;; */../* | */.. | ../* | .. | . | */.) at=$(cd -P -- "$a" 2>/dev/null && pwd -P) || at=none ;;
	*/*) at=$(cd -P -- "${a%/*}/" 2>/dev/null && pwd -P)/${a##*/} ;;
	*) at=$(pwd -P)/$a ;;
	esac
	case $at/ in `+below+`) ;; *)
		[ -e "$a" ] || [ -L "$a" ] || continue
		`+no+`	;; esac
done
exec rm "$@"
`)
	t.Cleanup(func() {
		if text, err := os.ReadFile(refused); err == nil {
			t.Errorf("harmful texts ran: %q", text)
		}
	})
	return dir + string(filepath.ListSeparator) + path
}
