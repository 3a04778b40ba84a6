package launch

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"hermes/internal/approval"
	"hermes/internal/guard"
	"hermes/internal/guard/egress"
	"hermes/internal/guard/environ"
	"hermes/internal/guard/exposure"
	"hermes/internal/proxy"
	"hermes/internal/sandbox"
)

// Elsewhere, the home and the temporary folder of this machine mean nothing.
func TestFactsOfThisMachineStayHere(t *testing.T) {
	for name, want := range map[string]guard.Action{"local": guard.Allow, "ssh": guard.Ask, "docker": guard.Ask} {
		b := newBench(t)
		b.box.name, b.box.fake = name, true
		b.policy.Facts.Home, b.policy.Facts.TempDir = "/tmp/home", "/srv/temp"
		r, err := b.run(t, Call{Text: "rm -rf /srv/temp/x ~/work", Env: environ.Request{Surface: environ.Foreground}})
		if err != nil || r.Verdict.Action != want {
			t.Errorf("%s: %v %v %s, want %v", name, err, r.Verdict.Action, r.Verdict.Rule, want)
		}
	}
}

// kept is a list of hosts in memory.
type kept struct {
	mu  sync.Mutex
	all []string
}

func (k *kept) Add(entry string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, entry)
	return nil
}
func (k *kept) Remove(string) error     { return nil }
func (k *kept) List() ([]string, error) { return k.all, nil }

// A command that is running asks for hosts through its person; whoever is not running has none.
func TestConnect(t *testing.T) {
	question := proxy.Question{
		Client: "native", Target: egress.Request{Method: egress.Tunnel, Host: "a.example", Port: 443},
		Ruling: egress.Ruling{Entry: "a.example", Verdict: guard.Verdict{Action: guard.Ask, Tier: guard.Egress, Rule: "egress/unlisted", Reason: "not listed"}},
	}
	for _, row := range []struct {
		name    string
		choice  approval.Choice
		nobody  bool
		yolo    bool
		want    bool
		again   int // questions that two requests lead to
		listed  string
		granted bool
	}{
		{name: "once", choice: approval.Once, want: true, again: 2, granted: true},
		{name: "session", choice: approval.Session, want: true, again: 1, granted: true},
		{name: "always", choice: approval.Always, want: true, again: 1, listed: "a.example", granted: true},
		{name: "deny", choice: approval.Deny, again: 1},
		{name: "nobody", nobody: true},
		{name: "yolo opens no wall", choice: approval.Deny, yolo: true, again: 1},
		{name: "yolo with nobody", nobody: true, yolo: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t)
			b.box.name, b.box.exp.Network.Force = "native", exposure.AllowlistNet
			b.desk.YOLO, b.person.choice = row.yolo, row.choice
			if row.nobody {
				b.person = nil
			}
			place := b.place(t)
			list := &kept{}
			client := proxy.New("native", proxy.Options{})
			place.Through(&Way{Client: client, Port: 3128, Store: list})
			door := New(Options{Policy: func() (Policy, error) { return b.policy, nil }, Desk: approval.New(b.desk), Log: b.log})
			if door.Connect(t.Context(), place, question).Allowed() {
				t.Error("allowed while nothing runs")
			}
			j := &journey{c: Call{Session: testSession(t), Place: place}, r: Result{ID: "1", Command: "curl https://a.example", Backend: "native"}}
			if b.person != nil {
				j.c.Presence, j.c.Prompter = approval.Person, b.person
			}
			end := place.begin(j)
			for range 2 {
				if got := door.Connect(t.Context(), place, question); got.Allowed() != row.want {
					t.Errorf("allowed %v, want %v: %+v", got.Allowed(), row.want, got)
				}
			}
			end()
			if b.person != nil && len(b.person.asked) != row.again {
				t.Errorf("%d questions, want %d", len(b.person.asked), row.again)
			}
			if row.listed != "" && !slices.Equal(list.all, []string{row.listed}) {
				t.Errorf("listed %q", list.all)
			}
			e := place.exposure(b.box)
			if open := slices.Contains(e.Network.Allow, "a.example"); open != row.granted {
				t.Errorf("what was allowed counts as a way out: %v, want %v", open, row.granted)
			}
			if err := place.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

// The sandbox gets the way out, and commands its address.
func TestWayIsHandedOn(t *testing.T) {
	b := newBench(t)
	b.box.fake = true
	place := b.place(t)
	client := proxy.New("native", proxy.Options{Resolve: func(context.Context, string) ([]netip.Addr, error) { return nil, nil }})
	place.Through(&Way{Client: client, Port: 3128})
	if place.Exit() != "http://127.0.0.1:3128" {
		t.Errorf("exit %q", place.Exit())
	}
	if _, err := b.run(t, Call{Text: "true", Place: place}); err != nil {
		t.Fatal(err)
	}
	if b.box.spec.Exit == nil || b.box.spec.Exit.Port != 3128 {
		t.Errorf("spec %+v", b.box.spec.Exit)
	}
	if err := place.Close(t.Context()); err != nil || place.Exit() != "" {
		t.Errorf("closed: %v, exit %q", err, place.Exit())
	}
	var _ sandbox.Sandbox = b.box
}

// What was refused is not asked about again, a command that goes on asking is not heard any more, and what a person is shown
// is the host that would be reached, the command that wants it and the setting that an answer changes.
func TestConnectAsksOnce(t *testing.T) {
	b := newBench(t)
	b.box.name, b.box.exp.Network.Force = "native", exposure.AllowlistNet
	b.person.choice = approval.Deny
	place := b.place(t)
	place.Through(&Way{Client: proxy.New("native", proxy.Options{}), Port: 3128, Store: &kept{}})
	door := New(Options{Policy: func() (Policy, error) { return b.policy, nil }, Desk: approval.New(b.desk), Log: b.log})
	routes, _ := egress.ParseRoutes(nil)
	connect := func(host string) {
		t.Helper()
		r := egress.Request{Method: egress.Tunnel, Host: host, Port: 443}
		if door.Connect(t.Context(), place, proxy.Question{Target: r, Ruling: routes.Judge(r)}).Allowed() {
			t.Errorf("%s is allowed", host)
		}
	}
	j := &journey{c: Call{Session: testSession(t), Place: place, Presence: approval.Person, Prompter: b.person}, r: Result{ID: "1", Command: "npm ci", Backend: "native"}}
	end := place.begin(j)
	connect("A.example.")
	connect("a.example")
	for _, host := range []string{"b.example", "c.example", "d.example", "e.example", "f.example", "g.example"} {
		connect(host)
	}
	end()
	if n := len(b.person.asked); n != maxDenied {
		t.Errorf("%d questions, want %d", n, maxDenied)
	}
	q := b.person.asked[0]
	if q.Command != "connect a.example:443" || q.For != "npm ci" || q.Covers.Always.Where != "terminal.network_allow" {
		t.Errorf("asked %q for %q, kept in %q", q.Command, q.For, q.Covers.Always.Where)
	}
}
