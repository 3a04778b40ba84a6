// Package hermes_test holds the rules of the house that are about the tree as a whole: layers, names, sizes, documents.
//
// It tests no behaviour; that is next to the code. Failure direction: what the rules do not know fails.
package hermes_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The rings, innermost first: a package imports its own ring and those further in, never outward.
//
// THIS IS A STATEMENT OF POLICY. Do not change it to make a build pass: change it in a commit of its own that says why.
var rings = []struct {
	name     string
	packages []string
}{
	{"words", []string{
		"internal/guard", "internal/htmltext", "internal/pdftext", "internal/screen", "internal/secret", "internal/redact", "internal/redact/redacttest",
		"internal/shell/code", "internal/shell/winsh", "internal/shell", "internal/spell",
	}},
	{"guards", []string{"internal/guard/checked", "internal/guard/command", "internal/guard/egress", "internal/guard/environ", "internal/guard/exposure",
		"internal/guard/exposure/container",
		"internal/guard/paths", "internal/guard/scope", "internal/guard/taint"}},
	{"machine", []string{"internal/audit", "internal/child", "internal/child/proc", "internal/compose", "internal/config", "internal/home", "internal/proxy", "internal/proxy/proof", "internal/repository", "internal/safehttp", "internal/sitelist",
		"internal/sqlite", "internal/llm", "internal/llm/wire", "internal/llm/openai", "internal/llm/anthropic",
		"internal/llm/detect", "internal/llm/llmtest",
		"internal/sandbox", "internal/sandbox/snapshot", "internal/sandbox/effect", "internal/sandbox/capture",
		"internal/sandbox/runner", "internal/sandbox/runner/program", "internal/sandbox/local", "internal/sandbox/sandboxtest",
		"internal/sandbox/probe", "internal/sandbox/probe/look",
		"internal/sandbox/native", "internal/sandbox/native/role", "internal/sandbox/native/seccomp", "internal/sandbox/native/wall",
		"internal/sandbox/docker", "internal/sandbox/docker/plan", "internal/sandbox/docker/image", "internal/sandbox/docker/enginetest",
		"internal/sandbox/filesync", "internal/sandbox/ssh",
		"internal/sandbox/backends", "internal/rigtest", "internal/vectortest"}},
	{"doors", []string{"internal/approval", "internal/approval/suggest", "internal/launch", "internal/process", "internal/prompt", "internal/session", "internal/workspace"}},
	{"agent", []string{"internal/tool", "internal/tool/browse", "internal/tool/editor", "internal/tool/notes", "internal/tool/program", "internal/tool/terminal",
		"internal/agent"}},
	{"fronts", []string{"internal/chat", "internal/demo", "internal/tui"}},
	{"wiring", []string{"internal/app", "internal/cli", "cmd/hermes", "cmd/runner"}},
}

// The children of a family never import each other, but for what is common to a family.
var families = []string{"internal/guard", "internal/sandbox", "internal/llm", "internal/tool", "internal/gateway"}

// What the children of a family have in common: the sandboxes share the helper inside, its probe, what they keep and cut, and how
// files get to other machines.
var common = []string{"internal/sandbox/runner", "internal/sandbox/snapshot", "internal/sandbox/capture", "internal/sandbox/probe",
	"internal/sandbox/effect", "internal/sandbox/filesync",
	"internal/llm/wire"}

// The lists of a family, which name every child.
var lists = []string{"internal/sandbox/backends"}

// Nobody imports these but the packages named, which do it for everybody. Tests are exempt.
var reserved = []struct {
	what    string
	imports func(string) bool
	only    []string
	instead string
}{
	{"starts programs", is("os/exec"), nil, "programs start in internal/child"},
	{"opens connections", networking, []string{"internal/proxy", "internal/proxy/proof", "internal/safehttp", "internal/sandbox/probe"},
		"connections are opened in internal/safehttp, and for sandboxes in internal/proxy; the probe and the proof try which can be"},
	{"reads YAML", below("go.yaml.in/yaml"), []string{"internal/config"}, "settings are read in internal/config"},
	{"goes around the type system", is("unsafe", "C", "plugin"),
		[]string{"internal/sandbox/native/wall", "internal/sandbox/probe"},
		"there is no place for it but system calls that have no other form: walls, and the probe that tries them"},
	{"calls the system", is("syscall", "golang.org/x/sys/unix", "golang.org/x/sys/windows"),
		[]string{"internal/audit", "internal/child", "internal/home", "internal/safehttp", "internal/sandbox/runner", "internal/sandbox/local", "internal/sandbox/capture", "internal/sandbox/probe",
			"internal/sandbox/native", "internal/sandbox/native/seccomp", "internal/sandbox/native/wall", "internal/workspace"},
		"system calls belong to the packages of the sandbox, to child (processes), audit and home (locks), workspace (owners of files); safehttp names the type of a socket"},
	{"is for tests", forTests, nil, "it has no place in the binary"},
	{"draws on terminals", below("charm.land", "github.com/yuin/goldmark"), []string{"internal/tui"}, "what a person sees is drawn in internal/tui"},
	{"knows the command-line library", below("github.com/spf13"), []string{"internal/cli"}, "flags end in internal/cli"},
	{"opens databases", below("database/sql", "modernc.org"), []string{"internal/sqlite"}, "databases are opened in internal/sqlite"},
	{"parses shell", below("mvdan.cc/sh"), []string{"internal/shell"}, "internal/shell answers for shell text"},
}

// The rings whose packages are pure: they get values and return values.
var pure = []string{"words", "guards"}

// What a pure package may not import.
func impure(name string) bool {
	return networking(name) || below("os", "syscall", "io/ioutil")(name) || name == "log"
}

// What a pure package may not call, whatever it was imported for.
var impureCalls = map[string][]string{"time": {"Now", "Since", "Until", "Sleep", "After", "NewTimer", "NewTicker", "Tick", "AfterFunc"}}

// Reading the environment is for main, which hands it as a function to internal/cli, and that to internal/config.
var environment = map[string][]string{"os": {"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv",
	"UserHomeDir", "UserConfigDir", "UserCacheDir", "TempDir"}}

var readsEnvironment = []string{"cmd/hermes"}

const module = "hermes/"

func is(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

func below(roots ...string) func(string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(roots, func(root string) bool { return name == root || strings.HasPrefix(name, root+"/") })
	}
}

// forTests tells whether a package of ours helps tests only, by its name (redacttest, sandboxtest).
func forTests(name string) bool {
	return strings.HasPrefix(name, module) && strings.HasSuffix(name, "test")
}

// networking tells whether a package can reach the network: all of net, but for the two that only handle text.
func networking(name string) bool { return below("net")(name) && !is("net/netip", "net/url")(name) }

// source is one parsed file of the binary's tree. Tests are not part of it.
type source struct {
	pkg  string // directory, which is the import path below the module
	name string // file
	set  *token.FileSet
	file *ast.File
	size int // lines
}

// sources parses all files below cmd and internal, whatever system they are for.
func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	for _, root := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "testdata":
				return fs.SkipDir
			case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			name = filepath.ToSlash(name)
			out = append(out, source{path.Dir(name), name, set, file, strings.Count(string(text), "\n")})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(out) == 0 {
		t.Fatal("no source found")
	}
	return out
}

// at returns a position as file:line.
func (s source) at(pos token.Pos) string {
	return s.name + ":" + strconv.Itoa(s.set.Position(pos).Line)
}

// imports returns the file's import paths.
func (s source) imports() []string {
	out := make([]string, len(s.file.Imports))
	for i, spec := range s.file.Imports {
		out[i], _ = strconv.Unquote(spec.Path.Value)
	}
	return out
}

// uses calls f for each of the named members of packages that the file mentions.
func (s source) uses(members map[string][]string, f func(name string, pos token.Pos)) {
	local := map[string]string{}
	for _, spec := range s.file.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		as := path.Base(name)
		if spec.Name != nil {
			as = spec.Name.Name
		}
		local[as] = name
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(members[local[x.Name]], sel.Sel.Name) {
				f(local[x.Name]+"."+sel.Sel.Name, sel.Pos())
			}
		}
		return true
	})
}

// ringOf returns the place of a package's ring, -1 for a package in none.
func ringOf(pkg string) int {
	for i, ring := range rings {
		if slices.Contains(ring.packages, pkg) {
			return i
		}
	}
	return -1
}

func TestEveryPackageHasARing(t *testing.T) {
	exists := map[string]bool{}
	for _, s := range sources(t) {
		if !exists[s.pkg] && ringOf(s.pkg) < 0 {
			t.Errorf("%s is in no ring: say in layers_test.go who may import it, in a commit of its own", s.pkg)
		}
		exists[s.pkg] = true
	}
	for _, ring := range rings {
		for _, pkg := range ring.packages {
			if !exists[pkg] {
				t.Errorf("layers_test.go names %s, which does not exist", pkg)
			}
		}
	}
}

func TestImportsGoInward(t *testing.T) {
	for _, s := range sources(t) {
		for _, name := range s.imports() {
			target, ours := strings.CutPrefix(name, module)
			if !ours {
				continue
			}
			if from, to := ringOf(s.pkg), ringOf(target); from >= 0 && to > from {
				t.Errorf("%s (%s) imports %s (%s): imports go inward", s.name, rings[from].name, target, rings[to].name)
			}
			for _, family := range families {
				a, aIn := strings.CutPrefix(s.pkg, family+"/")
				b, bIn := strings.CutPrefix(target, family+"/")
				a, _, _ = strings.Cut(a, "/") // a child may have parts of its own
				b, _, _ = strings.Cut(b, "/")
				if aIn && bIn && a != b && !slices.Contains(common, target) && !slices.Contains(lists, s.pkg) {
					t.Errorf("%s imports %s: the children of %s do not know each other", s.name, target, family)
				}
			}
		}
	}
}

func TestReservedImports(t *testing.T) {
	for _, s := range sources(t) {
		if strings.HasSuffix(s.pkg, "test") {
			continue // a package that helps tests only, and is kept out of the binary, is a test
		}
		for _, name := range s.imports() {
			for _, rule := range reserved {
				if rule.imports(name) && !slices.Contains(rule.only, s.pkg) {
					t.Errorf("%s imports %s, which %s: %s", s.name, name, rule.what, rule.instead)
				}
			}
		}
		if !slices.Contains(readsEnvironment, s.pkg) {
			s.uses(environment, func(name string, pos token.Pos) {
				t.Errorf("%s: %s: take the value as an argument", s.at(pos), name)
			})
		}
	}
}

func TestGuardsArePure(t *testing.T) {
	for _, s := range sources(t) {
		ring := ringOf(s.pkg)
		if ring < 0 || !slices.Contains(pure, rings[ring].name) {
			continue
		}
		for _, name := range s.imports() {
			if impure(name) {
				t.Errorf("%s imports %s: a decision gets facts as arguments", s.name, name)
			}
		}
		s.uses(impureCalls, func(name string, pos token.Pos) {
			t.Errorf("%s: %s: a decision gets the time as an argument", s.at(pos), name)
		})
	}
}

func TestNothingRunsAtImport(t *testing.T) {
	for _, s := range sources(t) {
		for _, spec := range s.file.Imports {
			if spec.Path.Value == `"embed"` {
				continue // runs nothing; go:embed asks for it by this name
			}
			if spec.Name != nil && (spec.Name.Name == "_" || spec.Name.Name == ".") {
				t.Errorf("%s: import %s %s: write an explicit list", s.at(spec.Pos()), spec.Name.Name, spec.Path.Value)
			}
		}
		for _, decl := range s.file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					t.Errorf("%s: func init: do it in a function that somebody calls", s.at(d.Pos()))
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						for _, value := range v.Values {
							startWork(t, s, value)
						}
					}
				}
			}
		}
	}
}

// startWork refuses package variables whose value has to be computed before main. Errors cost next to nothing; what is made
// at its first use (sync.OnceValue) costs nothing.
func startWork(t *testing.T, s source, value ast.Expr) {
	ast.Inspect(value, func(n ast.Node) bool {
		switch e := n.(type) {
		case *ast.FuncLit:
			return false // runs when called
		case *ast.CompositeLit:
			if _, isMap := e.Type.(*ast.MapType); isMap && len(e.Elts) > 0 {
				t.Errorf("%s: a map at package level is filled before main: use a switch or sync.OnceValue", s.at(e.Pos()))
			}
		case *ast.CallExpr:
			if sel, ok := e.Fun.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "regexp" {
					t.Errorf("%s: a pattern at package level is compiled before main: use sync.OnceValue", s.at(e.Pos()))
				}
			}
		}
		return true
	})
}
