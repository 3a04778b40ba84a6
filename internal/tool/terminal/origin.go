package terminal

import (
	"slices"
	"strings"

	"hermes/internal/guard/exposure"
	"hermes/internal/guard/taint"
	"hermes/internal/shell"
	"hermes/internal/shell/code"
)

// Where output comes from is told by what prints it: programs that only handle what lies in the work tree print what is there,
// and the work tree's own programs (its tests, its scripts) count as part of it. All others may bring something from outside, and
// what is not known here counts as one of them.

// nearby are programs that print what is on the machine, whatever their arguments.
const nearby = " : . [ [[ alias ar arch awk base32 base64 basename bat bc break bunzip2 bzcat bzip2 cal cat cd chgrp chmod chown cksum clear cmp column comm command " +
	"continue cp cpio csplit cut date dd declare df diff diff3 dir dircolors dirname du echo egrep eval exec exit expand export expr factor false " +
	"fd fdfind fgrep file find fmt fold free getconf getopts gofmt grep groups gunzip gzip hash head hexdump hostname iconv id info install ionice jobs join jq kill " +
	"less let ln local locale ls lscpu lsof man md5sum mkdir mkfifo mktemp more mv nice nl nm nohup nproc objdump od paste patch pathchk pgrep printenv " +
	"printf ps pushd popd dirs pwd read readelf readlink readonly realpath return rev rg rm rmdir sed seq set setsid sha1sum sha224sum sha256sum sha384sum sha512sum " +
	"shift shopt shuf sleep sort source split stat stdbuf strings strip stty sum sync tac tail tar tee test time timeout top touch tput tr trap tree true " +
	"truncate tsort tty type typeset ulimit umask unalias uname unexpand uniq unlink unset unxz unzip uptime users vdir wait wc whatis whereis which who whoami xargs xxd " +
	"xz xzcat yes yq zcat zip zstd env sudo bash sh dash ksh zsh ctags cloc tokei shellcheck sqlite3 " +
	// The work tree's own programs, and those that look at it.
	"make gmake cmake ninja meson gcc g++ cc c++ clang clang++ rustc javac java node nodejs deno python python2 python3 pytest tox ruby perl php lua Rscript tsc eslint prettier jest vitest mocha " +
	"ruff black isort flake8 mypy pylint pyright rustfmt clippy-driver golangci-lint staticcheck mvn gradle rspec phpunit ctest "

// partly returns the subcommands with which a program does so, for programs that do it with some only.
func partly(program string) string {
	switch program {
	case "git":
		return " add am apply archive bisect blame branch cat-file check-ignore checkout cherry-pick clean commit config count-objects describe diff diff-tree for-each-ref " +
			"format-patch fsck gc grep hash-object init log ls-files ls-tree merge merge-base mv notes rebase reflog reset restore rev-list rev-parse revert rm " +
			"shortlog show show-ref stash status switch symbolic-ref tag whatchanged worktree "
	case "go":
		return " build bug clean doc env fix fmt generate list run test tool version vet "
	case "cargo":
		return " bench build check clean clippy doc fmt metadata run test tree version "
	case "npm":
		return " ls list run run-script start test t bin prefix root "
	case "yarn":
		return " run test start build "
	case "pnpm":
		return " run test start build ls list "
	case "bun":
		return " run test build "
	case "pip":
		return " list freeze check "
	case "pip3":
		return " list freeze check "
	case "uv":
		return " run "
	case "poetry":
		return " run "
	case "dotnet":
		return " build run test "
	}
	return ""
}

// modules are those of Python that do so when they are run.
const modules = " pytest unittest doctest json.tool compileall venv build mypy black ruff flake8 pylint isort coverage tox timeit trace pdb py_compile "

// origin says where the output of a command comes from.
func origin(p *shell.Program, e exposure.Exposure) taint.Origin {
	if e.Network.Force == exposure.NoNet {
		return taint.Work
	}
	for _, n := range p.Notes {
		switch n.Kind {
		case shell.Invisible, shell.Bidi, shell.Control, shell.UnreadScript: // a script of the work tree is the work tree's
		default:
			return taint.Outside
		}
	}
	stands := map[int]bool{} // names of functions and aliases: what they stand for is a command of its own
	for i := range p.Commands {
		if c := &p.Commands[i]; c.How == "function" || c.How == "alias" {
			stands[c.Parent] = true
		}
	}
	for i := range p.Commands {
		if !stands[i] && !stays(&p.Commands[i]) {
			return taint.Outside
		}
	}
	for _, payload := range p.Payloads {
		if payload.How != "file" && payload.Report.Effects&(code.Connect|code.Eval|code.Spawn|code.Unknown) != 0 {
			return taint.Outside
		}
	}
	return taint.Work
}

// stays tells whether a command prints only what is in the work tree or on the machine.
func stays(c *shell.Command) bool {
	if c.Guess || c.Place == shell.Container || c.Place == shell.Elsewhere {
		return c.Guess // only perhaps a command; the one it stands in was looked at
	}
	for _, r := range c.Redirs {
		if strings.HasPrefix(r.Target.Text, "/dev/tcp/") || strings.HasPrefix(r.Target.Text, "/dev/udp/") || !r.Target.Known() && strings.HasPrefix(r.Op, "<") {
			return false
		}
	}
	switch {
	case c.Name == "":
		return len(c.Args) == 0 // assignments alone
	case strings.HasPrefix(c.Name, "python") && len(c.Args) > 2 && c.Args[1].Is("-m"):
		return has(modules, c.Args[2].Text)
	case has(nearby, c.Name):
		return true
	case partly(c.Name) != "":
		return has(partly(c.Name), subcommand(c))
	}
	return belongs(c)
}

// belongs tells whether a command is a program of the work tree, by how it is called.
func belongs(c *shell.Command) bool {
	if len(c.Args) == 0 || !c.Args[0].Known() {
		return false
	}
	name := c.Args[0].Text
	return strings.HasPrefix(name, "./") && !slices.Contains(strings.Split(name, "/"), "..")
}

func has(list, word string) bool { return word != "" && strings.Contains(list, " "+word+" ") }
