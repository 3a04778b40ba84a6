package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// composed is the part of a Compose file that is understood here. What else there is fails the test: it would not be tried.
type composed struct {
	Name     string
	Services map[string]struct {
		Image, User         string
		Entrypoint, Command []string
		Networks            map[string]struct {
			Addr string `yaml:"ipv4_address"`
		}
		DNS         []string
		DNSSearch   string `yaml:"dns_search"`
		Environment map[string]string
		Depends     []string `yaml:"depends_on"`
		CapDrop     []string `yaml:"cap_drop"`
		Security    []string `yaml:"security_opt"`
		PIDs        int      `yaml:"pids_limit"`
		Restart     string
		Volumes     []string
		Sysctls     map[string]string
		ReadOnly    bool `yaml:"read_only"`
		Tmpfs       []string
	}
	Networks map[string]struct {
		Internal bool
		IPv6     bool              `yaml:"enable_ipv6"`
		Options  map[string]string `yaml:"driver_opts"`
		IPAM     struct{ Config []struct{ Subnet string } }
	}
}

// engineOf runs the client of the engine that tests are given.
type engineOf struct {
	*testing.T
	host, prefix string
}

func (e *engineOf) docker(args ...string) string {
	e.Helper()
	cmd := exec.Command("docker", args...)
	cmd.Env = append(os.Environ(), "DOCKER_HOST="+e.host)
	out, err := cmd.CombinedOutput()
	if err != nil {
		e.Fatalf("docker %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// up makes what a Compose file says, as Compose does.
func (e *engineOf) up(dir string, c composed, images map[string]string, home string) {
	e.Helper()
	for name, n := range c.Networks {
		args := []string{"network", "create", "--subnet", "172.31.78.0/24"}
		if n.Internal {
			args = append(args, "--internal")
		}
		for key, value := range n.Options {
			args = append(args, "-o", key+"="+value)
		}
		for _, one := range n.IPAM.Config {
			args[3] = one.Subnet
		}
		e.docker(append(args, e.prefix+name)...)
		e.Cleanup(func() { e.docker("network", "rm", e.prefix+name) })
	}
	for _, name := range []string{"proxy", "agent"} {
		s := c.Services[name]
		args := []string{"create", "--name", e.prefix + name, "--network", e.prefix + "inside", "--ip", s.Networks["inside"].Addr,
			"--pids-limit", fmt.Sprint(s.PIDs), "--dns-search", ".", "--user", s.User}
		for _, list := range []struct {
			flag   string
			values []string
		}{{"--dns", s.DNS}, {"--cap-drop", s.CapDrop}, {"--security-opt", s.Security}, {"--tmpfs", s.Tmpfs}} {
			for _, v := range list.values {
				args = append(args, list.flag, v)
			}
		}
		for key, value := range s.Environment {
			args = append(args, "-e", key+"="+value)
		}
		for key, value := range s.Sysctls {
			args = append(args, "--sysctl", key+"="+value)
		}
		for _, v := range s.Volumes {
			args = append(args, "-v", filepath.Join(dir, v))
		}
		if s.ReadOnly {
			args = append(args, "--read-only")
		}
		command := append(append([]string{}, s.Entrypoint[min(1, len(s.Entrypoint)):]...), s.Command...)
		if len(s.Entrypoint) > 0 {
			args = append(args, "--entrypoint", s.Entrypoint[0])
		}
		if name == "proxy" { // which has no settings, but for the one that lets the test's private network be reached
			args = append(args, "-e", "HOME=/home/proxy", "-v", home+":/home/proxy")
		} else {
			command = []string{"sleep", "600"}
		}
		e.docker(append(append(args, images[name]), command...)...)
		e.Cleanup(func() { e.docker("rm", "-f", e.prefix+name) })
		for other := range s.Networks {
			if other != "inside" {
				e.docker("network", "connect", e.prefix+other, e.prefix+name)
			}
		}
		e.docker("start", e.prefix+name)
	}
}

// The files hold with a real engine, and their check finds what is missing when the bridge has an address.
func TestEgressCompose(t *testing.T) {
	host := os.Getenv("HERMES_TEST_DOCKER")
	if host == "" {
		if os.Getenv("HERMES_TEST_REQUIRE") != "" {
			t.Fatal("an engine is required: HERMES_TEST_DOCKER")
		}
		t.Skip("skipped: needs an engine (scripts/engines)")
	}
	e := &engineOf{T: t, host: host, prefix: fmt.Sprintf("hermes-compose-%d-", os.Getpid())}
	images := map[string]string{"agent": e.prefix + "agent", "proxy": e.prefix + "proxy"}
	work := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(work, "root", "usr", "local", "bin", "hermes"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	pack := exec.Command("sh", "-c", "tar -C "+work+"/root -c . | docker import - "+images["proxy"])
	pack.Env = append(os.Environ(), "DOCKER_HOST="+host)
	image := exec.Command("hermes", "sandbox", "image", "build", "--tag", images["agent"])
	image.Env = append(os.Environ(), "DOCKER_HOST="+host, "HOME="+work)
	for _, cmd := range []*exec.Cmd{pack, image} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	t.Cleanup(func() { e.docker("rmi", "-f", images["agent"], images["proxy"]) })
	home := filepath.Join(work, "of-proxy")
	if err := os.MkdirAll(filepath.Join(home, ".hermes"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".hermes", "config.yaml"), []byte("security: {allow_private_hosts: [listed.test]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{home, home + "/.hermes", home + "/.hermes/config.yaml"} {
		if err := os.Chown(path, 65532, 65532); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		name, from, to string
		holds          bool
	}{
		{"as written", "", "", true},
		{"the bridge has an address", "com.docker.network.bridge.inhibit_ipv4: \"true\"", "com.docker.network.bridge.inhibit_ipv4: \"false\"", false},
		{"the agent is on both networks", "        ipv4_address: 172.31.79.3\n", "        ipv4_address: 172.31.79.3\n      outside: {}\n", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			e := &engineOf{T: t, host: host, prefix: e.prefix}
			dir := t.TempDir()
			write := exec.Command("hermes", "egress", "compose", dir, "--allow", "listed.test", "--subnet", "172.31.79.0/24",
				"--agent-image", "x@sha256:"+strings.Repeat("a", 64), "--proxy-image", "y@sha256:"+strings.Repeat("b", 64))
			write.Env = append(os.Environ(), "HOME="+work)
			if out, err := write.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			text, err := os.ReadFile(filepath.Join(dir, "compose.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(text), row.from, row.to, 1)
			if row.from != "" && changed == string(text) {
				t.Fatalf("the file has no %q", row.from)
			}
			var c composed
			d := yaml.NewDecoder(bytes.NewReader([]byte(changed)))
			d.KnownFields(true)
			if err := d.Decode(&c); err != nil {
				t.Fatal(err)
			}
			e.up(dir, c, images, home)
			e.docker("run", "-d", "--name", e.prefix+"up", "--network", e.prefix+"outside", "--network-alias", "listed.test", images["agent"],
				"python3", "-c", "import socket\ns = socket.socket()\ns.bind(('', 443))\ns.listen(9)\nwhile 1:\n    c, _ = s.accept()\n    c.recv(9)")
			t.Cleanup(func() { e.docker("rm", "-f", e.prefix+"up") })
			check := exec.Command(filepath.Join(dir, "check.sh"))
			check.Env = append(os.Environ(), "DOCKER_HOST="+host, "AGENT="+e.prefix+"agent")
			out, err := check.CombinedOutput()
			if (err == nil) != row.holds || !strings.Contains(string(out), "listed.test, through the proxy") {
				t.Errorf("%v:\n%s\n%s", err, out, e.docker("logs", e.prefix+"proxy"))
			}
			log := e.docker("logs", e.prefix+"proxy")
			if row.holds && !strings.Contains(log, `"method":"DNS","target":"data-`) {
				t.Errorf("a name that carries data is not in the log: %s", log)
			}
		})
	}
}
