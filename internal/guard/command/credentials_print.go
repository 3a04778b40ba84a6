package command

import (
	"strings"

	"hermes/internal/shell"
	"hermes/internal/shell/code"
)

// tokenPrinters are the programs that can print credentials when told to.
func tokenPrinters() []string {
	return []string{
		"gh", "glab", "gcloud", "aws", "az", "kubectl", "oc", "security", "secret-tool", "kwallet-query", "pass", "gopass", "op", "bw", "lpass", "vault", "bao", "git", "gpg", "gpg2", "heroku", "doctl", "terraform",
		"tofu", "pulumi", "gcore", "gdb", "lldb", "strace", "ltrace", "dtrace", "getent", "ssh-keygen", "rclone", "nmcli", "dbus-send", "docker-credential-desktop", "docker-credential-osxkeychain",
		"docker-credential-secretservice", "docker-credential-pass", "docker-credential-ecr-login", "docker-credential-gcloud", "git-credential-store", "git-credential-libsecret", "git-credential-manager",
		"git-credential-osxkeychain", "ansible-vault", "sops", "age", "rage", "doppler", "infisical", "chamber", "credstash", "keyring", "pypykatz", "mimikatz", "lazagne", "mimipenguin", "kubeadm", "eksctl",
		"fly", "flyctl", "vercel", "npm", "firebase", "railway", "supabase", "helm", "chezmoi", "keepassxc-cli", "firefox_decrypt", "hashdump", "rbw", "akeyless", "conjur", "ykman", "oathtool", "cmdkey",
		"vaultcmd", "netsh", "procdump", "proc-dump", "ibmcloud", "oci", "yc", "scw", "linode-cli", "databricks", "snow", "teleport", "tsh", "argocd",
	}
}

// printsCredential holds when a program prints credentials where they would be read, not handed on to a login.
func printsCredential(c *ctx, i int) (span, bool) {
	if hasArg(c.args(i), "--help", "-h") || !c.emitsCredential(i) || c.handedOn(i) {
		return span{}, false
	}
	return span{}, true
}

// emitsCredential tells whether what command i prints is a credential.
func (c *ctx) emitsCredential(i int) bool {
	args := c.args(i)
	words := make([]string, 0, 4)
	for _, w := range args[min(1, len(args)):] {
		if w.Text != "" && w.Text[0] != '-' && len(w.Holes) == 0 {
			words = append(words, w.Text)
		}
	}
	is := func(list ...string) bool { return contains(words, list) }
	switch name := c.name(i); name {
	case "gh", "glab":
		return is("auth", "token") || is("auth", "status") && hasArg(args, "--show-token", "-t") || is("auth", "git-credential", "get")
	case "gcloud":
		return is("auth", "print-access-token") || is("auth", "print-identity-token") || is("print-access-token") || is("secrets", "versions", "access") || is("config", "config-helper") ||
			is("iam", "service-accounts", "keys", "create") || is("auth", "print-refresh-token")
	case "aws":
		return awsPrints(args, is)
	case "az":
		return is("account", "get-access-token") || is("keyvault", "secret", "show") || is("keyvault", "secret", "download") || is("keys", "list") || is("show-connection-string") ||
			is("ad", "sp", "create-for-rbac") || is("acr", "credential", "show") || is("list-credentials") || is("get-credentials") && hasArg(args, "-f") && hasArg(args, "-")
	case "kubectl", "oc":
		return kubePrints(args, is)
	case "security":
		return (is("find-generic-password") || is("find-internet-password")) && startsWord(args, "-w", "-g") || is("dump-keychain") || is("export") && !is("-t", "certs") || is("find-identity") && hasArg(args, "-w")
	case "secret-tool":
		return is("lookup") || is("search")
	case "kwallet-query":
		return true
	case "pass", "gopass":
		return is("show") || is("otp") || len(words) == 1 && !has([]string{"ls", "list", "find", "search", "init", "git", "help", "version", "generate", "insert", "edit", "rm", "mv", "cp", "sync"}, words[0])
	case "op":
		return is("read") || is("item", "get") && (hasArg(args, "--reveal", "--fields", "--otp") || startsWord(args, "--fields=", "--format")) || is("document", "get") || is("get", "item") || is("inject")
	case "bw", "rbw", "lpass":
		return is("get") && !is("get", "template") || is("show") || is("export") || is("list", "items") || is("unlock") && hasArg(args, "--raw")
	case "vault", "bao":
		return is("kv", "get") || is("read") || is("token", "create") || is("token", "lookup") || is("print", "token") || is("generate-root")
	case "git":
		return contains(words, []string{"credential", "fill"}) || len(words) > 1 && strings.HasPrefix(words[0], "credential-") && words[1] == "get" || is("config") && gitShowsLogin(args) || is("credential-store", "get") || is("credential-cache", "get") || is("credential-manager", "get")
	case "git-credential-store", "git-credential-libsecret", "git-credential-manager", "git-credential-osxkeychain":
		return is("get")
	case "gpg", "gpg2":
		return startsWord(args, "--export-secret", "--export-ssh-secret")
	case "heroku":
		return is("auth:token") || is("config:get") || len(words) == 1 && is("config") || is("pg:credentials:url")
	case "doctl":
		return is("auth", "token") || is("registry", "docker-config")
	case "terraform", "tofu":
		return is("state", "pull")
	case "pulumi":
		return hasArg(args, "--show-secrets") || is("config", "get") && hasArg(args, "--secret")
	case "gcore", "procdump", "proc-dump", "pypykatz", "mimikatz", "lazagne", "mimipenguin", "firefox_decrypt", "hashdump":
		return true
	case "strace", "ltrace", "dtrace":
		return (hasArg(args, "-p", "--attach") || startsWord(args, "--attach=")) && !hasArg(args, "-c", "--summary-only")
	case "getent":
		return is("shadow") || is("gshadow")
	case "ssh-keygen":
		return hasArg(args, "-p")
	case "rclone":
		return is("config", "show") || is("config", "dump") || is("reveal")
	case "nmcli":
		return hasArg(args, "-s", "--show-secrets") || startsWord(args, "802-11-wireless-security.psk")
	case "dbus-send":
		return startsWord(args, "--dest=org.freedesktop.secrets", "--dest=org.kde.kwalletd")
	case "docker-credential-desktop", "docker-credential-osxkeychain", "docker-credential-secretservice", "docker-credential-pass", "docker-credential-ecr-login", "docker-credential-gcloud":
		return is("get")
	case "ansible-vault":
		return is("view") || is("decrypt")
	case "sops":
		return hasArg(args, "-d", "--decrypt") || is("decrypt")
	case "age", "rage":
		return hasArg(args, "-d", "--decrypt") && !hasArg(args, "-o", "--output")
	case "doppler":
		return is("secrets") && !is("secrets", "set")
	case "infisical":
		return is("secrets") && !is("secrets", "set") || is("export")
	case "chamber", "credstash", "keyring", "akeyless", "conjur":
		return is("read") || is("export") || is("get") || is("getall") || is("get-secret-value")
	case "kubeadm":
		return is("token", "create") && hasArg(args, "--print-join-command")
	case "fly", "flyctl":
		return is("auth", "token") || is("tokens", "create")
	case "firebase":
		return is("login:ci") || is("functions:secrets:access")
	case "gdb", "lldb":
		return startsWord(args, "generate-core-file", "gcore", "dump memory", "dump binary memory", "process save-core")
	case "npm":
		for _, a := range args {
			if strings.Contains(a.Text, "_auth") && is("get") || strings.Contains(a.Text, "_password") && is("get") {
				return true
			}
		}
		return is("token", "create")
	case "keepassxc-cli":
		return is("show") || is("export")
	case "netsh":
		return startsWord(args, "key=clear")
	case "oathtool":
		return false
	case "argocd":
		return is("admin", "initial-password") || is("account", "generate-token")
	case "eksctl":
		return is("get", "token")
	}
	return false
}

// gitShowsLogin tells whether git config is asked for a setting that holds a login.
func gitShowsLogin(args []shell.Word) bool {
	if !startsWord(args, "--get") {
		return false
	}
	for _, a := range args {
		t := strings.ToLower(a.Text)
		if strings.Contains(t, "extraheader") || strings.Contains(t, "token") || strings.Contains(t, "password") {
			return true
		}
	}
	return false
}

func awsPrints(args []shell.Word, is func(...string) bool) bool {
	switch {
	case is("configure", "export-credentials"), is("sts", "get-session-token"), is("sts", "assume-role"), is("sts", "get-federation-token"), is("secretsmanager", "get-secret-value"),
		is("secretsmanager", "batch-get-secret-value"), is("iam", "create-access-key"), is("ecr", "get-login-password"), is("ecr", "get-login"), is("ecr", "get-authorization-token"),
		is("codeartifact", "get-authorization-token"), is("eks", "get-token"), is("sso", "get-role-credentials"), is("kms", "decrypt"), is("ec2", "get-password-data"),
		is("sts", "assume-role-with-web-identity"), is("rds", "generate-db-auth-token"), is("ecr-public", "get-login-password"):
		return true
	case is("configure", "get"):
		for _, a := range args {
			if strings.Contains(a.Text, "secret") || strings.Contains(a.Text, "token") {
				return true
			}
		}
	case is("ssm"):
		return hasArg(args, "--with-decryption")
	case is("lambda", "get-function-configuration"):
		return false
	}
	return false
}

func kubePrints(args []shell.Word, is func(...string) bool) bool {
	switch {
	case is("config", "view"):
		return hasArg(args, "--raw")
	case is("create", "token"), is("whoami") && hasArg(args, "-t", "--show-token"), is("serviceaccounts", "get-token"), is("extract"):
		return true
	case is("get"):
		for _, a := range args {
			t := a.Text
			if t == "secret" || t == "secrets" || strings.HasPrefix(t, "secret/") || strings.HasPrefix(t, "secrets/") || strings.Contains(t, ",secret") || strings.HasPrefix(t, "secret,") {
				return showsData(args)
			}
		}
	}
	return false
}

// showsData tells whether the output format of kubectl get shows what a secret holds.
func showsData(args []shell.Word) bool {
	for k, a := range args {
		f, ok := strings.CutPrefix(a.Text, "--output=")
		switch {
		case ok:
		case (a.Text == "-o" || a.Text == "--output") && k+1 < len(args):
			f = args[k+1].Text
		case strings.HasPrefix(a.Text, "-o") && len(a.Text) > 2:
			f = strings.TrimPrefix(a.Text[2:], "=")
		case strings.HasPrefix(a.Text, "--template"):
			return true
		default:
			continue
		}
		if f == "name" || f == "wide" || strings.Contains(f, ".metadata") && !strings.Contains(f, "data.") && !strings.Contains(f, ".data") {
			return false
		}
		if strings.HasPrefix(f, "jsonpath") || strings.HasPrefix(f, "go-template") || strings.HasPrefix(f, "custom-columns") {
			return strings.Contains(strings.ReplaceAll(f, ".metadata", ""), "data")
		}
		return true
	}
	return false
}

// contains tells whether the words of want stand in words one behind the other.
func contains(words, want []string) bool {
	for k := 0; k+len(want) <= len(words); k++ {
		same := true
		for n, w := range want {
			if words[k+n] != w {
				same = false
				break
			}
		}
		if same {
			return true
		}
	}
	return false
}

// handedOn tells whether what command i prints goes to a program that logs in with it, to a header or a variable, or
// into a pipe whose end does not show it.
func (c *ctx) handedOn(i int) bool {
	for r, n := c.cmd(i).Reader, 0; r >= 0 && n < 24; r, n = c.cmd(r).Reader, n+1 {
		if takesSecret(c, r) {
			return true
		}
	}
	for n := i + 1; n < len(c.prog.Commands) && c.step(n); n++ {
		cmd := &c.prog.Commands[n]
		for _, a := range cmd.Assigns {
			if hasIndex(a.Value.From, i) {
				return true
			}
		}
		for k, w := range cmd.Args {
			if k > 0 && hasIndex(w.From, i) && !prints(c.name(n)) {
				return true
			}
		}
	}
	return false
}

// takesSecret tells whether command i uses what it reads as a password, or shows no more of it than its size or digest.
func takesSecret(c *ctx, i int) bool {
	switch c.name(i) {
	case "docker", "podman", "nerdctl", "helm", "crane", "skopeo", "oras", "buildah", "cosign", "regctl":
		return hasArg(c.args(i), "login") || startsWord(c.args(i), "--password-stdin")
	case "gh", "glab":
		return hasArg(c.args(i), "login", "secret", "variable")
	case "vault", "kubectl", "argocd", "npm", "twine", "wrangler", "fly", "flyctl", "vercel", "heroku", "doppler", "op", "gcloud", "aws", "az", "git-credential", "sudo", "ssh-add", "secret-tool", "security", "pass",
		"cryptsetup", "kinit", "chpasswd", "passwd", "gpg", "ansible-vault", "sops", "age":
		return true
	case "wc", "sha256sum", "sha1sum", "sha512sum", "md5sum", "shasum", "md5", "cksum", "grep", "egrep", "test", "pbcopy", "wl-copy", "xclip", "xsel", "clip.exe":
		return c.name(i) != "grep" && c.name(i) != "egrep" || hasArg(c.args(i), "-q", "-c") || startsWord(c.args(i), "-q", "-c")
	}
	return false
}

func hasIndex(list []int, i int) bool {
	for _, n := range list {
		if n == i {
			return true
		}
	}
	return false
}

// printsVariable holds when a command shows the value of a variable that is named like a secret.
func printsVariable(c *ctx, i int) (span, bool) {
	name := c.name(i)
	if name == "env" || name == "set" || name == "export" || name == "printenv" && len(c.args(i)) == 1 {
		return dumpsSecrets(c, i)
	}
	if c.quietly(i) {
		return span{}, false
	}
	switch name {
	case "cat", "xxd", "base64", "od", "hexdump", "less", "tee":
		in := c.cmd(i).Stdin
		if in == nil || len(in.From) > 0 || len(in.Holes) == 0 {
			return span{}, false
		}
		for _, h := range in.Holes {
			if h.Kind == shell.Variable && shownSecret(h.Name) {
				return span{}, true
			}
		}
		return span{}, false
	}
	for _, w := range c.args(i)[1:] {
		switch name {
		case "printenv":
			if shownSecret(w.Text) {
				return at(w), true
			}
			continue
		case "declare", "typeset":
			if hasArg(c.args(i), "-p") && shownSecret(w.Text) {
				return at(w), true
			}
			continue
		}
		for _, h := range w.Holes {
			if h.Kind == shell.Variable && shownSecret(h.Name) || c.readsStore(w, h) {
				return at(w), true
			}
		}
	}
	return span{}, false
}

// readsStore tells whether a piece of a word is what a file with credentials holds, read by the shell itself.
func (c *ctx) readsStore(w shell.Word, h shell.Hole) bool {
	file, ok := strings.CutPrefix(h.Name, "cat ")
	if !ok || h.Kind != shell.Output || strings.ContainsAny(file, "|;&$`") {
		return false
	}
	_, ok = c.find(c.targets(w.Lit(strings.Trim(file, `"'`)), shell.Word{Text: "."}), (*ctx).isCredential)
	return ok
}

// dumpsSecrets holds when the variables a command lists are searched for secrets, and shown with their values.
func dumpsSecrets(c *ctx, i int) (span, bool) {
	if !c.source(i) {
		return span{}, false
	}
	searched := false
	for _, r := range c.cmd(i).Redirs {
		if r.Writes() && r.FD != "2" {
			return span{}, false
		}
	}
	for r, n := c.cmd(i).Reader, 0; r >= 0 && n < 24; r, n = c.cmd(r).Reader, n+1 {
		args := c.args(r)
		switch c.name(r) {
		case "grep", "egrep", "fgrep", "rg", "awk":
			if startsWord(args, "-q", "-c", "-v", "--quiet", "--count", "-iq", "-Eq", "-qi", "-ic", "-iv") {
				return span{}, false
			}
			for _, w := range args[1:] {
				searched = searched || secretPattern(w.Text) && len(w.Text) < 200
				if c.name(r) == "awk" && strings.Contains(w.Text, "print $1") {
					return span{}, false
				}
			}
		case "cut", "wc", "sed":
			if c.name(r) != "cut" || hasArg(args, "-f1") || hasArg(args, "1") {
				return span{}, false
			}
		}
	}
	return span{}, searched
}

// codePrintsVariable holds for program text that shows a variable of the environment that is named like a secret.
func codePrintsVariable(c *ctx, i int) (span, bool) {
	p := c.payload(i)
	t := p.Text.Text
	if p.File != "" || p.Report.Effects&code.Env == 0 && !strings.Contains(t, "ENV") && !strings.Contains(t, "env") {
		return span{}, false
	}
	for _, s := range [...]string{"bool(", "len(", "in os.environ", "!!", ".length", " if ", "is None", "is not None", "defined", "? ", "exists", "isset", "Boolean(", "==", "sha", "assert"} {
		if strings.Contains(t, s) {
			return span{}, false
		}
	}
	if p.Report.Effects&(code.Connect|code.Spawn|code.Write) != 0 || !strings.Contains(t, "print") && !strings.Contains(t, "console.") && !strings.Contains(t, "echo") && !strings.Contains(t, "puts") && p.How != "-p" && p.How != "--print" &&
		!strings.Contains(t, "write") {
		return span{}, false
	}
	for k := 0; k < len(t); k++ {
		if t[k] < 'A' || t[k] > 'Z' {
			continue
		}
		n := k
		for n < len(t) && (t[n] >= 'A' && t[n] <= 'Z' || t[n] == '_' || t[n] >= '0' && t[n] <= '9') {
			n++
		}
		if n-k > 4 && shownSecret(t[k:n]) {
			return at(p.Text), true
		}
		k = n
	}
	return span{}, false
}

// quietly tells whether what command i prints goes into a file, a variable, or a program that does not show it.
func (c *ctx) quietly(i int) bool {
	for p := i; p >= 0; p = c.cmd(p).Parent {
		for _, r := range c.cmd(p).Redirs {
			if r.Writes() && r.FD != "2" && r.Target.Text != "/dev/stderr" && r.Target.Text != "/dev/stdout" && r.Target.Text != "/dev/tty" {
				return true
			}
		}
	}
	last := i
	for r, n := c.cmd(i).Reader, 0; r >= 0 && n < 24; r, n = c.cmd(r).Reader, n+1 {
		if !filters(c.name(r)) {
			return true
		}
		last = r
		for _, redir := range c.cmd(r).Redirs {
			if redir.Writes() && redir.FD != "2" {
				return true
			}
		}
	}
	for n := last + 1; n < len(c.prog.Commands) && c.step(n); n++ {
		cmd := &c.prog.Commands[n]
		for _, a := range cmd.Assigns {
			if hasIndex(a.Value.From, last) {
				return true
			}
		}
		for _, w := range cmd.Args {
			if hasIndex(w.From, last) {
				return true
			}
		}
	}
	return false
}

// filters names the programs that pass on what they read in some form.
func filters(name string) bool {
	switch name {
	case "cat", "base64", "base32", "xxd", "od", "hexdump", "rev", "tr", "fold", "sed", "awk", "cut", "tee", "less", "more", "jq", "xargs", "sort", "uniq", "tac", "gzip", "openssl", "head", "tail", "strings", "nl":
		return true
	}
	return false
}

// shownSecret is secretName for names in capitals, without the ones that only sound like it.
func shownSecret(name string) bool {
	if name == "" || name != strings.ToUpper(name) || !secretName(name) || name == "PASS" {
		return false
	}
	for _, s := range [...]string{"CACHE_KEY", "PUBLIC_KEY", "PRIMARY_KEY", "FOREIGN_KEY", "SORT_KEY", "PARTITION_KEY", "TOKENS", "TOKENIZ", "_KEY_ID", "KEY_FILE", "KEY_PATH", "TOKEN_FILE", "PASSWORD_FILE", "_DIR",
		"CREDENTIALS_FILE", "TEST_PASS", "GOOGLE_APPLICATION_CREDENTIALS", "SECRET_NAME", "TOKEN_COUNT", "_TYPE", "SSH_KEY_PATH", "GPG_KEY", "SIGNING_KEY_ID", "HOTKEY"} {
		if strings.Contains(name, s) {
			return false
		}
	}
	return true
}

// searchesSecrets holds when a search through a home or the whole machine is for keys, passwords or tokens.
func searchesSecrets(c *ctx, i int) (span, bool) {
	words := c.operands(i)
	pattern := ""
	for _, o := range c.line(i).opts {
		if o.has && o.is("-e", "--regexp") {
			pattern += " " + o.value.Text
		}
	}
	if pattern == "" && len(words) > 0 {
		pattern, words = words[0].Text, words[1:]
	}
	if !secretPattern(pattern) {
		return span{}, false
	}
	for _, w := range words {
		for _, t := range c.targets(w, c.cmd(i).Dir) {
			if !t.maybe && (c.isHome(t) || c.isRoot(t) || t.path == "/home" || t.path == "/root" || t.path == "/Users" || t.path == "/etc" || t.path == "/var" || t.path == "/proc" || t.path == "/opt" ||
				t.path == "/srv") {
				return at(w), true
			}
		}
	}
	return span{}, false
}

func secretPattern(p string) bool {
	p = strings.ToLower(p)
	for _, s := range [...]string{"private key", "akia", "secret", "password", "passwd", "api_key", "apikey", "api[_", "api.key", "token", "ghp_", "sk-", "xox", "credential", "bearer"} {
		if strings.Contains(p, s) {
			return true
		}
	}
	return false
}

// findsSecrets holds when find looks for files with credentials outside the work tree and something reads them.
func findsSecrets(c *ctx, i int) (span, bool) {
	args := c.args(i)
	var where shell.Word
	named, outside, read := false, false, c.cmd(i).Reader >= 0 && !namesOnly(c, i)
	for k, w := range args[min(1, len(args)):] {
		switch w.Text {
		case "-name", "-iname", "-path", "-wholename", "-regex":
			if k+2 < len(args) && secretGlob(args[k+2].Text) {
				named, where = true, args[k+2]
			}
		case "-exec", "-execdir", "-ok":
			read = read || k+2 < len(args) && !has([]string{"ls", "stat", "chmod", "chown", "echo", "file", "test", "wc", "dirname", "realpath"}, base(args[k+2].Text))
		default:
			for _, t := range c.targets(w, c.cmd(i).Dir) {
				outside = outside || !t.maybe && w.Text != "" && (c.isHome(t) || c.isRoot(t) || systemDir(t.path))
			}
		}
	}
	return at(where), named && outside && read
}

// namesOnly tells whether the reader of command i only counts, sorts or shows names.
func namesOnly(c *ctx, i int) bool {
	switch c.name(c.cmd(i).Reader) {
	case "xargs", "read", "while", "tar", "cpio", "zip", "rsync", "parallel", "curl", "nc", "":
		return false
	}
	for n := i + 1; n < len(c.prog.Commands) && c.step(n); n++ {
		if c.name(n) == "xargs" && c.cmd(n).Stdin != nil && hasIndex(c.cmd(n).Stdin.From, i) {
			return false
		}
	}
	return true
}

func secretGlob(p string) bool {
	p = strings.Trim(p, "*")
	switch p {
	case ".env", ".env.", "id_rsa", "id_", "id_ed25519", "id_ecdsa", ".pem", ".key", ".p12", ".pfx", ".kdbx", "wallet.dat", "wallet", "credentials", "credential", ".netrc", ".git-credentials", ".pgpass", "secret", "secrets",
		"password", "passwd", "token", "shadow", "authorized_keys", ".npmrc", ".pypirc", "kubeconfig", ".ovpn", "login.keychain-db", "Login Data", "key4.db", "logins.json", ".jks", ".keystore", ".htpasswd",
		"/.ssh/", ".ssh", "/.aws/", "/.ssh/id_":
		return true
	}
	return false
}
