package command

import (
	"path"
	"strings"
)

// below returns the path of a target under some person's home directory.
func (c *ctx) below(t target) (string, bool) {
	if p, ok := c.fromHome(t); ok {
		return p, true
	}
	for _, h := range [...]string{"/home/", "/Users/"} {
		if rest, ok := strings.CutPrefix(t.path, h); ok {
			_, p, ok := cut(rest, '/')
			return p, ok
		}
	}
	return "", false
}

// isCredential tells whether the target is a file, or a whole folder, that keeps credentials.
func (c *ctx) isCredential(t target) bool {
	if t.path == "" {
		return false
	}
	if p, ok := c.below(t); ok {
		return p != "" && (homeCredential(p) || t.glob && globCredential(p))
	}
	if strings.HasPrefix(t.path, "/") && (systemCredential(t.path) || t.glob && globShadow(t.path)) {
		return true
	}
	return secretFileName(base(t.path))
}

// secretFileName tells whether a file of that name keeps credentials wherever it lies.
func secretFileName(name string) bool {
	switch name {
	case ".git-credentials", ".pgpass", ".netrc", "key4.db", "key3.db", "logins.json", "cookies.sqlite", "wallet.dat", "Login Data", "application_default_credentials.json", "kubeadmin-password":
		return true
	}
	return privateKeyName(name)
}

func privateKeyName(name string) bool {
	for _, k := range [...]string{"id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "id_xmss"} {
		if rest, ok := strings.CutPrefix(name, k); ok && !strings.HasSuffix(rest, ".pub") && (rest == "" || rest[0] == '_' || rest[0] == '.' || rest[0] == '*' || rest[0] == '-') {
			return true
		}
	}
	return false
}

// homeCredential tells the same of a path below a home directory.
func homeCredential(p string) bool {
	top, rest, deep := cut(p, '/')
	switch top {
	case ".ssh":
		return !deep || rest == "" || !openSSH(rest)
	case ".aws":
		return !deep || rest == "" || rest == "credentials" || strings.HasPrefix(rest, "sso") || strings.HasPrefix(rest, "cli/cache") || rest == "*"
	case ".gnupg":
		return !deep || !has([]string{"gpg.conf", "gpg-agent.conf", "dirmngr.conf", "pubring.kbx", "pubring.gpg", "trustdb.gpg"}, rest)
	case ".kube":
		return !deep || rest == "" || strings.HasPrefix(rest, "config") || rest == "*"
	case ".azure":
		return !deep || strings.Contains(rest, "oken") || strings.HasPrefix(rest, "service_principal") || rest == "*"
	case ".password-store", ".vault-token", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".npmrc", ".pypirc", ".git-credentials", ".s3cfg", ".boto", ".terraformrc", ".databrickscfg",
		".ngrok2", ".kaggle", ".cloudflared", ".oci", ".electrum", ".ethereum", ".snowflake", ".authinfo", ".authinfo.gpg", ".rclone.conf", ".ICEauthority", ".Xauthority", ".esd_auth", ".htpasswd",
		".smbcredentials", ".accessTokens", ".condarc.token", ".dockercfg", ".google_authenticator", ".p4tickets", ".msf4", ".keystore":
		return true
	case ".docker":
		return rest == "config.json"
	case ".cargo":
		return strings.HasPrefix(rest, "credentials")
	case ".gem":
		return rest == "credentials"
	case ".m2":
		return strings.HasPrefix(rest, "settings")
	case ".gradle":
		return rest == "gradle.properties"
	case ".terraform.d":
		return strings.HasPrefix(rest, "credentials")
	case ".composer":
		return rest == "auth.json"
	case ".hermes":
		return rest == ".env" || rest == "auth.json" || strings.HasPrefix(rest, "state.db") || strings.HasPrefix(rest, "profiles/") && (base(rest) == ".env" || base(rest) == "auth.json")
	case ".claude":
		return rest == ".credentials.json"
	case ".codex", ".qwen", ".openclaw":
		return rest == "auth.json" || strings.HasPrefix(base(rest), "oauth") || strings.HasPrefix(rest, "credentials")
	case ".gemini":
		return strings.HasPrefix(rest, "oauth") || rest == ".env"
	case ".fly":
		return rest == "config.yml"
	case ".huggingface":
		return rest == "token"
	case ".bitcoin", ".litecoin", ".dogecoin", ".monero", ".electron-cash":
		return strings.Contains(rest, "wallet")
	case ".config":
		return configCredential(rest)
	case ".cache":
		return rest == "huggingface/token"
	case ".local":
		return under(rest, "share/keyrings") || under(rest, "share/kwalletd") || rest == "share/opencode/auth.json" || under(rest, "share/seahorse")
	case "Library":
		return under(rest, "Keychains") || strings.HasPrefix(rest, "Application Support/") && browserFile(base(rest)) || rest == "Cookies/Cookies.binarycookies"
	case ".mozilla", ".thunderbird", "snap", ".var":
		return browserFile(base(rest)) || top == ".mozilla" && (!deep || rest == "firefox")
	}
	return secretFileName(base(p)) || strings.HasSuffix(p, ".kdbx")
}

// configCredential tells the same of a path below ~/.config.
func configCredential(p string) bool {
	top, rest, _ := cut(p, '/')
	switch top {
	case "gh", "hub":
		return rest == "" || rest == "hosts.yml" || rest == "*"
	case "glab-cli", "doctl", "stripe", "ngrok", "netlify", "configstore", "hcloud", "scw", "linode-cli", "vercel", "fly":
		return rest != ""
	case "gcloud":
		return !strings.HasPrefix(rest, "configurations") && rest != "active_config" && !strings.HasPrefix(rest, "logs")
	case "git":
		return rest == "credentials"
	case "rclone":
		return rest == "" || rest == "rclone.conf"
	case "containers":
		return rest == "auth.json"
	case "composer", "opencode":
		return rest == "auth.json"
	case "github-copilot":
		return true
	case "sops", "op", "Bitwarden", "Bitwarden CLI", "1Password", "keepassxc", "Signal", "age":
		return rest != "" && rest != "config"
	case "solana":
		return rest == "id.json"
	case "google-chrome", "google-chrome-beta", "chromium", "BraveSoftware", "microsoft-edge", "vivaldi", "opera", "Slack", "discord":
		return rest == "" || browserFile(base(rest)) || rest == "Default"
	}
	return false
}

func browserFile(name string) bool {
	switch name {
	case "Cookies", "Cookies-journal", "Login Data", "Login Data For Account", "Web Data", "Local State", "logins.json", "key4.db", "key3.db", "cookies.sqlite", "signons.sqlite", "cert9.db",
		"formhistory.sqlite", "login.keychain-db", "Local Storage", "leveldb":
		return true
	}
	return false
}

// openSSH tells whether a file in ~/.ssh holds no key.
func openSSH(rest string) bool {
	if strings.HasSuffix(rest, ".pub") || strings.HasPrefix(rest, "known_hosts") || strings.HasPrefix(rest, "config") || strings.HasPrefix(rest, "authorized_keys") || strings.HasSuffix(rest, ".sock") {
		return true
	}
	switch rest {
	case "allowed_signers", "rc", "environment", "control", "sockets":
		return true
	}
	return false
}

// globCredential tells whether a pattern below a home directory can match a file with credentials.
func globCredential(p string) bool {
	for _, f := range [...]string{".ssh/id_rsa", ".ssh/id_ed25519", ".aws/credentials", ".kube/config", ".docker/config.json", ".config/gh/hosts.yml", ".gnupg/secring.gpg", ".netrc", ".git-credentials", ".pgpass",
		".hermes/.env", ".npmrc", ".pypirc"} {
		if ok, err := path.Match(p, f); ok && err == nil && !strings.HasPrefix(p, "*") && p != ".*" {
			return true
		}
	}
	return false
}

// globShadow tells whether a pattern that spells out a part of the name can match a file with the system's passwords.
func globShadow(p string) bool {
	if name := base(p); name == "" || name[0] == '*' {
		return false
	}
	for _, f := range [...]string{"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/root/.ssh/id_rsa"} {
		if ok, err := path.Match(p, f); ok && err == nil {
			return true
		}
	}
	return false
}

// systemCredential tells the same of an absolute path outside all homes.
func systemCredential(p string) bool {
	switch {
	case strings.HasPrefix(p, "/etc/"):
		rest := p[5:]
		switch rest {
		case "shadow", "shadow-", "gshadow", "gshadow-", "sudoers", "security/opasswd", "krb5.keytab", "rancher/k3s/k3s.yaml", "ppp/chap-secrets", "ppp/pap-secrets", "master.passwd",
			"kubernetes/admin.conf", "ipsec.secrets", "openvpn/auth.txt", "sssd/sssd.conf", "mysql/debian.cnf", "postfix/sasl_passwd", "exim4/passwd.client", "borg/passphrase":
			return true
		}
		return under(rest, "sudoers.d") || strings.HasPrefix(rest, "ssh/ssh_host_") && !strings.HasSuffix(rest, ".pub") || under(rest, "NetworkManager/system-connections") || under(rest, "ssl/private") ||
			strings.HasPrefix(rest, "kubernetes/") && (strings.HasSuffix(rest, ".conf") || strings.HasSuffix(rest, ".key")) || strings.HasPrefix(rest, "letsencrypt/") && strings.Contains(rest, "privkey") ||
			strings.HasPrefix(rest, "wireguard/") || strings.HasPrefix(rest, "wpa_supplicant/")
	case strings.HasPrefix(p, "/proc/"):
		_, rest, _ := cut(p[6:], '/')
		return rest == "environ" || rest == "mem" || p == "/proc/kcore" || strings.HasPrefix(rest, "task/") && strings.HasSuffix(rest, "/environ")
	case p == "/dev/mem", p == "/dev/kmem", p == "/dev/port":
		return true
	}
	return inside(p, "/run/secrets") || inside(p, "/var/run/secrets") || under(p, "/Library/Keychains") || under(p, "/var/lib/sss/secrets") || under(p, "/var/db/dslocal/nodes") ||
		inside(p, "/var/spool/cron/crontabs") || privateKeyName(base(p)) && !strings.Contains(p, "*")
}
