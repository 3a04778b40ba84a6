package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hermes/internal/approval"
	"hermes/internal/audit"
	"hermes/internal/guard/checked"
	"hermes/internal/guard/command"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/scope"
	"hermes/internal/guard/taint"
	"hermes/internal/launch"
	"hermes/internal/redact"
	"hermes/internal/rigtest"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/local"
	"hermes/internal/secret"
	"hermes/internal/tool"
)

// fake is a tool that answers what a test says.
type fake struct {
	name   string
	schema string
	beside bool
	call   func(context.Context, tool.Call) (tool.Result, error)
}

func (f fake) Spec() tool.Spec {
	return tool.Spec{Name: f.name, Description: "A tool.", Schema: json.RawMessage(f.schema), Words: "path", Beside: f.beside}
}

func (f fake) Call(ctx context.Context, c tool.Call) (tool.Result, error) { return f.call(ctx, c) }

const pathSchema = `{"type":"object","properties":{"limit":{"type":"integer"},"path":{"type":"string"}},"required":["path"]}`

// says answers every question with the same choice.
type says struct {
	mu     sync.Mutex
	choice approval.Choice
	asked  []string
}

func (s *says) Prompt(_ context.Context, q approval.Question) (approval.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, q.Command)
	return q.Reply(s.choice), nil
}

type nothing struct{}

func (nothing) Decide(audit.Ref, string, audit.Decision) error { return nil }
func (nothing) Finish(audit.Ref, audit.Result) error           { return nil }

// bench runs programs on this machine, in an empty directory.
type bench struct {
	*testing.T
	dir    string
	env    map[string]string
	person *says
	o      Options
	place  *launch.Place
}

// python is the interpreter itself: what stands for it in PATH may be a slow script.
var python = sync.OnceValue(func() string {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return "python3"
	}
	return strings.TrimSpace(string(out))
})

func newBench(t *testing.T) *bench {
	t.Helper()
	rigtest.Program(t, "python3")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	ok(t, err)
	b := &bench{T: t, dir: dir, person: &says{}, env: environ.Parse(os.Environ())}
	b.env["PATH"] = rigtest.Guarded(t, os.Getenv("PATH"))
	profile, err := scope.ParseProfile("default")
	ok(t, err)
	owner, err := scope.ParseSession(profile, "cli", "1")
	ok(t, err)
	tree, err := checked.ParseWorkdir(dir)
	ok(t, err)
	known := redact.New(redact.Options{Known: []secret.String{secret.New("correct-horse-battery")}})
	policy := environ.New(environ.Config{})
	door := launch.New(launch.Options{
		Policy: func() (launch.Policy, error) {
			return launch.Policy{Facts: command.Facts{Home: dir}, Environ: policy, Redact: known}, nil
		},
		Desk: approval.New(approval.Options{}), Log: nothing{},
	})
	b.place = launch.NewPlace(local.New(local.Config{Search: os.Getenv("PATH")}), sandbox.Spec{Session: owner, Workdir: tree})
	t.Cleanup(func() { ok(t, b.place.Close(context.Background())) })
	b.o = Options{
		Interpreter: python(),
		Launch:      door.Run,
		Base: func() launch.Call {
			return launch.Call{Session: owner, Place: b.place, Presence: approval.Person, Prompter: b.person,
				Env: environ.Request{Surface: environ.Foreground, Base: b.env}}
		},
		Names: func(r environ.Request) []string { list, _ := policy.Build(r); return list.Names() },
	}
	return b
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a program that may be asked about once.
func (b *bench) run(code string) (Outcome, tool.Result) {
	b.Helper()
	args, err := json.Marshal(map[string]string{"code": code})
	ok(b.T, err)
	r, err := Code{b.o}.Call(b.Context(), tool.Call{Args: args})
	if err != nil {
		b.Fatalf("%s\n\t%v", code, err)
	}
	return r.Data.(Outcome), r
}

// echo answers with what it was called with.
func echo(name string) fake {
	return fake{name: name, schema: pathSchema, call: func(_ context.Context, c tool.Call) (tool.Result, error) {
		var args map[string]any
		err := json.Unmarshal(c.Args, &args)
		return tool.Result{Data: map[string]any{"got": args}}, err
	}}
}

// marks are what newer versions of Python put below a line of a traceback.
var marks = regexp.MustCompile(`(?m)^ +[~^]+\n`)

func TestPrograms(t *testing.T) {
	b := newBench(t)
	b.person.choice = approval.Once
	b.o.Tools = []tool.Tool{
		echo("read_file"), echo("memory"),
		fake{name: "write_file", schema: pathSchema, call: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{}, errors.New("write a: denied by files/path/keys")
		}},
		fake{name: "patch", schema: pathSchema, call: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Failed: true, Parts: []tool.Part{tool.Own("it does not fit")}}, nil
		}},
		fake{name: "search_files", schema: pathSchema, call: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Parts: []tool.Part{tool.Own("found")}}, nil
		}},
	}
	ok(t, os.WriteFile(filepath.Join(b.dir, "mine.py"), []byte("print('mine')\n"), 0o600))
	ok(t, os.WriteFile(filepath.Join(b.dir, "csv.py"), []byte("print('stolen')\n"), 0o600))
	ok(t, os.WriteFile(filepath.Join(b.dir, "threading.py"), []byte("print('stolen')\n"), 0o600))
	for _, row := range []struct{ name, code, status, output string }{
		{"prints", "print('é', 1+1)", "success", "é 2\n"},
		{"prints nothing", "x = 1", "success", ""},
		{"both streams in order", "import sys\nprint('a')\nprint('b', file=sys.stderr)\nprint('c')", "success", "a\nb\nc\n"},
		{"what it starts prints too", "import subprocess\nprint('a')\nsubprocess.run(['echo', 'b'])", "success", "a\nb\n"},
		{"no input", "import sys\nprint(repr(sys.stdin.read()))", "success", "''\n"},
		{"is main", "if __name__ == '__main__':\n    print('main')", "success", "main\n"},
		{"functions and threads", "def f(n):\n    return n if n < 2 else f(n-1) + f(n-2)\nprint(f(10))", "success", "55\n"},
		{"exit code", "import sys\nsys.exit(3)", "error", ""},
		{"exception", "def f():\n    return 1/0\nf()", "error",
			"Traceback (most recent call last):\n  File \"program.py\", line 3, in <module>\n    f()\n  File \"program.py\", line 2, in f\n    return 1/0\nZeroDivisionError: division by zero\n"},
		{"syntax", "print(", "error", ""},
		{"a module beside it", "import mine", "success", "mine\n"},
		{"a file takes no module's place", "import csv, threading\nprint(csv.QUOTE_ALL)", "success", "1\n"},
		{"a tool", "from hermes_tools import read_file\nprint(read_file('a', limit=2))", "success", "{'got': {'limit': 2, 'path': 'a'}}\n"},
		{"by name", "import hermes_tools\nprint(hermes_tools.read_file(limit=2, path='a')['got']['path'])", "success", "a\n"},
		{"too many arguments", "from hermes_tools import *\ntry:\n    read_file(1, 2, 3)\nexcept TypeError as e:\n    print(e)", "success", "read_file takes 2 arguments: path, limit\n"},
		{"an argument that is not there", "from hermes_tools import *\ntry:\n    read_file('a', mode='r')\nexcept TypeError as e:\n    print(e)", "success",
			"read_file has no argument 'mode'; it has: path, limit\n"},
		{"refused", "from hermes_tools import write_file, ToolError\ntry:\n    write_file('a')\nexcept ToolError as e:\n    print('no:', e)", "success", "no: write a: denied by files/path/keys\n"},
		{"failed", "from hermes_tools import patch, ToolError\ntry:\n    patch('a')\nexcept ToolError as e:\n    print('no:', e)", "success", "no: it does not fit\n"},
		{"only text", "from hermes_tools import search_files\nprint(search_files('a'))", "success", "{'output': 'found'}\n"},
		{"not for programs", "import hermes_tools\nprint(hasattr(hermes_tools, 'memory'))", "success", "False\n"},
		{"many at once", "from hermes_tools import read_file\nfrom concurrent.futures import ThreadPoolExecutor\n" +
			"with ThreadPoolExecutor(8) as p:\n    print(sorted(int(r['got']['path']) for r in p.map(lambda n: read_file(str(n)), range(30))) == list(range(30)))", "success", "True\n"},
		{"not from a child", "import os\nfrom hermes_tools import read_file, ToolError\npid = os.fork()\nif pid == 0:\n    try:\n        read_file('a')\n    except ToolError as e:\n        print(e)\n    os._exit(0)\nos.waitpid(pid, 0)\nprint(read_file('b')['got'])",
			"success", "tools are for the program itself, not for processes that it has started\n{'path': 'b'}\n"},
		{"a secret", "print('correct-horse-' + 'battery')", "success", "\x00"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := *b
			b.T = t
			o, r := b.run(row.code)
			o.Output = marks.ReplaceAllString(o.Output, "")
			if o.Status != row.status || row.output != "\x00" && o.Output != row.output && row.name != "syntax" {
				t.Errorf("%s (%s), printed %q, want %s %q", o.Status, o.Error, o.Output, row.status, row.output)
			}
			if strings.Contains(o.Output, "correct-horse-battery") {
				t.Error("the secret is there")
			}
			if row.name == "syntax" && (!strings.Contains(o.Output, "SyntaxError") || strings.Contains(o.Output, "hermes")) {
				t.Errorf("printed %q", o.Output)
			}
			if o.Python == "" || len(r.Parts) == 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// What is asked about is the program itself; what only calls tools is not, since each call is judged.
func TestJudged(t *testing.T) {
	b := newBench(t)
	b.o.Tools = []tool.Tool{echo("read_file")}
	for _, row := range []struct {
		name, code, status string
		asked              bool
	}{
		{"harmless", "print(1)", "success", false},
		{"only tools", "from hermes_tools import read_file\nfor n in range(3):\n    print(read_file(str(n))['got'])", "success", false},
		{"writes", "open('x', 'w').write('1')", "refused", true},
		{"starts a program", "import subprocess\nsubprocess.run(['ls'])", "refused", true},
		{"evaluates what a tool brought", "from hermes_tools import read_file\nexec(read_file('a')['got'])", "refused", true},
		{"a module of that name is not it", "import hermes_tool\nhermes_tool.read_file('a')", "refused", true},
		{"hardline", "import os\nos.system('rm -rf /')", "refused", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := *b
			b.T = t
			b.person.asked = nil
			o, r := b.run(row.code)
			if o.Status != row.status || len(b.person.asked) > 0 != row.asked {
				t.Errorf("%s (%s), asked %q", o.Status, o.Error, b.person.asked)
			}
			if row.asked && b.person.asked[0] != launch.Quote([]string{"python3", "-c", row.code}) {
				t.Errorf("the person was shown %q", b.person.asked[0])
			}
			if row.status == "refused" && (!r.Failed || o.Python != "") {
				t.Errorf("%+v", r)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(b.dir, "x")); err == nil {
		t.Error("what was refused has run")
	}
}

// Of the variables only those that the policy names are there, also in what the kernel tells of the process.
func TestEnvironment(t *testing.T) {
	b := newBench(t)
	b.person.choice = approval.Once
	b.env["USER_PASS"], b.env["MY_VARIABLE"], b.env["LC_TIME"] = "a", "b", "C"
	if _, err := b.o.Launch(t.Context(), launch.Call{ // the sandbox is opened with what a terminal has
		Session: b.o.Base().Session, Place: b.place, Text: "true", Env: b.o.Base().Env,
	}); err != nil {
		t.Fatal(err)
	}
	o, _ := b.run("import os\ntext = open('/proc/self/environ').read() if os.path.exists('/proc/self/environ') else ''\n" +
		"for n in ['USER_PASS', 'MY_VARIABLE', 'LC_TIME', 'PATH']:\n    print(n, n in os.environ, n + '=' in text)")
	want := "USER_PASS False False\nMY_VARIABLE False False\nLC_TIME True True\nPATH True True\n"
	if o.Output != want {
		t.Errorf("%s, want %s", o.Output, want)
	}
}

func TestLimits(t *testing.T) {
	b := newBench(t)
	b.person.choice = approval.Once
	called := 0
	b.o.Tools = []tool.Tool{fake{name: "read_file", schema: pathSchema, call: func(context.Context, tool.Call) (tool.Result, error) {
		called++
		return tool.Result{Data: "x"}, nil
	}}}
	b.o.Calls = 3
	o, r := b.run("from hermes_tools import *\nfor n in range(5):\n    try:\n        print(read_file(str(n)))\n    except ToolError as e:\n        print(e)")
	if called != 3 || len(o.Calls) != 3 || !strings.Contains(o.Output, "a program may call tools 3 times") || !strings.Contains(told(r), "Tool calls: read_file 3.") {
		t.Errorf("called %d times: %+v", called, o)
	}
	b.o.Time = 2 * time.Second
	if o, _ = b.run("print('a')\nimport time\ntime.sleep(60)"); o.Status != "timeout" || o.Output != "a\n" {
		t.Errorf("%+v", o)
	}
	b.o.Tools = []tool.Tool{fake{name: "read_file", schema: pathSchema, call: func(context.Context, tool.Call) (tool.Result, error) {
		time.Sleep(2500 * time.Millisecond)
		return tool.Result{Data: "slow"}, nil
	}}}
	if o, _ = b.run("from hermes_tools import *\nprint(read_file('a'))"); o.Status != "success" {
		t.Errorf("the time of a tool counted: %+v", o)
	}
}

// A program that goes around the module finds the same door, or ends.
func TestRaw(t *testing.T) {
	b := newBench(t)
	b.person.choice = approval.Once
	b.o.Tools = []tool.Tool{echo("read_file"), echo("terminal")}
	way := "import gc, os, json\nfor fd in range(3, 20):\n    try:\n        os.write(fd, %s)\n    except OSError:\n        pass\nimport time\ntime.sleep(0.3)\nprint('alive')"
	for _, row := range []struct{ name, frame, status string }{
		{"nonsense", `b'nonsense\n'`, "stopped"},
		{"without end", `b'x' * (17 << 20)`, "stopped"},
		{"another tool", `b'{"id":1,"tool":"memory","args":{}}\n'`, "success"},
		{"an argument that is not offered", `b'{"id":1,"tool":"terminal","args":{"background":true}}\n'`, "success"},
		{"a flood", `b'{"id":1,"tool":"x","args":{}}\n' * 200000`, "stopped"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := *b
			b.T = t
			o, _ := b.run(fmt.Sprintf(way, row.frame))
			if o.Status != row.status {
				t.Errorf("%+v", o)
			}
			for _, m := range o.Calls {
				if m.Error == "" {
					t.Errorf("it was called: %+v", m)
				}
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	b := newBench(t)
	b.person.choice = approval.Once
	ctx, cancel := context.WithCancel(t.Context())
	args, _ := json.Marshal(map[string]string{"code": "print('begun')\nimport time\ntime.sleep(60)"})
	var heard []string
	r, err := Code{b.o}.Call(ctx, tool.Call{Args: args, Tell: func(u tool.Update) {
		heard = append(heard, u.Output)
		cancel()
	}})
	ok(t, err)
	if o := r.Data.(Outcome); o.Status != "interrupted" || o.Output != "begun\n" || !slices.Equal(heard, []string{"begun\n"}) {
		t.Errorf("%+v, heard %q", o, heard)
	}
}

func TestNoPython(t *testing.T) {
	b := newBench(t)
	b.o.Interpreter = "no-such-python3"
	b.person.choice = approval.Once
	o, r := b.run("print(1)")
	if o.Status != "error" || !strings.Contains(o.Error, "there is no Python 3 where commands run (backend local)") || !r.Failed {
		t.Errorf("%+v", o)
	}
	b.o.Interpreter = "false"
	if o, _ = b.run("print(1)"); o.Status != "error" || !strings.Contains(o.Error, "did not start the program") {
		t.Errorf("%+v", o)
	}
}

// What a tool brought from outside makes what the program prints come from there.
func TestOrigin(t *testing.T) {
	b := newBench(t)
	web := fake{name: "web_extract", schema: pathSchema, call: func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Data: "x", Parts: []tool.Part{{Text: "x"}}}, nil
	}}
	b.o.Tools = []tool.Tool{web}
	if _, r := b.run("print(1)"); r.Parts[0].Origin != taint.Work {
		t.Errorf("%+v", r.Parts)
	}
	if _, r := b.run("from hermes_tools import web_extract\nprint(web_extract('x'))"); r.Parts[0].Origin != taint.Outside {
		t.Errorf("%+v", r.Parts)
	}
}

func TestArguments(t *testing.T) {
	b := newBench(t)
	for _, args := range []string{`{}`, `{"code":"  "}`, `{"code":"a\u0000"}`, `{"code":1}`, `{"code":"1","x":2}`} {
		if _, err := (Code{b.o}).Call(t.Context(), tool.Call{Args: json.RawMessage(args)}); err == nil {
			t.Errorf("%s was taken", args)
		}
	}
	if _, err := (Code{}).Call(t.Context(), tool.Call{Args: json.RawMessage(`{"code":"print(1)"}`)}); err == nil {
		t.Error("the zero tool ran a program")
	}
	s := Code{b.o}.Spec()
	if !json.Valid(s.Schema) || s.Name != "execute_code" {
		t.Errorf("%+v", s)
	}
}

// The clock stands still while tools run.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fired := make(chan time.Time, 1)
		began := time.Now()
		c := newClock(10*time.Second, func() { fired <- time.Now() })
		time.Sleep(4 * time.Second)
		c.pause()
		time.Sleep(time.Minute)
		c.pause()
		c.resume()
		time.Sleep(time.Minute)
		c.resume()
		if got := (<-fired).Sub(began); got != 130*time.Second {
			t.Errorf("after %s", got)
		}
		c.pause()
		c.stop()
		c.resume()
	})
}
