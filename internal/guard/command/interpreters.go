package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
	"hermes/internal/shell/code"
)

// Row 93: a here-document as a shell's program. One that is known in full is judged by what it would run.
func heredocs() table {
	return table{{
		Key:    "shell execution via heredoc",
		Harms:  guard.Host,
		Match:  all(runs(shellNames()...), when(heredoc), when(unknownCode)),
		Why:    "runs text that cannot be known",
		Remedy: "write what it runs in full",
		Hits:   []string{"bash <<EOF\n$CMD\nEOF"},
		Passes: []string{"bash <<'EOF'\necho hi\nEOF", "cat <<EOF\n$X\nEOF"},
	}}
}

// heredoc holds for a command with a here-document or here-string.
func heredoc(c *ctx, i int) (span, bool) {
	for _, r := range c.cmd(i).Redirs {
		if strings.HasPrefix(r.Op, "<<") {
			return span{r.Start, r.End}, true
		}
	}
	return span{}, false
}

// unknownCode holds when the text command i runs as code is not known in full.
func unknownCode(c *ctx, i int) (span, bool) {
	for _, k := range c.notesOf(i) {
		n := &c.prog.Notes[k]
		if tame(n) {
			continue
		}
		switch n.Kind {
		case shell.DynamicCode, shell.Unparsed, shell.TooDeep, shell.TooMuch, shell.DynamicWord:
			return span{n.Start, n.End}, true
		}
	}
	return span{}, false
}

// Section 13: program text on the command line, and options that run a program.
func programs() table {
	return append(append(payloadFloor(), table{
		{
			Key:    "script execution via -e/-c flag",
			Harms:  guard.Host,
			Match:  match{on: onPayload, test: script(false)},
			Why:    "runs program text that can change things",
			Remedy: "write it to a file that can be read: `python3 my_script.py`",
			Hits: []string{
				`python3 -c 'import os; os.system("whoami")'`, "perl -e 'unlink \"x\"'", "ruby -e 'system(\"ls\")'", "node -e 'require(\"child_process\").execSync(\"ls\")'",
				`php -r 'unlink("x");'`, `python3 -c "open('/home/u/o','w')"`, `python3 -c "$CODE"`, "cat > /tmp/x.py <<'E'\nimport shutil; shutil.rmtree(\"src\")\nE\npython3 /tmp/x.py", "echo 'require(\"fs\").unlinkSync(\"a\")' > a.js && node a.js",
			},
			Passes: []string{"python3 my_script.py", "python3 -c 'print(1)'", "python3 -m http.server", "node -c script.js", "ruby -c x.rb", "perl -ne 'print if /x/' f", "echo 'print(1)' > a.py && python3 a.py"},
		},
		{
			Key:    "script execution via heredoc",
			Harms:  guard.Host,
			Match:  match{on: onPayload, test: script(true)},
			Why:    "runs program text that can change things",
			Remedy: "write it to a file that can be read: `python3 my_script.py`",
			Hits:   []string{"perl <<'END'\nsystem('whoami');\nEND", "python3 - <<E\nimport shutil; shutil.rmtree('x')\nE", "echo 'import os; os.remove(\"x\")' | python3"},
			Passes: []string{"python3 - <<'E'\nprint(1)\nE", "python3 my_script.py", "cat <<E\nimport os\nE"},
		},
		{
			Key:    "shell command via -c/-lc flag",
			Harms:  guard.Host,
			Match:  all(runs("bash", "sh", "zsh", "ksh", "dash", "mksh", "ash"), when(opaqueShell)),
			Why:    "runs text that cannot be known",
			Remedy: "write what it runs in full: `bash -lc 'go test ./...'`",
			Hits:   []string{`bash -c "$CMD"`, "bash -c", "bash -ilc", `sh -c "$(cat x)"`, "zsh -lc $X"},
			Passes: []string{"bash -lc 'go test ./...'", "bash --norc script.sh", "bash -O -c harmless.sh", "bash -Wc x.sh", "bash script.sh"},
		},
	}...), toolOptions()...)
}

// payloadFloor is the floor for program text: what it deletes is known path by path.
func payloadFloor() table {
	row := func(key, path, pass string, is place) Rule {
		return Rule{
			Key: key, Tier: guard.Hardline, Harms: guard.Host, Match: match{on: onPayload, test: wipesPath(is)}, Why: "deletes what the machine or its owner needs",
			Remedy: "name what you mean", Hits: []string{"python3 -c 'import shutil; shutil.rmtree(\"" + path + "\")'"},
			Passes: []string{"python3 -c 'import shutil; shutil.rmtree(\"" + pass + "\")'", "python3 -c 'print(\"" + path + "\")'"},
		}
	}
	return table{
		row("recursive delete of root filesystem", "/", "/tmp/x", (*ctx).isRoot),
		row("recursive delete of system directory", "/etc", "/etc/x", (*ctx).isSystemDir),
		row("recursive delete of home directory", "~/", "~/x", (*ctx).isHome),
	}
}

// wipesPath holds for program text that deletes such a path.
func wipesPath(is place) test {
	return func(c *ctx, i int) (span, bool) {
		p := c.payload(i)
		for _, f := range p.Report.Deletes {
			if !f.Known {
				continue
			}
			if is(c, c.resolve(f.Text, shell.Word{}, c.cmd(p.Command).Dir)) {
				return at(p.Text), true
			}
		}
		return span{}, false
	}
}

// script holds for program text in a scripting language that can do more than compute and print.
func script(stdin bool) test {
	return func(c *ctx, i int) (span, bool) {
		p := c.payload(i)
		switch p.Lang {
		case code.Awk, code.Sed, code.SQL, code.Vim, code.Make:
			return span{}, false
		}
		if p.File != "" && (stdin || !c.writtenHere(p)) || (p.How == "stdin") != stdin || (p.Report.Effects &^ code.Import).Harmless() {
			return span{}, false
		}
		if p.Lang == code.Unlisted && len(p.Text.Holes) == 0 && (!suspicious(p.Text.Text) || computes(c.name(p.Command), p.Text.Text)) {
			return span{}, false
		}
		if p.Lang == code.Ruby && c.name(p.Command) == "rails" && len(p.Text.Holes) == 0 && recordsRead(p.Text.Text) {
			return span{}, false
		}
		return at(p.Text), true
	}
}

// suspicious tells whether text in a language that is not read speaks of anything but computing and printing.
func suspicious(s string) bool {
	s = strings.ToLower(s)
	for _, word := range [...]string{
		"system", "exec", "spawn", "popen", "process", "shell", "`", "run(", "run ", "command", "delete", "remove", "unlink", "rm", "rename", "write", "open", "save", "create",
		"drop", "insert", "update", "truncate", "shutdown", "kill", "socket", "http", "url", "download", "fetch", "connect", "eval", "load", "require", "import", "copy", "move",
		"chmod", "/etc", "~", "getenv", "quit(", "os.", "file",
	} {
		if strings.Contains(s, word) && !(word == "system" && strings.Contains(s, "system.version")) {
			return true
		}
	}
	return false
}

// opaqueShell holds for a shell whose -c has no text, or text that is not known.
func opaqueShell(c *ctx, i int) (span, bool) {
	given := false
	for _, o := range c.line(i).opts {
		w := c.args(i)[o.arg]
		if o.name == "-c" && validBundle(w.Text) {
			given = true
		}
	}
	if !given {
		return span{}, false
	}
	w, ok := c.operand(i, 0)
	if !ok {
		return span{}, true
	}
	if len(w.Holes) > 0 && couldBeOption(w) {
		return at(w), true
	}
	for _, k := range c.notesOf(i) {
		if n := &c.prog.Notes[k]; !tame(n) && (n.Kind == shell.DynamicCode || n.Kind == shell.Unparsed) {
			return at(w), true
		}
	}
	return span{}, false
}

// validBundle tells whether all letters of a bundle are options of a shell.
func validBundle(s string) bool {
	return strings.Trim(s[1:], "abcefhiklmnoprstuvxBCDEHPTOVGR") == ""
}

// toolOptions are options of reading tools that run a program: row by row, each under the name of tool and option.
func toolOptions() table {
	row := func(tool, option, hit string, passes ...string) Rule {
		names := []string{option}
		switch option {
		case "-H":
			names = []string{"-H"}
		}
		return Rule{
			Key: "arbitrary program execution via " + tool + " " + option, Harms: guard.Host,
			Match: all(runs(tool), flag(names...), when(runsOther(names))), Why: "runs another program on what the tool reads",
			Remedy: "leave the option out: `" + tool + " x`", Hits: []string{hit}, Passes: append(passes, tool+" x"),
		}
	}
	return table{
		row("sort", "--compress-program", "sort --output result --compress-program sh names.txt", "sort -- --compress-program sh", "sort --output --compress-program names.txt",
			"sort --compress-program=gzip names"),
		row("rg", "--pre", "rg --pre-glob '*.gz' --pre sh needle", "rg --pre-glob --pre needle", "pip install --pre x"),
		row("rg", "--hostname-bin", "rg --hostname-bin=sh pattern", "rg x -e --hostname-bin"),
		row("ag", "--pager", "ag --pager sh foo", "ag --ignore --pager needle", "ag -G --pager needle"),
		row("man", "--pager", "man --config-file man.conf --pager sh ls", "man --config-file --pager printf", "man -k pager"),
		row("man", "--html", "man --html=sh ls", "man ls"),
		row("man", "-P", "man -Psh ls", "man -k pager", "man -p e ls"),
		row("man", "-H", "man -Hsh ls", "man ls"),
	}
}

// runsOther holds unless the program an option names is known to be harmless there.
func runsOther(names []string) test {
	return func(c *ctx, i int) (span, bool) {
		o, ok := c.opt(i, names...)
		if !ok {
			return span{}, false
		}
		if o.is("--compress-program") && has([]string{"gzip", "bzip2", "xz", "zstd", "lz4", "lzop", "pigz", "pbzip2"}, o.value.Text) {
			return span{}, false
		}
		return at(c.args(i)[o.arg]), true
	}
}

// writtenHere tells whether the text itself writes the file that a program text comes from.
func (c *ctx) writtenHere(p *shell.Payload) bool {
	for n := 0; n < p.Command && c.step(n); n++ {
		for _, t := range c.writes(n) {
			if !t.maybe && t.path == c.resolve(p.File, shell.Word{}, c.cmd(p.Command).Dir).path {
				return true
			}
		}
	}
	return false
}
