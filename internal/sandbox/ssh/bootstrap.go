package ssh

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Where runners are kept there: one directory for each content, so that a new version never meets an old one.
const store = ".hermes-runner"

// facts are what the other machine tells of itself.
type facts struct {
	home, dir string
	moved     bool // dir is not the one that was asked for
	bash, sh  string
	system    string // as uname says
	machine   string
	sum       string // of the runner that is there; "none" where nothing there can compute one, "" where there is no runner
	synced    string // stamp of the files that were copied there
	vars      map[string]string
}

// kept are the variables of the session there that commands begin with: the account's own, none of the connection's.
const kept = "HOME PATH USER LOGNAME SHELL LANG LC_ALL TZ TMPDIR XDG_RUNTIME_DIR"

// hashing computes a SHA-256 with what is there, as a shell function.
const hashing = `h256(){ if command -v sha256sum >/dev/null 2>&1; then sha256sum <"$1"; elif command -v shasum >/dev/null 2>&1; ` +
	`then shasum -a 256 <"$1"; elif command -v openssl >/dev/null 2>&1; then openssl dgst -sha256 -r <"$1"; ` +
	`elif command -v busybox >/dev/null 2>&1; then busybox sha256sum <"$1"; else echo none; fi | cut -d " " -f 1; }; `

// greeting is the session's script: it reads the directory to start in and the line for the sync stamp, tells the facts, and
// does what it is told then: be the runner, or stay until the input ends. What start files print before is not looked at.
//
// sums are the directories of the runners, by what "uname -sm" says.
func greeting(nonce, tag string, sums map[string]string) string {
	var b strings.Builder
	b.WriteString("t(){ printf \"" + nonce + " %s %s\\n\" \"$1\" \"$2\"; }; " + hashing)
	b.WriteString(`IFS= read -r d || exit 1; IFS= read -r y || exit 1; `)
	b.WriteString(`case "$d" in "~") d=$HOME;; "~/"*) d=$HOME/${d#"~/"};; esac; `)
	b.WriteString(`if cd "$d" 2>/dev/null; then t dir "$d"; else t moved "$HOME"; fi; cd /; `)
	for name := range strings.FieldsSeq(kept) {
		b.WriteString(`[ -z "$` + name + `" ] || t var "` + name + `=$` + name + `"; `)
	}
	b.WriteString(`m=$(uname -sm); t uname "$m"; t bash "$(command -v bash)"; t sh "$(command -v sh)"; `)
	b.WriteString(`r=; case "$m" in `)
	for uname, sum := range sums {
		b.WriteString(`"` + uname + `") r=` + sum + `;; `)
	}
	b.WriteString(`esac; R=$HOME/` + store + `/$r/hermes-runner; `)
	b.WriteString(`if [ -n "$r" ] && [ -f "$R" ] && [ -x "$R" ] && [ -O "$R" ]; then t sum "$(h256 "$R")"; fi; `)
	b.WriteString(`[ -z "$y" ] || [ -L "$HOME/.hermes" ] || [ -L "$HOME/$y" ] || t synced "$(head -c 200 "$HOME/$y" 2>/dev/null)"; `)
	b.WriteString(`t ready .; IFS= read -r g || g=; `)
	// The runner goes by the name it is called by. It is no exec, so that the end of it is told and not taken for the end of the
	// connection.
	b.WriteString(`case "$g" in run) PATH=$HOME/` + store + `/$r:$PATH; t run .; hermes-runner stdio; exit $?;; esac; `)
	// Without a runner the end of the session is what ends all that commands have left.
	b.WriteString(`while IFS= read -r g; do :; done; ` + ending(tag+".", "KILL", 0, 300))
	return b.String()
}

// nonce returns a word that nobody can foresee.
func nonce() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails: the runtime ends the process instead
	return "hermes" + hex.EncodeToString(b)
}

// maxNoise bounds what start files may print before the session's script begins.
const maxNoise = 1 << 20

// await reads the session's output up to a line of our own, and returns what follows the nonce on each.
func (l *link) await(ctx context.Context, word, last string, each func(key, value string)) error {
	done := make(chan error, 1)
	go func() { done <- scan(l.out, word, last, each) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		l.process.Kill()
		<-done
		return context.Cause(ctx)
	}
}

// scan reads byte by byte: what follows the last line belongs to somebody else.
func scan(r io.Reader, word, last string, each func(key, value string)) error {
	var line []byte
	one := make([]byte, 1)
	for total := 0; total < maxNoise; total++ {
		if _, err := io.ReadFull(r, one); err != nil {
			return errors.New("the session ended before it began")
		}
		if one[0] != '\n' {
			line = append(line, one[0])
			continue
		}
		// A start file may leave a line without its end in front of ours.
		if _, rest, ok := strings.Cut(string(line), word+" "); ok {
			key, value, _ := strings.Cut(rest, " ")
			each(key, value)
			if key == last {
				return nil
			}
		}
		line = line[:0]
	}
	return fmt.Errorf("start files there print more than %d bytes", maxNoise)
}

// systems are the runners there can be, by what "uname -sm" says.
var systems = [...]struct{ uname, goos, goarch string }{
	{"Linux x86_64", "linux", "amd64"},
	{"Linux aarch64", "linux", "arm64"},
	{"Linux arm64", "linux", "arm64"},
}

// connect opens a connection and learns what is at its other end. Whether to trust the host may be asked for.
func (b *Backend) connect(ctx context.Context, p *place) (*link, facts, string, error) {
	sums := map[string]string{}
	for _, s := range systems {
		if program, ok := b.runner(s.goos, s.goarch); ok {
			sums[s.uname] = program.Sum
		}
	}
	stamp := ""
	if p.sync != nil {
		stamp = p.sync.Stamp()
	}
	l, f, word, err := b.attempt(ctx, p, sums, stamp)
	var trouble *hostKeyTrouble
	if !errors.As(err, &trouble) || trouble.changed {
		return l, f, word, err
	}
	if err := b.introduce(ctx, p.to); err != nil {
		return nil, f, "", err
	}
	return b.attempt(ctx, p, sums, stamp)
}

// attempt makes one connection.
func (b *Backend) attempt(ctx context.Context, p *place, sums map[string]string, stamp string) (*link, facts, string, error) {
	f := facts{vars: map[string]string{}}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	word := nonce()
	tag := nonce()
	l, err := b.dial(ctx, p.to, shellLine(greeting(word, tag, sums)))
	if err != nil {
		return nil, f, "", b.degraded(p.to, err)
	}
	l.tag = tag
	// A pipe takes this at once; where the connection fails nobody reads it.
	_, _ = io.WriteString(l.in, p.spec.Workdir.String()+"\n"+stamp+"\n")
	err = l.await(ctx, word, "ready", func(key, value string) {
		switch key {
		case "dir":
			f.dir = value
		case "moved":
			f.dir, f.moved = value, true
		case "var":
			name, value, _ := strings.Cut(value, "=")
			f.vars[name] = value
		case "uname":
			f.system, f.machine, _ = strings.Cut(value, " ")
		case "bash":
			f.bash = absolute(value)
		case "sh":
			f.sh = absolute(value)
		case "sum":
			f.sum = value
		case "synced":
			f.synced = value
		}
	})
	if err != nil {
		ended := context.Cause(ctx)
		select {
		case <-l.dead():
		case <-time.After(time.Second):
		}
		l.close()
		if ended != nil {
			return nil, f, "", b.degraded(p.to, fmt.Errorf("it takes too long: %w", ended))
		}
		return nil, f, "", b.diagnose(p.to, l.said.String(), err)
	}
	if f.home = f.vars["HOME"]; !strings.HasPrefix(f.home, "/") || f.sh == "" {
		l.close()
		return nil, f, "", b.degraded(p.to, errors.New("the account there has no home or no shell"))
	}
	return l, f, word, nil
}

func absolute(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return ""
}
