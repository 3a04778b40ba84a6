package native_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/sandbox/native"
)

// What a launcher writes about itself is logged in letters, a few short lines of it.
func TestSaid(t *testing.T) {
	for _, row := range []struct {
		what  string
		texts []string
		want  []string
	}{
		{"a line", []string{"panic: x\n"}, []string{"panic: x"}},
		{"in pieces", []string{"pan", "ic: x\nat", "\n"}, []string{"panic: x", "at"}},
		{"empty lines", []string{"\n\n  \na\n"}, []string{"a"}},
		{"what a terminal obeys", []string{"\x1b[2Ja\u202eb\xff\r\n"}, []string{`\x1b[2Ja\u202eb\xff`}},
		{"a long line", []string{strings.Repeat("x", 150), strings.Repeat("x", 5000) + "\nb\n"}, []string{strings.Repeat("x", 200), "b"}},
		{"many lines", []string{strings.Repeat("x\n", 5000)}, strings.Fields(strings.Repeat("x ", 12))},
	} {
		var got []string
		w := native.Said(func(text string) { got = append(got, strings.TrimPrefix(text, "the launcher of sandboxes says: ")) })
		for _, text := range row.texts {
			if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
				t.Errorf("%s: %d %v", row.what, n, err)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(row.want) {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
	}
}

// No process of a sandbox holds a descriptor of the person's, and the first one is closed to the commands beside it.
func TestFirstProcess(t *testing.T) {
	s, conf := spec(t)
	conf.Probe, conf.State = []string{}, s.Home
	p := open(t, backend(t, conf), s)
	all, err := native.List(s.Home)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v %v", all, err)
	}
	if os.Getuid() == 0 { // others may not look
		own := map[string]bool{}
		for fd := range 3 {
			to, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
			own[to] = to != "/dev/null"
		}
		for _, pid := range []int{all[0].PID, parentOf(t, all[0].PID)} {
			links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
			if len(links) < 3 {
				t.Errorf("process %d has the descriptors %q", pid, links)
			}
			for _, link := range links {
				if to, err := os.Readlink(link); err == nil && own[to] {
					t.Errorf("%s leads to %s, as with this process", link, to)
				}
			}
		}
	}
	for _, what := range []string{"cat /proc/1/environ", "cat /proc/1/maps", "readlink /proc/1/fd/2", "echo x >/proc/1/fd/2", "readlink /proc/1/exe", "head -c1 /proc/1/mem", "echo > /proc/1/mem"} {
		if out, code := run(t, p, what); code == 0 {
			t.Errorf("%s: %q", what, out)
		}
	}
	if out, code := run(t, p, "cat /proc/self/maps >/dev/null && readlink /proc/self/exe >/dev/null && sleep 0.1 & cat /proc/$!/maps | wc -l"); code != 0 || out == "0" {
		t.Errorf("commands may look at each other: %q, code %d", out, code)
	}
}
