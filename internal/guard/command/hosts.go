package command

import (
	"strings"

	"hermes/internal/shell"
)

// remoteName tells whether a word names a file or folder on another machine: host:path or a URL.
func remoteName(w shell.Word) bool {
	t := w.Text
	if strings.Contains(t, "://") {
		return !strings.HasPrefix(t, "file:")
	}
	n := strings.IndexByte(t, ':')
	return n > 0 && !strings.Contains(t[:n], "/") && !(n == 1 && len(t) > 2 && t[2] == '\\')
}

// hostOf returns the host a URL, an address with a path behind it, or user@host:path names, in lower case.
func hostOf(s string) string {
	if n := strings.Index(s, "://"); n >= 0 {
		s = s[n+3:]
	}
	if n := strings.IndexAny(s, "/?#"); n >= 0 {
		s = s[:n]
	}
	if n := strings.LastIndexByte(s, '@'); n >= 0 {
		s = s[n+1:]
	}
	if strings.HasPrefix(s, "[") {
		if n := strings.IndexByte(s, ']'); n > 0 {
			return strings.ToLower(s[1:n])
		}
	}
	if n := strings.IndexByte(s, ':'); n >= 0 {
		s = s[:n]
	}
	return strings.ToLower(s)
}

// loopback tells whether a host is this machine.
func loopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1" || host == "0.0.0.0" || host == "::" || host == "host.docker.internal" || strings.HasSuffix(host, ".localhost") || strings.HasPrefix(host, "127.")
}

// publicHost tells whether a host is one that code and packages are ordinarily fetched from.
func publicHost(host string) bool {
	for _, h := range [...]string{
		"github.com", "githubusercontent.com", "gitlab.com", "bitbucket.org", "codeberg.org", "sr.ht", "git.kernel.org", "gnu.org", "apache.org", "debian.org", "ubuntu.com", "fedoraproject.org", "python.org", "pypi.org",
		"pythonhosted.org", "npmjs.org", "npmjs.com", "npmmirror.com", "yarnpkg.com", "jsr.io", "deno.land", "esm.sh", "rubygems.org", "crates.io", "rust-lang.org", "golang.org", "go.dev", "google.com",
		"googleapis.com", "k8s.io", "kubernetes.io", "helm.sh", "docker.com", "docker.io", "quay.io", "ghcr.io", "nvidia.com", "pytorch.org", "pyg.org", "huggingface.co", "hf.co", "microsoft.com", "nodejs.org",
		"nodesource.com", "hashicorp.com", "jfrog.io", "maven.org", "gradle.org", "sonatype.org", "packagist.org", "cpan.org", "metacpan.org", "luarocks.org", "conda.io", "anaconda.org", "anaconda.com",
		"nixos.org", "brew.sh", "tsinghua.edu.cn", "ustc.edu.cn", "aliyun.com", "aliyuncs.com", "istio.io", "projectcalico.org", "bitnami.com", "jetstack.io", "cncf.io", "argoproj.io", "sourceforge.net",
		"freedesktop.org", "gnome.org", "kde.org", "mozilla.org", "openjdk.org", "adoptium.net", "postgresql.org", "mysql.com", "elastic.co", "grafana.com", "jetbrains.com", "cloudfront.net", "opensuse.org",
		"archlinux.org", "rpmfusion.org", "nodesource.com", "alpinelinux.org", "flathub.org", "snapcraft.io", "visualstudio.com", "sdkman.io", "azure.com", "amazonaws.com", "dl.k8s.io", "tencent.com", "goproxy.io", "goproxy.cn", "doubanio.com", "douban.com",
	} {
		if host == h || strings.HasSuffix(host, "."+h) {
			return h != "cloudfront.net" && h != "googleapis.com" && h != "amazonaws.com" || strings.HasPrefix(host, "packages.") || strings.HasPrefix(host, "repo.")
		}
	}
	return false
}
