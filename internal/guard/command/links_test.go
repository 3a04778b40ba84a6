package command

import (
	"strings"
	"testing"

	"hermes/internal/guard"
)

// What is done behind a link is done where it leads: whether the text makes it, or it is there already.
func TestLinks(t *testing.T) {
	links := map[string]string{"/home/u/p/out": "/home/u", "/home/u/p/dist": "/home/u/p/node_modules/.cache", "/srv/tree": "/data/tree",
		"/home/u/p/rc": "/home/u/.bashrc"}
	lies := func(path string) string {
		for from, to := range links {
			if path == from || strings.HasPrefix(path, from+"/") {
				return to + path[len(from):]
			}
		}
		return path
	}
	for _, row := range []struct {
		text, dir string
		want      guard.Action
	}{
		{"ln -s ~ /tmp/l && rm -rf /tmp/l/*", "/home/u/p", guard.Block},
		{"ln -s .. build; rm -rf build/../*", "/home/u/p", guard.Ask},
		{"ln -sfn /etc /tmp/l; rm -rf /tmp/l/*", "/home/u/p", guard.Block},
		{"ln -s /home/u build; rm -rf build/.ssh", "/home/u/p", guard.Ask},
		{"rm -rf out/*", "/home/u/p", guard.Block},
		{"rm -rf out/.ssh", "/home/u/p", guard.Ask},
		{"rm -rf dist/*", "/home/u/p", guard.Allow},
		{"rm -f out", "/home/u/p", guard.Allow}, // the link itself
		{"rm -rf build dist/*", "/srv/tree", guard.Allow},
		{"cp -r ~ /tmp/l && rm -rf /tmp/l/*", "/home/u/p", guard.Allow},
		{"ln -s ~/.ssh/authorized_keys q; echo k > q", "/home/u/p", guard.Ask},
		{"ln -s ~/.ssh/authorized_keys q; echo k | tee q", "/home/u/p", guard.Ask},
		{"ln -s ~/.ssh/authorized_keys q; cp k q", "/home/u/p", guard.Ask},
		{"ln -s ~/.ssh s; cp k s/authorized_keys", "/home/u/p", guard.Ask},
		{"ln -s ~/.ssh s; mv k s/authorized_keys", "/home/u/p", guard.Ask},
		{"echo k > rc", "/home/u/p", guard.Ask},
		{"echo k >> ./rc", "/home/u/p", guard.Ask},
		{"tee rc < k", "/home/u/p", guard.Ask},
		{"mv k rc", "/home/u/p", guard.Allow}, // another file in the link's place
		{"dd if=k of=rc", "/home/u/p", guard.Ask},
		{"echo k > dist/x", "/home/u/p", guard.Allow},
	} {
		v := Policy{}.Check(row.text, Facts{Home: "/home/u", Dir: row.dir, Lies: lies})
		if v.Action != row.want {
			t.Errorf("%s: %v (%s), want %v", row.text, v.Action, v.Rule, row.want)
		}
	}
}
