package image

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/sandbox/docker/enginetest"
)

// An image of this machine's own files, made without a registry, runs what an agent needs.
func TestHostImageRuns(t *testing.T) {
	run := enginetest.Docker(t).Run
	built, err := FromHost(t.Context(), run, Host{Tag: "hermes/host:test"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	again, err := FromHost(t.Context(), run, Host{Tag: "hermes/host:again"}, io.Discard)
	if err != nil || again.Digest != built.Digest {
		t.Errorf("again: digest %s, want %s, %v", again.Digest, built.Digest, err)
	}
	for _, row := range []struct{ what, command, want string }{
		{"bash", "echo ${BASH_VERSION%%.*}", ""},
		{"coreutils", "seq 3 | sort -r | head -1", "3"},
		{"find and grep", "find /etc -name passwd | grep -c passwd", "1"},
		{"names of users", "id -un; ls -ld /root | awk '{print $3}'", "root\nroot"},
		{"git commits", "cd /workspace && git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --format=%s", "x"},
		{"git's helpers load", "git ls-remote https://127.0.0.1:1/x 2>&1 | grep -c -i 'connect'", "1"},
		{"python and its modules", "python3 -c 'import ssl, sqlite3, json, ctypes, subprocess; print(subprocess.check_output([\"echo\", \"hi\"]).decode().strip())'", "hi"},
		{"certificates", "python3 -c 'import ssl; print(len(ssl.create_default_context().get_ca_certs()) > 10)'", "True"},
		{"perl", "perl -MFile::Basename -e 'print basename(\"/a/b\")'", "b"},
		{"tar and gzip", "tar -C /etc -czf /tmp/x passwd && tar -tzf /tmp/x", "passwd"},
		{"UTF-8", "python3 -c 'print(\"\\u00e4\")' && printf 'ä' | wc -m", "ä\n1"},
		{"processes", "ps -o comm= 1", ""},
		{"temporary files", "stat -c %a /tmp", "1777"},
		{"no file of the owner's", "ls /home; cat /etc/shadow 2>&1 | grep -c 'No such'", "1"},
		{"a long sleep", "timeout 0.1 sleep infinity; echo $?", "124"},
	} {
		var out bytes.Buffer
		err := run(t.Context(), nil, &out, "run", "--rm", "--network=none", "--cap-drop=ALL", built.Tag, "bash", "-c", row.command)
		if got := strings.TrimSpace(out.String()); err != nil || row.want != "" && got != row.want {
			t.Errorf("%s: %q, want %q, %v", row.what, got, row.want, err)
		}
	}
	var labels bytes.Buffer
	if err := run(t.Context(), nil, &labels, "image", "inspect", "--format", "{{index .Config.Labels \""+LabelDigest+"\"}} {{.Id}}", built.Tag); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(labels.String()); got != built.Digest+" "+built.ID {
		t.Errorf("labels: %s, want %s %s", got, built.Digest, built.ID)
	}
	t.Logf("%d files, %d MB", built.Files, built.Bytes>>20)

	// A Dockerfile on top of it, with no registry either.
	dir := t.TempDir()
	file := filepath.Join(dir, "Dockerfile")
	if err := os.WriteFile(file, []byte("FROM hermes/host:test\nRUN echo made > /made\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	top, err := FromDockerfile(t.Context(), run, Dockerfile{File: file, Context: dir, Tag: "hermes/top:1"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), nil, &out, "run", "--rm", "--network=none", top.ID, "cat", "/made"); err != nil || out.String() != "made\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if _, err := FromDockerfile(t.Context(), run, Dockerfile{File: file + "x", Context: dir, Tag: "hermes/top:2"}, io.Discard); err == nil {
		t.Error("a Dockerfile that is missing: no error")
	}
}
