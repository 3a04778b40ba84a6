package hermes_test

import (
	"go/token"
	"slices"
	"strings"
	"testing"
)

// Nobody calls these but the packages named. They are in packages that more may import, so that the rule about imports does
// not hold them off: os starts a program as well as os/exec does.
//
// THIS IS A STATEMENT OF POLICY, as in layers_test.go: a row changes in a commit of its own that says why.
var reservedCalls = []struct {
	what    string
	members map[string][]string
	only    []string
	instead string
}{
	{"starts a program or becomes one", map[string][]string{
		"os":                       {"StartProcess"},
		"syscall":                  {"ForkExec", "StartProcess", "Exec", "SYS_EXECVE", "SYS_EXECVEAT", "SYS_CLONE", "SYS_FORK", "SYS_VFORK"},
		"golang.org/x/sys/unix":    {"Exec", "SYS_EXECVE", "SYS_EXECVEAT", "SYS_CLONE", "SYS_CLONE3", "SYS_FORK", "SYS_VFORK"},
		"golang.org/x/sys/windows": {"CreateProcess", "CreateProcessAsUser", "ShellExecute"},
	}, []string{"internal/child", "internal/sandbox/native/wall", "internal/sandbox/probe", "internal/sandbox/runner"},
		"programs start in internal/child; inside a sandbox the runner starts commands, the walls themselves, and the probe a copy of itself"},
	{"connects a socket by hand", map[string][]string{
		"syscall":               {"Connect", "SYS_CONNECT"},
		"golang.org/x/sys/unix": {"Connect", "SYS_CONNECT"},
	}, []string{"internal/sandbox/probe", "internal/sandbox/runner"},
		"connections are opened in internal/safehttp and internal/proxy, through net; the probe tries which can be, and the runner reaches one that lives on by its unix socket"},
	{"has another text judged than what is run", map[string][]string{module + "internal/launch": {"Inner"}}, []string{"internal/tool/program"},
		"commands are judged as they run; execute_code runs the text that is judged within a program of its own"},
}

func TestReservedCalls(t *testing.T) {
	for _, rule := range reservedCalls {
		calls := map[string]bool{}
		for _, s := range sources(t) {
			if strings.HasSuffix(s.pkg, "test") || s.pkg == "internal/sandbox/native/seccomp" { // which names calls to refuse them
				continue
			}
			s.uses(rule.members, func(name string, pos token.Pos) {
				calls[s.pkg] = true
				if !slices.Contains(rule.only, s.pkg) {
					t.Errorf("%s: %s, which %s: %s", s.at(pos), name, rule.what, rule.instead)
				}
			})
		}
		for _, pkg := range rule.only {
			if !calls[pkg] {
				t.Errorf("%s is allowed what nothing in it does: %s", pkg, rule.what)
			}
		}
	}
}
