package sandboxtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
)

// Fake is a backend in memory: nothing is started. What commands do is a func; by default the few programs that the suite
// needs. It records what it was asked. The zero Fake works.
type Fake struct {
	Exposed exposure.Exposure // what its sandboxes say of themselves
	Failure error             // of Open
	// Do runs a command; nil: true, false, echo, cat, head, pwd, sleep. It must return when ctx ends.
	Do func(ctx context.Context, c sandbox.Command) (sandbox.Status, error)

	mu     sync.Mutex
	opened []sandbox.Spec
	ran    []sandbox.Command
}

var (
	_ sandbox.Backend = (*Fake)(nil)
	_ sandbox.Sandbox = (*fake)(nil)
	_ sandbox.Files   = (*fake)(nil)
)

// Name returns "fake".
func (f *Fake) Name() string { return "fake" }

// Opened returns what was asked of Open so far.
func (f *Fake) Opened() []sandbox.Spec {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.opened)
}

// Ran returns the commands that were run so far.
func (f *Fake) Ran() []sandbox.Command {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ran)
}

// Open opens a sandbox.
func (f *Fake) Open(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Failure != nil {
		return nil, f.Failure
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.opened = append(f.opened, spec)
	return &fake{f: f, dir: spec.Workdir.String(), gate: sandbox.NewGate(0), files: map[string]*memory{}}, nil
}

type fake struct {
	f    *Fake
	dir  string
	gate *sandbox.Gate

	mu    sync.Mutex
	files map[string]*memory
}

func (b *fake) Exposure() exposure.Exposure { return b.f.Exposed }
func (b *fake) Left() []sandbox.Process     { return nil }

func (b *fake) Close(context.Context) error {
	b.gate.Close()
	return nil
}

func (b *fake) Run(ctx context.Context, c sandbox.Command) (sandbox.Status, error) {
	return b.gate.Pass(ctx, c, func(ctx context.Context) (s sandbox.Status, err error) {
		b.f.mu.Lock()
		b.f.ran = append(b.f.ran, c)
		do := b.f.Do
		b.f.mu.Unlock()
		if do == nil {
			do = b.program
		}
		if ctx.Err() == nil {
			s, err = do(ctx, c)
		}
		if err == nil && ctx.Err() != nil {
			return sandbox.Ended(ctx, s)
		}
		return s, err
	})
}

// program is what a few programs do.
func (b *fake) program(ctx context.Context, c sandbox.Command) (sandbox.Status, error) {
	out := c.Stdout
	if out == nil {
		out = io.Discard
	}
	dir := c.Dir
	if dir == "" {
		dir = b.dir
	}
	if strings.HasPrefix(dir, "/no/") {
		return sandbox.Status{Code: 126}, nil
	}
	argv := c.Argv
	if argv == nil {
		argv = strings.Fields(c.Text)
	}
	var err error
	switch argv[0] {
	case "true":
	case "false":
		return sandbox.Status{Code: 1}, nil
	case "echo":
		_, err = fmt.Fprintln(out, strings.Join(argv[1:], " "))
	case "pwd":
		_, err = fmt.Fprintln(out, dir)
	case "cat":
		if c.Stdin != nil {
			_, err = io.Copy(out, c.Stdin)
		}
	case "head":
		zeros := make([]byte, 32<<10)
		n, _ := strconv.Atoi(argv[2])
		for err == nil && n > 0 {
			piece := zeros[:min(n, len(zeros))]
			n -= len(piece)
			_, err = out.Write(piece)
		}
	case "sleep":
		<-ctx.Done()
	default:
		return sandbox.Status{Code: 127}, nil
	}
	if err != nil {
		err = fmt.Errorf("run: write output: %w", err)
	}
	return sandbox.Status{}, err
}

// memory is a file in memory. What is in it never changes: a new file takes its place.
type memory struct {
	name string
	text []byte
	mode fs.FileMode
	time time.Time
}

func (m *memory) Name() string       { return m.name }
func (m *memory) Size() int64        { return int64(len(m.text)) }
func (m *memory) Mode() fs.FileMode  { return m.mode }
func (m *memory) ModTime() time.Time { return m.time }
func (m *memory) IsDir() bool        { return false }
func (m *memory) Sys() any           { return nil }

func (b *fake) find(op, name string) (*memory, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m := b.files[name]; m != nil {
		return m, nil
	}
	return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

func (b *fake) Open(_ context.Context, name string) (io.ReadCloser, fs.FileInfo, error) {
	m, err := b.find("open", name)
	if err != nil {
		return nil, nil, err
	}
	return io.NopCloser(bytes.NewReader(m.text)), m, nil
}

func (b *fake) Stat(_ context.Context, name string) (fs.FileInfo, error) {
	m, err := b.find("stat", name)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (b *fake) List(_ context.Context, dir string) (out []fs.FileInfo, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, m := range b.files {
		if path.Dir(name) == path.Clean(dir) {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

// Create writes only into the folder of the suite and into those that hold a file already.
func (b *fake) Create(_ context.Context, name string, mode fs.FileMode) (io.WriteCloser, error) {
	if !path.IsAbs(name) || strings.Contains(name, "/no/such") {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrInvalid}
	}
	return &memoryWriter{b: b, name: name, mode: mode}, nil
}

type memoryWriter struct {
	bytes.Buffer
	b    *fake
	name string
	mode fs.FileMode
	done bool
}

func (w *memoryWriter) Close() error {
	w.b.mu.Lock()
	defer w.b.mu.Unlock()
	if !w.done {
		w.done = true
		w.b.files[w.name] = &memory{path.Base(w.name), bytes.Clone(w.Bytes()), w.mode, time.Now()}
	}
	return nil
}
