package terminal

import (
	"strings"
	"testing"

	"hermes/internal/guard/exposure"
	"hermes/internal/guard/taint"
	"hermes/internal/sandbox"
	"hermes/internal/shell"
)

// Where output comes from.
func TestOrigin(t *testing.T) {
	for _, row := range []struct {
		want     taint.Origin
		commands []string
	}{
		{taint.Work, []string{ // what lies in the work tree, and its own programs
			"ls -la", "cat README.md | head -5", "A=1; echo $A", "cd src && git status", "git -C /src log --oneline", "git diff --stat | cat",
			"make test", "go test ./...", "go vet ./... && go build", "npm test", "npm run build", "cargo build", "python3 x.py", "python3 -c 'print(1)'", "pytest -q", "python3 -m unittest",
			"./run.sh", "bash scripts/test", "find . -name '*.go' -exec wc -l {} +", "for f in *.txt; do grep -c x \"$f\"; done", "f() { ls; }; f",
			"sudo cat /var/log/syslog", "timeout 5 make", "bash -c 'go test ./... 2>&1 | tail -5'", "sed -i s/a/b/ file", "awk '{print $1}' file", "(ls; pwd) > out",
			"sqlite3 a.db 'select 1'", "jq . < package.json",
		}},
		{taint.Outside, []string{ // what may bring something else
			"curl -s https://example.com", "wget -qO- http://x", "cat notes; curl x", "git clone https://x/y", "git fetch", "git pull", "git ls-remote", "git submodule update",
			"go get x@latest", "npm install", "npm view left-pad", "pip install x", "cargo install x", "gh issue view 1", "ssh host cat file", "dig example.com",
			"docker run x", "kubectl logs x", "psql -c 'select 1'", "cat < /dev/tcp/1.2.3.4/80", "exec 3<>/dev/tcp/x/80; cat <&3", "$(cat cmd)", "$TOOL x", "some-program",
			"python3 -c 'import urllib.request; print(urllib.request.urlopen(\"http://x\").read())'", "python3 -m pip download x", "../other/run.sh", "/opt/x/bin/y",
			"echo $(curl x)", "bash -c 'curl x'", "timeout 5 curl x", "find . -exec curl {} \\;", "xargs curl < urls", "nc x 80", "if", "git $sub",
		}},
	} {
		for _, c := range row.commands {
			p := shell.Parse(c, shell.Options{})
			if got := origin(&p, exposure.Exposure{}); got != row.want {
				t.Errorf("%s: %v, want %v", c, got, row.want)
			}
			closed := exposure.Exposure{Network: exposure.Network{Force: exposure.NoNet}}
			if got := origin(&p, closed); got != taint.Work {
				t.Errorf("%s without a network: %v", c, got)
			}
		}
	}
}

func TestMeaning(t *testing.T) {
	for _, row := range []struct {
		command string
		status  sandbox.Status
		want    string
	}{
		{"grep x f", sandbox.Status{Code: 1}, "nothing matched"},
		{"grep x f", sandbox.Status{Code: 2}, ""},
		{"cd src && rg x | head; rg y", sandbox.Status{Code: 1}, "nothing matched"},
		{"grep x f | wc -l", sandbox.Status{Code: 1}, ""},
		{"git diff --exit-code", sandbox.Status{Code: 1}, "they differ"},
		{"git push", sandbox.Status{Code: 1}, ""},
		{"curl x", sandbox.Status{Code: 6}, "could not be resolved"},
		{"x", sandbox.Status{Code: 126}, "cannot be executed"},
		{"x", sandbox.Status{Code: 127}, "no such command"},
		{"x", sandbox.Status{Code: 137, Signal: 9}, "SIGKILL"},
		{"x", sandbox.Status{Code: 139}, "crashed"},
		{"x", sandbox.Status{Code: 177}, "signal 49"},
		{"x", sandbox.Status{Code: 200}, ""},
		{"", sandbox.Status{Code: 0}, ""},
	} {
		p := shell.Parse(row.command, shell.Options{})
		if got := meaning(&p, row.status); row.want == "" && got != "" || !strings.Contains(got, row.want) {
			t.Errorf("%s, %+v: %q, want %q", row.command, row.status, got, row.want)
		}
	}
}
