package app

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hermes/internal/guard"
	"hermes/internal/guard/command"
)

// What a shell would run without anybody having read it is asked about; programs, and other languages, are as they were.
func TestScriptsThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	long := "#!/bin/bash\n" + strings.Repeat("# a line\n", maxScript/9) + "rm -rf ~\n"
	for name, text := range map[string]string{"long.sh": long, "long.js": long, "program": "\x7fELF\x00" + long, "short.sh": "ls\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]guard.Action{
		"bash < pipe": guard.Ask, "bash pipe": guard.Ask, ". ./pipe": guard.Ask, "nohup sh -s < pipe &": guard.Ask, "bash < /dev/tty": guard.Ask, "bash < /dev/fd/7": guard.Ask, "sh /proc/self/fd/7": guard.Ask,
		"bash long.sh": guard.Ask, "./long.sh": guard.Ask, "bash < long.sh": guard.Ask, "bash long.js": guard.Ask,
		"node long.js": guard.Allow, "./program": guard.Allow, "bash short.sh": guard.Allow, "bash missing.sh": guard.Allow,
		"cat pipe": guard.Allow, "wc long.sh; grep x < pipe": guard.Allow, "bash < /dev/null": guard.Allow,
	} {
		v := command.Policy{}.Check(text, command.Facts{Home: "/home/u", Dir: dir, File: Script})
		if v.Action != want {
			t.Errorf("%q: %v (%s), want %v", text, v.Action, v.Rule, want)
		}
	}
}
