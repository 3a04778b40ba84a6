package plan

import (
	"slices"
	"strings"
	"testing"

	"hermes/internal/guard/exposure"
	"hermes/internal/guard/exposure/container"
)

// What was planned is read back as the engine will read it. Nothing in it is refused that was not accepted, everything it opens is
// told, no door is asked to be shut that it opens, and without a network there is none.
func FuzzNew(f *testing.F) {
	for _, row := range [][3]string{
		{"", "", ""}, {"/srv/x:/x", "--memory=1m", ""}, {"/:/h", "--privileged", "host-root\nprivileged"}, {"a:/workspace\n/b:/workspace", "-v\nx:/y", ""},
		{"/run/docker.sock:/s", "--net\nnone", "engine-socket"}, {"a:/tmp", "-u\n5", ""}, {"a:/a", "--cap-drop\nALL\n--cap-add\nSYS_ADMIN", "cap-sys-admin"},
	} {
		f.Add(row[0], row[1], row[2], uint8(0))
		f.Add(row[0], row[1], row[2], uint8(0xff))
	}
	f.Fuzz(func(t *testing.T, volumes, extra, accept string, bits uint8) {
		s, facts := settings(), facts()
		list := func(text string) []string {
			return slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool { return s == "" })
		}
		s.Volumes, s.ExtraArgs, s.Accept = list(volumes), list(extra), list(accept)
		if len(s.Volumes)+len(s.ExtraArgs) > 40 {
			return // what follows compares each with each
		}
		s.Persistent, s.AsHostUser, s.Snap, facts.S6 = bits&1 == 0, bits&2 != 0, bits&4 != 0, bits&8 != 0
		if bits&16 != 0 {
			facts.Engine = container.Podman
		}
		if bits&32 != 0 {
			s.Network = exposure.NoNet
		}
		p, err := New(s, facts)
		if err != nil {
			return
		}
		if tail := p.Run[len(p.Run)-3:]; tail[0] != s.Image || tail[1] != "sleep" {
			t.Fatalf("%q", p.Run)
		}
		flags, err := container.Parse(facts.Engine, p.Run[1:len(p.Run)-3])
		if err != nil {
			t.Fatalf("%q cannot be read: %v", p.Run, err)
		}
		host := facts.Host
		host.Engine, host.Work = facts.Engine, []string{Workspace}
		own := 0
		for _, flag := range flags {
			if m, ok := host.Mounted(flag); ok && slices.ContainsFunc(p.Mounts, func(x Mount) bool { return x.Mine && x.Source == m.Source && x.Target == m.Target }) {
				own++
				continue
			}
			if flag.Name == "network" && s.Network == exposure.NoNet && flag.Value != "none" {
				t.Fatalf("%q: a network", p.Run)
			}
			risks, err := host.Flag(flag)
			if err != nil {
				t.Fatalf("%q: %v", p.Run, err)
			}
			for _, r := range risks {
				if r.Refused && !r.Accepted(s.Accept) && !slices.ContainsFunc(p.Risks, func(x container.Risk) bool { return x.Name == r.Name && x.Accepted(s.Accept) }) {
					t.Fatalf("%q: %+v is used though nobody accepted it", p.Run, r)
				}
				if !slices.ContainsFunc(p.Risks, func(x container.Risk) bool { return x.Name == r.Name }) {
					t.Fatalf("%q: %+v is not told", p.Run, r)
				}
				for _, d := range r.Opens {
					if p.Asked.Doors.At(d).Asked != exposure.Unasked {
						t.Fatalf("%q: %s is asked to be shut, and %s opens it", p.Run, d, r.Text)
					}
				}
				if r.Caps&^p.Asked.Caps.Allowed != 0 {
					t.Fatalf("%q: %s is held and not told", p.Run, r.Caps)
				}
			}
		}
		if want := len(slices.DeleteFunc(slices.Clone(p.Mounts), func(m Mount) bool { return !m.Mine })); own > want {
			t.Fatalf("%q: %d mounts are taken for Hermes' own, which are %d", p.Run, own, want)
		}
		seen := map[string]bool{}
		for i, arg := range p.Run { // of Hermes' own flags none is there twice
			if (arg == "--name" || arg == "-w" || arg == "--init") && i < len(p.Run)-3-len(s.ExtraArgs) {
				if seen[arg] {
					t.Fatalf("%q: %s twice", p.Run, arg)
				}
				seen[arg] = true
			}
		}
	})
}

// Distinct tasks have distinct folders, each one plain name.
func FuzzTaskDir(f *testing.F) {
	for _, task := range []string{"", ".", "..", "a", "a:b", "a_b", "../../etc", "a-.-b", strings.Repeat("x", 300)} {
		f.Add(task, task+"_")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := taskDir(a), taskDir(b)
		if (x == y) != (a == b) {
			t.Fatalf("%q: %s, %q: %s", a, x, b, y)
		}
		for _, dir := range []string{x, y} {
			if dir == "" || dir == "." || dir == ".." || len(dir) > 128 || strings.ContainsFunc(dir, func(r rune) bool { return !plainRune(r) }) {
				t.Fatalf("%q %q: %q", a, b, dir)
			}
		}
		if l := LabelValue(a); l == "" || len(l) > 63 || strings.ContainsFunc(l, func(r rune) bool { return !plainRune(r) }) {
			t.Fatalf("%q: label %q", a, l)
		}
		if a != b && a != "" && b != "" && profileLabel("p", a) == profileLabel("p", b) {
			t.Fatalf("%q and %q share a label", a, b)
		}
	})
}
