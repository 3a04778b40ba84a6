package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// handed are settings that are handed on while what they are for does not exist. A row goes when its feature comes.
var handed = map[string]string{}

// byHand are the fields that have no tag, with their rows.
var byHand = map[string]string{"Approvals.Required": "approvals.command_approval_required", "Provider.BaseURL": "providers.<name>.base_url",
	"Provider.API": "providers.<name>.api_mode", "Provider.KeyEnv": "providers.<name>.key_env", "Provider.Headers": "providers.<name>.headers",
	"Provider.Models": "providers.<name>.models", "Provider.Context": "providers.<name>.context_length", "Provider.CACert": "providers.<name>.ssl_ca_cert",
	"Provider.Verify": "providers.<name>.ssl_verify"}

// A setting is in effect if and only if something outside of this package reads its field.
func TestInEffect(t *testing.T) {
	used := map[string]bool{}
	files, err := filepath.Glob("../*/*.go")
	if err != nil || len(files) < 20 {
		t.Fatal("no source found")
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "../config/") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "hermes/internal/config\"") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				newFollower(f, used).read()
			}
		}
	}
	for _, k := range keys {
		if k.Retired != "" {
			continue
		}
		_, excused := handed[k.Name]
		switch want := used[k.Name] && !excused; {
		case excused && !used[k.Name]:
			t.Errorf("%s is not handed on any more: its row in this test goes", k.Name)
		case want && !k.InEffect:
			t.Errorf("%s is read: mark its row InEffect, or say in this test why it has none", k.Name)
		case !want && k.InEffect:
			t.Errorf("%s is marked InEffect, and nothing reads it", k.Name)
		}
	}
	if n := len(used); n < 10 {
		t.Errorf("found %d settings that are read: %v", n, slices.Sorted(maps.Keys(used)))
	}
}

// follower follows values of the types of Settings through one function, by their names.
type follower struct {
	f     *ast.FuncDecl
	types map[string]reflect.Type // of names
	used  map[string]bool
}

func newFollower(f *ast.FuncDecl, used map[string]bool) *follower {
	r := &follower{f, map[string]reflect.Type{}, used}
	for _, p := range f.Type.Params.List {
		typ := p.Type
		if star, ok := typ.(*ast.StarExpr); ok {
			typ = star.X
		}
		if sel, ok := typ.(*ast.SelectorExpr); ok {
			if found, ok := structs()[sel.Sel.Name]; ok {
				for _, name := range p.Names {
					r.types[name.Name] = found
				}
			}
		}
	}
	return r
}

// structs returns the types of Settings by name.
func structs() map[string]reflect.Type {
	out := map[string]reflect.Type{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Slice, reflect.Map:
			add(t.Elem())
		case reflect.Struct:
			if out[t.Name()] == nil {
				out[t.Name()] = t
				for i := range t.NumField() {
					add(t.Field(i).Type)
				}
			}
		}
	}
	add(reflect.TypeFor[Settings]())
	return out
}

func (r *follower) read() {
	if r.f.Body == nil {
		return
	}
	ast.Inspect(r.f.Body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.AssignStmt:
			if len(x.Lhs) == 2 && len(x.Rhs) == 1 { // p, ok := set.Providers[name]
				r.name(x.Lhs[0], r.typeOf(x.Rhs[0]))
			}
			if len(x.Lhs) == len(x.Rhs) {
				for i, to := range x.Lhs {
					r.name(to, r.typeOf(x.Rhs[i]))
				}
			}
		case *ast.RangeStmt:
			if t := r.typeOf(x.X); t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && x.Value != nil {
				r.name(x.Value, t.Elem())
			}
		case *ast.SelectorExpr:
			r.typeOf(x)
		}
		return true
	})
}

func (r *follower) name(to ast.Expr, t reflect.Type) {
	if id, ok := to.(*ast.Ident); ok && t != nil {
		r.types[id.Name] = t
	}
}

// typeOf returns the type of an expression if it is a part of Settings, and notes the setting that it reads.
func (r *follower) typeOf(e ast.Expr) reflect.Type {
	switch x := e.(type) {
	case *ast.Ident:
		return r.types[x.Name]
	case *ast.UnaryExpr:
		return r.typeOf(x.X)
	case *ast.ParenExpr:
		return r.typeOf(x.X)
	case *ast.IndexExpr:
		if t := r.typeOf(x.X); t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
			return t.Elem()
		}
	case *ast.SelectorExpr:
		if x.Sel.Name == "Settings" {
			return reflect.TypeFor[Settings]()
		}
		t := r.typeOf(x.X)
		if t == nil || t.Kind() != reflect.Struct {
			return nil
		}
		f, ok := t.FieldByName(x.Sel.Name)
		if !ok {
			if x.Sel.Name == "Wait" { // the one method
				r.used["approvals.timeout"] = true
			}
			return nil
		}
		for _, key := range []string{f.Tag.Get("key"), byHand[t.Name()+"."+f.Name]} {
			if key != "" {
				r.used[key] = true
			}
		}
		return f.Type
	}
	return nil
}
