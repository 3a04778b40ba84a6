package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/guard"
	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/runner"
	"hermes/internal/sandbox/sandboxtest"
)

// TestMain makes the test binary a runner when it is started as one. A role ends the process: the tests never run in it.
func TestMain(m *testing.M) {
	if os.Args[0] == runner.Marker {
		os.Exit(runner.Serve(os.Args[1:], runner.Parts{}))
	}
	if mark := os.Getenv(parentMark); mark != "" {
		parent(mark)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// parentMark is set for the process that TestKilledBoth kills.
const parentMark = "HERMES_TEST_LOCAL_PARENT"

func TestSuite(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	suite(t, self, sandboxtest.Traits{Bash: true, Lasts: true, Tree: true, Terminal: true, Here: true})
}

// The same as an ordinary user.
func TestSuiteAsUser(t *testing.T) { sandboxtest.AsUser(t, "TestSuite") }

// Without a runner the rest is the same, but for what leaves its group.
func TestSuitePlain(t *testing.T) {
	suite(t, "", sandboxtest.Traits{Bash: true, Lasts: true, Terminal: true, Here: true})
}

func suite(t *testing.T, program string, traits sandboxtest.Traits) {
	traits.Dir = t.TempDir()
	traits.Heavy = 1 << 30
	if testing.Short() {
		traits.Heavy = 0
	}
	backend := New(Config{Runner: program, Search: "/usr/bin:/bin", Log: func(text string) { t.Error(text) }})
	sandboxtest.Suite(t, func(t testing.TB) sandbox.Sandbox {
		spec := sandboxtest.Spec(t, t.TempDir())
		spec.Home = t.TempDir()
		box, err := backend.Open(context.Background(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return box
	}, traits)
}

// open opens a sandbox with or without a runner.
func open(t *testing.T, c Config, spec sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	c.Search = "/usr/bin:/bin"
	box, err := New(c).Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return box
}

func run(t *testing.T, box sandbox.Sandbox, text string) (sandbox.Status, string) {
	t.Helper()
	var out bytes.Buffer
	s, err := box.Run(t.Context(), sandbox.Command{Text: text, Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	return s, out.String()
}

// each runs a test with a runner and without.
func each(t *testing.T, test func(t *testing.T, program string)) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("runner", func(t *testing.T) { test(t, self) })
	t.Run("plain", func(t *testing.T) { test(t, "") })
}

// The session begins with what the login shell and the start files leave, but where it was asked to.
func TestStart(t *testing.T) {
	each(t, func(t *testing.T, program string) {
		for _, row := range []struct {
			what, profile, file string
			want                string
			logs                int
		}{
			{"both", "export P=profile; f() { echo f; }; cd /usr", "alias g='echo g'; export F=file", "profile file f g here", 0},
			{"the profile ends the shell", "export P=profile; exit 3", "export F=file", "", 1},
			{"the profile talks", "echo noise; echo noise >&2; export P=profile", "", "profile", 0},
			{"a file that is not there", "export P=1", "-", "1", 0},
		} {
			home := t.TempDir()
			spec := sandboxtest.Spec(t, home)
			logs := 0
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(".bash_profile", row.profile)
			spec.InitFiles = []string{"~/init.sh"}
			if row.file != "-" {
				write("init.sh", row.file)
			}
			box := open(t, Config{Runner: program, Login: true, Log: func(string) { logs++ }}, spec)
			_, got := run(t, box, "echo $P $F $(f 2>/dev/null) $(g 2>/dev/null) $([ \"$PWD\" = \"$HOME\" ] && [ -n \"$F\" ] && echo here)\n")
			if got = strings.TrimSpace(got); !strings.HasPrefix(got, row.want) || row.want == "" && got != "" || logs != row.logs {
				t.Errorf("%s: %q, %d lines of log; want %q", row.what, got, logs, row.want)
			}
		}
	})
}

// A directory that is gone is left for the nearest above it.
func TestGoneDirectory(t *testing.T) {
	each(t, func(t *testing.T, program string) {
		home := t.TempDir()
		if err := os.MkdirAll(filepath.Join(home, "a/b"), 0o700); err != nil {
			t.Fatal(err)
		}
		box := open(t, Config{Runner: program}, sandboxtest.Spec(t, filepath.Join(home, "none", "at", "all")))
		if _, out := run(t, box, "pwd -P"); out != home+"\n" {
			t.Errorf("%q", out)
		}
		run(t, box, "cd "+home+"/a/b && rmdir "+home+"/a/b")
		if s, out := run(t, box, "pwd -P"); out != home+"/a\n" || s.Code != 0 {
			t.Errorf("%q, %+v", out, s)
		}
	})
}

func TestSearchPath(t *testing.T) {
	rest := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	for _, row := range []struct{ path, own, home, want string }{
		{"", "", "", rest},
		{"/usr/bin::/x:.:/usr/bin:", "", "", "/usr/bin:/x:.:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin"},
		{"/x", "/own", "/h", "/own:/x:" + rest + ":/h/.local/bin"},
	} {
		if got := searchPath(row.path, row.own, row.home, nil); got != row.want {
			t.Errorf("%q: %q, want %q", row.path, got, row.want)
		}
	}
}

// What is asked for by name and cannot be had here does not open; what it is, is said.
func TestContainsNothing(t *testing.T) {
	each(t, func(t *testing.T, program string) {
		spec := sandboxtest.Spec(t, t.TempDir())
		e := open(t, Config{Runner: program}, spec).Exposure()
		if contained, _ := e.Contains(guard.Host | guard.Work | guard.Remote | guard.Leak); contained != 0 || e.Boundary() {
			t.Errorf("it says that it contains %v", contained)
		}
		if want := map[bool]exposure.Runner{true: exposure.Resident, false: exposure.Plain}[program != ""]; e.Runner != want {
			t.Errorf("runner %v", e.Runner)
		}
		spec.Network = exposure.Network{Want: exposure.Explicitly, Asked: exposure.NoNet}
		var missing *sandbox.MissingError
		if _, err := New(Config{Runner: program, Search: "/bin"}).Open(t.Context(), spec); !errors.As(err, &missing) || missing.Remedy == "" {
			t.Errorf("%v", err)
		}
		spec.BestEffort = true
		if e := open(t, Config{Runner: program}, spec).Exposure(); len(e.Gaps) != 1 || e.Network.Force != exposure.OpenNet {
			t.Errorf("%+v", e.Gaps)
		}
		if _, err := New(Config{}).Open(t.Context(), sandbox.Spec{}); err == nil {
			t.Error("the zero Spec opened")
		}
	})
}

// A runner that cannot run is told, and bash is started for each command.
func TestNoRunner(t *testing.T) {
	for _, program := range []string{"/no/such/program", "/bin/true", "/bin/cat"} {
		logs := 0
		box := open(t, Config{Runner: program, Log: func(string) { logs++ }}, sandboxtest.Spec(t, t.TempDir()))
		if box.Exposure().Runner != exposure.Plain || logs != 1 {
			t.Errorf("%s: %v, %d", program, box.Exposure().Runner, logs)
		}
		if s, out := run(t, box, "echo ok"); out != "ok\n" || s.Code != 0 {
			t.Errorf("%s: %q, %+v", program, out, s)
		}
	}
}

// The memory of each process can be limited here, if nothing else; that is told as what it is.
func TestMemory(t *testing.T) {
	each(t, func(t *testing.T, program string) {
		for _, row := range []struct{ asked, want int64 }{{100 << 20, 100 << 20}, {1, LeastMemory}, {0, 0}} {
			box := open(t, Config{Runner: program, Memory: row.asked}, sandboxtest.Spec(t, t.TempDir()))
			limits := box.Exposure().Limits
			if row.want == 0 {
				if s, out := run(t, box, "head -c 300000000 /dev/zero | tail -n 1 | wc -c"); s.Code != 0 || out != "300000000\n" || len(limits) > 0 {
					t.Errorf("no limit: %q, %+v, %+v", out, s, limits)
				}
				continue
			}
			if len(limits) != 1 || limits[0].Force != uint64(row.want) || limits[0].Grade != exposure.Rlimit || !limits[0].Holds() {
				t.Errorf("%d: %+v", row.asked, limits)
			}
			// What one process wants to hold is too much, also below others, and cannot be had by asking for it.
			raise := "ulimit -d unlimited 2>/dev/null && echo raised; "
			if os.Getuid() == 0 {
				raise = "" // who has all rights has this one
			}
			if _, out := run(t, box, "ulimit -d; "+raise+"head -c 300000000 /dev/zero | (tail -n 1 >/dev/null 2>&1 && echo held) || true"); out != fmt.Sprintf("%d\n", row.want>>10) {
				t.Errorf("%d: %q", row.asked, out)
			}
			var out bytes.Buffer
			if s, err := box.Run(t.Context(), sandbox.Command{Argv: []string{"sh", "-c", "ulimit -d"}, Stdout: &out}); err != nil || s.Code != 0 || out.String() != fmt.Sprintf("%d\n", row.want>>10) {
				t.Errorf("a program: %q, %+v, %v", out.String(), s, err)
			}
		}
	})
}
