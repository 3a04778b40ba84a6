package winsh

import "strings"

// Harmless reports whether all that cmds could run is understood and only reads, shows or computes. It is an allow-list:
// false says nothing bad about a text. An empty text is harmless.
func Harmless(cmds []Command) bool {
	return readOnly(cmds) && len(Rules(cmds)) == 0
}

func readOnly(cmds []Command) bool {
	for i := range cmds {
		c := &cmds[i]
		if !c.Known || c.Limit || c.Name == "" || c.foreign {
			return false
		}
		for _, w := range c.Writes {
			if w = strings.ToLower(w); w != "nul" && w != "$null" {
				return false
			}
		}
		if len(c.Nested) > 0 {
			if !carrierOnly(c.Name) {
				return false
			}
			for _, n := range c.Nested {
				if !n.Known || n.Shell != "cmd" && n.Shell != "powershell" || n.Encoded || !readOnly(n.Commands) {
					return false
				}
			}
			continue
		}
		if c.Dialect == Cmd && !readsCmd(c) || c.Dialect == PowerShell && !readsPowerShell(c) {
			return false
		}
	}
	return true
}

// carrierOnly reports whether a command does nothing but run the programs it carries.
func carrierOnly(name string) bool {
	switch name {
	case "cmd", "powershell", "pwsh", "invoke-expression":
		return true
	}
	return false
}

// readsProgram is for programs that both shells run.
func readsProgram(c *Command) bool {
	switch c.Name {
	case "find": // not the one that deletes
		return !hasPrefix(c, "-")
	case "whoami", "hostname", "findstr", "more", "tree", "where", "tasklist", "systeminfo", "netstat", "fc", "comp", "getmac", "driverquery",
		"ver", "vol", "quser", "query", "nbtstat", "arp":
		return c.Name != "arp" || !has(c, "-d", "-s")
	case "ipconfig":
		return len(c.Args) == 0 || len(c.Args) == 1 && has(c, "/all", "/displaydns")
	case "reg":
		return verb(c) == "query" || verb(c) == "compare"
	case "sc":
		v := verb(c)
		return v == "query" || v == "queryex" || v == "qc" || c.Dialect == Cmd && len(c.Args) == 0
	case "schtasks":
		return has(c, "/query")
	case "icacls":
		return len(c.Args) == 1
	case "powershell", "pwsh", "cmd":
		return has(c, "-version", "-help", "-?", "/?") && len(c.Args) == 1
	}
	return false
}

func readsCmd(c *Command) bool {
	switch c.Name {
	case "dir", "type", "echo", "cd", "pushd", "popd", "rem", "cls", "path", "title", "exit", "ver", "vol", "setlocal", "endlocal", "goto", "pause", "shift",
		"color", "verify", "prompt", "break":
		return true
	case "set":
		return len(c.Args) > 0 // alone it shows the whole environment
	case "date", "time":
		return has(c, "/t")
	case "sort":
		return !hasPrefix(c, "/o", "-o")
	case "assoc", "ftype":
		return !mentions(c, "=")
	}
	return readsProgram(c)
}

func readsPowerShell(c *Command) bool {
	// Elsewhere than on Windows these are programs that can write or run others.
	switch programName(c.Raw) {
	case "man", "help":
		return false
	case "sort":
		if hasPrefix(c, "-o", "--", "-T") {
			return false
		}
	}
	switch verb, noun, ok := strings.Cut(c.Name, "-"); {
	case !ok:
		return readsMethod(c) || readsProgram(c)
	case verb == "get":
		switch noun {
		case "credential", "secret", "storedcredential", "clipboard", "vaultcredential", "azaccesstoken":
			return false
		}
		return !environment(c)
	case verb == "test", verb == "measure", verb == "format", verb == "compare", verb == "convertto", verb == "convertfrom", verb == "join",
		verb == "split", verb == "resolve" && noun == "path", verb == "select", verb == "sort", verb == "group":
		return noun != "volume" && noun != "securestring"
	}
	switch c.Name {
	case "write-output", "write-host", "write-error", "write-warning", "write-verbose", "write-debug", "write-information", "write-progress",
		"out-null", "out-string", "out-host", "out-default", "where-object", "set-location", "push-location", "pop-location", "clear-host",
		"set-strictmode", "start-sleep", "show-command", "find-module", "find-package", "set-variable", "new-variable", "clear-variable":
		return true
	case "foreach-object": // a name instead of a block calls a method of that name
		return len(c.Args) > 0 && onlyBlocks(c)
	case "new-timespan", "new-guid":
		return true
	case "add-member", "import-csv", "import-clixml", "select-xml":
		return c.Name != "add-member"
	}
	return false
}

func onlyBlocks(c *Command) bool {
	for _, a := range c.Args {
		if a != "{}" && !strings.HasPrefix(strings.ToLower(a), "-b") && !strings.HasPrefix(strings.ToLower(a), "-e") && !strings.HasPrefix(strings.ToLower(a), "-p") {
			return false
		}
	}
	return true
}

// environment reports whether c shows all variables, secrets among them.
func environment(c *Command) bool {
	for _, a := range c.Args {
		switch strings.ToLower(strings.TrimRight(a, `\/*:`)) {
		case "env", "variable":
			return strings.Contains(a, ":")
		}
	}
	return false
}

// readsMethod is for calls that compute.
func readsMethod(c *Command) bool {
	switch c.Name {
	case ".tostring", ".trim", ".trimstart", ".trimend", ".split", ".replace", ".substring", ".tolower", ".toupper", ".contains", ".startswith",
		".endswith", ".indexof", ".lastindexof", ".padleft", ".padright", ".gettype", ".equals", ".adddays", ".addhours", ".addminutes", ".containskey",
		".getenumerator", ".insert", ".join", ".compareto", ".tolocaltime", ".touniversaltime", ".format", "[io.path]::getextension",
		"[io.path]::combine", "[io.path]::getfilename", "[io.path]::getfullpath", "[io.path]::getdirectoryname", "[io.path]::getfilenamewithoutextension",
		"[io.file]::exists", "[io.directory]::exists", "[guid]::newguid", "[string]::isnullorempty", "[string]::isnullorwhitespace", "[string]::format",
		"[datetime]::parse", "[int]::parse", "[double]::parse":
		return true
	}
	return strings.HasPrefix(c.Name, "[math]::")
}
