package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hermes/internal/child"
	"hermes/internal/guard/checked"
)

// link is one connection: an ssh process whose own session is the helper at the other end, and which lets others in through its
// control socket. It ends with this process, because its session ends with its input.
type link struct {
	b       *Backend
	to      checked.Remote
	dir     string // of the control socket, 0700; empty: there is none
	process *child.Process
	in      *os.File    // what goes to its session
	out     *os.File    // what comes from it
	said    *tail       // what ssh says itself
	tag     string      // of what is started over it without a runner
	handed  atomic.Bool // its session was told to be the runner, and is of no other use
	once    sync.Once
}

func (l *link) given() bool { return l.handed.Load() }

// options are the settings that we need in force; the first value ssh sees counts, so that they go before the owner's.
func (b *Backend) options() []string {
	out := []string{
		"-T", "-a", "-x",
		"-o", "BatchMode=yes", // nobody is there to type, and nothing is typed in place of the owner
		"-o", "StrictHostKeyChecking=yes", // first contact is a question of ours, never of ssh's
		"-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3",
		"-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-o", "ClearAllForwardings=yes", "-o", "Tunnel=no",
		"-o", "PermitLocalCommand=no", "-o", "RemoteCommand=none", "-o", "RequestTTY=no", "-o", "ForkAfterAuthentication=no",
		"-o", "StdinNull=no", "-o", "SessionType=default", "-o", "ControlPersist=no", "-o", "UpdateHostKeys=no",
		"-o", "LogLevel=INFO",
	}
	if b.conf.File != "" {
		out = append(out, "-F", b.conf.File)
	}
	if b.conf.Key != "" {
		out = append(out, "-i", b.conf.Key, "-o", "IdentitiesOnly=yes")
	}
	return out
}

// destination names the other end. Nothing of it is an option: checked.Remote sees to that, and so does "--".
func destination(to checked.Remote) []string {
	var out []string
	if to.User() != "" {
		out = append(out, "-l", to.User())
	}
	if to.Port() != 0 {
		out = append(out, "-p", strconv.Itoa(int(to.Port())))
	}
	return append(out, "--", to.Host())
}

// spec says how ssh is started: without a terminal, so that nothing can ask there, and so that it ends with this process.
func (b *Backend) spec(args ...string) child.Spec {
	program := b.conf.Program
	if program == "" {
		program = "ssh"
	}
	return child.Spec{
		Program: program, Search: b.conf.Search, Args: args, Env: b.conf.Env, Dir: root(), Session: true,
		DieWithParent: runtime.GOOS == "linux",
	}
}

func root() string {
	if runtime.GOOS == "windows" {
		return `C:\`
	}
	return "/"
}

// muxes tells whether ssh can share a connection on this system.
func muxes() bool { return runtime.GOOS != "windows" }

// socketRoom is what a socket's path may be long, less what ssh adds while it makes it.
const socketRoom = 104 - 1 - 17

// socketDir makes a private directory for a control socket, with a path that is short enough.
func (b *Backend) socketDir() (string, error) {
	for _, parent := range []string{b.conf.State, "/tmp"} {
		if parent == "" || len(filepath.Join(parent, "ssh-0000000000", "m")) > socketRoom {
			continue
		}
		if parent == b.conf.State {
			sweep(parent)
		}
		dir, err := os.MkdirTemp(parent, "ssh-") // 0700, under a name that nobody can foresee
		if err == nil {
			return dir, nil
		}
		if parent == "/tmp" {
			return "", fmt.Errorf("make a directory for the control socket: %w", err)
		}
	}
	return "", errors.New("make a directory for the control socket: no path is short enough")
}

// staleAfter is when a socket directory without a socket is one that a killed process left.
const staleAfter = 24 * time.Hour

// sweep removes directories that processes left which were killed.
func sweep(parent string) {
	old, _ := filepath.Glob(filepath.Join(parent, "ssh-*"))
	for _, dir := range old {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < staleAfter {
			continue
		}
		_ = os.Remove(filepath.Join(dir, "m"))
		_ = os.Remove(filepath.Join(dir, exitSocket))
		_ = os.Remove(dir) // not if there is anything else in it
	}
}

// dial starts a connection whose session runs a command line there.
func (b *Backend) dial(ctx context.Context, to checked.Remote, line string) (l *link, err error) {
	l = &link{b: b, to: to, said: &tail{limit: 16 << 10}}
	args := b.options()
	if muxes() {
		if l.dir, err = b.socketDir(); err != nil {
			return nil, err
		}
		args = append(args, "-o", "ControlMaster=yes", "-S", filepath.Join(l.dir, "m"))
	} else {
		args = append(args, "-o", "ControlMaster=no", "-S", "none")
	}
	theirIn, ours, err := os.Pipe()
	if err != nil {
		l.close()
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	l.in = ours
	mine, theirOut, err := os.Pipe()
	if err != nil {
		_ = theirIn.Close()
		l.close()
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	l.out = mine
	spec := b.spec(append(append(args, destination(to)...), line)...)
	spec.Stdio = child.Stdio{In: theirIn, Out: theirOut, Err: l.said}
	spec.End = child.End{Grace: 500 * time.Millisecond}
	l.process, err = child.Start(context.WithoutCancel(ctx), spec)
	_ = theirIn.Close()
	_ = theirOut.Close()
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// Read, Write and Close make the session a stream for the runner's client.
func (l *link) Read(p []byte) (int, error)  { return l.out.Read(p) }
func (l *link) Write(p []byte) (int, error) { return l.in.Write(p) }

func (l *link) Close() error {
	l.close()
	return nil
}

// dead is closed when the connection is over.
func (l *link) dead() <-chan struct{} { return l.process.Done() }

// farewell is how long a connection gets to end by itself: the helper kills what it started, then its session ends.
const farewell = 10 * time.Second

// close ends the connection. Its session's input ends first, by which the helper there knows.
func (l *link) close() {
	l.once.Do(func() {
		if l.in != nil {
			_ = l.in.Close()
		}
		if l.process != nil {
			go func() { // what still comes is not for anybody
				_, _ = io.Copy(io.Discard, l.out)
			}()
			select {
			case <-l.process.Done():
			case <-time.After(farewell):
				l.process.Stop()
				<-l.process.Done()
			}
		}
		if l.out != nil {
			_ = l.out.Close()
		}
		if l.dir != "" {
			_ = os.Remove(filepath.Join(l.dir, "m"))
			_ = os.Remove(filepath.Join(l.dir, exitSocket))
			_ = os.Remove(l.dir)
		}
	})
}

// exec is the spec of one more session over the connection.
func (l *link) exec(line string) child.Spec {
	args := l.b.options()
	if l.dir != "" {
		args = append(args, "-o", "ControlMaster=no", "-S", filepath.Join(l.dir, "m"))
	} else {
		args = append(args, "-o", "ControlMaster=no", "-S", "none")
	}
	if l.dir != "" {
		// Without the connection it must not open one of its own: what would be run could have been run.
		args = append(args, "-o", "ProxyCommand=false")
	}
	return l.b.spec(append(append(args, destination(l.to)...), line)...)
}

// run runs a shell script there with input, and returns its output, at most limit bytes. An exit code other than 0 is an error.
func (l *link) run(ctx context.Context, script string, in io.Reader, limit int) ([]byte, error) {
	out, errs := &bounded{limit: limit}, &tail{limit: 4 << 10}
	code, err := l.stream(ctx, script, in, out, errs)
	switch {
	case err != nil:
		return out.Bytes(), err
	case code != 0:
		return out.Bytes(), fmt.Errorf("exit code %d there: %s", code, errs.line())
	}
	return out.Bytes(), nil
}

// stream runs a shell script there; its exit code 255 cannot be told from a connection that is over, and is that error.
func (l *link) stream(ctx context.Context, script string, in io.Reader, out, errs io.Writer) (int, error) {
	for again := (patience{}); ; {
		code, err := l.attempt(ctx, script, in, out, errs)
		if !errors.Is(err, errNoSession) || !again.wait(ctx, l) {
			return code, err
		}
	}
}

func (l *link) attempt(ctx context.Context, script string, in io.Reader, out, errs io.Writer) (int, error) {
	word := nonce()
	begun, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	if in != nil {
		in = &gated{in, begun, over}
	}
	before := &tail{limit: 4 << 10}
	spec := l.exec(shellLine(quietly(word, script)))
	spec.Stdio = child.Stdio{In: in, Out: &after{w: out, word: word}, Err: &after{w: errs, word: word, before: before, begun: begun}}
	spec.End = child.End{Grace: -1}
	status, err := child.Run(ctx, spec)
	if refusedSession(begun, before) {
		return -1, errNoSession
	}
	select {
	case <-begun:
	default: // all of it was meant for who asks
		_, _ = io.WriteString(errs, before.String())
	}
	switch {
	case err != nil:
		return -1, err
	case status.Exit() == 255:
		if t, ok := errs.(*tail); ok && t.line() != "" {
			return -1, errors.New(t.line())
		}
		return -1, errors.New("the connection is over")
	}
	return status.Exit(), nil
}

// shellLine makes a command line that every login shell reads alike: a POSIX shell takes over. script has no single quote, no
// "!" and no line feed, which csh and fish would read in ways of their own.
func shellLine(script string) string { return "exec /bin/sh -c '" + script + "'" }

// quietly makes a script tell where it begins: what start files of the account say before is not its output.
func quietly(word, script string) string {
	return `echo ` + word + `; echo ` + word + ` >&2; ` + script
}

// errNoSession is a session that a server does not give: it allows so many over one connection, and those that have just ended are
// not over there yet.
var errNoSession = errors.New("the server gives no more sessions over this connection (MaxSessions)")

// refusedSession tells whether there was no session, by what the client said before one could begin. Whatever a start file says
// there, the script has not run.
func refusedSession(begun <-chan struct{}, before *tail) bool {
	select {
	case <-begun:
		return false
	default:
		return strings.Contains(before.String(), "Session open refused by peer")
	}
}

// patience waits for a session to become free there.
type patience struct{ pause, waited time.Duration }

const patienceTime = 20 * time.Second

func (p *patience) wait(ctx context.Context, l *link) bool {
	p.pause = min(max(2*p.pause, 10*time.Millisecond), 500*time.Millisecond)
	if p.waited += p.pause; p.waited > patienceTime {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-l.dead():
		return false
	case <-time.After(p.pause):
		return true
	}
}

// after passes on what follows a word on a line's end.
type after struct {
	w      io.Writer // nil: nobody
	word   string
	before *tail         // hears what comes before it: if the word never comes, it is what the client says; nil: nobody
	begun  chan struct{} // closed when the word has come; nil: nobody waits
	held   []byte
	on     bool
}

func (a *after) Write(p []byte) (int, error) {
	if a.w == nil {
		return len(p), nil
	}
	if a.on {
		return a.w.Write(p)
	}
	a.held = append(a.held, p...)
	mark := []byte(a.word + "\n")
	at := bytes.Index(a.held, mark)
	if at < 0 {
		if a.before != nil {
			_, _ = a.before.Write(p)
		}
		if over := len(a.held) - len(mark); over > 0 {
			a.held = append(a.held[:0], a.held[over:]...)
		}
		return len(p), nil
	}
	a.on = true
	if a.begun != nil {
		close(a.begun)
	}
	rest := a.held[at+len(mark):]
	a.held = nil
	if len(rest) > 0 {
		if _, err := a.w.Write(rest); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// tail keeps the end of what is written. It is safe for concurrent use.
type tail struct {
	mu    sync.Mutex
	limit int
	bytes []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, p...)
	if over := len(t.bytes) - t.limit; over > 0 {
		t.bytes = append(t.bytes[:0], t.bytes[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ReplaceAll(string(t.bytes), "\r", "")
}

// line returns the last line with something on it.
func (t *tail) line() string {
	text := strings.TrimSpace(t.String())
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// bounded keeps what is written, up to a limit.
type bounded struct {
	bytes.Buffer
	limit int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.limit {
		return 0, fmt.Errorf("more than %d bytes", b.limit)
	}
	return b.Buffer.Write(p)
}
