package winsh

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"
)

// carry finds the programs within a command's arguments or input and reads them.
func (m *machine) carry(c *Command, in input, src string, at span, org origin, sc *scope) {
	add := func(shell, text string, known bool) {
		if text == "" && known {
			return
		}
		c.Nested = append(c.Nested, m.payload(shell, text, known, src, at, org, sc))
	}
	known := len(c.Unknown) == 0
	switch c.Name {
	case "powershell", "pwsh", "powershell_ise":
		sc = nil
		m.powershell(c, in, src, at, org)
	case "cmd":
		sc = nil
		if text, ok := afterSwitch(c.Args, "/c", "/k", "/r"); ok {
			add("cmd", text, known)
		} else {
			m.carryInput(c, "cmd", in, src, at, org, nil)
		}
	case "bash", "sh", "zsh", "dash", "ksh", "ash":
		for i, a := range c.Args {
			if len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.HasSuffix(a, "c") && i+1 < len(c.Args) {
				add(c.Name, c.Args[i+1], known)
				break
			}
		}
	case "wsl":
		if text := wslProgram(c.Args); text != "" {
			add("sh", text, known)
		}
	case "invoke-expression":
		if text := strings.Join(operands(c, "-command"), " "); text != "" {
			add("powershell", text, known)
		} else {
			m.carryInput(c, "powershell", in, src, at, org, sc)
		}
	case "[scriptblock]::create", ".invokescript", ".newscriptblock", ".addscript":
		add("powershell", strings.Join(c.Args, " "), known)
	case "start-process", "[diagnostics.process]::start", ".start":
		add("exec", startProcess(c), known)
	case ".run", ".exec", ".shellexecute":
		add("exec", strings.Join(c.Args[:min(len(c.Args), 2)], " "), known)
	case "invoke-wmimethod", "invoke-cimmethod", "wmic", ".create":
		add("exec", wmiProgram(c.Args), known)
	case "forfiles":
		if text, ok := after(c.Args, "/c"); ok {
			add("exec", strings.ReplaceAll(text, "0x22", `"`), known)
		}
	case "schtasks":
		if text, ok := after(c.Args, "/tr"); ok {
			add("exec", text, known)
		}
	case "new-scheduledtaskaction":
		add("exec", joinFound(c.Args, "-execute", "-argument"), known)
	case "runas", "psexec", "psexec64", "sudo", "gsudo", "conhost", "winrs", "nircmd", "hstart", "timeit":
		add("exec", wrapped(c.Args), known)
	case "pcalua":
		text, _ := after(c.Args, "-a")
		add("exec", text, known)
	case "start":
		add("exec", wrapped(c.Args), known)
	}
}

// carryInput treats what is piped into an interpreter as its program.
func (m *machine) carryInput(c *Command, shell string, in input, src string, at span, org origin, sc *scope) {
	if !in.any {
		return
	}
	n := 0
	for _, s := range in.items {
		n += len(s) + 1
	}
	if !in.known || !m.spend(n) {
		c.Nested = append(c.Nested, Payload{Shell: shell, Start: c.Start, End: c.End})
		return
	}
	c.Nested = append(c.Nested, m.payload(shell, strings.Join(in.items, "\n"), true, src, at, org, sc))
}

// pipedText is what a command of cmd writes to a pipe, where it can be told.
func pipedText(c Command) input {
	in := input{any: true, remote: c.remote || fetches(&c)}
	if c.Name == "echo" && len(c.Unknown) == 0 {
		in.items, in.known = []string{strings.Join(c.Args, " ")}, true
	}
	return in
}

// powershell reads the command line of powershell.exe or pwsh, whose parameters may be cut short.
func (m *machine) powershell(c *Command, in input, src string, at span, org origin) {
	open := len(c.Unknown) == 0
	for i := 0; i < len(c.Args); i++ {
		a := c.Args[i]
		if len(a) < 2 || a[0] != '-' && a[0] != '/' {
			if a == "-" {
				break
			}
			m.program(c, c.Args[i:], open, src, at, org)
			return
		}
		name, glued, _ := strings.Cut(strings.ToLower(strings.TrimLeft(a, "-/")), ":")
		switch kind := hostParameter(name); kind {
		case hostCommand:
			if i+1 < len(c.Args) && c.Args[i+1] == "-" {
				m.carryInput(c, "powershell", in, src, at, org, nil)
				return
			}
			m.program(c, c.Args[min(i+1, len(c.Args)):], open, src, at, org)
			return
		case hostFile:
			pl := Payload{Shell: "powershell", File: glued, Start: c.Start, End: c.End}
			if glued == "" && i+1 < len(c.Args) {
				pl.File = c.Args[i+1]
			}
			c.Nested = append(c.Nested, pl)
			return
		case hostEncoded:
			text := glued
			if text == "" && i+1 < len(c.Args) {
				text = c.Args[i+1]
			}
			m.encoded(c, text, at, org)
			return
		case hostValue:
			if glued == "" {
				i++
			}
		}
	}
	m.carryInput(c, "powershell", in, src, at, org, nil)
}

func (m *machine) program(c *Command, args []string, known bool, src string, at span, org origin) {
	if len(args) == 0 {
		return
	}
	if args[0] == "{}" && c.Dialect == PowerShell { // a block: read in place
		return
	}
	c.Nested = append(c.Nested, m.payload("powershell", strings.Join(args, " "), known, src, at, org, nil))
}

// encoded decodes base64 of UTF-16LE.
func (m *machine) encoded(c *Command, text string, at span, org origin) {
	pl := Payload{Shell: "powershell", Encoded: true, Start: c.Start, End: c.End}
	text = strings.TrimRight(strings.Trim(text, `"' `), "=")
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err == nil && len(raw) > 1 && len(raw)%2 == 0 {
		units := make([]uint16, len(raw)/2)
		for i := range units {
			units[i] = uint16(raw[2*i]) | uint16(raw[2*i+1])<<8
		}
		lo, hi := org.at(at)
		pl = m.payload("powershell", string(utf16.Decode(units)), true, "", span{}, origin{lo: lo, hi: hi}, nil)
		pl.Encoded = true
	}
	c.Nested = append(c.Nested, pl)
}

type hostKind uint8

const (
	hostSwitch  hostKind = iota // has no value, or is not known
	hostValue                   // owns the next word
	hostCommand                 // the rest is the program
	hostFile
	hostEncoded
)

// hostParameter tells what a parameter of powershell.exe is; each may be cut down to a shortest form.
func hostParameter(name string) hostKind {
	short := func(full string, least int) bool { return len(name) >= least && strings.HasPrefix(full, name) }
	switch {
	case short("command", 1), short("commandwithargs", 12), name == "cwa":
		return hostCommand
	case short("file", 1):
		return hostFile
	case short("encodedcommand", 1), name == "ec":
		return hostEncoded
	case short("executionpolicy", 2), name == "ep", short("configurationname", 3), short("configurationfile", 14), short("custompipename", 2),
		short("windowstyle", 1), short("inputformat", 3), name == "if", short("outputformat", 1), name == "of",
		short("psconsolefile", 1), short("settingsfile", 8), short("workingdirectory", 2), name == "wd", short("version", 1),
		short("encodedarguments", 8), name == "ea":
		return hostValue
	}
	return hostSwitch
}

// after is the argument behind name.
func after(args []string, name string) (string, bool) {
	for i, a := range args {
		if i+1 < len(args) && strings.EqualFold(a, name) {
			return args[i+1], true
		}
	}
	return "", false
}

// afterSwitch is all that stands behind the first of the switches, also glued to it.
func afterSwitch(args []string, switches ...string) (string, bool) {
	for i, a := range args {
		if len(a) < 2 || a[0] != '/' {
			return "", false
		}
		for _, s := range switches {
			if len(a) >= len(s) && strings.EqualFold(a[:len(s)], s) {
				rest := args[i+1:]
				if len(a) > len(s) {
					rest = append([]string{a[len(s):]}, rest...)
				}
				return strings.Join(rest, " "), true
			}
		}
	}
	return "", false
}

// joinFound joins the values of parameters.
func joinFound(args []string, names ...string) string {
	var out []string
	for _, n := range names {
		if v, ok := param(args, n); ok {
			out = append(out, v)
		}
	}
	return strings.Join(out, " ")
}

// wrapped is the program behind a launcher's own switches.
func wrapped(args []string) string {
	for i, a := range args {
		if a == "" || a[0] == '/' || a[0] == '-' || strings.HasPrefix(a, `\\`) {
			continue
		}
		if i > 0 && len(args[i-1]) == 2 && args[i-1][0] == '-' && strings.ContainsAny(args[i-1][1:], "uUpPwWraR") && i+1 < len(args) {
			continue
		}
		return strings.Join(args[i:], " ")
	}
	return ""
}

// wslProgram is what wsl hands to Linux.
func wslProgram(args []string) string {
	for i := 0; i < len(args); i++ {
		switch a := strings.ToLower(args[i]); a {
		case "-d", "--distribution", "-u", "--user", "--cd", "--shell-type":
			i++
		case "-e", "--exec", "--":
			return strings.Join(args[i+1:], " ")
		default:
			if strings.HasPrefix(a, "-") {
				return ""
			}
			return strings.Join(args[i:], " ")
		}
	}
	return ""
}

// wmiProgram is the command line given to Win32_Process.Create.
func wmiProgram(args []string) string {
	for i, a := range args {
		low := strings.ToLower(a)
		if low == "create" && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			return strings.Join(args[i+1:], " ")
		}
		if _, line, ok := strings.Cut(low, "commandline"); ok {
			return strings.Trim(a[len(a)-len(line):], " =:'\"{}")
		}
	}
	if v, ok := param(args, "-argumentlist"); ok {
		return v
	}
	return ""
}

// startProcess is the command line of Start-Process: the program, then its arguments.
func startProcess(c *Command) string {
	var file string
	var rest []string
	listed := false // within the values of -ArgumentList
	for i := 0; i < len(c.Args); i++ {
		a := c.Args[i]
		if len(a) < 2 || a[0] != '-' || !isLetter(a[1]) {
			rest = append(rest, a)
			continue
		}
		name, v, glued := strings.Cut(strings.ToLower(a), ":")
		if glued {
			v = a[len(name)+1:]
		}
		short := func(full string, least int) bool {
			if listed { // a dash word of the list, unless spelled out
				least = max(least, 5)
			}
			return len(name) >= least && strings.HasPrefix(full, name)
		}
		next := func() string {
			if v == "" && i+1 < len(c.Args) {
				i++
				v = c.Args[i]
			}
			return v
		}
		switch {
		case short("-filepath", 2), name == "-pspath":
			file = next()
		case short("-argumentlist", 2), name == "-args":
			rest, listed = append(rest, next()), true
		case short("-verb", 5), short("-windowstyle", 3), short("-workingdirectory", 3), short("-credential", 2),
			short("-redirectstandardinput", 10), short("-environment", 3):
			next()
		case short("-wait", 5), short("-passthru", 5), short("-nonewwindow", 5), short("-loaduserprofile", 5), short("-usenewenvironment", 5):
		case c.Name != "start-process" || len(rest) > 0: // the program's own
			rest = append(rest, a)
		}
	}
	if file != "" {
		rest = append([]string{file}, rest...)
	}
	if len(rest) > 0 && strings.ContainsRune(rest[0], ' ') {
		rest[0] = `"` + rest[0] + `"`
	}
	return strings.Join(rest, " ")
}

// fetches reports whether a command's output is text from the network.
func fetches(c *Command) bool {
	switch c.Name {
	case "invoke-webrequest", "invoke-restmethod":
		return !hasParam(c, "-outfile", 4)
	case "curl", "wget":
		return true
	case ".downloadstring", ".downloaddata", ".openread", ".getstringasync", ".downloadstringtaskasync", ".getasync",
		".getbytearrayasync", ".getresponse", ".uploadstring":
		return true
	}
	return false
}
