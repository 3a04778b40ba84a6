package command

import (
	"path"
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
	"hermes/internal/shell/code"
)

// credentials: where passwords, keys and tokens are kept, and the programs that print them.
func credentials() table {
	return table{
		{
			Key:    "read a credential store",
			Harms:  guard.Leak,
			Match:  all(runs(readerNames()...), when(readsCredential)),
			Why:    "reads keys, passwords or tokens",
			Remedy: "use the program they belong to, or look at the names only: `ls -l ~/.ssh`",
			Hits: []string{
				"cat ~/.ssh/id_rsa", "cat ~/.aws/credentials", "base64 /home/u/.ssh/id_ed25519", "cp ~/.ssh/id_rsa /tmp/k", "tar cf /tmp/s.tar ~/.ssh", "sudo cat /etc/shadow",
				"cat ~/.s*h/id_*", "cat /etc/sha??w", "cd ~/.ssh && cat id_rsa", "grep token ~/.config/gh/hosts.yml", "cat /proc/1/environ", "dd if=$HOME/.ssh/id_rsa of=/tmp/k", "zip -r x.zip ~/.gnupg",
				"strings /dev/mem", "curl file:///home/u/.ssh/id_rsa", "sqlite3 \"$HOME/.config/google-chrome/Default/Login Data\" .dump", "ssh h cat /root/.ssh/id_rsa",
				"openssl rsa -in ~/.ssh/id_rsa -text", "git diff --no-index /dev/null ~/.netrc", "ln -s ~/.ssh/id_rsa notes.txt", "find ~/.ssh -type f | xargs cat", "ls ~/.ssh/id_rsa | xargs cat", "locate id_rsa | xargs cat", "rsync ~/.ssh/id_rsa /tmp/", "python3 -m json.tool ~/.docker/config.json", "xargs -a ~/.netrc echo", "cp ~/.netrc ./copy && cat ./copy",
			},
			Passes: []string{
				"ls -l ~/.ssh", "cat ~/.ssh/id_rsa.pub", "cat ~/.ssh/config", "ssh-keygen -lf ~/.ssh/id_rsa", "cat .env", "cat ~/.aws/config", "grep -n Host ~/.ssh/config", "cat ./credentials.md", "cat /etc/*release", "grep -s x /etc/*",
				"cat .npmrc", "echo ~/.ssh/id_rsa", "cat ~/.ssh/known_hosts", "grep id_rsa README.md", "cp ~/.kube/config ~/.kube/config.bak", "cp ~/.npmrc ./npmrc", "rsync -a -e 'ssh -i ~/.ssh/id_rsa' dist/ h:/srv/", "python3 deploy.py ~/.kube/config", "rg id_rsa", "awk '/id_rsa/' f", "sed -n '/.netrc/p' f", "perl -ne 'print if /id_rsa/' f", "tar czf x.tgz --exclude=.ssh/id_rsa src", "curl --key ~/.ssh/k.key https://x.example",
			},
		},
		{
			Key:    "read a credential store via redirection",
			Harms:  guard.Leak,
			Match:  when(redirectsCredential),
			Why:    "reads keys, passwords or tokens",
			Remedy: "use the program they belong to, or look at the names only: `ls -l ~/.ssh`",
			Hits:   []string{"< ~/.ssh/id_rsa tr -d x", "while read -r l; do echo $l; done < ~/.aws/credentials", "mapfile -t K < ~/.ssh/id_rsa"},
			Passes: []string{"ls -l ~/.ssh", "wc -l < ~/.ssh/known_hosts", "sort < ~/.bashrc", "ssh-keygen -lf - < ~/.ssh/id_rsa", "docker login --password-stdin < ~/.netrc"},
		},
		{
			Key:    "program text reads a credential store",
			Harms:  guard.Leak,
			Match:  match{on: onPayload, test: codeReadsCredential},
			Why:    "reads keys, passwords or tokens",
			Remedy: "use the program they belong to, or look at the names only: `ls -l ~/.ssh`",
			Hits:   []string{`python3 -c 'print(open("/home/u/.aws/credentials").read())'`, `python3 -c 'import os; print(open(os.path.expanduser("~/.ssh/id_rsa")).read())'`},
			Passes: []string{`python3 -c 'print(open("data.json").read())'`, "ls -l ~/.ssh", "awk '/.netrc/ {print}' README.md", "perl -ne 'print if /id_rsa/' f"},
		},
		{
			Key:    "print credentials",
			Harms:  guard.Leak,
			Match:  all(runs(tokenPrinters()...), when(printsCredential)),
			Why:    "prints keys, passwords or tokens",
			Remedy: "hand them on without showing them: `gh auth token | docker login ghcr.io -u u --password-stdin`",
			Hits: []string{
				"gh auth token", "gcloud auth print-access-token", "aws configure get aws_secret_access_key", "aws secretsmanager get-secret-value --secret-id x", "kubectl config view --raw",
				"kubectl get secret db -o yaml", "kubectl -n x get secrets -o json", "security find-generic-password -w -s x", "secret-tool lookup service x", "pass show prod", "op read op://v/i/f",
				"vault kv get secret/db", "git credential fill", "gpg --export-secret-keys -a", "bw get password x", "az account get-access-token", "heroku auth:token", "terraform state pull",
				"sudo gcore 12", "sudo strace -f -p 12", "getent shadow root", "ssh-keygen -p -N '' -f ~/.ssh/id_rsa", "rclone config show", "kubectl create token admin",
				"docker-credential-desktop get", "gh auth status --show-token", "ansible-vault view secrets.yml", "sops -d secrets.yaml", "age -d -i key.txt secrets.age",
			},
			Passes: []string{
				"gh auth status", "gcloud auth list", "aws configure list", "kubectl get secret", "kubectl config view", "kubectl describe secret db", "security list-keychains", "git config --list",
				`curl -H "Authorization: Bearer $(gh auth token)" https://api.github.com/user`, "aws ecr get-login-password | docker login --username AWS --password-stdin x",
				"gh auth token | docker login ghcr.io -u u --password-stdin", "vault status", "gpg --list-keys", "pass ls", "export GITHUB_TOKEN=$(gh auth token)", "strace -f ./a.out", "strace -p 1234 -c -f", "terraform output -json",
				"kubectl create secret generic x --from-literal=a=b --dry-run=client -o yaml", "terraform output url", "aws sts get-caller-identity",
			},
		},
		{
			Key:    "print a secret variable",
			Harms:  guard.Leak,
			Match:  all(runs("echo", "printf", "printenv", "print", "declare", "typeset", "cat", "xxd", "base64", "od", "hexdump", "less", "tee", "env", "set", "export"), when(printsVariable)),
			Why:    "shows a secret",
			Remedy: "test whether it is set: `test -n \"$OPENAI_API_KEY\" && echo set`",
			Hits:   []string{"echo $OPENAI_API_KEY", "printenv AWS_SECRET_ACCESS_KEY", `printf '%s\n' "$GITHUB_TOKEN"`, "echo $DB_PASSWORD | base64", "declare -p GITHUB_TOKEN", `cat <<< "$GITHUB_TOKEN"`, `echo "$(< ~/.netrc)"`, "env | grep -iE 'token|secret'", "printenv | grep -i secret"},
			Passes: []string{
				"echo ${OPENAI_API_KEY:+set}", `echo "$TOKEN" | docker login -u u --password-stdin`, "echo $HOME", "printenv PATH", "echo ${#GITHUB_TOKEN}", "echo $CACHE_KEY", "echo done: $PASS",
				`echo "$NPM_TOKEN" > /tmp/t`, "echo $OPENAI_API_KEY | wc -c", `printf "key=%s\n" "$key"`, "echo '$OPENAI_API_KEY'", "env | grep -i proxy", "env | grep -c TOKEN",
				"env | grep TOKEN | cut -d= -f1", "cat <<E > x\n$DB_PASSWORD\nE", "cat <<E | kubectl apply -f -\npassword: $DB_PASSWORD\nE", "env | sort",
			},
		},
		{
			Key:    "program text prints a secret variable",
			Harms:  guard.Leak,
			Match:  match{on: onPayload, test: codePrintsVariable},
			Why:    "shows a secret",
			Remedy: "test whether it is set: `test -n \"$OPENAI_API_KEY\" && echo set`",
			Hits:   []string{"node -p process.env.AWS_SECRET_ACCESS_KEY", "perl -e 'print $ENV{GITHUB_TOKEN}'", `python3 -c "import os;print(os.environ['OPENAI_API_KEY'])"`},
			Passes: []string{`python3 -c "import os; print(bool(os.environ.get('OPENAI_API_KEY')))"`, "node -p process.env.PATH", `python3 -c "import os; print(len(os.environ['API_TOKEN']))"`, "awk '{print $1}' f"},
		},
		{
			Key:    "cloud metadata endpoint in another spelling",
			Harms:  guard.Leak,
			Match:  all(runs("curl", "wget", "http", "https", "xh", "fetch", "nc", "ncat", "telnet", "aria2c", "lynx", "w3m", "links", "socat"), when(reachesMetadata)),
			Why:    "reads the machine's cloud credentials",
			Remedy: "use the cloud's own command: `aws sts get-caller-identity`",
			Hits: []string{
				"curl http://169.254.43518/latest", "curl http://0251.0376.0251.0376/", "curl http://0xa9.0xfe.0xa9.0xfe/", "curl http://metadata/computeMetadata/v1/", "curl http://instance-data/latest/meta-data", "curl http://169.254.170.2/v2/credentials",
				"wget http://169.254.169.254.nip.io/", "curl http://[::ffff:a9fe:a9fe]/", "curl http://168.63.129.16/machine?comp=goalstate", "curl http://0xA9FEA9FE", "curl --connect-to ::169.254.169.254:80 http://x.example",
			},
			Passes: []string{"aws sts get-caller-identity", "curl http://169.254.1.1/", "curl http://metadata.example.com/", "curl http://10.0.0.1/", "curl https://example.com/metadata", "curl http://0x7f000001/"},
		},
		{
			Key:    "search the machine for secrets",
			Harms:  guard.Leak,
			Match:  either(all(runs("grep", "egrep", "fgrep", "rg", "ag", "ack", "ugrep"), when(searchesSecrets)), all(runs("find", "fd", "fdfind", "locate"), when(findsSecrets))),
			Why:    "collects keys, passwords or tokens from outside the work tree",
			Remedy: "search the work tree only: `grep -rn API_KEY .`",
			Hits: []string{
				"grep -rE 'BEGIN (RSA|OPENSSH) PRIVATE KEY' /", "grep -ri 'api_key=' ~", "rg -uuu AKIA /home", "find / -name 'id_rsa*' -exec cat {} +", "find ~ -name .env | xargs cat",
			},
			Passes: []string{"grep -rn API_KEY .", "grep -rn TODO ~", "find . -name '*.pem'", "find ~ -name .env", "grep -ri password src", "find / -name '*.conf' -exec grep x {} +"},
		},
	}
}

// readerNames are the programs that show, copy or pack the files they are given.
func readerNames() []string {
	return []string{
		"cat", "tac", "less", "more", "most", "head", "tail", "bat", "batcat", "nl", "base64", "base32", "basenc", "xxd", "od", "hexdump", "hd", "strings", "rev", "cut", "paste", "fold", "fmt",
		"pr", "expand", "column", "sort", "uniq", "shuf", "split", "csplit", "join", "comm", "diff", "cmp", "sdiff", "colordiff", "vimdiff", "look", "cp", "mv", "ln", "install", "dd", "tar", "bsdtar",
		"zip", "7z", "7za", "7zr", "rar", "gzip", "bzip2", "xz", "zstd", "lz4", "pigz", "cpio", "ar", "grep", "egrep", "fgrep", "rg", "ag", "ack", "zcat", "zgrep", "awk", "gawk", "mawk", "nawk", "sed",
		"perl", "jq", "yq", "xq", "dasel", "sqlite3", "openssl", "vi", "vim", "nvim", "view", "nano", "emacs", "ed", "ex", "micro", "code", "gpg", "qrencode", "xclip", "pbcopy", "wl-copy", "ssh2john",
		"unshadow", "john", "hashcat", "git", "curl", "pygmentize", "highlight", "glow", "tee", "pv", "iconv", "uuencode", "crudini", "envsubst", "plutil", "dump", "file-roller",
		"keepassxc-cli", "vipw", "visudo", "rsync", "python", "xargs",
	}
}

// readsCredential holds when such a program is given a file with credentials.
func readsCredential(c *ctx, i int) (span, bool) {
	name, args := c.name(i), c.args(i)
	switch name {
	case "git":
		if !credentialGit(c, i) {
			return span{}, false
		}
	case "rsync":
		ops := c.operandTargets(i)
		if len(ops) == 0 {
			return span{}, false
		}
		return c.find(ops[:len(ops)-1], (*ctx).isCredential)
	case "python":
		if !hasArg(args, "base64", "json.tool", "gzip", "zipfile", "tarfile", "uu", "quopri", "fileinput") || !hasArg(args, "-m") {
			return span{}, false
		}
	case "xargs":
		for k, w := range args[1:] {
			if (args[k].Text == "-a" || args[k].Text == "--arg-file") && c.fileCredential(w, c.cmd(i).Dir) {
				return at(w), true
			}
		}
		return span{}, false
	case "openssl":
		if w, ok := c.operand(i, 0); ok && (w.Text == "s_client" || w.Text == "req" || w.Text == "dgst") {
			return span{}, false
		}
	case "gpg":
		if !hasArg(args, "-c", "--symmetric", "-e", "--encrypt", "-d", "--decrypt") {
			return span{}, false
		}
	}
	first := takesPattern(name) && !startsWord(args, "-e", "-f", "--regexp", "--expression", "--file", "--from-file")
	for k, w := range args[min(1, len(args)):] {
		option := w.Text != "" && w.Text[0] == '-'
		if first && !option {
			first = false
			continue
		}
		if c.listedItem(i, w) {
			return at(w), true
		}
		if !mayBePath(w) || strings.HasPrefix(w.Text, "--exclude") || k > 0 && leavesOut(args[k].Text) || name == "perl" && strings.ContainsAny(w.Text, " ;({") ||
			name == "curl" && !strings.HasPrefix(strings.ToLower(w.Text), "file:") {
			continue
		}
		for _, t := range c.pathsIn(w, c.cmd(i).Dir) {
			if !t.maybe && c.isCredential(t) && !c.staysInStore(i, k+1, t) {
				return at(w), true
			}
		}
		if i > 0 && name != "sed" && c.copiedStore(i) && c.copiedSecret(i, w) {
			return at(w), true
		}
	}
	return span{}, false
}

// takesPattern names the programs whose first operand is a pattern or a program, not a file.
func takesPattern(name string) bool {
	switch name {
	case "grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "sed", "awk", "gawk", "mawk", "nawk", "jq", "yq", "xq", "dasel":
		return true
	}
	return false
}

// listedItem tells whether a word of command i, which xargs or parallel runs, is a name out of a list of files with
// credentials.
func (c *ctx) listedItem(i int, w shell.Word) bool {
	p := c.cmd(i).Parent
	if p < 0 || len(w.Holes) == 0 || w.Holes[0].Kind != shell.Item && w.Holes[0].Kind != shell.Output && w.Holes[0].Kind != shell.Entry || c.name(p) != "xargs" && c.name(p) != "parallel" {
		return false
	}
	_, ok := c.upstream(p, listsCredentials, 16)
	return ok
}

// listsCredentials tells whether command i prints the names of files with credentials.
func listsCredentials(c *ctx, i int) bool {
	switch c.name(i) {
	case "locate", "plocate", "mlocate", "mdfind":
		for _, w := range c.args(i)[1:] {
			if secretGlob(w.Text) {
				return true
			}
		}
	case "find", "fd", "fdfind", "ls", "echo", "printf", "realpath":
		for _, w := range c.args(i)[1:] {
			if mayBePath(w) {
				if _, ok := c.find(c.filesIn(w, c.cmd(i).Dir), (*ctx).isCredential); ok {
					return true
				}
			}
		}
	}
	return false
}

// copiedStore tells whether an earlier command of the text copies a credential store.
func (c *ctx) copiedStore(i int) bool {
	for n := 0; n < i && c.step(n); n++ {
		switch c.name(n) {
		case "cp", "ln", "mv", "install":
			if _, ok := c.find(c.operandTargets(n), (*ctx).isCredential); ok {
				return true
			}
		}
	}
	return false
}

// credentialGit tells whether a git command shows or stores files by name wherever they are.
func credentialGit(c *ctx, i int) bool {
	w, ok := c.operand(i, 0)
	switch {
	case !ok:
		return false
	case w.Text == "hash-object":
		return true
	}
	return hasArg(c.args(i), "--no-index")
}

// staysInStore tells whether argument k is not read, or copied to no other place than next to it.
func (c *ctx) staysInStore(i, k int, t target) bool {
	switch c.name(i) {
	case "cp", "mv", "install", "ln":
	case "tee":
		return true // written, not read
	case "sed", "perl":
		return false
	case "dd":
		return strings.HasPrefix(c.args(i)[k].Text, "of=")
	default:
		return false
	}
	ops := c.operandTargets(i)
	if len(ops) < 2 {
		return false
	}
	last := ops[len(ops)-1]
	if p, ok := c.below(t); ok && c.inTree(last) && !strings.Contains(last.path, shell.Unknown) && loginSettings(p) {
		return true // a copy in the work tree shows nothing by itself
	}
	if last.where == t.where {
		return true // the destination: what is written there is another rule's matter
	}
	return path.Dir(last.path) == path.Dir(t.path) || last.path == path.Dir(t.path)
}

// fileCredential tells whether a word names a file with credentials.
func (c *ctx) fileCredential(w, dir shell.Word) bool {
	_, ok := c.find(c.targets(w, dir), (*ctx).isCredential)
	return ok
}

// loginSettings tells whether a file below a home directory is a program's settings that happen to hold a login.
func loginSettings(p string) bool {
	switch p {
	case ".netrc", ".npmrc", ".pypirc", ".my.cnf", ".hermes/.env", ".docker/config.json", ".kube/config":
		return true
	}
	return false
}

// mayBePath leaves out words that name no path worth a look.
func mayBePath(w shell.Word) bool {
	return len(w.Text) > 3 && (strings.IndexByte(w.Text, '/') >= 0 || strings.IndexByte(w.Text, '_') >= 0 || strings.IndexByte(w.Text, '.') >= 0 || strings.IndexByte(w.Text, '~') >= 0 ||
		w.Text == "shadow" || w.Text == "config" || w.Text == "credentials" || w.Text == "sudoers")
}

// pathsIn returns the paths a word may name: as a whole, behind an equals sign, an at sign, or as a file URL.
func (c *ctx) pathsIn(w, dir shell.Word) []target {
	if len(w.Text) > 5 && strings.EqualFold(w.Text[:5], "file:") {
		rest := 5
		for rest < len(w.Text) && w.Text[rest] == '/' {
			rest++
		}
		return c.targets(w.Slice(rest-1), dir)
	}
	if n := strings.IndexAny(w.Text, "=@"); n >= 0 && n+1 < len(w.Text) && !strings.Contains(w.Text[:n], "/") {
		tail := w.Slice(n + 1)
		tail.Pattern = w.Pattern
		return append(c.targets(tail, dir), c.targets(w, dir)...)
	}
	if w.Text[0] == '-' {
		if n := strings.IndexAny(w.Text, "/~"); n == 2 {
			return c.targets(w.Slice(n), dir)
		}
		return nil
	}
	return c.targets(w, dir)
}

// redirectsCredential holds when a file with credentials is a command's standard input.
func redirectsCredential(c *ctx, i int) (span, bool) {
	for _, r := range c.cmd(i).Redirs {
		if r.Op != "<" && r.Op != "<>" {
			continue
		}
		switch c.name(i) {
		case "ssh-keygen", "ssh-add", "docker", "podman", "gh", "vault", "kubectl", "wc", "sha256sum", "md5sum", "cksum", "helm", "crane", "skopeo", "oras":
			return span{}, false
		}
		if _, ok := c.find(c.targets(r.Target, c.cmd(i).Dir), (*ctx).isCredential); ok {
			return span{r.Start, r.End}, true
		}
	}
	return span{}, false
}

// codeReadsCredential holds when program text reads such a file.
func codeReadsCredential(c *ctx, i int) (span, bool) {
	p := c.payload(i)
	for _, f := range p.Report.Reads {
		s := f.Text
		if strings.HasPrefix(s, shell.Unknown+"/.") {
			s = "~" + s[1:]
		}
		w := p.Text.Lit(s)
		if !f.Known {
			w.Holes = make([]shell.Hole, strings.Count(s, shell.Unknown))
		}
		if _, ok := c.find(c.targets(w, c.cmd(p.Command).Dir), (*ctx).isCredential); ok {
			return at(p.Text), true
		}
	}
	if p.File == "" && p.Lang != code.SQL && p.Lang != code.Awk && p.Lang != code.Sed && strings.ContainsAny(p.Text.Text, "~/") {
		for _, f := range strings.FieldsFunc(p.Text.Text, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`(),;[]{}<>=+", r) }) {
			if w := p.Text.Lit(f); len(f) > 5 && (strings.HasPrefix(f, "~/") || strings.HasPrefix(f, "/home/") || strings.HasPrefix(f, "/root/") || strings.HasPrefix(f, "/Users/") || strings.HasPrefix(f, "/etc/") || strings.HasPrefix(f, "/proc/")) {
				if _, ok := c.find(c.targets(w, c.cmd(p.Command).Dir), (*ctx).isCredential); ok {
					return at(p.Text), true
				}
			}
		}
	}
	return span{}, strings.Contains(p.Text.Text, "keyring.get_password") || strings.Contains(p.Text.Text, "win32crypt")
}

func hasArg(args []shell.Word, words ...string) bool {
	for _, a := range args[min(1, len(args)):] {
		if has(words, a.Text) {
			return true
		}
	}
	return false
}

// startsWord tells whether an argument begins with one of the prefixes.
func startsWord(args []shell.Word, prefixes ...string) bool {
	for _, a := range args[min(1, len(args)):] {
		for _, p := range prefixes {
			if strings.HasPrefix(a.Text, p) {
				return true
			}
		}
	}
	return false
}
