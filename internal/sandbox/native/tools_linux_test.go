package native_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What people work with works inside.
func TestTools(t *testing.T) {
	s, conf := spec(t)
	tree := s.Workdir.String()
	if home, err := os.UserHomeDir(); err == nil { // toolchains of whoever runs the tests
		s.Read = append(s.Read, existing(filepath.Join(home, ".pyenv"), filepath.Join(home, "go/pkg/mod"), filepath.Join(home, ".cargo"))...)
	}
	if python, err := exec.LookPath("python3"); err == nil { // one in another home than HOME says: its shims need the rest
		if dir, _, ok := strings.Cut(python, "/shims/"); ok {
			s.Read = append(s.Read, dir)
		}
	}
	write(t, filepath.Join(conf.Home, ".gitconfig"), "[user]\n\tname = A \"B\" C\n\temail = a@example.com\n[credential]\n\thelper = store\n")
	write(t, filepath.Join(tree, "go.mod"), "module x\n\ngo 1.20\n")
	write(t, filepath.Join(tree, "main.go"), "package main\n\nfunc main() { println(\"built\") }\n")
	write(t, filepath.Join(tree, "Makefile"), "all:\n\t@echo made\n")
	write(t, filepath.Join(tree, "test_x.py"), "def test_x():\n    assert 1 + 1 == 2\n")
	write(t, filepath.Join(tree, "c/a.c"), "#include <stdio.h>\nint main(void) { puts(\"compiled\"); return 0; }\n")
	p := open(t, backend(t, conf), s)
	for _, row := range []struct{ needs, command, want string }{
		{"git", "git init -q . && git add . && git commit -q -m first && git log --format='%an %ae'", `A "B" C a@example.com`},
		{"git", "git config credential.helper; git status --short | head -3; echo clean", "clean"},
		{"go", "go build -o x . && ./x", "built"},
		{"npm", "npm --version", "."},
		{"node", "node -e 'console.log(6*7)'", "42"},
		{"python3", "python3 -c 'import multiprocessing as m; print(m.Lock() and sum([40, 2]))'", "42"},
		{"pytest", "pytest -q -p no:cacheprovider test_x.py", "1 passed"},
		{"make", "make", "made"},
		{"gcc", "cd c && gcc -o a a.c && ./a && cd ..", "compiled"},
		{"bash", "cat <(echo substitution) > /dev/stdout; echo err > /dev/stderr", "substitution"},
	} {
		if _, err := exec.LookPath(row.needs); err != nil {
			if os.Getenv("HERMES_TEST_REQUIRE") != "" && row.needs != "pytest" {
				t.Errorf("needs %s", row.needs)
			}
			t.Logf("skipped: needs %s", row.needs)
			continue
		}
		out, code := run(t, p, row.command)
		if row.needs == "pytest" && code != 0 && strings.Contains(out, "not found") {
			t.Logf("pytest is not for this Python: %s", out)
			continue
		}
		if code != 0 || !strings.Contains(out, row.want) {
			t.Errorf("%s: exit code %d\n%s", row.command, code, out)
		}
	}
}

func existing(paths ...string) (out []string) {
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			out = append(out, path)
		}
	}
	return out
}
