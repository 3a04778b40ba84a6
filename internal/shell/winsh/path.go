package winsh

import "strings"

// place says what a Windows path is, as far as deleting it goes.
type place uint8

const (
	ordinary  place = iota
	driveRoot       // C:\, \\host\C$, the root of the current drive
	systemDir       // C:\Windows and the like, and what is in System32
	profile         // a user's whole profile, or all of them
	hive            // a registry hive or one of its first level
	passing         // in a temp folder, or a build folder by its usual name: made to be deleted
)

// placeOf judges path; cwd is where a relative one starts, "" when that is the folder the text started in.
func placeOf(path, cwd string) place {
	p, relative := cleanPath(path)
	if relative && strings.HasPrefix(cwd, "?") {
		return ordinary
	}
	if relative && cwd != "" {
		p, relative = cleanPath(cwd + `\` + path)
	}
	head, rest, deep := strings.Cut(p, `\`)
	if relative {
		return relativePlace(p)
	}
	switch {
	case head == "" && !deep, len(head) == 2 && head[1] == ':' && !deep:
		return driveRoot
	case strings.HasPrefix(p, `\\`):
		if parts := strings.Split(p[2:], `\`); len(parts) == 2 && strings.HasSuffix(parts[1], "$") {
			return driveRoot
		}
		return ordinary
	case head == "%userprofile%":
		return inProfile(rest)
	case strings.HasPrefix(head, "hk") || strings.HasPrefix(head, "registry::"):
		return inHive(p)
	}
	if head != "" && (len(head) != 2 || head[1] != ':') {
		return ordinary
	}
	return onDrive(rest)
}

func onDrive(rest string) place {
	head, tail, deep := strings.Cut(rest, `\`)
	switch head {
	case "windows":
		sub, _, _ := strings.Cut(tail, `\`)
		switch sub {
		case "", "system32", "syswow64", "winsxs", "boot", "fonts", "inf", "servicing":
			return systemDir
		case "temp":
			return passing
		}
	case "users", "documents and settings":
		if !deep {
			return profile
		}
		_, tail, _ = strings.Cut(tail, `\`)
		return inProfile(tail)
	case "program files", "program files (x86)", "programdata", "boot", "efi", "recovery", "system volume information":
		if !deep {
			return systemDir
		}
	}
	return ordinary
}

func inProfile(rest string) place {
	switch {
	case rest == "":
		return profile
	case rest == `appdata\local\temp`, strings.HasPrefix(rest, `appdata\local\temp\`):
		return passing
	}
	return ordinary
}

func inHive(p string) place {
	p = strings.ReplaceAll(strings.TrimPrefix(p, "registry::"), ":", "")
	parts := strings.Split(strings.Trim(p, `\`), `\`)
	switch parts[0] {
	case "hklm", "hkcu", "hkcr", "hku", "hkey_local_machine", "hkey_current_user", "hkey_classes_root", "hkey_users":
	default:
		return ordinary
	}
	if len(parts) == 1 {
		return hive
	}
	switch parts[1] {
	case "software", "system", "sam", "security", "hardware", "bcd00000000":
		if len(parts) == 2 {
			return hive
		}
	}
	return ordinary
}

func relativePlace(p string) place {
	if strings.HasPrefix(p, "..") {
		return ordinary
	}
	switch p[strings.LastIndexByte(p, '\\')+1:] {
	case "node_modules", "build", "dist", "target", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".next",
		".nuxt", ".turbo", ".parcel-cache", ".svelte-kit", ".angular", ".gradle", "obj", "coverage", "htmlcov", ".nyc_output", ".vite",
		".cache", "out", "cmakefiles", ".terraform":
		return passing
	}
	return ordinary
}

// cleanPath is path in one spelling: lower case, backslashes, no . .. or doubled separators, no wildcard at the end, the usual
// variables as %name%. relative: it does not say where it starts.
func cleanPath(path string) (clean string, relative bool) {
	p := strings.ToLower(strings.Trim(path, `"' `))
	p = strings.ReplaceAll(p, "/", `\`)
	for _, prefix := range [...]string{`microsoft.powershell.core\`, "filesystem::", `\\?\`, `\\.\`} {
		p = strings.TrimPrefix(p, prefix)
	}
	p = folded(p)
	unc := strings.HasPrefix(p, `\\`)
	rooted := strings.HasPrefix(p, `\`)
	var parts []string
	for s := range strings.SplitSeq(p, `\`) {
		switch s {
		case "", ".":
		case "..":
			n := len(parts)
			switch {
			case n > 1, n == 1 && !anchored(parts[0]) && parts[0] != "..":
				parts = parts[:n-1]
			case n == 0 && !rooted, n == 1 && parts[0] == "..":
				parts = append(parts, "..")
			case n == 1 && parts[0] == "%userprofile%":
				parts = []string{"c:", "users"}
			case n == 1 && (parts[0][0] == '%' || parts[0][0] == '$'):
				parts[0] = "%?%"
			}
		default:
			parts = append(parts, strings.TrimRight(s, " "))
		}
	}
	if n := len(parts); n > 0 {
		switch parts[n-1] {
		case "*", "*.*", "?", "**":
			parts = parts[:n-1]
			if n == 1 && !rooted {
				return ".", true
			}
		}
	}
	clean = strings.Join(parts, `\`)
	switch {
	case unc:
		return `\\` + clean, false
	case rooted:
		if clean == "" {
			return "", false
		}
		return `\` + clean, false
	case len(parts) == 0:
		return ".", true
	}
	return clean, !anchored(parts[0])
}

// anchored reports whether a path that begins with s says where it starts.
func anchored(s string) bool {
	return len(s) >= 2 && s[1] == ':' || s[0] == '%' || s[0] == '$' || strings.HasPrefix(s, "hk") || strings.HasPrefix(s, "registry::")
}

// folded replaces the variables at the start of a lower-case path.
func folded(p string) string {
	if p == "" {
		return p
	}
	if rest, ok := strings.CutPrefix(p, "~"); ok && (rest == "" || rest[0] == '\\') {
		return "%userprofile%" + rest
	}
	name, rest := "", ""
	switch {
	case p[0] == '%':
		if i := strings.IndexByte(p[1:], '%'); i > 0 {
			name, rest = p[1:1+i], p[2+i:]
		}
	case strings.HasPrefix(p, "${env:"):
		if i := strings.IndexByte(p, '}'); i > 0 {
			name, rest = p[6:i], p[i+1:]
		}
	case strings.HasPrefix(p, "$env:"):
		i := 5
		for i < len(p) && isIdent(p[i]) {
			i++
		}
		name, rest = p[5:i], p[i:]
	case strings.HasPrefix(p, "$home") && (len(p) == 5 || p[5] == '\\'):
		return "%userprofile%" + p[5:]
	}
	switch name {
	case "":
		return p
	case "systemdrive":
		return "c:" + rest
	case "homedrive":
		if r := folded(rest); strings.HasPrefix(r, "%userprofile%") {
			return r
		}
		return "c:" + rest
	case "systemroot", "windir":
		return `c:\windows` + rest
	case "programfiles", "programw6432":
		return `c:\program files` + rest
	case "programfiles(x86)":
		return `c:\program files (x86)` + rest
	case "programdata", "allusersprofile":
		return `c:\programdata` + rest
	case "homepath", "home":
		return "%userprofile%" + rest
	case "appdata":
		return `%userprofile%\appdata\roaming` + rest
	case "localappdata":
		return `%userprofile%\appdata\local` + rest
	case "temp", "tmp":
		return `%userprofile%\appdata\local\temp` + rest
	case "public":
		return `c:\users\public` + rest
	}
	return "%" + name + "%" + rest
}
