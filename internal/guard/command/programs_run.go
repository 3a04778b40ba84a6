package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
	"hermes/internal/shell/code"
)

// Programs that run, or code that loads, because an option of another tool says so. The evaluator shows what runs; these
// rules ask unless it is what that option is there for.
func programsRun() table {
	return table{
		{
			Key:    "program run through a tool's option",
			Harms:  guard.Host,
			Match:  when(sideProgram),
			Why:    "makes the tool run another program than the ones this option is for",
			Remedy: "leave the option out: `git status`",
			Hits: []string{
				"git -c core.fsmonitor=/tmp/x status", "git -p -c core.pager=/tmp/x help", "git -c diff.external=./x diff", "git ls-remote --upload-pack=/tmp/x h:r", "git grep -O/tmp/x foo",
				"tar cf a --rsh-command=/tmp/x u@h:a", "tar cf /dev/null a --checkpoint=1 --checkpoint-action=exec=/tmp/x", "ssh -o KnownHostsCommand=/tmp/x h true", "scp -S /tmp/x a h:b",
				"scp -o ProxyCommand=/tmp/x a h:", "zip a.zip b -T -TT 'sh #'", "tcpdump -i lo -w /tmp/o -z /tmp/x", "bat --pager 'sh -c id' README.md", "more '+!sh' f", "make SHELL=/tmp/x all",
				"just --shell /tmp/x build", "wget --use-askpass=/tmp/x https://h.example", "aria2c --on-download-complete=/tmp/x https://x.example/f", "dvips x.dvi -o '!sh'", "dmsetup ls --exec '/bin/sh -s'",
				"gcc -wrapper /bin/sh,-s .", "rsync --rsh='sh -c id' a b:", "sftp -oProxyCommand='sh -c id' h", "git config --global core.fsmonitor /tmp/x", "git archive --remote=h --exec=/tmp/x HEAD",
			},
			Passes: []string{
				"git -c core.pager='less -R' log -1", "git -c core.pager=cat diff", "git config --global core.pager delta", "git config --global core.editor 'code --wait'", "git status", "rsync -e 'ssh -p 2222' a b:",
				"tar -I zstd -cf a.tar.zst b", "tar --checkpoint=1000 --checkpoint-action=exec='echo x' -cf a b", "make SHELL=/bin/bash check", "ssh -o ProxyCommand='ssh -W %h:%p jump' host uptime",
				"git -c sequence.editor=true rebase -i HEAD~2", "git config --global credential.helper '!gh auth git-credential'", "tcpdump -i lo -w o -z gzip", "gcc -wrapper gdb,--args a.c", "find . -name x -exec grep y {} +",
				"git config filter.lfs.clean 'git-lfs clean -- %f'", "just --shell bash build", "git -c core.sshCommand='ssh -i ~/.ssh/work' fetch",
			},
		},
		{
			Key:    "shell started by another tool",
			Harms:  guard.Host,
			Match:  match{names: shellNames(), test: spawnedShell},
			Why:    "starts a shell from inside a tool that is not there for it",
			Remedy: "run the command itself: `bash -c 'go version'`",
			Hits: []string{
				"ex -sc '%!sh' -cx a", "awk '{print | \"sh\"}' cmds.txt", "find . -exec /bin/sh \\; -quit", "awk 'BEGIN {system(\"/bin/sh\")}'", "ed <<< '!sh'", "less +'!sh' f", "gdb -nx -ex '!sh' -ex quit",
				"fd . -x sh", "parallel --pipe sh < cmds",
			},
			Passes: []string{"bash -c 'go version'", "sudo bash", "docker exec -it web bash", "ssh host bash", "find . -name '*.sh' -exec bash -n {} +", "find . -exec sh -c 'echo hi' \\;", "tmux new -d bash", "env bash"},
		},
		{
			Key:    "shell opened from an editor",
			Harms:  guard.Host,
			Match:  match{on: onPayload, test: editorShell},
			Why:    "opens a shell or runs text that is not shown",
			Remedy: "edit without it: `vim -es -c '%s/a/b/g' -c wq x`",
			Hits:   []string{"view -c ':shell'", "vim -c ':terminal'", "vim -c ':so! /tmp/x'", "vim +':sh' x"},
			Passes: []string{"vim -es -c '%s/a/b/g' -c wq x", "vim +10 x", "vim -c '%!jq .' -c wq a.json", "vim -es -u NONE -c '%print' -c 'q!' notes.txt"},
		},
		{
			Key:    "git settings from elsewhere",
			Harms:  guard.Host,
			Match:  by(gitElsewhere, "git"),
			Why:    "makes git run hooks, programs or settings from another place",
			Remedy: "run it without the setting: `git status`",
			Hits: []string{
				"git -c core.hooksPath=/tmp/h commit -m x", "git --exec-path=/tmp/e status", "git -c include.path=/tmp/c status", `git -c "$KV" status`, "git -c core.worktree=/ status",
				"git clone --template=/tmp/t https://x.example/r", "git init --template /tmp/t", "git -c protocol.ext.allow=always fetch", "git clone -c core.hooksPath=/tmp/h https://x.example/r",
			},
			Passes: []string{"git status", "git --exec-path", "git -c core.hooksPath=/dev/null commit -m x", "git -c user.name=me commit -m x", "git commit -c HEAD", "git config core.hooksPath .githooks", "git commit -m 'core.hooksPath=/tmp/h'", `git -c user.email="$EMAIL" commit -m x`},
		},
		{
			Key:    "code loaded through an option",
			Harms:  guard.Host,
			Match:  match{names: loaderNames(), test: loadsCode},
			Why:    "loads code from a place that programs are not installed in",
			Remedy: "use an installed one: `openssl version`",
			Hits: []string{
				"openssl req -engine /tmp/x.so", "java -javaagent:/tmp/x.jar -version", "ssh-keygen -D ./evil.so", "ssh-add -s ./evil.so", "c99 -fplugin=/tmp/x.so a.c", "ld --plugin /tmp/x.so a.o", "nmap --script=/tmp/n x",
				"ncat -l 4444 --lua-exec /tmp/x", "enable -f /tmp/x.so y; y", "hash -p /tmp/x ls; ls", "sqlite3 app.db '.load ./x'", "php -d auto_prepend_file=/tmp/x a.php", "pandoc --lua-filter=/tmp/f.lua a.md",
				"gdb -x /tmp/x -batch", "curl -K /tmp/x", "mysql --plugin-dir=/tmp/x", "gs -dNOSAFER x.ps", "pdflatex --shell-escape x.tex", "man -C /tmp/c ls", "nginx -c /tmp/x", "strace -o '|/tmp/x' ls", "ssh -F /tmp/c h", "sftp -D ./x h", "nano -s /bin/sh", "mosh --ssh=/tmp/x h", "node -r /tmp/x.js a.js", "gawk -l /tmp/x.so 1", "rustc -C linker=/tmp/x a.rs", "tshark -X lua_script:/tmp/x.lua", "mysql --pager=/tmp/x app",
				"gdb -p 1 -batch -ex 'call (int)system(\"id\")'",
			},
			Passes: []string{
				"openssl version", "openssl req -engine pkcs11 -new", "java -javaagent:./jacoco.jar -jar app.jar", "ssh-keygen -D /usr/lib/opensc-pkcs11.so", "ssh-add ~/.ssh/id_ed25519", "ld a.o -o a", "nmap --script=http-title x",
				"pandoc --lua-filter=./f.lua a.md", "hash -r", "enable -n test", "php -d memory_limit=1G a.php", "curl -k https://localhost/", "pdflatex x.tex", "gs -dSAFER x.ps", "nginx -t",
				"latexmk -shell-escape x.tex", "clang -fplugin=./p.so a.c", "java -javaagent:$HOME/.m2/jacoco.jar -jar app.jar", "ssh -F ~/.ssh/config h", "node -r ./x.js a.js", "node -r dotenv/config a.js", "mosh --ssh='ssh -p 2222' h", "wget -e robots=off https://x", "rustc -C opt-level=3 a.rs", "mysql --pager='less -S' app",
			},
		},
		{
			Key:    "build file made by a command",
			Harms:  guard.Host,
			Match:  by(madeFile, "ninja", "logrotate", "rake", "ant", "gradle", "mvn", "task", "just", "ansible-playbook", "samu", "scons", "meson", "run-parts", "supervisord", "monit", "tcc", "bazel"),
			Why:    "runs commands out of a file that is made on the spot",
			Remedy: "write the file first: `ninja -f build.ninja`",
			Hits:   []string{"ninja -f <(printf 'rule x\\n command = rm -rf src\\nbuild y: x\\n') y", "logrotate -f <(echo x)", "ninja -f /tmp/x", "logrotate -f /tmp/x", "logrotate -f ./x.conf"},
			Passes: []string{"ninja -f build.ninja", "ninja -C build", "logrotate -d /etc/logrotate.conf", "just build", "rake test"},
		},
		{
			Key:    "code in a small language",
			Harms:  guard.Host,
			Match:  by(smallCode, "dc", "bc", "m4", "redis-cli", "valkey-cli", "keydb-cli", "go", "jq", "gp", "units", "tcc", "cpp", "ansible", "expect"),
			Why:    "the text it is given starts programs",
			Remedy: "give it text that computes: `echo '2 3 + p' | dc`",
			Hits: []string{
				"dc -e '!rm -rf src'", "m4 <<< 'syscmd(`rm -rf src'\\'')'", `redis-cli EVAL 'return os.execute("id")' 0`, "go run - <<'E'\npackage main\nimport \"os\"\nfunc main() { os.RemoveAll(os.Getenv(\"HOME\")) }\nE",
				"echo '!sh' | dc", "tcc -run - <<'E'\nint main(){system(\"id\");}\nE", "expect -c 'spawn sh; interact'",
			},
			Passes: []string{"echo '2 3 + p' | dc", "dc -e '2 3 + p'", "m4 config.m4 > config", "redis-cli EVAL \"return redis.call('GET', KEYS[1])\" 1 k", "redis-cli get k", "go run .", "bc <<< '2^10'", "go run - <<'E'\npackage main\nimport \"fmt\"\nfunc main() { fmt.Println(1) }\nE"},
		},
		{
			Key:    "system secret given to a reading tool",
			Harms:  guard.Leak,
			Match:  by(readsShadow, shadowReaders()...),
			Why:    "prints passwords or keys in some disguise",
			Remedy: "look at who may read it: `ls -l /etc/shadow`",
			Hits:   []string{"whiptail --textbox /etc/shadow 0 0", "date -f /etc/shadow", "wall --nobanner /etc/shadow", "aspell -c /root/.ssh/id_rsa", "ss -a -F /etc/shadow", "ip -force -batch /etc/shadow", "nroff ~/.ssh/id_ed25519"},
			Passes: []string{"ls -l /etc/shadow", "date -f dates.txt", "diff a b", "column -t /etc/passwd", "nm a.out", "ip addr"},
		},
		{
			Key:    "shell template in program text",
			Harms:  guard.Host,
			Match:  match{on: onPayload, test: shellTemplate},
			Why:    "runs a shell command out of program text",
			Remedy: "run the command itself: `ls src`",
			Hits:   []string{"bun -e 'await Bun.$`rm -rf src`'", "bun -e 'import {$} from \"bun\"; await $`rm -rf src`'", "npx zx -e '$`rm x`'; bun -e 'await $`rm x`'"},
			Passes: []string{"bun -e 'console.log(1)'", "node -e 'console.log(`a${1}`)'", "perl -e 'print \"$`x\"'"},
		},
		{
			Key:    "shell reads its program from a named pipe",
			Harms:  guard.Host,
			Match:  match{names: shellNames(), test: readsFifo},
			Why:    "runs whatever someone writes into the pipe",
			Remedy: "run the script: `sh script.sh`",
			Hits:   []string{"rm -f f; mkfifo f; sh < f", "mknod /tmp/p p && bash -i < /tmp/p"},
			Passes: []string{"sh script.sh", "mkfifo f; cat < f", "mkfifo f; sh < g"},
		},
	}
}

// sideProgram holds for a command that runs because an option of its parent names it, unless it is of the option's kind.
func sideProgram(c *ctx, i int) (span, bool) {
	cmd := c.cmd(i)
	if cmd.Parent < 0 || cmd.How == "" || cmd.How == "argv" || cmd.How == "-c" || cmd.How == "stdin" || len(cmd.Args) == 0 {
		return span{}, false
	}
	usual, ok := optionFor(c.name(cmd.Parent), cmd.How)
	if cmd.How == "--exec" && c.name(cmd.Parent) == "git" && !anyWord(c.args(cmd.Parent), "rebase") {
		usual, ok = "git-upload-archive git-receive-pack git-upload-pack git", true
	}
	if !ok || cmd.Name == "" || c.cmd(cmd.Parent).Place == shell.Container {
		return span{}, false
	}
	name, p := c.name(i), cmd.Args[0].Text
	if listed(usual, name) && (strings.IndexByte(p, '/') < 0 || installed(p)) && !opaqueArgs(c, i) {
		return span{}, false
	}
	return c.whole(i), true
}

// opaqueArgs tells whether a command is a shell with text of its own or a program that is unknown.
func opaqueArgs(c *ctx, i int) bool {
	return has(shellNames(), c.name(i)) && len(c.args(i)) > 1 && c.cmd(i).How != "SHELL" && c.cmd(i).How != "--shell"
}

// installed tells whether p is where programs are installed.
func installed(p string) bool {
	for _, d := range [...]string{"/usr", "/bin", "/sbin", "/opt", "/snap", "/nix", "/Applications", "/lib", "/Library", "/home/linuxbrew"} {
		if inside(p, d) {
			return true
		}
	}
	return strings.Contains(p, "/.local/bin/") || strings.Contains(p, "/.cargo/bin/") || strings.Contains(p, "/go/bin/") || strings.Contains(p, "node_modules/.bin/")
}

const (
	pagerNames    = "less more most cat bat batcat delta diff-so-fancy moar moor vimpager lv col ov nl head tail riff difft difftastic nvimpager true tig fzf sed tr grep never builtin auto"
	editorNames   = "vi vim nvim nano pico emacs emacsclient code codium cursor windsurf subl zed micro hx helix kak gedit kate mate ed joe mcedit true cat : echo sed touch cp idea goland gvim mvim open notepad nvr"
	remoteNames   = "ssh plink tsh autossh sshpass rsh mosh"
	proxyNames    = "ssh nc ncat netcat connect connect-proxy corkscrew cloudflared aws gcloud session-manager-plugin tsh boundary websocat proxytunnel step tailscale sss_ssh_knownhostsproxy ssh-keyscan"
	archiverNames = "gzip gunzip pigz bzip2 pbzip2 lbzip2 xz pixz pxz zstd zstdmt unzstd pzstd lz4 lzop lzip plzip brotli cat"
	differNames   = "difft difftastic delta meld vimdiff nvim vim opendiff code codium kdiff3 p4merge smerge bcomp bcompare idea goland webstorm pycharm diff colordiff icdiff nbdime nbdiff sem xxdiff diffuse cursor zed cat"
	shellPrograms = "sh bash zsh dash ash ksh mksh fish nu pwsh powershell cmd python python3 node"
	filterNames   = "git-lfs git git-crypt nbstripout jupyter git-annex sed cat jq clang-format pdftotext exiftool hexdump xxd nbdime docx2txt pandoc sops ansible-vault tr expand unexpand indent true gron yq python odt2txt strings gpg openssl plutil npx npm-merge-driver mergiraf"
)

// optionFor tells whether an option or setting makes a tool run a program on the side, and which programs it is for.
func optionFor(tool, how string) (usual string, ok bool) {
	switch tool {
	case "git":
		return gitOptionFor(how)
	case "tar", "bsdtar", "gtar":
		switch how {
		case "-I", "--use-compress-program":
			return archiverNames, true
		case "--rsh-command", "--rmt-command":
			return remoteNames, true
		case "--checkpoint-action":
			return "echo printf date true sleep sync", true
		case "--to-command":
			return "cat wc sha256sum sha1sum md5sum b2sum jq grep head tail file zcat gzip tee", true
		case "-F", "--info-script", "--new-volume-script":
			return "", true
		}
	case "rsync", "cpio", "hg":
		switch how {
		case "ui.editor":
			return editorNames, true
		case "ui.merge", "extdiff.cmd":
			return differNames, true
		case "pager.pager":
			return pagerNames, true
		case "-e", "--rsh", "--rsh-command", "--ssh", "ui.ssh":
			return remoteNames, true
		}
		if strings.HasPrefix(how, "hooks.") || strings.HasPrefix(how, "merge-tools.") || strings.HasPrefix(how, "extdiff.") {
			return differNames, true
		}
	case "ssh", "scp", "sftp", "sshfs", "ssh-copy-id", "mosh":
		switch strings.ToLower(how) {
		case "proxycommand":
			return proxyNames, true
		case "-s", "-d":
			return remoteNames, true
		case "localcommand":
			return "echo notify-send true date tmux rsync printf", true
		case "knownhostscommand":
			return "ssh-keyscan sss_ssh_knownhosts step tsh", true
		}
	case "zip":
		return "unzip", true
	case "tcpdump":
		return archiverNames, true
	case "bat", "batcat", "delta", "ag", "man":
		return pagerNames, true
	case "less", "more", "most":
		return "", true
	case "make", "gmake", "just":
		switch how {
		case "SHELL", "--shell":
			return shellPrograms, true
		}
	case "gcc", "g++", "cc", "c++", "clang", "clang++", "c99", "c89", "gfortran":
		return "gdb valgrind time strace ccache distcc sccache lldb echo", how == "-wrapper"
	case "gs", "ghostscript", "dvips":
		return "lpr lp cat gzip", true
	case "dmsetup":
		return "", true
	case "aria2c", "openvpn", "dpkg":
		return "echo notify-send true update-resolv-conf", true
	case "apt", "apt-get", "aptitude":
		return "true echo", true
	case "wget":
		return "ssh-askpass ksshaskpass gnome-ssh-askpass lxqt-openssh-askpass", true
	case "mail", "mailx", "s-nail", "mutt":
		return "", true
	case "svn":
		return editorNames + " " + differNames + " " + remoteNames, true
	}
	return "", false
}

// gitOptionFor is optionFor for git's settings and options. Aliases, hooks of a rebase and the like are what a person
// asks git to run: they are judged by what they do.
func gitOptionFor(how string) (usual string, ok bool) {
	switch how {
	case "core.pager", "interactive.difffilter", "-O", "--open-files-in-pager":
		return pagerNames + " " + editorNames + " " + differNames, true
	case "core.editor", "sequence.editor":
		return editorNames, true
	case "core.sshcommand":
		return remoteNames, true
	case "core.gitproxy":
		return proxyNames, true
	case "core.askpass":
		return "ssh-askpass ksshaskpass gnome-ssh-askpass true echo git-gui--askpass", true
	case "core.fsmonitor":
		return "watchman rs-git-fsmonitor git-fsmonitor", true
	case "diff.external", "-x", "--extcmd":
		if how == "diff.external" || how == "--extcmd" {
			return differNames, true
		}
		return "", false // rebase -x runs what a person asks for
	case "gpg.program", "gpg.ssh.program", "gpg.x509.program", "gpg.openpgp.program":
		return "gpg gpg2 gpgsm op-ssh-sign ssh-keygen smimesign gitsign", true
	case "--upload-pack", "--receive-pack", "-u", "uploadpack.packobjectshook":
		return "git-upload-pack git-receive-pack git", true
	case "core.alternaterefscommand", "gpg.ssh.defaultkeycommand":
		return "ssh-add git true", true
	case "ext::":
		return "", true
	case "credential.helper":
		return "gh glab aws gcloud pass op tea git-credential-manager git-credential-libsecret git-credential-osxkeychain git-credential-oauth git-credential-gcloud", true
	}
	section, rest, _ := cut(how, '.')
	last := rest[strings.LastIndexByte(rest, '.')+1:]
	switch section {
	case "pager":
		return pagerNames, true
	case "browser", "man":
		return "firefox chromium google-chrome open xdg-open w3m lynx man", last == "cmd" || last == "path"
	case "difftool", "mergetool", "guitool":
		return differNames + " " + editorNames, last == "cmd"
	case "diff":
		return differNames + " " + filterNames, true
	case "filter", "merge":
		return filterNames, true
	case "credential":
		return "gh glab aws gcloud pass op tea git-credential-manager git-credential-libsecret git-credential-osxkeychain git-credential-oauth", true
	case "remote":
		return "git-upload-pack git-receive-pack git", last == "uploadpack" || last == "receivepack"
	}
	return "", false
}

// spawnedShell holds for a shell without a program of its own that a tool with another purpose starts.
func spawnedShell(c *ctx, i int) (span, bool) {
	cmd := c.cmd(i)
	if cmd.Parent < 0 {
		return span{}, false
	}
	switch cmd.How {
	case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec-batch", "vim", "awk", "sed", "!", "+!", "--checkpoint-action", "--to-command", "python", "perl", "ruby", "lua", "--ex", "r !", "w !", "r!", "w!", "sql",
		".shell", ".system", "--filter", "--preview", "execute", "become":
	case "argv":
		if c.name(cmd.Parent) != "parallel" {
			return span{}, false
		}
	default:
		return span{}, false
	}
	for k, w := range cmd.Args[1:] {
		t := w.Text
		if len(w.Holes) > 0 || t == "" || t[0] != '-' && t[0] != '+' {
			if k > 0 && cmd.Args[k].Text == "-o" {
				continue
			}
			if (cmd.How == "-x" || cmd.How == "-X" || cmd.How == "--exec-batch") && len(cmd.Args) == 2 && len(w.Holes) > 0 {
				break // fd adds the file itself: each one is run as a script
			}
			return span{}, false
		}
		if t[0] == '-' && len(t) > 1 && t[1] != '-' && strings.ContainsAny(t[1:], "cn") {
			return span{}, false
		}
	}
	return c.whole(i), true
}

// editorShell holds for vim commands that open a shell or run a script of keystrokes.
func editorShell(c *ctx, i int) (span, bool) {
	p := c.payload(i)
	if p.Lang != code.Vim || p.File != "" {
		return span{}, false
	}
	for line := range strings.SplitSeq(p.Text.Text, "|") {
		line = strings.TrimLeft(line, ": \t")
		word := line
		if n := strings.IndexAny(line, " \t!/"); n >= 0 {
			word = line[:n]
		}
		switch word {
		case "sh", "she", "shel", "shell", "ter", "term", "terminal", "so", "source", "ru", "runtime", "py", "py3", "python", "python3", "pyx", "lua", "luaf", "luafile", "perl", "ruby", "tcl", "mz", "pyf", "py3f", "pyfile", "cscope", "cs", "grep", "make":
			if word == "source" || word == "so" || word == "make" || word == "grep" || word == "runtime" || word == "ru" {
				if !strings.Contains(line, "/tmp/") && !strings.Contains(line, "\x00") && !strings.HasPrefix(line, word+"!") {
					continue
				}
			}
			return at(p.Text), true
		}
	}
	return span{}, false
}

// foreign tells whether a word names a place that is neither the owner's nor where programs are installed.
func (c *ctx) foreign(w shell.Word, i int) bool {
	if len(w.From) > 0 || strings.HasPrefix(w.Text, "/dev/fd/") {
		return true
	}
	for _, t := range c.targets(w, c.cmd(i).Dir) {
		if t.maybe {
			continue
		}
		p := t.path
		if c.isTemp(t) || t.blind || strings.Contains(p, "://") {
			return true
		}
		if _, own := c.fromHome(t); p != "" && p[0] == '/' && !own && !c.inTree(t) && !installed(p) && !c.isSystemConfig(t) {
			return true
		}
	}
	return false
}

// madeFile holds for a build tool whose file comes out of a command or from a directory that anyone may write to.
func madeFile(c *ctx, i int) (span, bool) {
	for _, w := range c.values(i, "-f --file --rakefile --justfile -b --build-file --config -c --buildfile") {
		if len(w.From) > 0 || strings.HasPrefix(w.Text, "/dev/fd/") || w.Is("/dev/stdin") || w.Is("-") || strings.HasPrefix(w.Text, "/tmp/") || strings.HasPrefix(w.Text, "/dev/shm/") {
			return at(w), true
		}
	}
	if c.name(i) == "logrotate" && !c.given(i, "-d --debug") {
		forced := c.given(i, "-f --force")
		for _, w := range rawOperands(c.args(i)) {
			if len(w.From) > 0 || strings.HasPrefix(w.Text, "/tmp/") || strings.HasPrefix(w.Text, "/dev/fd/") || forced && !strings.HasPrefix(w.Text, "/etc/") {
				return at(w), true
			}
		}
	}
	return span{}, false
}

// shellTemplate holds for JavaScript that runs a shell through a tagged template.
func shellTemplate(c *ctx, i int) (span, bool) {
	p := c.payload(i)
	if p.Lang != code.Node || p.File != "" {
		return span{}, false
	}
	t := p.Text.Text
	for k := strings.Index(t, "$`"); k >= 0; {
		if k == 0 || strings.IndexByte(" .;(\n\t=,", t[k-1]) >= 0 {
			return at(p.Text), true
		}
		n := strings.Index(t[k+1:], "$`")
		if n < 0 {
			break
		}
		k += n + 1
	}
	return span{}, false
}

// readsFifo holds for a shell whose input is a named pipe that the text makes.
func readsFifo(c *ctx, i int) (span, bool) {
	for _, r := range c.cmd(i).Redirs {
		if r.Op != "<" || len(r.Target.Holes) > 0 || len(c.args(i)) > 2 {
			continue
		}
		for n := range i {
			if name := c.name(n); name == "mkfifo" || name == "mknod" {
				if anyWord(c.args(n), r.Target.Text) {
					return span{r.Start, r.End}, true
				}
			}
		}
	}
	return span{}, false
}
