package command

import (
	"strings"

	"hermes/internal/shell"
)

// runsAddress holds when the program to run is named by an address.
func runsAddress(c *ctx, i int) (span, bool) {
	args, name := c.args(i), c.name(i)
	first := func(skip ...string) (shell.Word, bool) {
		for k := 1; k < len(args); k++ {
			t := args[k].Text
			switch {
			case t == "" || has(skip, t):
			case t == "-p" || t == "--package" || t == "--spec" || t == "--from" || t == "--with" || t == "-c" || t == "--call":
				k++
			case t[0] != '-':
				return args[k], true
			}
		}
		return shell.Word{}, false
	}
	option := func(names ...string) (shell.Word, bool) {
		for k, w := range args[1:] {
			for _, n := range names {
				if args[k].Text == n && k > 0 {
					return w, true
				}
				if strings.HasPrefix(w.Text, n+"=") {
					return w.Slice(len(n) + 1), true
				}
			}
		}
		return shell.Word{}, false
	}
	address := func(w shell.Word, ok bool) (span, bool) {
		if !ok {
			return span{}, false
		}
		_, _, is := codeHost(w.Text)
		return at(w), is
	}
	switch name {
	case "npx", "bunx":
		if s, ok := address(option("-p", "--package")); ok {
			return s, ok
		}
		w, ok := first("-y", "--yes")
		if ok && w.Text[0] != '@' && w.Text[0] != '.' && w.Text[0] != '/' && strings.Count(w.Text, "/") == 1 && len(w.Holes) == 0 {
			return at(w), true
		}
		return address(w, ok)
	case "npm", "pnpm", "yarn", "bun":
		if name == "bun" && len(args) > 1 {
			w, ok := first("run")
			if ok && strings.HasPrefix(w.Text, "http") {
				return at(w), true
			}
		}
		if !hasArg(args, "exec", "dlx", "x") {
			return span{}, false
		}
		if s, ok := address(option("-p", "--package")); ok {
			return s, ok
		}
		return address(first("exec", "dlx", "x"))
	case "uvx", "pipx", "uv":
		if name == "pipx" && !hasArg(args, "run") || name == "uv" && !hasArg(args, "tool", "run") {
			return span{}, false
		}
		if s, ok := address(option("--from", "--spec", "--with")); ok {
			return s, ok
		}
		w, ok := first("run", "tool", "install")
		if name == "uv" && ok && !strings.Contains(w.Text, "://") {
			return span{}, false
		}
		return address(w, ok)
	case "deno", "tsx", "node", "wasmtime":
		if name == "deno" && !hasArg(args, "run", "install", "eval", "serve", "test", "compile", "x") {
			return span{}, false
		}
		if name == "deno" && hasArg(args, "eval") {
			for _, w := range args[1:] {
				if n := strings.Index(w.Text, "https://"); n >= 0 && strings.Contains(w.Text, "import") && foreignCode(strings.Trim(w.Text[n:], "'\"`);")) {
					return at(w), true
				}
			}
		}
		w, ok := first("run", "install", "serve", "test", "compile", "x")
		return at(w), ok && strings.HasPrefix(w.Text, "http") && foreignCode(w.Text)
	case "go":
		if len(args) < 3 || args[1].Text != "run" && args[1].Text != "install" && args[1].Text != "tool" {
			return span{}, false
		}
		for _, w := range args[2:] {
			mod, _, ok := cut(w.Text, '@')
			if w.Text == "" || w.Text[0] == '-' {
				continue
			}
			host, _, _ := cut(mod, '/')
			if ok && strings.Contains(host, ".") && host[0] != '.' && !publicHost(host) && !moduleHost(host) {
				return at(w), true
			}
			if args[1].Text == "run" {
				break
			}
		}
	case "nix":
		if !hasArg(args, "run", "shell", "develop", "profile") {
			return span{}, false
		}
		return address(first("run", "shell", "develop", "profile", "install"))
	case "nix-shell", "nix-env":
		for _, w := range args[1:] {
			if (strings.Contains(w.Text, "fetchTarball") || strings.Contains(w.Text, "fetchGit") || strings.Contains(w.Text, "fetchurl") || strings.HasPrefix(w.Text, "http")) && foreignCode(w.Text) {
				return at(w), true
			}
		}
	case "ansible-pull":
		return address(option("-U", "--url"))
	case "terraform", "tofu":
		w, ok := option("-from-module")
		return at(w), ok && foreignCode(w.Text)
	case "vim", "nvim", "vi":
		for _, w := range args[1:] {
			t := strings.TrimLeft(w.Text, "+: ")
			if (strings.HasPrefix(t, "so ") || strings.HasPrefix(t, "source ")) && strings.Contains(t, "://") {
				return at(w), true
			}
		}
	case "groovy", "gradle", "gradlew":
		w, ok := first()
		if x, given := option("-I", "--init-script"); given {
			w, ok = x, true
		}
		return at(w), ok && strings.Contains(w.Text, "://") && foreignCode(w.Text)
	case "ansible-galaxy":
		for _, w := range args[1:] {
			if foreignCode(w.Text) && hasArg(args, "install") && !startsWord(args, "-s", "--server") {
				return at(w), true
			}
		}
	case "docker", "podman":
		if !hasArg(args, "build", "buildx") {
			return span{}, false
		}
		w := args[len(args)-1]
		return at(w), (strings.HasPrefix(w.Text, "http") || strings.HasPrefix(w.Text, "git")) && foreignCode(w.Text)
	}
	return span{}, false
}

// moduleHost names hosts that well-known Go modules are named by.
func moduleHost(host string) bool {
	switch host {
	case "honnef.co", "mvdan.cc", "gotest.tools", "rsc.io", "gopkg.in", "cuelang.org", "filippo.io", "entgo.io", "goa.design", "buf.build", "gioui.org", "fyne.io", "oras.land", "connectrpc.com", "gorm.io", "9fans.net", "modernc.org",
		"tailscale.com", "storj.io", "4d63.com", "golift.io", "knative.dev", "dagger.io", "encore.dev", "charm.land", "gonum.org", "maunium.net", "zgo.at", "kcl-lang.io", "cel.dev", "cloudeng.io", "sourcegraph.com", "tinygo.org",
		"fillmore-labs.com", "gvisor.dev", "upspin.io", "periph.io", "perkeep.org", "changkun.de", "pgregory.net", "evilmartians.io", "lesiw.io", "dario.cat", "olympos.io", "robpike.io", "libvirt.org", "k6.io", "gocloud.dev", "mellium.im":
		return true
	}
	return strings.HasPrefix(host, "go.") || strings.HasPrefix(host, "golang.") || strings.HasPrefix(host, "pkg.") && host != "pkg."
}
