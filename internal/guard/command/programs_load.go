package command

import (
	"strings"

	"hermes/internal/shell"
)

// loaderNames names the programs with options that load code.
func loaderNames() []string {
	return []string{
		"openssl", "java", "ssh-keygen", "ssh-add", "gcc", "g++", "cc", "c++", "clang", "clang++", "c99", "c89", "ld", "nmap", "ncat", "enable", "hash", "sqlite3", "duckdb", "php", "pandoc", "gdb", "lldb", "curl", "mysql",
		"mysqld", "gs", "ghostscript", "tex", "latex", "pdflatex", "xelatex", "lualatex", "man", "nginx", "httpd", "apache2", "strace", "ltrace", "qemu-system-x86_64", "rustc", "wireshark", "tshark", "psql", "vim", "nvim", "emacs", "wget",
		"zmodload", "ssh", "scp", "sftp", "nano", "pico", "mosh", "gawk", "node", "ruby", "perl", "mariadb", "pdftex", "luatex", "xetex", "latexmk", "code",
	}
}

// loader reads the options of one command that load code.
type loader struct {
	c *ctx
	i int
}

func (l loader) away(w shell.Word) bool { return l.c.foreign(w, l.i) }

// local tells whether a word is a path that is not where programs are installed.
func (l loader) local(w shell.Word) bool {
	return strings.IndexByte(w.Text, '/') >= 0 && !installed(w.Text) || l.away(w)
}

// try holds when the value of one of the options is bad.
func (l loader) try(options string, bad func(shell.Word) bool) (span, bool) {
	for _, w := range l.c.values(l.i, options) {
		if bad(w) {
			return at(w), true
		}
	}
	return span{}, false
}

func always(shell.Word) bool { return true }

// loadsCode holds for options that load code or settings which run code, from a place programs are not installed in.
func loadsCode(c *ctx, i int) (span, bool) {
	l := loader{c, i}
	args := c.args(i)
	switch c.name(i) {
	case "openssl":
		return l.try("-engine -provider-path -engine_impl", l.local)
	case "java":
		for _, w := range args[1:] {
			for _, o := range [...]string{"-javaagent:", "-agentpath:", "-agentlib:", "-Xbootclasspath/a:", "-XX:OnOutOfMemoryError=", "-XX:OnError="} {
				if strings.HasPrefix(w.Text, o) && (l.away(w.Slice(len(o))) && o != "-agentlib:" || strings.HasPrefix(o, "-XX:")) {
					return at(w), true
				}
			}
		}
	case "ssh-keygen":
		return l.try("-D -w", l.local)
	case "ssh-add":
		return l.try("-s", l.local)
	case "gcc", "g++", "cc", "c++", "clang", "clang++", "c99", "c89", "rustc":
		for _, w := range args[1:] {
			if _, ok := strings.CutPrefix(w.Text, "-fplugin="); ok && l.away(w.Slice(len("-fplugin="))) {
				return at(w), true
			}
		}
		if c.name(i) == "rustc" {
			return l.try("-C --codegen", func(w shell.Word) bool {
				return strings.HasPrefix(w.Text, "linker=") && l.away(w.Slice(len("linker=")))
			})
		}
		return l.try("-specs --specs -load -B -fuse-ld", l.away)
	case "ld":
		return l.try("-plugin --plugin", l.local)
	case "nmap":
		return l.try("--script --datadir", l.away)
	case "ncat":
		return l.try("--lua-exec", always)
	case "enable":
		return l.try("-f", always)
	case "hash":
		return l.try("-p", func(w shell.Word) bool { return !installed(w.Text) })
	case "sqlite3", "duckdb":
		for _, w := range args[1:] {
			t := strings.ToLower(strings.TrimLeft(w.Text, " "))
			if strings.HasPrefix(t, ".load") || strings.Contains(t, "load_extension(") || strings.HasPrefix(t, "load '") || strings.Contains(t, "install ") && strings.Contains(t, " from 'http") {
				return at(w), true
			}
		}
		return l.try("-cmd", func(w shell.Word) bool { return strings.HasPrefix(w.Text, ".load") })
	case "php":
		return l.try("-d", func(w shell.Word) bool {
			name, v, _ := cut(w.Text, '=')
			return (name == "auto_prepend_file" || name == "auto_append_file" || name == "extension" || name == "zend_extension" || name == "sendmail_path") && strings.ContainsAny(v, "/:\x00")
		})
	case "pandoc":
		return l.try("-L --lua-filter -F --filter --pdf-engine", l.away)
	default:
		return l.settings(args)
	}
	return span{}, false
}

// settings is loadsCode for programs whose option names a file of settings or commands.
func (l loader) settings(args []shell.Word) (span, bool) {
	switch l.c.name(l.i) {
	case "gdb", "lldb":
		if s, ok := l.try("-ex -eval-command --ex --eval-command -o", func(w shell.Word) bool {
			return strings.Contains(w.Text, "system(") || strings.Contains(w.Text, "dlopen(") || strings.Contains(w.Text, "execl") || strings.Contains(w.Text, "execv")
		}); ok {
			return s, true
		}
		return l.try("-x --command -s --source -iex -ix", l.away)
	case "curl":
		return l.try("-K --config --engine", l.away)
	case "wget":
		if s, ok := l.try("-e --execute", func(w shell.Word) bool {
			return strings.Contains(w.Text, "askpass") || strings.Contains(w.Text, "output_document") || strings.Contains(w.Text, "post_file") || strings.Contains(w.Text, "body_file")
		}); ok {
			return s, true
		}
		return l.try("--config", l.away)
	case "tshark", "wireshark":
		return l.try("-X", func(w shell.Word) bool {
			return strings.HasPrefix(w.Text, "lua_script:") && l.away(w.Slice(len("lua_script:")))
		})
	case "mysql", "mariadb", "mysqld":
		if s, ok := l.try("--pager", func(w shell.Word) bool {
			name, _, _ := cut(w.Text, ' ')
			return !listed(pagerNames, base(name)) || l.away(w)
		}); ok {
			return s, true
		}
		return l.try("--plugin-dir --defaults-file --defaults-extra-file", l.away)
	case "gs", "ghostscript":
		if anyWord(args, "-dNOSAFER", "-dDELAYSAFER") {
			return span{}, true
		}
	case "tex", "latex", "pdflatex", "xelatex", "lualatex", "pdftex", "luatex", "xetex":
		for _, w := range args[1:] {
			if t := strings.TrimLeft(w.Text, "-"); t != w.Text && (t == "shell-escape" || t == "enable-write18") {
				return at(w), true
			}
		}
	case "man":
		return l.try("-C --config-file", l.away)
	case "nginx", "httpd", "apache2":
		return l.try("-c -g -C -f", l.away)
	case "strace", "ltrace":
		return l.try("-o --output", func(w shell.Word) bool { return strings.HasPrefix(w.Text, "|") || strings.HasPrefix(w.Text, "!") })
	case "vim", "nvim":
		return l.try("-S -u -U --cmd", func(w shell.Word) bool {
			return len(w.From) > 0 || strings.HasPrefix(w.Text, "/tmp/") || strings.HasPrefix(w.Text, "/dev/fd/")
		})
	case "emacs":
		return l.try("-l --load --script", l.away)
	case "ssh", "scp":
		if s, ok := l.try("-o", func(w shell.Word) bool {
			return len(w.Text) > 8 && strings.EqualFold(w.Text[:7], "include") && l.away(w.Slice(8))
		}); ok {
			return s, true
		}
		return l.try("-F", l.away)
	case "mosh":
		return l.try("--ssh --client", func(w shell.Word) bool { return !strings.HasPrefix(w.Text, "ssh") || len(w.Holes) > 0 })
	case "gawk":
		return l.try("-l --load -i --include", l.away)
	case "node":
		return l.try("-r --require --import --loader --experimental-loader", l.away)
	case "ruby", "perl":
		return l.try("-r -I", func(w shell.Word) bool {
			return strings.HasPrefix(w.Text, "/tmp") || strings.HasPrefix(w.Text, "/dev/shm")
		})
	case "latexmk":
		return l.try("-pdflatex -latex -lualatex -xelatex -pdf", func(w shell.Word) bool { name, _, _ := cut(w.Text, ' '); return isShell(base(name)) || l.away(w) })
	case "sftp":
		if s, ok := l.try("-D", always); ok {
			return s, true
		}
		return l.try("-F", l.away)
	case "nano", "pico":
		return l.try("-s --speller", func(w shell.Word) bool { return isShell(base(w.Text)) || l.away(w) })
	case "zmodload":
		return l.try("-d", always)
	}
	return span{}, false
}
