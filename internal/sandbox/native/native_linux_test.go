package native_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/guard/checked"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/scope"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/native"
	"hermes/internal/sandbox/native/role"
	"hermes/internal/sandbox/probe"
	"hermes/internal/sandbox/runner"
)

// TestMain lets the test binary stand in for the launcher, the process inside and the probe. Each of these ends here.
func TestMain(m *testing.M) {
	if err := age(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if os.Args[0] == runner.Marker {
		os.Exit(role.Main(os.Args, nil))
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "probe":
			var t probe.Targets
			if err := json.Unmarshal([]byte(os.Args[2]), &t); err != nil {
				os.Exit(1)
			}
			text, err := json.Marshal(probe.Try(context.Background(), t, time.Now()))
			if err != nil {
				os.Exit(1)
			}
			fmt.Println(string(text))
			os.Exit(0)
		case "version":
			os.Exit(0)
		case "open": // a process that opens a sandbox, says so and waits to be killed
			openAndWait(os.Args[2])
		case "churn":
			churn(os.Args[2])
		case "interrupted":
			interrupted(os.Args[2])
		}
	}
	os.Exit(m.Run())
}

func executable(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func backend(t testing.TB, conf native.Config) *native.Backend {
	t.Helper()
	self := executable(t)
	if conf.Launcher == "" {
		conf.Launcher = self
	}
	if conf.Probe == nil {
		conf.Probe = []string{self, "probe"}
	}
	conf.Log = func(text string) { t.Log(text) }
	b := native.New(conf)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// spec is a sandbox for a new work tree below a new home.
func spec(t testing.TB) (sandbox.Spec, native.Config) {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	tree := filepath.Join(home, "src/app")
	state := filepath.Join(home, ".hermes/sandboxes")
	for _, dir := range []string{tree, state, filepath.Join(home, ".ssh")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(home, ".ssh/id_ed25519"), "PRIVATE")
	workdir, err := checked.ParseWorkdir(tree)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := scope.ParseProfile("default")
	if err != nil {
		t.Fatal(err)
	}
	session, err := scope.ParseSession(profile, "test", "1")
	if err != nil {
		t.Fatal(err)
	}
	env, _ := environ.New(environ.Config{}).Build(environ.Request{
		Surface: environ.Native, Base: map[string]string{"PATH": os.Getenv("PATH"), "LANG": "C.UTF-8"},
		Extra: map[string]string{"HOME": home},
	})
	return sandbox.Spec{
		Session: session, Workdir: workdir, Env: env, Home: state,
		Network: exposure.Network{Want: exposure.Explicitly, Asked: exposure.NoNet},
	}, native.Config{Home: home, Path: os.Getenv("PATH")}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, b *native.Backend, s sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	p, err := b.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// run runs a text and returns what it wrote, both streams, and its exit code. Its time-out is for what hangs, not for what is slow.
func run(t testing.TB, p sandbox.Sandbox, text string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	status, err := p.Run(t.Context(), sandbox.Command{Text: text, Stdout: &out, Stderr: &out, Timeout: 5 * time.Minute})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return strings.TrimSpace(out.String()), status.Code
}
