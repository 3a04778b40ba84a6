package plan

import (
	"slices"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/guard/exposure"
	"hermes/internal/guard/exposure/container"
)

// secretFree refuses a command line that holds a secret.
func (b *builder) secretFree() error {
	for _, secret := range b.s.Secrets {
		if len(secret) < 8 {
			continue
		}
		if slices.ContainsFunc(b.p.Run, func(arg string) bool { return strings.Contains(arg, secret) }) {
			return &RefusedError{Setting: "terminal.docker_extra_args", Why: "a secret's value would stand in the command line, which every user of the machine can read",
				Remedy: "name the variable in terminal.docker_forward_env or terminal.docker_env"}
		}
	}
	return nil
}

// environment names the variables. Their values travel with each command, so that the engine does not write them to its disk;
// only an image whose own init starts services gets those of docker_env that are no secrets.
func (b *builder) environment() error {
	e := b.s.Env
	b.p.Exec = names(e.Names())
	var init []string
	for _, name := range slices.Sorted(slices.Values(b.s.InitEnv)) {
		v, ok := e.Lookup(name)
		if ok && b.f.S6 && !b.secret(name, v) && !slices.Contains(init, name) {
			init = append(init, name)
			b.privs = append(b.privs, "init "+name+"="+v)
		}
	}
	b.variables = names(init)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(b.f.ClientProxies))) {
		if !slices.Contains(init, name) {
			b.variables = append(b.variables, "-e", name+"=")
		}
	}
	if b.f.Engine == container.Podman && !b.has("http-proxy") {
		b.variables = append(b.variables, "--http-proxy=false")
	}
	for _, name := range b.f.Variables {
		if b.secret(name, "") && name != "GPG_KEY" { // the key of official images, which is public
			b.note("terminal.docker_image: the image itself sets %s, which commands can read", name)
		}
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"terminal.docker_forward_env", b.s.Forward}, {"terminal.docker_env", b.s.InitEnv}} {
		for _, name := range slices.Compact(slices.Sorted(slices.Values(list.names))) {
			if v, ok := e.Lookup(name); ok && b.secret(name, v) {
				b.p.Risks = append(b.p.Risks, forwarded(list.key, name))
			}
		}
	}
	return nil
}

func names(list []string) (out []string) {
	for _, name := range list {
		out = append(out, "-e", name)
	}
	return out
}

// secret tells whether a variable looks like a secret or holds one.
func (b *builder) secret(name, value string) bool {
	upper := strings.ToUpper(name)
	for part := range strings.FieldsSeq("KEY TOKEN SECRET PASS CRED AUTH DSN BEARER WEBHOOK PRIVATE COOKIE SESSION_ID DATABASE_URL") {
		if strings.Contains(upper, part) {
			return true
		}
	}
	return slices.ContainsFunc(b.s.Secrets, func(s string) bool { return len(s) >= 4 && strings.Contains(value, s) })
}

// forwarded is the risk of a variable that is a secret.
func forwarded(key, name string) container.Risk {
	return container.Risk{Name: "environment-secret", Text: name, Setting: key, Opens: []exposure.Door{exposure.EnvSecrets},
		Harms: guard.Host | guard.Leak, Why: "commands can read the value of " + name}
}
