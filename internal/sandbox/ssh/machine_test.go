package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/filesync"
	"hermes/internal/sandbox/sandboxtest"
)

// collect keeps what the owner is told.
func collect(told *[]string) func(*Config) {
	return func(c *Config) { c.Log = func(text string) { *told = append(*told, text) } }
}

// Whatever shell the account has, and whatever its start files say.
func TestAccounts(t *testing.T) {
	const noBash = "mount --bind /dev/null /usr/bin/bash && mount --bind /dev/null /bin/bash"
	for _, row := range []struct {
		what   string
		o      options
		rc     string // start files
		runner exposure.Runner
		told   string
		lasts  bool
	}{
		{what: "bash", runner: exposure.Resident, lasts: true},
		{what: "start files that talk", rc: "echo noise; printf 'no end'; echo noise >&2\n", runner: exposure.Resident, lasts: true},
		{what: "dash", o: options{shell: "/bin/dash"}, runner: exposure.Resident, lasts: true},
		{what: "busybox", o: options{shell: "BUSYBOX"}, runner: exposure.Resident, lasts: true},
		{what: "csh", o: options{shell: "/bin/csh"}, runner: exposure.Resident, lasts: true},
		{what: "fish", o: options{shell: "/usr/bin/fish"}, runner: exposure.Resident, lasts: true},
		{what: "no bash", o: options{shell: "/bin/dash", mount: noBash}, runner: exposure.Resident, told: "there is no bash"},
		{what: "noexec home", o: options{mount: "cp -a HOME HOME.new && mount -t tmpfs -o noexec,mode=700,uid=64711,gid=64711 none HOME && cp -a HOME.new/. HOME/"},
			runner: exposure.Plain, told: "does not run", lasts: true},
		{what: "nothing computes sums", o: options{mount: "for f in sha256sum shasum openssl busybox; do if [ -e /usr/bin/$f ]; then mount --bind /dev/null /usr/bin/$f; fi; done"},
			runner: exposure.Resident, lasts: true},
		{what: "noexec home, no bash, dash", o: options{shell: "/bin/dash", mount: noBash + " && mount --bind HOME HOME && mount -o remount,bind,noexec HOME"},
			runner: exposure.Plain, told: "does not run"},
		{what: "a full home", o: options{mount: "cp -a HOME HOME.new && mount -t tmpfs -o size=64k,mode=700,uid=64711,gid=64711 none HOME && cp -a HOME.new/. HOME/"},
			runner: exposure.Plain, told: "does not run", lasts: true},
	} {
		t.Run(strings.ReplaceAll(row.what, " ", "_"), func(t *testing.T) {
			shell := row.o.shell
			if shell == "BUSYBOX" {
				if !isFile("/usr/bin/busybox") {
					rigtest.Need(t, "busybox")
				}
				dir := t.TempDir() // root's alone: others cannot get at it
				shell = filepath.Join("/tmp", filepath.Base(filepath.Dir(dir))+"-ash")
				if err := os.WriteFile(shell, nil, 0o755); err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile("/usr/bin/busybox")
				if err == nil {
					err = os.WriteFile(shell, text, 0o755)
				}
				if err != nil {
					t.Fatal(err)
				}
				dst := filepath.Join(filepath.Dir(shell), "ash-"+strconv.Itoa(os.Getpid()))
				_ = os.Rename(shell, dst)
				_ = os.Mkdir(shell, 0o755)
				_ = os.Rename(dst, filepath.Join(shell, "ash"))
				t.Cleanup(func() { _ = os.RemoveAll(shell) })
				row.o.shell = filepath.Join(shell, "ash")
			} else if shell != "" && !isFile(shell) {
				t.Skip("skipped: needs " + shell)
			}
			row.o.known = true
			s := serve(t, row.o)
			if row.rc != "" {
				for _, name := range []string{".bashrc", ".profile", ".bash_profile"} {
					s.must(os.WriteFile(filepath.Join(s.home, name), []byte(row.rc), 0o644))
				}
			}
			var told []string
			for range 2 { // the second finds what the first has left
				box := s.open(collect(&told), func(c *Config) { c.Login = row.rc != "" })
				if got := box.Exposure().Runner; got != row.runner {
					t.Errorf("run by %v: %q", got, told)
				}
				if _, out := run(t, box, "A=x; export A; cd /usr; echo hi $HOME"); out != "hi "+s.home+"\n" {
					t.Errorf("%q", out)
				}
				want := "x /usr\n"
				if !row.lasts {
					want = " " + s.home + "\n"
				}
				if _, out := run(t, box, "echo $A $PWD"); strings.TrimSpace(out) != strings.TrimSpace(want) {
					t.Errorf("%q, want %q", out, want)
				}
				if st, _ := run(t, box, "exit 7"); st.Code != 7 {
					t.Errorf("%+v", st)
				}
			}
			if all := strings.Join(told, "\n"); !strings.Contains(all, row.told) || row.told == "" && all != "" {
				t.Errorf("told: %q", all)
			}
			if row.runner == exposure.Resident && row.what == "bash" {
				tampered(t, s)
			}
		})
	}
}

// tampered changes the runner there: it is copied again, and never through a link.
func tampered(t *testing.T, s *server) {
	_, sum := helper(t)
	path := filepath.Join(s.home, store, sum, "hermes-runner")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("%v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	s.must(os.Remove(path))
	s.must(os.WriteFile(path, []byte("#!/bin/sh\ntouch "+s.home+"/evil\n"), 0o700))
	if os.Getuid() == 0 {
		s.must(os.Chown(path, uid, uid))
	}
	var told []string
	if box := s.open(collect(&told)); box.Exposure().Runner != exposure.Resident || !strings.Contains(strings.Join(told, "\n"), "copied again") {
		t.Errorf("%q", told)
	}
	if _, err := os.Stat(filepath.Join(s.home, "evil")); err == nil {
		t.Error("it ran what was put in the runner's place")
	}
	s.must(os.RemoveAll(filepath.Join(s.home, store)))
	outside := filepath.Join(s.home, "outside")
	s.must(os.MkdirAll(outside, 0o777))
	s.must(os.Symlink(outside, filepath.Join(s.home, store)))
	s.open(collect(&told))
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Error("it was written through a link")
	}
	s.must(os.Remove(filepath.Join(s.home, store)))
}

// Weak point 15: the control socket has a path that nobody foresees, in a directory that is closed to others, however long the
// path of the home is; and nothing of it stays.
func TestWeak15_ControlSocket(t *testing.T) {
	s := serve(t, options{known: true})
	state := filepath.Join(s.dir, "state")
	long := filepath.Join(s.dir, strings.Repeat("long", 20))
	for _, dir := range []string{state, long} {
		s.must(os.Mkdir(dir, 0o700))
		box := s.open(func(c *Config) { c.State = dir })
		l := box.(*withFiles).link
		info, err := os.Stat(l.dir)
		if err != nil || info.Mode().Perm() != 0o700 || !isSocket(filepath.Join(l.dir, "m")) || len(l.dir) > socketRoom {
			t.Errorf("%s: %v, %v", l.dir, info, err)
		}
		if (filepath.Dir(l.dir) == dir) != (dir == state) {
			t.Errorf("it is in %s", l.dir)
		}
		if err := box.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(l.dir); err == nil {
			t.Error("it stays")
		}
	}
	// What a process left that was killed is swept one day.
	old := filepath.Join(state, "ssh-1")
	s.must(os.Mkdir(old, 0o700))
	s.must(os.Chtimes(old, time.Now().Add(-48*time.Hour), time.Now().Add(-48*time.Hour)))
	s.open(func(c *Config) { c.State = state })
	if _, err := os.Stat(old); err == nil {
		t.Error("what was left stays")
	}
}

// A value that a command gets is never in an argument or the environment of ssh.
func TestSecretsTravelInside(t *testing.T) {
	s := serve(t, options{known: true})
	const canary = "canary-3f9c1a7e5b"
	list, _ := environ.New(environ.Config{Passthrough: []string{"MY_TOKEN"}}).Build(environ.Request{
		Surface: environ.SSH, Base: map[string]string{"MY_TOKEN": canary, "OTHER": "x"},
	})
	for _, change := range [][]func(*Config){{}, {noRunner, quiet}} {
		box := s.open(change...)
		ended := make(chan string, 1)
		out := &bytes.Buffer{}
		go func() {
			_, err := box.Run(context.Background(), sandbox.Command{Text: `echo "$MY_TOKEN[$OTHER]"; sleep 0.7`, Env: list, Stdout: out})
			ended <- fmt.Sprint(err)
		}()
		seen, clients := "", 0
		for until := time.Now().Add(500 * time.Millisecond); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
			entries, _ := os.ReadDir("/proc")
			for _, e := range entries {
				name, _ := os.ReadFile("/proc/" + e.Name() + "/comm")
				line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
				env, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
				if strings.TrimSpace(string(name)) == "ssh" && bytes.Contains(line, []byte(s.client)) {
					clients++
					if bytes.Contains(env, []byte(canary)) {
						seen += "environment of ssh; "
					}
				}
				if bytes.Contains(line, []byte(canary)) {
					seen += string(line)
				}
			}
		}
		if err := <-ended; err != "<nil>" || out.String() != canary+"[]\n" {
			t.Errorf("%s, %q", err, out)
		}
		if seen != "" || clients == 0 {
			t.Errorf("seen in: %q, %d clients", seen, clients)
		}
	}
}

// Paths: "~" is the home there, a directory that is not there is left for the home, and told.
func TestDirectories(t *testing.T) {
	s := serve(t, options{known: true})
	s.must(os.MkdirAll(filepath.Join(s.home, "a b"), 0o777))
	s.must(os.Chmod(filepath.Join(s.home, "a b"), 0o777))
	for _, row := range []struct{ dir, want, told string }{
		{"~", s.home, ""},
		{"~/a b", s.home + "/a b", ""},
		{"/usr", "/usr", ""},
		{"/no/such", s.home, "cannot be entered"},
	} {
		var told []string
		b := s.backend(collect(&told))
		spec := sandboxtest.Spec(t, row.dir)
		spec.Env = environ.List{}
		box, err := b.Open(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		_, out := run(t, box, "pwd")
		if out != row.want+"\n" || !strings.Contains(strings.Join(told, ""), row.told) || row.told == "" && len(told) > 0 {
			t.Errorf("%s: %q, %q", row.dir, out, told)
		}
		var pwd bytes.Buffer
		if _, err := box.Run(t.Context(), sandbox.Command{Text: "pwd", Dir: "~/a b", Stdout: &pwd}); err != nil || pwd.String() != s.home+"/a b\n" {
			t.Errorf("%q, %v", pwd.String(), err)
		}
		if err := box.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// What cannot be had there is refused by name.
func TestMissing(t *testing.T) {
	s := serve(t, options{known: true})
	spec := s.spec()
	spec.Network = exposure.Network{Want: exposure.Explicitly, Asked: exposure.NoNet}
	var missing *sandbox.MissingError
	if _, err := s.backend().Open(t.Context(), spec); !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
	spec = s.spec()
	spec.Limits = sandbox.Limits{Memory: 1 << 30, Asked: true}
	if _, err := s.backend().Open(t.Context(), spec); !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
	spec.BestEffort = true
	box, err := s.backend().Open(t.Context(), spec)
	if err != nil || len(box.Exposure().Gaps) != 1 {
		t.Fatalf("%v", err)
	}
	if err := box.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := s.backend().Open(t.Context(), sandbox.Spec{}); err == nil {
		t.Error("the zero Spec opened")
	}
}

// Files go there at the opening and come back at the end.
func TestSync(t *testing.T) {
	s := serve(t, options{known: true})
	here := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(here, name)
		s.must(os.MkdirAll(filepath.Dir(path), 0o700))
		s.must(os.WriteFile(path, []byte(text), 0o600))
	}
	write("skills/a/SKILL.md", "ours")
	write("token.json", "secret")
	write("cache/images/i", "i")
	var told []string
	with := func(c *Config) {
		c.Sync = &filesync.Config{State: filepath.Join(here, "state"), Log: func(text string) { told = append(told, text) }, Trees: []filesync.Tree{
			{Dir: filepath.Join(here, "skills"), To: "skills", Kind: filesync.Guarded},
			{Dir: here, To: "credentials", Kind: filesync.Given, Files: []string{"token.json"}},
			{Dir: filepath.Join(here, "cache/images"), To: "cache/images", Kind: filesync.Shared},
		}}
	}
	for _, change := range [][]func(*Config){{with}, {with, noRunner, quiet}} {
		box := s.open(change...)
		_, out := run(t, box, "cd ~/.hermes && cat skills/a/SKILL.md credentials/token.json cache/images/i; echo evil >skills/a/SKILL.md; echo changed >credentials/token.json; date +%s%N >cache/images/j")
		if out != "ourssecreti" && out != "evil\nchanged\ni" {
			t.Errorf("%q", out)
		}
		s.must(box.Close(t.Context()))
		for name, want := range map[string]string{"skills/a/SKILL.md": "ours", "token.json": "secret"} {
			if text, err := os.ReadFile(filepath.Join(here, name)); err != nil || string(text) != want {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
		if _, err := os.Stat(filepath.Join(here, "cache/images/j")); err != nil {
			t.Error(err)
		}
	}
	if len(told) == 0 || !strings.Contains(told[0], "skills/a/SKILL.md") {
		t.Errorf("%q", told)
	}
}

func TestReady(t *testing.T) {
	s := serve(t, options{known: true})
	state := func(all []Check) (out string) {
		for _, c := range all {
			out += fmt.Sprintf("%s=%v ", c.Name, c.OK)
			if !c.OK && (c.Detail == "" || c.Remedy == "") {
				t.Errorf("no remedy: %+v", c)
			}
		}
		return out
	}
	for _, row := range []struct {
		change func(*Config)
		want   string
	}{
		{func(*Config) {}, "ssh_program=true ssh_host=true ssh_connection=true ssh_runner=true "},
		{noRunner, "ssh_program=true ssh_host=true ssh_connection=true ssh_runner=false "},
		{func(c *Config) { c.Host = "" }, "ssh_program=true ssh_host=false "},
		{func(c *Config) { c.Host = "-x" }, "ssh_program=true ssh_host=false "},
		{func(c *Config) { c.Program = "no-such-ssh" }, "ssh_program=false ssh_host=true "},
		{func(c *Config) { c.Key = "/no/such/key" }, "ssh_program=true ssh_host=true ssh_key=false "},
		{func(c *Config) { c.Port = int64(freePort(t)) }, "ssh_program=true ssh_host=true ssh_connection=false "},
	} {
		if got := state(s.backend(row.change).Ready(t.Context(), s.spec())); got != row.want {
			t.Errorf("%s; want %s", got, row.want)
		}
	}
}

// Files are reached through the runner, and are not offered without it.
func TestFilesNeedTheRunner(t *testing.T) {
	s := serve(t, options{known: true})
	if _, ok := s.open(noRunner, quiet).(sandbox.Files); ok {
		t.Error("files without a runner")
	}
	files := s.open().(sandbox.Files)
	if _, _, err := files.Open(t.Context(), filepath.Join(s.home, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	w, err := files.Create(t.Context(), filepath.Join(s.home, "f"), 0o600)
	s.must(err)
	_, err = io.WriteString(w, "text")
	s.must(errors.Join(err, w.Close()))
	if text, err := os.ReadFile(filepath.Join(s.home, "f")); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
}

// kill ends a process that the test started, by its id.
func kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }
