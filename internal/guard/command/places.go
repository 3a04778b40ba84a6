package command

import (
	"path"
	"strings"
)

// isRoot tells whether the target is the root directory or all that is in it.
func (c *ctx) isRoot(t target) bool { return t.path == "/" || winRoot(t.path) }

// winRoot tells whether p is a whole drive.
func winRoot(p string) bool { return len(p) <= 3 && drive(p+"/") }

// isHome tells whether the target is a home directory or all that is in it.
func (c *ctx) isHome(t target) bool {
	p := t.path
	return p == "~" || p == "$HOME" || p == "${HOME}" || c.facts.Home != "" && p == path.Clean(c.facts.Home) || quotedHome(p)
}

// quotedHome tells whether p is a home that quotes kept from being expanded, relative to wherever the command starts.
func quotedHome(p string) bool {
	n := strings.LastIndexByte(p, '/')
	return p[n+1:] == "$HOME" || p[n+1:] == "${HOME}"
}

// isSystemDir tells whether the target is a directory the system needs, or all that is in it.
func (c *ctx) isSystemDir(t target) bool {
	if t.glob && t.path != "" && t.path[0] == '/' && strings.ContainsAny(t.path, "*?[") {
		for _, d := range systemDirs() {
			if strings.Count(t.path, "/") != strings.Count(d, "/") {
				continue
			}
			if ok, err := path.Match(t.path, d); ok && err == nil {
				return true
			}
		}
		return false
	}
	return systemDir(t.path)
}

func systemDir(p string) bool {
	switch p {
	case "/home", "/root", "/etc", "/usr", "/var", "/bin", "/sbin", "/boot", "/lib", "/lib64", "/opt", "/srv", "/dev", "/proc", "/sys", "/run",
		"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/share", "/var/lib",
		"/Users", "/System", "/Library", "/Applications", "/Volumes", "/private", "/nix", "/snap", "/data":
		return p != "/data"
	}
	return len(p) > 3 && drive(p) && windowsDir(p[2:])
}

func windowsDir(p string) bool {
	switch strings.ToLower(p) {
	case "/windows", "/windows/system32", "/users", "/program files", "/program files (x86)", "/programdata":
		return true
	}
	return false
}

func systemDirs() []string {
	return []string{"/home", "/root", "/etc", "/usr", "/var", "/bin", "/sbin", "/boot", "/lib", "/lib64", "/opt", "/srv", "/dev", "/usr/bin", "/usr/lib",
		"/usr/sbin", "/var/lib"}
}

// isVital is isSystemDir without the directories that people own and change as a whole.
func (c *ctx) isVital(t target) bool {
	switch t.path {
	case "/opt", "/srv", "/home", "/Users", "/Volumes", "/run", "/Applications", "/snap":
		return false
	}
	return c.isSystemDir(t) || c.isRoot(t)
}

// isTemp tells whether the target is inside a directory for temporary files, without being the whole of it.
func (c *ctx) isTemp(t target) bool {
	p := t.path
	if t.blind && wholeUnknown(p) || t.loose {
		return false
	}
	if p == "" || t.all && (p == "/tmp" || p == "/var/tmp" || p == c.facts.TempDir) {
		return false
	}
	return inside(p, "/tmp") || inside(p, "/var/tmp") || inside(p, "/dev/shm") || c.facts.TempDir != "" && inside(p, c.facts.TempDir) ||
		strings.HasPrefix(p, "/var/folders/")
}

// wholeUnknown tells whether nothing is known of the first element below a directory for temporary files.
func wholeUnknown(p string) bool {
	n := strings.IndexByte(p, 0)
	if n < 1 || p[n-1] != '/' {
		return false
	}
	dir := p[:n-1]
	return (dir == "/tmp" || dir == "/var/tmp" || dir == "/dev/shm") && (n+1 == len(p) || p[n+1] == '/')
}

// inTree tells whether the target is inside the directory the text starts in, or a relative path that stays there.
func (c *ctx) inTree(t target) bool {
	p := t.path
	switch {
	case p == "" || t.maybe:
		return false
	case p[0] == '/':
		d := c.facts.Dir
		return d != "" && d != "/" && d != c.facts.Home && under(p, path.Clean(d))
	case p[0] == '~' || p == ".." || strings.HasPrefix(p, "../") || p[0] == 0 || drive(p):
		return false
	}
	return true
}

// isRegrown tells whether the target is inside the work tree and something that a build, a test run or an install
// makes again.
func (c *ctx) isRegrown(t target) bool {
	if c.facts.Tracked != nil && c.facts.Tracked(t.path) == Yes || !c.inTree(t) || t.blind && !strings.Contains(t.path, "/") {
		return false
	}
	p := t.path
	if d := c.facts.Dir; d != "" {
		if p = strings.TrimPrefix(strings.TrimPrefix(p, path.Clean(d)), "/"); p == "" {
			return false
		}
	}
	for rest, name := p, ""; rest != ""; {
		name, rest, _ = cut(rest, '/')
		if name == ".git" || name == ".hermes" || name == ".." {
			return false
		}
		if regrownDir(name) || c.remade(name) || name == "vendor" && under(rest, "bundle") {
			return true
		}
	}
	return !t.all && regrownFile(base(p)) || c.facts.Ignored != nil && c.facts.Ignored(t.path) == Yes
}

// isRegrownThere tells whether the target is a folder that builds and installs make, by its bare name, in a project that
// the text has changed to.
func (c *ctx) isRegrownThere(t target) bool {
	if !t.there || t.all || t.glob || t.maybe || t.blind || c.facts.Tracked != nil && c.facts.Tracked(t.path) == Yes {
		return false
	}
	n := strings.LastIndexByte(t.path, '/')
	if n < 1 || !regrownDir(t.path[n+1:]) || t.path[n+1:] == "tmp" {
		return false
	}
	dir := t.path[:n]
	if strings.HasPrefix(dir, "../") {
		return true
	}
	if p, ok := c.below(target{path: dir}); ok {
		return p != "" && p[0] != '.' && !strings.HasPrefix(p, "Library")
	}
	for _, p := range [...]string{"/srv", "/opt", "/var/www", "/workspace", "/workspaces", "/app", "/code", "/data", "/mnt", "/media", "/usr/src", "/builds", "/Volumes"} {
		if inside(dir, p) || dir == "/app" || dir == "/workspace" || dir == "/code" {
			return true
		}
	}
	return false
}

// remade tells whether a program in the text fetches again what is in a folder of dependencies of that name.
func (c *ctx) remade(name string) bool {
	if name != "vendor" && name != "deps" {
		return false
	}
	for i := range c.names {
		switch c.names[i] {
		case "composer", "bundle", "cargo", "go", "govendor", "rails":
			if name == "vendor" {
				return true
			}
		case "mix", "rebar3", "rebar":
			if name == "deps" {
				return true
			}
		}
	}
	return false
}

// regrownDir names the folders that builds, tests and installs make.
func regrownDir(name string) bool {
	switch name {
	case "node_modules", "bower_components", "jspm_packages", ".pnpm-store", ".next", ".nuxt", ".svelte-kit", ".astro", ".output", ".turbo",
		".parcel-cache", ".vite", ".webpack", ".angular", ".expo", ".docusaurus", ".nyc_output", ".eslintcache", ".stylelintcache", "storybook-static",
		"build", "dist", "out", "target", "_build", "cmake-build", "CMakeFiles", "CMakeCache.txt", "zig-cache", ".zig-cache", "zig-out", "bazel-out",
		"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".hypothesis", ".ipynb_checkpoints", ".pytype", ".pyre",
		".venv", "venv", ".eggs", "wheelhouse", "htmlcov", "coverage", ".coverage", "coverage.xml", "coverage.out", "lcov.info",
		".gradle", ".kotlin", "obj", "DerivedData", ".build", "Pods", "Carthage", ".dart_tool", ".stack-work", "dist-newstyle", "elm-stuff",
		".terraform", ".serverless", ".aws-sam", "cdk.out", ".cache", ".tmp", "tmp", ".sass-cache", ".jekyll-cache", "_site", ".bundle",
		"test-results", "playwright-report", "allure-results", "TestResults", "blob-report", ".DS_Store", "Thumbs.db", "a.out", "nohup.out":
		return true
	}
	return strings.HasSuffix(name, ".egg-info") || strings.HasSuffix(name, ".dist-info") || strings.HasPrefix(name, "cmake-build-") ||
		strings.HasPrefix(name, "bazel-") || strings.HasSuffix(name, ".xcodeproj.build")
}

// regrownFile names the files that builds and tools leave behind.
func regrownFile(name string) bool {
	switch path.Ext(name) {
	case ".o", ".obj", ".pyc", ".pyo", ".class", ".log", ".gcda", ".gcno", ".gcov", ".elc",
		".tsbuildinfo", ".lo", ".la", ".coverage", ".pdb", ".ilk", ".hi", ".cmi",
		".cmo", ".cmx", ".aux", ".toc", ".synctex", ".fls", ".fdb_latexmk":
		return true
	}
	switch name {
	case "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb", "bun.lock", "poetry.lock", "uv.lock", "Pipfile.lock", "Gemfile.lock", "composer.lock", "Cargo.lock":
		return true
	}
	return strings.HasPrefix(name, ".coverage.") || strings.HasPrefix(name, "npm-debug.log") || strings.HasPrefix(name, "yarn-error.log")
}

// isCache tells whether the target is inside a cache that tools fill again by themselves.
func (c *ctx) isCache(t target) bool {
	p, ok := c.fromHome(t)
	if !ok || t.blind {
		return false
	}
	for _, d := range [...]string{".cache", "Library/Caches", "Library/Developer/Xcode/DerivedData", "Library/Developer/CoreSimulator/Caches", ".gradle/caches", ".cargo/registry", ".yarn/cache", ".bun/install/cache"} {
		if inside(p, d) {
			return true
		}
	}
	switch p {
	case ".npm/_cacache", ".npm/_npx", ".gradle/caches", ".m2/repository", ".cargo/registry", ".pnpm-store", ".yarn/cache", ".bun/install/cache":
		return true
	}
	return false
}

// isRawDevice tells whether the target is a whole disk, a partition or a volume.
func (c *ctx) isRawDevice(t target) bool {
	name, ok := strings.CutPrefix(t.path, "/dev/")
	return ok && rawDevice(name)
}

func rawDevice(name string) bool {
	if rest, ok := strings.CutPrefix(name, "mapper/"); ok {
		return rest != "" && rest != "control"
	}
	if rest, ok := strings.CutPrefix(name, "disk/by-"); ok {
		kind, id, _ := cut(rest, '/')
		return id != "" && has([]string{"id", "uuid", "path", "label", "partuuid", "partlabel"}, kind)
	}
	name = strings.TrimPrefix(name, "r")
	for _, p := range [...]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "md", "dm-", "loop", "nbd", "disk"} {
		if rest, ok := strings.CutPrefix(name, p); ok && rest != "" && plain(rest) {
			return p != "disk" && p != "md" && p != "loop" && p != "nbd" || rest[0] >= '0' && rest[0] <= '9' || strings.ContainsAny(rest[:1], "*?[\x00")
		}
	}
	return false
}

// plain tells whether s could be the rest of a device name.
func plain(s string) bool {
	for k := range len(s) {
		b := s[k]
		if (b < '0' || b > '9') && (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && strings.IndexByte("-_/*?[]\x00", b) < 0 {
			return false
		}
	}
	return true
}

// isSystemConfig tells whether the target is a file of the system's configuration.
func (c *ctx) isSystemConfig(t target) bool {
	return inside(t.path, "/etc") || t.path == "/etc" || t.alias
}

// fromHome returns the target's path below the home directory.
func (c *ctx) fromHome(t target) (string, bool) {
	p := t.path
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		return rest, true
	}
	for _, h := range [...]string{c.facts.Home, "/root"} {
		if h = strings.ReplaceAll(h, `\`, "/"); len(h) > 1 && inside(p, h) {
			return p[len(h)+1:], true
		}
	}
	return "", false
}

// isLogin tells whether the target is where a person's keys are, or a file the shell runs at login.
func (c *ctx) isLogin(t target) bool {
	p, ok := c.below(t)
	return ok && (under(p, ".ssh") || isShellStart(p) || isLoginSecret(p))
}

func isShellStart(p string) bool {
	switch p {
	case ".bashrc", ".zshrc", ".profile", ".bash_profile", ".zprofile", ".zshenv", ".zlogin", ".zlogout", ".bash_login", ".bash_logout", ".bash_aliases",
		".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".config/fish/config.fish", ".xprofile", ".xinitrc", ".xsession", ".pam_environment":
		return true
	}
	return strings.HasPrefix(p, ".config/fish/conf.d/") || strings.HasPrefix(p, ".config/environment.d/")
}

func isLoginSecret(p string) bool {
	switch p {
	case ".netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".my.cnf", ".aws/credentials", ".kube/config", ".docker/config.json":
		return true
	}
	return under(p, ".gnupg")
}

// isHermesFile tells whether the target is Hermes' own configuration or secrets.
func (c *ctx) isHermesFile(t target) bool {
	switch base(t.path) {
	case ".env", "config.yaml":
	default:
		return false
	}
	dir := path.Dir(t.path)
	return dir == "~/.hermes" || dir == c.hermesHome() || c.facts.Home != "" && dir == c.facts.Home+"/.hermes" ||
		strings.HasPrefix(dir, "~/.hermes/profiles/") || strings.HasPrefix(dir, c.hermesHome()+"/profiles/")
}

// isSensitive tells whether writing the target can take over the machine or the account.
func (c *ctx) isSensitive(t target) bool {
	return c.isSystemConfig(t) || c.isRawDevice(t) || c.isLogin(t) || c.isHermesFile(t)
}

// isProjectConfig tells whether the target is a project's environment or configuration file.
func (c *ctx) isProjectConfig(t target) bool {
	name := base(t.path)
	return name == ".env" || name == "config.yaml" || strings.HasPrefix(name, ".env.") && len(name) > 5 && !strings.Contains(name, "#")
}
