package environ

import (
	"strings"
	"testing"
)

// The way out goes before whatever else says where connections go, on every surface that runs commands.
func TestExit(t *testing.T) {
	for _, s := range []Surface{Foreground, Background, Docker} {
		list, notes := New(Config{}).Build(Request{
			Surface: s, Exit: "http://127.0.0.1:3128", Extra: map[string]string{"HTTPS_PROXY": "http://evil:1", "JAVA_TOOL_OPTIONS": "-Xmx1g"},
			Base: map[string]string{"http_proxy": "http://ambient:1", "PATH": "/bin"}, Server: map[string]string{"ALL_PROXY": "http://docker:1"},
		})
		for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
			if got, _ := list.Lookup(name); got != "http://127.0.0.1:3128" {
				t.Errorf("%v: %s=%q", s, name, got)
			}
		}
		if got, _ := list.Lookup("NO_PROXY"); got != "localhost,127.0.0.1,::1" {
			t.Errorf("%v: NO_PROXY=%q", s, got)
		}
		if got, _ := list.Lookup("JAVA_TOOL_OPTIONS"); !strings.Contains(got, "-Dhttps.proxyPort=3128") {
			t.Errorf("%v: JAVA_TOOL_OPTIONS=%q", s, got)
		}
		told := false
		for _, n := range notes {
			told = told || n.Name == "HTTPS_PROXY" && n.Outcome == Set
		}
		if !told {
			t.Errorf("%v: not told: %v", s, notes)
		}
	}
	if list, _ := New(Config{}).Build(Request{Surface: Foreground, Base: map[string]string{"PATH": "/bin"}}); strings.Contains(strings.Join(list.Names(), " "), "PROXY") {
		t.Errorf("without a way out: %v", list.Names())
	}
}
