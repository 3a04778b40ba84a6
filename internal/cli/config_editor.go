package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"hermes/internal/child"
	"hermes/internal/guard/environ"
)

// typist hands what a person types first to their editor and then to our question. One goroutine reads standard input from
// beginning to end: two readers would take each other's keys.
type typist struct {
	in     *os.File // standard input if it is a terminal, else nil
	stdio  *IO
	typed  chan []byte
	closed chan struct{}
}

func newTypist(stdio *IO) *typist {
	t := &typist{stdio: stdio, closed: make(chan struct{})}
	if f, ok := stdio.Stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) && stdio.Terminal {
		t.in = f
		t.typed = make(chan []byte)
		go t.read()
	}
	return t
}

func (t *typist) read() {
	defer close(t.typed)
	for {
		buf := make([]byte, 1024)
		n, err := t.in.Read(buf)
		if n > 0 {
			select {
			case t.typed <- buf[:n]:
			case <-t.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (t *typist) close() { close(t.closed) }

// keys reads what is typed until stop is closed.
type keys struct {
	t    *typist
	stop chan struct{}
	rest []byte
}

// Read implements io.Reader.
func (k *keys) Read(p []byte) (int, error) {
	if len(k.rest) == 0 {
		select {
		case b, ok := <-k.t.typed:
			if !ok {
				return 0, io.EOF
			}
			k.rest = b
		case <-k.stop:
			return 0, io.EOF
		case <-k.t.closed:
			return 0, io.EOF
		}
	}
	n := copy(p, k.rest)
	k.rest = k.rest[n:]
	return n, nil
}

// agrees asks a person. Without one, and at the end of input, the answer is no.
func (t *typist) agrees(question string) bool {
	if t.in == nil {
		return false
	}
	fmt.Fprint(t.stdio.Stderr, question)
	var line []byte
	for !bytes.ContainsAny(line, "\r\n") {
		b, ok := <-t.typed
		if !ok {
			return false
		}
		line = append(line, b...)
	}
	switch strings.ToLower(strings.TrimSpace(string(line))) {
	case "", "y", "yes":
		return true
	}
	return false
}

// run starts the editor and waits for its end: on a terminal of its own if there is one here, else with plain streams.
func (t *typist) run(ctx context.Context, stdio *IO, argv []string) error {
	dir, err := stdio.Dir()
	if err != nil {
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	program := argv[0]
	if strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	env := editorEnv(stdio.Env)
	search, _ := env.Lookup("PATH")
	spec := child.Spec{Program: program, Args: argv[1:], Search: search, Env: env, Dir: dir, End: child.End{Leave: true}}
	if t.in == nil {
		spec.Stdio = child.Stdio{Out: stdio.Stderr, Err: stdio.Stderr}
		if f, ok := stdio.Stdin.(*os.File); ok {
			spec.Stdio.In = f
		}
	} else {
		k := &keys{t: t, stop: make(chan struct{})}
		defer close(k.stop)
		cols, rows, err := term.GetSize(int(t.in.Fd()))
		if err != nil {
			return fmt.Errorf("start %s: size of the terminal: %w", argv[0], err)
		}
		before, err := term.MakeRaw(int(t.in.Fd()))
		if err != nil {
			return fmt.Errorf("start %s: set up the terminal: %w", argv[0], err)
		}
		defer term.Restore(int(t.in.Fd()), before)
		spec.Stdio = child.Stdio{In: k, Out: stdio.Stderr, Terminal: &child.Size{Rows: uint16(rows), Cols: uint16(cols)}}
	}
	status, err := child.Run(ctx, spec)
	switch {
	case err != nil:
		return err
	case status.Exit() != 0:
		return fmt.Errorf("%s ended with exit code %d", argv[0], status.Exit())
	}
	return nil
}

// editorEnv is what an editor may need to know. It is the user's own program, but its plug-ins are not: no key goes there.
func editorEnv(env func(string) string) environ.List {
	base := map[string]string{}
	for name := range strings.FieldsSeq(`PATH HOME USER LOGNAME SHELL TERM COLORTERM TERMINFO TMPDIR TMP TEMP LANG LANGUAGE LC_ALL
		LC_CTYPE DISPLAY WAYLAND_DISPLAY XAUTHORITY XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME
		DBUS_SESSION_BUS_ADDRESS SSH_TTY VIMINIT NVIM_APPNAME SYSTEMROOT USERPROFILE APPDATA LOCALAPPDATA PATHEXT COMSPEC`) {
		if value := env(name); value != "" {
			base[name] = value
		}
	}
	list, _ := environ.New(environ.Config{}).Build(environ.Request{Surface: environ.Child, Base: base})
	return list
}
