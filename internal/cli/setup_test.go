package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"hermes/internal/app"
	"hermes/internal/llm/llmtest"
)

const setupKey = "correct-horse-battery-staple"

// setupHome is an empty home, with the process around it.
func setupHome(t *testing.T, env ...string) (home string, stdio *IO) {
	t.Helper()
	home = filepath.Join(t.TempDir(), "home")
	vars := map[string]string{"HERMES_HOME": home}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		vars[name] = value
	}
	return home, &IO{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Environ: func() []string { return nil },
		Env: func(name string) string { return vars[name] }, Dir: func() (string, error) { return home, nil }}
}

func setUp(t *testing.T, stdio *IO, at *atTerminal) error {
	t.Helper()
	return withApp(stdio, func(a *app.App, _ string) error { return runSetup(t.Context(), stdio, a, at) })
}

// another is the number of the last line, which asks for an address.
func another(stdio *IO) string {
	n := ""
	_ = withApp(stdio, func(a *app.App, _ string) error {
		n = itoa(len(choices(a.Detect(context.Background()))) + 1)
		return nil
	})
	return n
}

func itoa(n int) string { return strconv.Itoa(n) }

func read(t *testing.T, home, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// An address of one's own: the provider is asked with the key before anything is written, then all is kept where it belongs.
func TestSetup(t *testing.T) {
	server := llmtest.New(t, "say ok")
	home, stdio := setupHome(t)
	y := newKeyboard(another(stdio) + "\n" + server.URL + "/v1\n\n\n" + setupKey + "\n\n")
	if err := setUp(t, stdio, testTerminal(y, nil)); err != nil {
		t.Fatalf("%v\n%s", err, y.text())
	}
	if want := "model: own:test-model\n"; !strings.Contains(read(t, home, "config.yaml"), want) ||
		!strings.Contains(read(t, home, "config.yaml"), server.URL+"/v1") || strings.Contains(read(t, home, "config.yaml"), setupKey) {
		t.Error(read(t, home, "config.yaml"))
	}
	info, err := os.Stat(filepath.Join(home, ".env"))
	if err != nil || info.Mode().Perm() != 0o600 || !strings.Contains(read(t, home, ".env"), "OWN_API_KEY="+setupKey) {
		t.Errorf("%v %v %s", err, info, read(t, home, ".env"))
	}
	for _, want := range []string{"1  test-model", "Model [test-model]: ", "The model is own:test-model", "which only you can read"} {
		if !strings.Contains(y.text(), want) {
			t.Errorf("%q is missing in %s", want, y.text())
		}
	}
	// What was set up works, with the key.
	err = withApp(stdio, func(a *app.App, _ string) error {
		m, err := a.Model("")
		if err != nil || m.String() != "own:test-model" {
			t.Errorf("%v %v", m, err)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// What is typed for another question than meant, and going away, write nothing.
func TestSetupLeaves(t *testing.T) {
	server := llmtest.New(t, "")
	_, stdio := setupHome(t)
	own := another(stdio)
	for _, row := range []struct{ what, types, says string }{
		{"the end at once", "", "Which provider"},
		{"no address", own + "\n\n", "Its address"},
		{"Ctrl-C at the key", own + "\n" + server.URL + "/v1\n\n\n\x03", "which is not shown"},
		{"an address where nobody answers", own + "\n" + "http://127.0.0.1:9/v1\n\n\n\n\n", "does not tell"},
		{"an address that is none", own + "\nfile:///etc/passwd\n\n", "An address begins with"},
		{"the end at the model", own + "\n" + server.URL + "/v1\n\n\n\n", "Model ["},
		{"a wrong number, then the end", "99\n", "A number from 1 to"},
		{"a name that is taken", own + "\n" + server.URL + "/v1\n\nopenai\nX Y\n", "is known already"},
	} {
		home, stdio := setupHome(t)
		y := newKeyboard(row.types)
		y.end = true
		err := setUp(t, stdio, testTerminal(y, nil))
		if err == nil || !strings.Contains(err.Error(), "nothing was changed") || !strings.Contains(y.text(), row.says) {
			t.Errorf("%s: %v\n%s", row.what, err, y.text())
		}
		if read(t, home, "config.yaml")+read(t, home, ".env") != "" {
			t.Errorf("%s: written: %s%s", row.what, read(t, home, "config.yaml"), read(t, home, ".env"))
		}
	}
}

// An address is completed, asked for again where it is none, and can be corrected where nobody answers.
func TestSetupCorrectsTheAddress(t *testing.T) {
	server := llmtest.New(t, "")
	home, stdio := setupHome(t)
	y := newKeyboard(another(stdio) + "\nfile:///etc/passwd\n127.0.0.1:9/v1\n\n\n\na\n" + strings.TrimPrefix(server.URL, "http://") + "/v1\n" + setupKey + "\n\n")
	if err := setUp(t, stdio, testTerminal(y, nil)); err != nil {
		t.Fatalf("%v\n%s", err, y.text())
	}
	text := read(t, home, "config.yaml")
	if !strings.Contains(text, "base_url: "+server.URL+"/v1") || !strings.Contains(text, "key_env: OWN_API_KEY") || !strings.Contains(read(t, home, ".env"), setupKey) {
		t.Errorf("%s%s\n%s", text, read(t, home, ".env"), y.text())
	}
	for text, want := range map[string]string{
		"localhost:1/v1": "http://localhost:1/v1", "[::1]:8080": "http://[::1]:8080", "models.example/v1": "https://models.example/v1",
		"http://10.0.0.1/v1": "http://10.0.0.1/v1", "ftp://x": "", "https://": "", "https:///v1": "", "a b": "", "http://127.0.0.1:8 0": "",
	} {
		if got, ok := completed(text); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v", text, got, ok)
		}
	}
}

// A provider that does not list its models is taken on the person's word.
func TestSetupGoesOn(t *testing.T) {
	home, stdio := setupHome(t)
	y := newKeyboard(another(stdio) + "\n" + "http://127.0.0.1:9/v1\na\nlab\n\ng\n\nmy-model\n")
	if err := setUp(t, stdio, testTerminal(y, nil)); err != nil {
		t.Fatalf("%v\n%s", err, y.text())
	}
	text := read(t, home, "config.yaml")
	if !strings.Contains(text, "model: lab:my-model") || !strings.Contains(text, "api_mode: anthropic") || strings.Contains(text, "key_env") || read(t, home, ".env") != "" {
		t.Errorf("%s%s", text, read(t, home, ".env"))
	}
}

// On a real terminal the key is not shown, and the terminal is left as it was.
func TestSetupHidesTheKey(t *testing.T) {
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Skipf("skipped: needs a pseudo-terminal: %v", err)
	}
	defer ours.Close()
	defer theirs.Close()
	server := llmtest.New(t, "")
	home, stdio := setupHome(t)
	own := another(stdio)
	at := testTerminal(nil, nil)
	at.open = func() (tty, error) { return os.OpenFile(theirs.Name(), os.O_RDWR, 0) }
	seen := make(chan string, 1)
	go func() {
		var shown bytes.Buffer
		answers := []struct{ label, types string }{
			{"Number [1]: ", own + "\n"}, {"HOST/v1): ", server.URL + "/v1\n"}, {"Anthropic (a): ", "\n"}, {"[own]: ", "\n"},
			{"needs none): ", "wrong\x7f\x7f\x7f\x7f\x7f" + setupKey + "\r"}, {"[test-model]: ", "1\n"}, {"config.yaml.", ""},
		}
		buf := make([]byte, 512)
		for from := 0; len(answers) > 0; {
			n, err := ours.Read(buf)
			if err != nil {
				break
			}
			shown.Write(buf[:n])
			if i := strings.Index(shown.String()[from:], answers[0].label); i >= 0 {
				from += i + len(answers[0].label)
				_, _ = ours.WriteString(answers[0].types)
				answers = answers[1:]
			}
		}
		seen <- shown.String()
	}()
	if err := setUp(t, stdio, at); err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-seen:
		if strings.Contains(text, setupKey) || strings.Contains(text, "wrong") || !strings.Contains(text, server.URL) {
			t.Errorf("shown: %q", text)
		}
	case <-time.After(10 * time.Second):
		t.Error("the end was not shown")
	}
	if !strings.Contains(read(t, home, ".env"), "OWN_API_KEY="+setupKey+"\n") {
		t.Error(read(t, home, ".env"))
	}
}

func TestSetupWithoutTerminal(t *testing.T) {
	var out, stderr bytes.Buffer
	_, stdio := setupHome(t)
	stdio.Stdout, stdio.Stderr = &out, &stderr
	if code := Main(t.Context(), []string{"setup"}, *stdio); code != 1 || !strings.Contains(stderr.String(), "hermes config set ANTHROPIC_API_KEY - < FILE") {
		t.Errorf("%d %s", code, stderr.String())
	}
}

func TestModelCommand(t *testing.T) {
	server := llmtest.New(t, "")
	home, stdio := setupHome(t)
	run := func(args ...string) (int, string) {
		var out bytes.Buffer
		io := *stdio
		io.Stdout, io.Stderr = &out, &out
		return Main(t.Context(), args, io), out.String()
	}
	for _, row := range []struct {
		args string
		code int
		says string
	}{
		{"model", 1, "Choose one with hermes setup."},
		{"model x", 1, "it does not say whose it is"},
		{"model anthropic:claude-sonnet-4-6", 1, "ANTHROPIC_API_KEY, which holds its key, is not set"},
		{"config set providers.own.base_url " + server.URL + "/v1", 0, ""},
		{"model", 0, "  own:test-model  (32768 tokens)\n\nNone is set"},
		{"model test-model", 0, "model = own:test-model in " + home},
		{"model", 0, "* own:test-model"},
		{"model --json", 0, `{"model":"own:test-model","providers":[{"provider":"own","models":[{"id":"test-model","context":32768}]}]}`},
		{"config set providers.dead.base_url http://127.0.0.1:9/v1", 0, ""},
		{"model", 0, "dead: ask dead: unreachable"},
		{"model a b", 1, "takes one name"},
		{"model own:", 1, "the name of the model is missing"},
	} {
		if code, out := run(strings.Fields(row.args)...); code != row.code || !strings.Contains(out, row.says) {
			t.Errorf("%s: %d %s", row.args, code, out)
		}
	}
}
