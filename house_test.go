package hermes_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the files that these tests compare with")

// Each package says once what it is for, and what happens when it fails.
func TestPackageDocs(t *testing.T) {
	docs := map[string][]string{}
	for _, s := range sources(t) {
		text := s.file.Doc.Text()
		if text == "" {
			if _, seen := docs[s.pkg]; !seen {
				docs[s.pkg] = nil
			}
			continue
		}
		docs[s.pkg] = append(docs[s.pkg], s.name)
		want := "Package " + s.file.Name.Name + " "
		if s.file.Name.Name == "main" {
			want = "Command " + path.Base(s.pkg) + " "
		}
		if !strings.HasPrefix(text, want) {
			t.Errorf("%s: the package comment begins with %q", s.name, want)
		}
		if !strings.Contains(text, "Failure direction:") && !strings.Contains(text, "Failure direction is") {
			t.Errorf("%s: the package comment does not say its failure direction", s.name)
		}
	}
	for pkg, files := range docs {
		if len(files) != 1 {
			t.Errorf("%s has %d package comments %v, want one", pkg, len(files), files)
		}
	}
}

// Names that say nothing about what is inside.
var emptyNames = []string{"api", "base", "common", "core", "helper", "helpers", "impl", "interfaces", "lib", "misc", "model",
	"models", "pkg", "shared", "types", "util", "utils"}

func TestPackageNames(t *testing.T) {
	for _, s := range sources(t) {
		if slices.Contains(emptyNames, path.Base(s.pkg)) {
			t.Errorf("%s: name the package after what it holds", s.pkg)
		}
		if s.file.Name.Name != "main" && s.file.Name.Name != path.Base(s.pkg) {
			t.Errorf("%s: package %s in folder %s", s.name, s.file.Name.Name, s.pkg)
		}
	}
}

// No exported name repeats its package's: callers write both.
func TestNamesDoNotStutter(t *testing.T) {
	for _, s := range sources(t) {
		check := func(name *ast.Ident) {
			pkg := s.file.Name.Name
			if !name.IsExported() || len(name.Name) < len(pkg) || !strings.EqualFold(name.Name[:len(pkg)], pkg) {
				return
			}
			// exposure.Exposure, like time.Time, is the one thing its package is about.
			if rest := name.Name[len(pkg):]; rest != "" && unicode.IsUpper(rune(rest[0])) {
				t.Errorf("%s: %s.%s says it twice", s.at(name.Pos()), pkg, name.Name)
			}
		}
		for _, decl := range s.file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					check(d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						check(spec.Name)
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							check(name)
						}
					}
				}
			}
		}
	}
}

// A file that nobody can hold in mind fails; a long one is mentioned. Rule tables are exempt: their rows are read one by one.
func TestFileSizes(t *testing.T) {
	const long, tooLong = 600, 1500
	var sizes []int
	for _, s := range sources(t) {
		sizes = append(sizes, s.size)
		switch {
		case s.size > tooLong && !isTable(s):
			t.Errorf("%s has %d lines", s.name, s.size)
		case s.size > long:
			t.Logf("%s has %d lines: is it one thing?", s.name, s.size)
		}
	}
	slices.Sort(sizes)
	t.Logf("lines of a file: median %d, p90 %d", sizes[len(sizes)/2], sizes[len(sizes)*9/10])
}

// isTable tells whether most of a file is the value of one variable.
func isTable(s source) bool {
	for _, decl := range s.file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
			if lines := s.set.Position(d.End()).Line - s.set.Position(d.Pos()).Line; lines > s.size*2/3 {
				return true
			}
		}
	}
	return false
}

// A clone builds from what its go.mod says, with nothing replaced.
func TestModuleReplacesNothing(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word == "replace" || word == "exclude" {
			t.Errorf("go.mod: %s", strings.TrimSpace(line))
		}
	}
}

// Every module we chose has its reason in CONTRIBUTING.md.
func TestDependenciesAreArgued(t *testing.T) {
	module, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	reasons, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(module)) {
		fields := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(fields) == 2 && strings.HasPrefix(fields[1], "v") && !bytes.Contains(reasons, []byte("`"+fields[0]+"`")) {
			t.Errorf("go.mod requires %s: say in CONTRIBUTING.md what for", fields[0])
		}
	}
}

// The map in README.md shows every package.
func TestReadmeShowsEveryPackage(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range sources(t) {
		if !seen[s.pkg] && !bytes.Contains(readme, []byte("`"+s.pkg+"`")) {
			t.Errorf("README.md does not say what %s is", s.pkg)
		}
		seen[s.pkg] = true
	}
}

// What is linked into the binary shows in review: a new line in packages.txt is a new dependency.
func TestBinaryPackages(t *testing.T) {
	const list = "cmd/hermes/packages.txt"
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./cmd/hermes")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	lines := strings.Fields(string(out))
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(list, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the binary's packages changed (-listed +linked); if that is meant: go test . -update\n%s", diff)
	}
}

// Nothing in the tree points at the machine it was written on.
func TestNoLocalPaths(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skipf("git ls-files: %v (not a clone?)", err)
	}
	words := []string{"/work" + "/main", "/work" + "/shared", "/work" + "/.lib", "/root" + "/go/", "/tmp" + "/h/"}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // deleted, not yet committed
		}
		for _, word := range words {
			if i := bytes.Index(text, []byte(word)); i >= 0 {
				t.Errorf("%s:%d mentions %s", name, 1+bytes.Count(text[:i], []byte("\n")), word)
			}
		}
	}
}
