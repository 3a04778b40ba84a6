// Package compose writes what Docker Compose needs to run an agent of any kind with one way out: two networks, the proxy between
// them, and a script that checks from inside that there is no other.
//
// It starts nothing and talks to no engine. Failure direction: refuse. Images that may change under the same name, entries that
// the proxy of choice cannot enforce, and files that are there already are errors.
package compose

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"hermes/internal/guard/egress"
)

// Options says what is written.
type Options struct {
	Agent  string   // image of the agent; empty: ${AGENT_IMAGE}, without which Compose does not start
	Proxy  string   // image of the proxy; empty: ${PROXY_IMAGE}
	Allow  []string // entries of the list, as in terminal.network_allow
	Subnet string   // of the network inside; empty: 172.31.77.0/24
	Squid  bool     // squid instead of this program
}

// File is one that is to be written.
type File struct {
	Name string
	Text string
	Mode fs.FileMode
}

// DefaultSubnet is the network inside.
const DefaultSubnet = "172.31.77.0/24"

// names of the files.
const (
	composeFile = "compose.yaml"
	allowFile   = "allow.txt"
	squidFile   = "squid.conf"
	checkFile   = "check.sh"
)

//go:embed compose.yaml.tmpl
var composeText string

//go:embed squid.conf.tmpl
var squidText string

//go:embed check.sh.tmpl
var checkText string

// values are what the templates know.
type values struct {
	Agent, Proxy         string
	Subnet, Gateway      string
	ProxyAddr, AgentAddr string
	Squid                bool
	Listed               string // a host that must be reached; empty: none
}

// Files returns what is to be written.
func Files(o Options) ([]File, error) {
	v := values{Squid: o.Squid}
	var err error
	if v.Agent, err = pinned(o.Agent, "AGENT_IMAGE"); err != nil {
		return nil, err
	}
	if v.Proxy, err = pinned(o.Proxy, "PROXY_IMAGE"); err != nil {
		return nil, err
	}
	if err := v.addresses(o.Subnet); err != nil {
		return nil, err
	}
	if _, problems := egress.ParseRoutes(o.Allow); len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	list, err := v.list(o)
	if err != nil {
		return nil, err
	}
	out := []File{{Name: allowFile, Text: list, Mode: 0o644}}
	for _, f := range []struct {
		name, text string
		mode       fs.FileMode
		want       bool
	}{{composeFile, composeText, 0o644, true}, {squidFile, squidText, 0o644, o.Squid}, {checkFile, checkText, 0o755, true}} {
		if !f.want {
			continue
		}
		text, err := fill(f.name, f.text, v)
		if err != nil {
			return nil, err
		}
		out = append(out, File{f.name, text, f.mode})
	}
	return out, nil
}

func fill(name, text string, v values) (string, error) {
	t, err := template.New(name).Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, v); err != nil {
		return "", err
	}
	return b.String(), nil
}

// pinned returns an image that cannot change under its name, or what makes Compose ask for one.
func pinned(image, variable string) (string, error) {
	if image == "" {
		return "${" + variable + ":?set " + variable + " to NAME@sha256:DIGEST}", nil
	}
	if strings.ContainsAny(image, " \t\n\"'$\\{}#") {
		return "", fmt.Errorf("image %q: not a name", image)
	}
	name, digest, ok := strings.Cut(image, "@sha256:")
	local := strings.HasPrefix(image, "sha256:") && len(image) == len("sha256:")+64
	if !local && (!ok || name == "" || len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "") {
		return "", fmt.Errorf("image %q: a tag may be another image tomorrow; name it by digest: NAME@sha256:DIGEST, or the sha256:ID of a local one", image)
	}
	return image, nil
}

// addresses gives the bridge, the proxy and the agent theirs.
func (v *values) addresses(subnet string) error {
	if subnet == "" {
		subnet = DefaultSubnet
	}
	p, err := netip.ParsePrefix(subnet)
	if err != nil || !p.Addr().Is4() || p.Bits() > 29 || !p.Addr().IsPrivate() {
		return fmt.Errorf("subnet %q: not a private IPv4 network of at least 8 addresses", subnet)
	}
	p = p.Masked()
	gateway := p.Addr().Next()
	v.Subnet, v.Gateway = p.String(), gateway.String()
	v.ProxyAddr, v.AgentAddr = gateway.Next().String(), gateway.Next().Next().String()
	return nil
}

// list returns the text of the list.
func (v *values) list(o Options) (string, error) {
	var b strings.Builder
	b.WriteString("# Where the agent may go. A host on this list is a way out by itself: who may write to api.github.com or a messenger can\n" +
		"# send anything there. List what is needed, and no whole domains of others.\n")
	if !o.Squid {
		b.WriteString("# example.org   *.example.org   example.org:8443   GET,HEAD http://example.org/pool/*\n")
	} else {
		b.WriteString("# example.org   .example.org (it and all below it)\n")
	}
	for _, entry := range o.Allow {
		text := strings.TrimSpace(entry)
		if v.Listed == "" && !strings.ContainsAny(text, "*/: ") {
			v.Listed = text
		}
		if o.Squid {
			host := strings.TrimPrefix(text, "*.")
			if strings.ContainsAny(host, "*/: []") {
				return "", fmt.Errorf("entry %q: squid's list takes hosts only", entry)
			}
			if host != text {
				text = "." + host
			}
		}
		b.WriteString(text + "\n")
	}
	return b.String(), nil
}

// Write writes the files into dir, which is made if need be. All of them or, unless force is set and one is there already, none;
// each appears whole.
func Write(dir string, files []File, force bool) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, f.Name)); err == nil && !force {
			return &ExistsError{filepath.Join(dir, f.Name)}
		}
	}
	for _, f := range files {
		if err := replace(dir, f, force); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

// ExistsError says which file is there already.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string { return "write " + e.Path + ": it is there already" }

// replace puts one file in its place, whole.
func replace(dir string, f File, force bool) (err error) {
	t, err := os.CreateTemp(dir, "."+f.Name+"-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(t.Name()) }()
	_, err = t.WriteString(f.Text)
	if err = errors.Join(err, t.Chmod(f.Mode), t.Sync(), t.Close()); err != nil {
		return err
	}
	to := filepath.Join(dir, f.Name)
	if force {
		return os.Rename(t.Name(), to)
	}
	if err := os.Link(t.Name(), to); errors.Is(err, fs.ErrExist) {
		return &ExistsError{to}
	} else if err != nil {
		return os.Rename(t.Name(), to) // a file system without hard links
	}
	return nil
}
