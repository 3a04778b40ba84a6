package container

import (
	"slices"
	"strings"
	"testing"
)

// risky are flags that are refused wherever they stand.
var risky = [][]string{
	{"--privileged"}, {"--pid=host"}, {"--pid", "host"}, {"--net=host"}, {"--network", "name=host"}, {"-v", "/:/x"}, {"-v=/var/run/docker.sock:/x:ro"},
	{"-itv/run:/x"}, {"--volume", "/proc:/p"}, {"--mount", "type=bind,source=/,target=/x"}, {"--cap-add=SYS_ADMIN"}, {"--cap-add", "ALL"},
	{"--security-opt", "seccomp=unconfined"}, {"--device=/dev/sda"}, {"--volumes-from", "x"}, {"--ipc=host"}, {"--uts=host"}, {"--userns=host"},
	{"--cgroupns=host"}, {"--device-cgroup-rule=a"}, {"--security-opt=systempaths=unconfined"},
}

// verdict says how arguments end: 2 refused or not readable, 1 told, 0 nothing. A higher one is stricter.
func verdict(engine Engine, args []string) int {
	h := machine()
	h.Engine = engine
	flags, err := Parse(engine, args)
	if err != nil {
		return 2
	}
	worst := 0
	for _, f := range flags {
		risks, err := h.Flag(f)
		if err != nil {
			return 2
		}
		for _, r := range risks {
			if r.Refused {
				return 2
			}
			worst = 1
		}
	}
	return worst
}

// A risky flag among others is always refused, whatever stands around it, unless the engine would read it as the value of the
// flag before it; and adding arguments never makes the verdict milder.
func FuzzArguments(f *testing.F) {
	for _, row := range flagRows {
		f.Add(strings.ReplaceAll(row.args, " ", "\n"), uint8(0), uint8(0))
	}
	f.Add("-it\n--label\na=b", uint8(3), uint8(1))
	f.Add("--mount\ntype=bind,source=/a,target=/b\n--name=x", uint8(9), uint8(2))
	f.Fuzz(func(t *testing.T, text string, which, where uint8) {
		args := strings.Split(text, "\n")
		if text == "" {
			args = nil
		}
		add := risky[int(which)%len(risky)]
		for _, engine := range []Engine{Docker, Podman} {
			before := verdict(engine, args)
			flags, err := Parse(engine, args)
			if err == nil { // only between flags: elsewhere it is another flag's value
				at := len(args)
				if len(flags) > 0 {
					at = flags[int(where)%len(flags)].at
				}
				with := slices.Insert(slices.Clone(args), at, add...)
				if got := verdict(engine, with); got != 2 {
					t.Fatalf("%s %q: %d with %q at %d", engine, with, got, add, at)
				}
			}
			// More arguments behind: what was readable stays at least as strict.
			for _, more := range [][]string{{"--init"}, {"--privileged=false"}, {"--pid=private"}, {"--cap-drop=ALL"}, {"--network=none"}} {
				if got := verdict(engine, append(slices.Clone(args), more...)); got < before && err == nil {
					t.Fatalf("%s %q: %d, with %q %d", engine, args, before, more, got)
				}
			}
		}
	})
}

// A volume that is refused is refused with options behind it, and in the form of --mount.
func FuzzVolume(f *testing.F) {
	for _, row := range volumes {
		f.Add(row.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h := machine()
		m, err := ParseVolume(text, false)
		if err != nil {
			return
		}
		if m.Source != "" && m.Kind == Bind && m.Write != (!slices.Contains(m.Options, "ro") && !slices.Contains(m.Options, "readonly") || slices.Contains(m.Options, "rw")) {
			t.Fatalf("%q: %+v", text, m)
		}
		base := h.Mount(m)
		harms := func(risks []Risk) (all uint8, refused bool) {
			for _, r := range risks {
				all |= uint8(r.Harms)
				refused = refused || r.Refused
			}
			return all, refused
		}
		was, refused := harms(base)
		writable := m
		writable.Write = true
		if now, more := harms(h.Mount(writable)); was&^now != 0 || refused && !more {
			t.Fatalf("%q: writable it is milder: %+v, %+v", text, base, h.Mount(writable))
		}
		h.Look = func(string) (Path, bool) { return Path{}, false }
		if now, more := harms(h.Mount(m)); was&^now != 0 || refused && !more {
			t.Fatalf("%q: unknown it is milder: %+v, %+v", text, base, h.Mount(m))
		}
	})
}
