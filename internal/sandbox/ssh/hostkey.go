package ssh

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes/internal/child"
	"hermes/internal/guard/checked"
	"hermes/internal/sandbox"
)

// HostKey is a key that a host showed and nobody has confirmed yet.
type HostKey struct {
	Host        string // user@host:port, as the settings say, or a jump host on the way there
	Type        string // ssh-ed25519, …
	Fingerprint string // SHA256:…, as ssh shows it
	Known       string // the file it will be kept in
}

// introduce asks about the hosts on the way that are not known, in order, and keeps what was confirmed. What is kept is what was
// shown: the connection that follows takes no other key.
func (b *Backend) introduce(ctx context.Context, to checked.Remote) error {
	settings, err := b.settings(ctx, destination(to))
	if err != nil {
		return b.degraded(to, err)
	}
	var hops []string
	if jump := settings["proxyjump"]; jump != "" && jump != "none" {
		hops = strings.Split(jump, ",")
	}
	for i, hop := range hops {
		dest := []string{"--", "ssh://" + strings.TrimPrefix(hop, "ssh://")}
		if i > 0 {
			dest = append([]string{"-J", strings.Join(hops[:i], ",")}, dest...)
		}
		if err := b.meet(ctx, to, hop, dest); err != nil {
			return err
		}
	}
	return b.meet(ctx, to, to.String(), destination(to))
}

// settings returns what ssh_config says of a destination, in small letters.
func (b *Backend) settings(ctx context.Context, dest []string) (map[string]string, error) {
	spec := b.spec(append(append(b.options(), "-G"), dest...)...)
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	out, err := child.Output(ctx, spec, 1<<20)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, ok := all[name]; !ok {
			all[name] = value
		}
	}
	return all, nil
}

// meet looks whether a host is known, and asks if not. Nothing is ever logged in to: no way to log in is offered.
func (b *Backend) meet(ctx context.Context, to checked.Remote, name string, dest []string) error {
	said, err := b.knock(ctx, dest)
	if err != nil {
		return b.degraded(to, err)
	}
	if !strings.Contains(said, "host key is known for") {
		if strings.Contains(said, "has changed") {
			return b.diagnose(to, said, nil)
		}
		return nil // it is known, or not there at all: the connection will tell
	}
	key, lines, err := b.look(ctx, dest)
	if err != nil {
		return b.degraded(to, err)
	}
	refused := func(why string) error {
		return &sandbox.DegradedError{
			Backend: Name, Text: "no connection to " + to.String(),
			Cause:  fmt.Errorf("%s shows the key %s %s for the first time, and %s", name, key.Type, key.Fingerprint, why),
			Remedy: "Compare the fingerprint with the machine's own (there: `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub`), then accept it by hand: `ssh " + strings.Join(show(to), " ") + "`",
		}
	}
	settings, err := b.settings(ctx, dest)
	if err != nil {
		return b.degraded(to, err)
	}
	key.Host, key.Known = name, knownFile(settings["userknownhostsfile"])
	switch {
	case b.conf.Confirm == nil:
		return refused("nobody can be asked")
	case key.Known == "":
		return refused("ssh_config keeps no known hosts (UserKnownHostsFile)")
	}
	yes, err := b.conf.Confirm(ctx, key)
	switch {
	case err != nil:
		return refused("the question was not answered: " + err.Error())
	case !yes:
		return refused("it was not accepted")
	}
	if err := keep(key.Known, lines); err != nil {
		return b.degraded(to, err)
	}
	return nil
}

// knock tries to connect without a way to log in, and returns what ssh said.
func (b *Backend) knock(ctx context.Context, dest []string, more ...string) (string, error) {
	said := &tail{limit: 16 << 10}
	args := append(append([]string{}, more...), "-o", "PreferredAuthentications=none", "-o", "ControlMaster=no", "-S", "none")
	args = append(append(append(args, b.options()...), dest...), "exit")
	spec := b.spec(args...)
	spec.Stdio.Err = said
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	_, err := child.Run(ctx, spec)
	return said.String(), err
}

// look learns the key of a host that is not known: ssh itself writes it into a file of ours that is looked at by nobody else.
func (b *Backend) look(ctx context.Context, dest []string) (HostKey, []byte, error) {
	dir, err := b.socketDir()
	if err != nil {
		return HostKey{}, nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "known")
	said, err := b.knock(ctx, dest, "-o", "StrictHostKeyChecking=accept-new", "-o", `UserKnownHostsFile="`+file+`"`,
		"-o", "GlobalKnownHostsFile=/dev/null")
	if err != nil {
		return HostKey{}, nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return HostKey{}, nil, fmt.Errorf("it shows no key: %s", lastLine(said))
	}
	key, err := readKey(text)
	return key, text, err
}

// readKey reads the lines that ssh wrote; all of them are about one key.
func readKey(text []byte) (key HostKey, err error) {
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) < 3 {
			return key, errors.New("its key cannot be read")
		}
		blob, err := base64.StdEncoding.DecodeString(string(fields[2]))
		if err != nil {
			return key, errors.New("its key cannot be read")
		}
		sum := sha256.Sum256(blob)
		print := "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
		if key.Fingerprint != "" && key.Fingerprint != print {
			return key, errors.New("it shows more than one key")
		}
		key.Type, key.Fingerprint = string(fields[1]), print
	}
	if key.Fingerprint == "" {
		return key, errors.New("it shows no key")
	}
	return key, nil
}

// knownFile returns the first file of a list that keeps anything.
func knownFile(list string) string {
	for _, file := range words(list) {
		if file != "none" && file != "/dev/null" && filepath.IsAbs(file) {
			return file
		}
	}
	return ""
}

// words splits a list whose entries may stand in quotes.
func words(list string) (out []string) {
	for list = strings.TrimSpace(list); list != ""; list = strings.TrimSpace(list) {
		var word string
		if rest, ok := strings.CutPrefix(list, `"`); ok {
			word, list, _ = strings.Cut(rest, `"`)
		} else {
			word, list, _ = strings.Cut(list, " ")
		}
		out = append(out, word)
	}
	return out
}

// keep adds lines to a file of known hosts, as ssh does after a yes.
func keep(file string, lines []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("keep the host key: %w", err)
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("keep the host key: %w", err)
	}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			lines = append([]byte{'\n'}, lines...)
		}
	}
	_, err = f.Write(lines)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("keep the host key: %w", err)
	}
	return nil
}
