package paths

import (
	"strings"
	"testing"

	"hermes/internal/guard"
	"hermes/internal/vectortest"
)

var example = Config{
	Homes: []string{"/home/me", "/real/me"}, Hermes: []string{"/home/me/.hermes"}, Own: "/home/me/.hermes", Runtime: []string{"/opt/hermes"}, Teachers: true,
}

// Every row matches its examples through the policy, and not its counter-examples.
func TestTable(t *testing.T) {
	p := New(example)
	seen := map[string]bool{}
	for i := range table {
		r := &table[i]
		if seen[r.key] {
			t.Errorf("%s: two rows of one key", r.key)
		}
		seen[r.key] = true
		if len(r.yes) == 0 || len(r.no) == 0 || r.what == "" {
			t.Errorf("%s: a row needs a name for what it is about, and examples", r.key)
		}
		place := strings.NewReplacer("$HOME", "/home/me", "$HERMES", "/home/me/.hermes", "$RUNTIME", "/opt/hermes")
		for _, name := range r.yes {
			if name = place.Replace(name); !p.matches(r, p.key(name)) {
				t.Errorf("%s: %s does not match", r.key, name)
			}
			decided := false
			for _, a := range []Access{Read, Write, Remove} {
				if r.access.has(a) {
					v := p.Check(Subject{Access: a, Raw: name, Path: name})
					decided = decided || v.Rule == "path/"+r.key
					if v.Action == guard.Allow {
						t.Errorf("%s: %s of %s passes", r.key, verb(a), name)
					}
				}
			}
			if !decided {
				t.Errorf("%s: never decides on %s", r.key, name)
			}
		}
		for _, name := range r.no {
			if name = place.Replace(name); p.matches(r, p.key(name)) {
				t.Errorf("%s: %s matches", r.key, name)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*Config)
		s      Subject
		want   guard.Action
		rule   string
	}{
		{name: "ordinary", s: Subject{Access: Write, Path: "/home/me/work/a.go"}, want: guard.Allow},
		{name: "the zero access", s: Subject{Path: "/home/me/work/a.go"}, want: guard.Block},
		{name: "relative", s: Subject{Access: Read, Path: "a.go"}, want: guard.Block, rule: "path/relative"},
		{name: "no path", s: Subject{Access: Read}, want: guard.Block, rule: "path/relative"},
		{name: "zero byte", s: Subject{Access: Read, Path: "/a\x00b"}, want: guard.Block, rule: "path/relative"},
		{name: "device", s: Subject{Access: Read, Raw: `\\.\PhysicalDrive0`, Path: "/x"}, want: guard.Block, rule: "path/windows-namespace"},
		{name: "device with slashes", s: Subject{Access: Read, Raw: `//./pipe/x`, Path: "/x"}, want: guard.Block, rule: "path/windows-namespace"},
		{name: "global root", s: Subject{Access: Write, Raw: `\\?\GlobalRoot\Device`, Path: "/x"}, want: guard.Block, rule: "path/windows-namespace"},
		{name: "long path", s: Subject{Access: Write, Raw: `\\?\C:\work\a`, Path: `C:\work\a`}, want: guard.Allow},
		{name: "a link into .ssh", s: Subject{Access: Write, Path: "/home/me/work/a", Real: []string{"/home/me/.ssh/authorized_keys"}}, want: guard.Block, rule: "path/credentials"},
		{name: "a link to a key", s: Subject{Access: Read, Path: "/home/me/work/a", Real: []string{"/home/me/.ssh/id_rsa"}}, want: guard.Block, rule: "path/keys"},
		{name: "a link out of .ssh", s: Subject{Access: Write, Path: "/home/me/.ssh/a", Real: []string{"/home/me/work/a"}}, want: guard.Block, rule: "path/credentials"},
		{name: "dots", s: Subject{Access: Write, Path: "/home/me/work/../.ssh/a"}, want: guard.Block, rule: "path/credentials"},
		{name: "double slashes", s: Subject{Access: Write, Path: "/home//me/.ssh//a"}, want: guard.Block, rule: "path/credentials"},
		{name: "other home", s: Subject{Access: Write, Path: "/real/me/.ssh/a"}, want: guard.Block, rule: "path/credentials"},
		{name: "foreign home", s: Subject{Access: Write, Path: "/home/you/.ssh/a"}, want: guard.Allow},
		{name: "case", change: func(c *Config) { c.FoldCase = true }, s: Subject{Access: Write, Path: "/HOME/Me/.SSH/a"}, want: guard.Block, rule: "path/credentials"},
		{name: "case counts", s: Subject{Access: Write, Path: "/home/me/.SSH/a"}, want: guard.Allow},
		{name: "case of a secret's name, wherever", s: Subject{Access: Read, Path: "/p/.ENV"}, want: guard.Block, rule: "path/secret-environment"},
		{name: "case of a store, folded", change: func(c *Config) { c.FoldCase = true }, s: Subject{Access: Write, Path: "/home/me/.hermes/.ENV"}, want: guard.Block, rule: "path/stores"},
		{name: "case of a store, reading, folded", change: func(c *Config) { c.FoldCase = true }, s: Subject{Access: Read, Path: "/home/me/.Hermes/Auth.JSON"}, want: guard.Block, rule: "path/credential-store"},
		{name: "a descriptor", s: Subject{Access: Read, Path: "/dev/fd/3"}, want: guard.Block, rule: "path/descriptors"},
		{name: "a descriptor, by /proc", s: Subject{Access: Read, Path: "/proc//self/./fd/3"}, want: guard.Block, rule: "path/descriptors"},
		{name: "a descriptor's file", s: Subject{Access: Read, Path: "/home/me/work/a", Real: []string{"/proc/self/fd/7"}}, want: guard.Block, rule: "path/descriptors"},
		{name: "writing to a descriptor", s: Subject{Access: Write, Path: "/dev/fd/1"}, want: guard.Block, rule: "path/system"},
		{name: "writing to standard output", s: Subject{Access: Write, Path: "/dev/stdout"}, want: guard.Block, rule: "path/system"},
		{name: "what is remembered", s: Subject{Access: Write, Path: "/home/me/.hermes/memories/MEMORY.md"}, want: guard.Ask, rule: "path/settings"},
		{name: "remove an entry", s: Subject{Access: Remove, Path: "/home/me/.netrc", Real: []string{"/home/me/work/x"}}, want: guard.Block, rule: "path/credentials"},
		{name: "instructions ask", s: Subject{Access: Write, Path: "/p/AGENTS.md"}, want: guard.Ask, rule: "path/instructions"},
		{name: "instructions, switched off", change: func(c *Config) { c.Teachers = false }, s: Subject{Access: Write, Path: "/p/AGENTS.md"}, want: guard.Allow},
		{name: "SOUL.md asks whatever is switched off", change: func(c *Config) { c.Teachers = false }, s: Subject{Access: Write, Path: "/home/me/.hermes/SOUL.md"}, want: guard.Ask, rule: "path/settings"},
		{name: "inside the safe root", change: safe, s: Subject{Access: Write, Path: "/data/a"}, want: guard.Allow},
		{name: "the safe root itself", change: safe, s: Subject{Access: Write, Path: "/data"}, want: guard.Allow},
		{name: "beside the safe root", change: safe, s: Subject{Access: Write, Path: "/database"}, want: guard.Block, rule: "path/safe-root"},
		{name: "a link out of the safe root", change: safe, s: Subject{Access: Write, Path: "/data/a", Real: []string{"/etc/hosts"}}, want: guard.Block, rule: "path/safe-root"},
		{name: "reading outside the safe root", change: safe, s: Subject{Access: Read, Path: "/etc/hosts"}, want: guard.Allow},
		{name: "denied inside the safe root", change: func(c *Config) { c.SafeRoots = []string{"/"} }, s: Subject{Access: Write, Path: "/etc/passwd"}, want: guard.Block, rule: "path/system"},
		{name: "own profile", change: coder, s: Subject{Access: Write, Path: "/home/me/.hermes/profiles/coder/notes"}, want: guard.Allow},
		{name: "sibling profile", change: coder, s: Subject{Access: Write, Path: "/home/me/.hermes/profiles/tester/notes"}, want: guard.Block, rule: "path/other-profile"},
		{name: "sibling profile, meant", change: coder, s: Subject{Access: Write, Path: "/home/me/.hermes/profiles/tester/notes", Cross: true}, want: guard.Allow},
		{name: "sibling's secrets, meant", change: coder, s: Subject{Access: Write, Path: "/home/me/.hermes/profiles/tester/.env", Cross: true}, want: guard.Block, rule: "path/stores"},
		{name: "the root's secrets from a profile", change: coder, s: Subject{Access: Read, Path: "/home/me/.hermes/.env"}, want: guard.Block, rule: "path/credential-store"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := example
			if row.change != nil {
				row.change(&c)
			}
			v := New(c).Check(row.s)
			if v.Action != row.want || row.rule != "" && v.Rule != row.rule {
				t.Errorf("%v %s (%s), want %v %s", v.Action, v.Rule, v.Reason, row.want, row.rule)
			}
			if v.Action != guard.Allow && v.Reason == "" {
				t.Error("no reason")
			}
		})
	}
	if v := (*Policy)(nil).Check(Subject{Access: Read, Path: "/a"}); v.Action != guard.Block {
		t.Errorf("no policy: %v", v)
	}
}

func safe(c *Config) { c.SafeRoots = []string{"/data", "/opt/x/"} }

func coder(c *Config) {
	c.Hermes = []string{"/home/me/.hermes", "/home/me/.hermes/profiles/coder"}
	c.Own = "/home/me/.hermes/profiles/coder"
}

func TestMessages(t *testing.T) {
	c := example
	safe(&c)
	p := New(c)
	for _, row := range []struct {
		s    Subject
		want string
	}{
		{Subject{Access: Write, Raw: "~/.netrc", Path: "/home/me/.netrc"}, "Write denied: '~/.netrc' is a protected system/credential file."},
		{Subject{Access: Write, Raw: "/etc/hosts", Path: "/etc/hosts"},
			"Write denied: '/etc/hosts' is outside HERMES_WRITE_SAFE_ROOT (/data, /opt/x). Unset the variable or add this path's directory prefix."},
		{Subject{Access: Read, Raw: "/p/.env", Path: "/p/.env"}, "Access denied: /p/.env is a secret-bearing environment file and cannot be read by file tools"},
	} {
		if got := p.Check(row.s).Reason; got != row.want {
			t.Errorf("got  %s\nwant %s", got, row.want)
		}
	}
}

func TestExpand(t *testing.T) {
	account := func(name string) string { return map[string]string{"you": "/home/you"}[name] }
	for _, row := range []struct{ raw, dir, want string }{
		{"a", "/w", "/w/a"},
		{"../a", "/w/x", "/w/a"},
		{"/a/../b", "", "/b"},
		{"~", "", "/home/me"},
		{"~/a", "", "/home/me/a"},
		{"~you/.ssh", "", "/home/you/.ssh"},
		{"~nobody/a", "", ""},
		{"a", "", ""},
		{"", "/w", ""},
		{"a/~/b", "/w", "/w/a/~/b"},
	} {
		got, err := Expand(row.raw, row.dir, "/home/me", account)
		if got != row.want || (err == nil) != (row.want != "") {
			t.Errorf("%q in %q: %q, %v; want %q", row.raw, row.dir, got, err, row.want)
		}
	}
}

type vector struct {
	ID, Kind, Path string
	Config         map[string]string
	Expected       map[string]any
}

// The rows of the original, with its placeholders put in place. What is about files on disk is the door's to test.
func TestVectors(t *testing.T) {
	divergent := vectortest.Divergences(t, "testdata/divergences.jsonl")
	agreed, rows := 0, 0
	for _, v := range append(vectortest.Rows[vector](t, "testdata/write_deny.jsonl"), vectortest.Rows[vector](t, "testdata/read_deny.jsonl")...) {
		place := strings.NewReplacer("{HOME}", "/home/me", "{REAL_HOME}", "/tmp/t/real_home", "{PROCESS_HOME}", "/tmp/t/profile_home",
			"{HERMES_HOME}", "/tmp/t/hermes_home", "{HERMES_ROOT}", "/tmp/t/hermes_root", "{TMP}", "/tmp/t", "{H}", "/home/me")
		own := "/tmp/t/hermes_home"
		if at := v.Config["HERMES_HOME"]; at != "" {
			own = place.Replace(at)
		}
		name := strings.ReplaceAll(v.Path, "{HERMES_HOME}", own)
		homes := []string{"/home/me", "/tmp/t/real_home", "/tmp/t/profile_home"}
		p := New(Config{Homes: homes, Hermes: []string{own, "/tmp/t/hermes_root"}, Own: own, Teachers: true})
		dir := "/home/me"
		if at := v.Config["TERMINAL_CWD"]; at != "" {
			dir = strings.ReplaceAll(at, "{HERMES_HOME}", own)
		}
		full, err := Expand(place.Replace(name), dir, "/home/me", nil)
		if err != nil {
			if v.Kind == "guard_homes" {
				continue // about who finds the homes
			}
			t.Fatal(v.ID, err)
		}
		access := Write
		if strings.HasPrefix(v.Kind, "read") {
			access = Read
		}
		if strings.HasPrefix(v.Kind, "prefix") {
			full += "/x"
		}
		verdict := p.Check(Subject{Access: access, Raw: full, Path: full})
		ok := true
		for key, want := range v.Expected {
			switch key {
			case "denied", "blocked", "in_exact_deny_list", "in_prefix_deny_list":
				ok = ok && (verdict.Action == guard.Block) == want
			case "in_approval_list":
				ok = ok && (verdict.Action == guard.Ask) == want
			case "error_contains":
				if text, one := want.(string); one {
					want = []any{text}
				}
				for _, text := range want.([]any) {
					ok = ok && verdict.Action == guard.Block && strings.Contains(verdict.Reason, text.(string))
				}
			case "content_unchanged":
				ok = ok && verdict.Action == guard.Block
			default:
				t.Fatalf("%s: expected %q is not understood", v.ID, key)
			}
		}
		rows++
		if ok {
			agreed++
		}
		if _, ours := divergent[v.ID]; ok == ours {
			t.Errorf("%s: %s %s: %v (%s), expected %v", v.ID, v.Kind, full, verdict.Action, verdict.Reason, v.Expected)
		}
	}
	t.Logf("%d of %d rows as the original, %d otherwise on purpose", agreed, rows, len(divergent))
}

// Whatever is done to a path's spelling, the verdict on what it names does not get milder.
func FuzzSpelling(f *testing.F) {
	f.Add("/home/me/.ssh", "id_rsa", uint8(0))
	f.Add("/home/me/.hermes", ".env", uint8(7))
	p := New(example)
	f.Fuzz(func(t *testing.T, dir, base string, how uint8) {
		if strings.ContainsAny(dir+base, "\x00\\") || strings.ContainsAny(base, "/:") || base == "" || base == "." || base == ".." || !strings.HasPrefix(dir, "/") || namespace(dir+"/"+base) {
			return
		}
		plain := dir + "/" + base
		odd := map[uint8]string{0: dir + "//" + base, 1: dir + "/./" + base, 2: dir + "/x/../" + base, 3: "//" + plain, 4: plain + "/", 5: plain + "/.", 6: "/../.." + plain}[how%7]
		for _, a := range []Access{Read, Write, Remove} {
			if one, other := p.Check(Subject{Access: a, Path: plain}), p.Check(Subject{Access: a, Path: odd}); other.Action > one.Action {
				t.Errorf("%s of %q is %v, of %q %v", verb(a), plain, one.Action, odd, other.Action)
			}
		}
	})
}
