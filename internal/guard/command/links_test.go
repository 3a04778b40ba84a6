package command

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"hermes/internal/guard"
)

// What is done behind a link is done where it leads: whether the text makes it, or it is there already.
func TestLinks(t *testing.T) {
	links := map[string]string{"/home/u/p/out": "/home/u", "/home/u/p/dist": "/home/u/p/node_modules/.cache", "/srv/tree": "/data/tree",
		"/home/u/p/rc": "/home/u/.bashrc", "/home/u/p/sys": "/etc", "/home/u/p/top": "/"}
	resolve := func(name string) string {
		for from, to := range links {
			if name == from || strings.HasPrefix(name, from+"/") {
				return path.Clean(to + name[len(from):])
			}
		}
		return name
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
		{"rm -rf *", "/home/u/p/out", guard.Block}, // where it is, not by what name
		{"rm -rf *", "/home/u/p/sys", guard.Block},
		{"echo x > passwd", "/home/u/p/sys", guard.Ask},
		{"echo x >> .bashrc", "/home/u/p/out", guard.Ask},
		{"rm -rf *", "/home/u/p/top", guard.Block},
		{"rm -rf etc", "/home/u/p/top", guard.Block},
		{"rm -rf out/", "/home/u/p", guard.Block}, // a slash behind a link follows it
		{"rm -rf top/", "/home/u/p", guard.Block},
		{"rm -rf out/.", "/home/u/p", guard.Block},
		{"find top/ -delete", "/home/u/p", guard.Block},
		{"ln -s / z; rm -rf z/", "/home/u/p", guard.Block},
		{"chown -R u sys", "/home/u/p", guard.Block},
		{"rm -f sys", "/home/u/p", guard.Allow},
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
		{"ln -s /etc a; ln -s a b; ln -s b c; echo x > c/passwd", "/home/u/p", guard.Ask},
		{"ln -s /etc a; ln -s $PWD/a/passwd b; echo x > b", "/home/u/p", guard.Ask},
		{"ln -s ./safe a; ln -sfn /etc a; echo x > a/passwd", "/home/u/p", guard.Ask},
		{"ln -s out o; rm -rf o/*", "/home/u/p", guard.Block}, // by one that is there
		{"ln -s /etc a; mv a b; echo x > b/passwd", "/home/u/p", guard.Ask},
		{"ln -s /etc a; cp -a a b; echo x > b/passwd", "/home/u/p", guard.Ask},
		{"mkdir d; ln -s /etc d/a; cp -r d e; echo x > e/a/passwd", "/home/u/p", guard.Ask},
		{"mv build b; echo x > b/y", "/home/u/p", guard.Allow},
		{"ln -s a/b a; echo x > a/y", "/home/u/p", guard.Allow},          // a ring leads nowhere
		{"ln -s a b; ln -s b a; echo x > a/y", "/home/u/p", guard.Allow}, // so does this one
		{"ln -s ~/.ssh s; mv authorized_keys s", "/home/u/p", guard.Ask},
		{"ln -s ~/.ssh s; ln -s $PWD/authorized_keys s", "/home/u/p", guard.Ask},
		{"ln -s ~/.ssh s; cp authorized_keys s", "/home/u/p", guard.Ask},
		{"ln -s ~/.bashrc r; sed -i s/a/b/ r", "/home/u/p", guard.Allow}, // the link is replaced
		{"ln -s ~/.bashrc r; sed -i --follow-symlinks s/a/b/ r", "/home/u/p", guard.Ask},
		{strings.Repeat("ln -s x a; ", 400) + "ln -sfn /etc a; echo x > a/passwd", "/home/u/p", guard.Ask},
	} {
		v := Policy{}.Check(row.text, Facts{Home: "/home/u", Dir: row.dir, Resolve: resolve})
		if v.Action != row.want {
			t.Errorf("%s: %v (%s), want %v", row.text, v.Action, v.Rule, row.want)
		}
	}
}

// However often a path is named and by however many rules it is looked at, the disk is asked about it once.
func TestLinksAreLookedAtOnce(t *testing.T) {
	asked := map[string]int{}
	resolve := func(path string) string { asked[path]++; return path }
	var text strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&text, "echo x > d%d/a; rm d%d/a; ", n, n)
	}
	Policy{}.Check(text.String(), Facts{Home: "/home/u", Dir: "/home/u/p", Resolve: resolve})
	if asked["/home/u/p/d999"] != 1 {
		t.Fatalf("the last folder was looked at %d times, or not by that name", asked["/home/u/p/d999"])
	}
	for path, n := range asked {
		if most := 2; n > most { // a root is looked at as such, too
			t.Errorf("%s: looked at %d times", path, n)
		}
	}
}

// Links that lead from one to the next without end are too much, and that is said.
func TestLinksWithoutEnd(t *testing.T) {
	v := Policy{}.Check("ln -s /a/b/x /b; ln -s /b/y /a; echo x > /a/z", Facts{Home: "/home/u", Dir: "/home/u/p"})
	if v.Action != guard.Ask {
		t.Errorf("%v (%s)", v.Action, v.Rule)
	}
}
