package checked

import "testing"

// What ssh could read as an option, or a shell of its settings as a command, is no account.
func TestRemote(t *testing.T) {
	for _, row := range []struct {
		user, host string
		port       int64
		want       string // "" = refused
	}{
		{"hermes", "agent-worker.local", 22, "hermes@agent-worker.local:22"},
		{"", "alias_of.mine", 0, "alias_of.mine"},
		{"user@domain", "h", 0, "user@domain@h"},
		{"u", "192.0.2.7", 2222, "u@192.0.2.7:2222"},
		{"u", "2001:db8::1", 22, "u@[2001:db8::1]:22"},
		{"u", "[2001:db8::1]", 0, "u@2001:db8::1"},
		{"", "fe80::1%eth0", 0, "fe80::1%eth0"},
		{"u", "-oProxyCommand=touch /tmp/x", 0, ""},
		{"u", "-oProxyCommand=x", 0, ""},
		{"-oProxyCommand=x", "h", 0, ""},
		{"-oProxyCommand=x", "::1", 0, ""},
		{"u", "-", 0, ""},
		{"u", "a b", 0, ""},
		{"u", "a\nb", 0, ""},
		{"u", "a\x00b", 0, ""},
		{"u", "h;id", 0, ""},
		{"u", "$(id)", 0, ""},
		{"u", "`id`", 0, ""},
		{"u'", "h", 0, ""},
		{"u v", "h", 0, ""},
		{"u", "u@h", 0, ""},
		{"u", "h/x", 0, ""},
		{"u", "ssh://h", 0, ""},
		{"u", "fe80::1%$(id)", 0, ""},
		{"u", "ü", 0, ""},
		{"u", "", 0, ""},
		{"u", "h", -1, ""},
		{"u", "h", 65536, ""},
	} {
		r, err := ParseRemote(row.user, row.host, row.port)
		if r.String() != row.want || (err == nil) != (row.want != "") || r.IsZero() != (row.want == "") {
			t.Errorf("%q %q %d: %q, %v; want %q", row.user, row.host, row.port, r, err, row.want)
		}
	}
}
