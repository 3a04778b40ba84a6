package compose

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/rigtest"
)

func text(t *testing.T, files []File, name string) string {
	t.Helper()
	for _, f := range files {
		if f.Name == name {
			return f.Text
		}
	}
	t.Fatalf("no %s", name)
	return ""
}

func TestRefusals(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("a", 64)
	for _, row := range []struct {
		o    Options
		want string // empty: passes
	}{
		{Options{}, ""}, {Options{Agent: "agent" + digest, Proxy: "registry.test:5000/a/b" + digest}, ""},
		{Options{Agent: "agent:latest"}, "name it by digest"}, {Options{Proxy: "proxy:1.2"}, "name it by digest"},
		{Options{Agent: "a@sha256:abc"}, "name it by digest"}, {Options{Agent: "a\nprivileged: true #" + digest}, "not a name"},
		{Options{Subnet: "10.9.8.0/24"}, ""}, {Options{Subnet: "8.8.8.0/24"}, "private"}, {Options{Subnet: "10.0.0.0/30"}, "8 addresses"},
		{Options{Subnet: "fd00::/64"}, "private IPv4"},
		{Options{Allow: []string{"*.com"}}, "top-level domain"}, {Options{Allow: []string{"metadata.google.internal"}}, "never reached"},
		{Options{Allow: []string{"a.test:8443"}}, ""}, {Options{Squid: true, Allow: []string{"a.test:8443"}}, "hosts only"},
		{Options{Squid: true, Allow: []string{"*.a.test", "b.test"}}, ""},
	} {
		_, err := Files(row.o)
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%+v: %v, want %q", row.o, err, row.want)
		}
	}
}

func TestWriteKeepsWhatIsThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deploy")
	files, err := Files(Options{Squid: true, Allow: []string{"*.a.test"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, files, false); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, allowFile), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, composeFile)); err != nil {
		t.Fatal(err)
	}
	var exists *ExistsError
	if err := Write(dir, files, false); !errors.As(err, &exists) {
		t.Errorf("a file was replaced: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, composeFile)); err == nil {
		t.Error("one of several files was written")
	}
	if got, _ := os.ReadFile(filepath.Join(dir, allowFile)); string(got) != "mine\n" {
		t.Errorf("the owner's list is now %q", got)
	}
	if err := Write(dir, files, true); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, allowFile)); !strings.HasSuffix(string(got), "\n.a.test\n") {
		t.Errorf("the list is %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if info, err := os.Stat(filepath.Join(dir, checkFile)); err != nil || info.Mode()&0o111 == 0 && os.PathSeparator == '/' {
		t.Errorf("check.sh: %v %v", info, err)
	}
}

// The rules of the list hold with a real squid, in a network of its own.
func TestSquid(t *testing.T) {
	for _, program := range []string{"/usr/sbin/squid", "/usr/bin/unshare", "/usr/bin/python3"} {
		if _, err := os.Stat(program); err != nil || os.Geteuid() != 0 {
			rigtest.Need(t, program+" and root")
		}
	}
	dir := t.TempDir()
	files, err := Files(Options{Squid: true, Allow: []string{"listed.test", "*.below.test", "private.test"}})
	if err != nil {
		t.Fatal(err)
	}
	conf := strings.ReplaceAll(text(t, files, squidFile), "/etc/squid/allow.txt", dir+"/allow.txt")
	conf = strings.ReplaceAll(conf, "stdio:/dev/std", "stdio:"+dir+"/") + "hosts_file " + dir + "/hosts\n"
	for name, text := range map[string]string{
		"squid.conf": conf, "allow.txt": text(t, files, allowFile),
		"hosts": "11.0.0.1 listed.test x.below.test other.test\n10.0.0.1 private.test\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("unshare", "--net", "--pid", "--fork", "--kill-child", "bash", "-c", squidScript, dir).CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(dir + "/err")
		t.Fatalf("%v: %s\n%s", err, out, log)
	}
	want := "listed.test:443 200\nx.below.test:443 200\nother.test:443 403\nunlisted.test:443 403\nlisted.test:22 403\nprivate.test:443 403\n" +
		"127.0.0.1:443 403\n169.254.169.254:443 403\n0xa9fea9fe:443 403\n[::ffff:127.0.0.1]:443 403\n"
	if string(out) != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

const squidScript = `cd "$0"
ip link set lo up
serves() { # waits for a port
	for _ in $(seq 200); do
		(exec 3<>"/dev/tcp/$1/$2") 2>/dev/null && return
		sleep 0.1
	done
}
for a in 172.31.77.2 11.0.0.1 10.0.0.1; do ip addr add $a/32 dev lo; done
/usr/bin/python3 -c "
import socket
s = socket.socket()
s.bind(('', 443))
s.listen(64)
while 1:
    c, _ = s.accept()
    c.close()" &
/usr/sbin/squid -N -f "$0/squid.conf" &
serves 11.0.0.1 443
serves 172.31.77.2 3128
for host in listed.test:443 x.below.test:443 other.test:443 unlisted.test:443 listed.test:22 private.test:443 127.0.0.1:443 \
	169.254.169.254:443 0xa9fea9fe:443 '[::ffff:127.0.0.1]:443'; do
	exec 3<>/dev/tcp/172.31.77.2/3128
	printf 'CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n' "$host" "$host" >&3
	read -r -t 20 _ status _ <&3
	echo "$host $status"
	exec 3>&-
done
exit 0
`
