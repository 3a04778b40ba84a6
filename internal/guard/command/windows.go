package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
	"hermes/internal/shell/winsh"
)

// windows makes rules of winsh's table (rows 5 to 29 and what it holds beyond): it reads the text of cmd.exe and
// PowerShell, these rules say what a hit means.
func windows() table {
	rows := winsh.Table()
	out := make(table, 0, len(rows))
	for _, w := range rows {
		r := Rule{
			Key: w.Key, Harms: harmOf(w.Harm), Why: "is " + w.Key, Remedy: w.Remedy,
			Match: match{on: onWindows, test: func(c *ctx, _ int) (span, bool) {
				for _, h := range c.windowsHits() {
					if h.Key == w.Key {
						return span{h.Start, h.End}, true
					}
				}
				return span{}, false
			}},
		}
		if w.Floor {
			r.Tier = guard.Hardline
		}
		r.Hits, r.Passes = powershell(w.Hits), powershell(w.Passes)
		out = append(out, r)
	}
	return out
}

func harmOf(name string) guard.Harms {
	switch name {
	case "work":
		return guard.Work
	case "remote":
		return guard.Remote
	case "leak":
		return guard.Leak
	}
	return guard.Host
}

// powershell turns winsh's examples into texts for a POSIX shell.
func powershell(examples []string) []string {
	out := make([]string, 0, len(examples))
	for _, e := range examples {
		name := "cmd /c "
		if text, ok := strings.CutPrefix(e, "PS> "); ok {
			name, e = "pwsh -Command ", text
		} else if strings.HasPrefix(e, "powershell") || strings.HasPrefix(e, "pwsh") || strings.HasPrefix(strings.ToLower(e), "cmd") {
			name = "cmd /c "
		}
		out = append(out, name+"'"+strings.ReplaceAll(e, "'", `'\''`)+"'")
	}
	return out
}

// windowsHits returns what the Windows tables say about the text; it is worked out once.
func (c *ctx) windowsHits() []winsh.Hit {
	if c.windowsDone {
		return c.windows
	}
	c.windowsDone = true
	dialects := [2]bool{}
	for i := range c.prog.Commands {
		cmd := &c.prog.Commands[i]
		switch name := cmd.Name; {
		case len(cmd.Args) > 0 && (windowsPath(cmd.Args[0].Raw) && strings.IndexByte(cmd.Args[0].Raw, '\\') > 0 || strings.IndexByte(name, '^') > 0):
			dialects[winsh.Cmd] = true
		case name == "powershell" || name == "pwsh" || name == "cmd":
			c.windows = append(c.windows, winsh.Rules([]winsh.Command{winsh.Argv(bare(cmd.Args), cmd.Start, cmd.End)})...)
		case cmdProgram(name, cmd.Args):
			dialects[winsh.Cmd] = true
			c.windowsLine(winsh.Cmd, cmd)
		case cmdlet(name):
			dialects[winsh.PowerShell] = true
			c.windowsLine(winsh.PowerShell, cmd)
		}
	}
	for d, used := range dialects {
		if used {
			c.windows = append(c.windows, winsh.Rules(winsh.Parse(winsh.Dialect(d), c.prog.Text))...)
		}
	}
	if strings.Contains(c.prog.Text, ".ssh") || strings.Contains(c.prog.Text, ".env") {
		if key, start, end, ok := winsh.SecretPath(c.prog.Text); ok {
			c.windows = append(c.windows, winsh.Hit{Key: key, Start: start, End: end})
		}
	}
	return c.windows
}

// windowsLine judges one command by the words it would run with: the text as a whole may not be Windows' at all.
func (c *ctx) windowsLine(d winsh.Dialect, cmd *shell.Command) {
	var b strings.Builder
	for k, w := range cmd.Args {
		if k > 0 {
			b.WriteByte(' ')
		}
		s := w.Show()
		if raw := strings.Trim(w.Raw, `"'`); strings.Contains(raw, `\`) && !strings.ContainsAny(raw, `'"`) && k > 0 {
			s = raw // a shell for Windows keeps the backslashes
		}
		if strings.ContainsAny(s, " \t;&|()<>") {
			s = `"` + s + `"`
		}
		b.WriteString(s)
	}
	for _, h := range winsh.Rules(winsh.Parse(d, b.String())) {
		h.Start, h.End = cmd.Start, cmd.End
		c.windows = append(c.windows, h)
	}
}

// bare returns the words of an argv as text.
func bare(args []shell.Word) []string {
	out := make([]string, len(args))
	for k, w := range args {
		out[k] = w.Show()
	}
	return out
}

// cmdProgram tells whether a command is one of cmd.exe or of Windows, typed as it is.
func cmdProgram(name string, args []shell.Word) bool {
	switch name {
	case "del", "erase", "rd", "taskkill", "cipher", "icacls", "cacls", "vssadmin", "wbadmin", "bcdedit", "diskpart", "schtasks", "wmic", "takeown", "fsutil",
		"wevtutil", "auditpol", "certutil", "bitsadmin", "mshta", "rundll32", "regsvr32", "robocopy", "regedit", "cscript", "wscript", "psexec", "netsh", "msiexec",
		"reg", "sc", "net", "net1", "type", "setx", "forfiles":
		return true
	case "format", "rmdir", "shutdown", "at", "start":
		return len(args) > 1 && (strings.HasPrefix(args[1].Text, "/") && len(args[1].Text) <= 3 || len(args[1].Text) == 2 && args[1].Text[1] == ':')
	}
	return false
}

// cmdlet tells whether a command is named like one of PowerShell's that change things, or is an alias of one.
func cmdlet(name string) bool {
	switch name {
	case "iex", "iwr", "irm", "ri", "rp", "spps", "kill-process":
		return true
	}
	verb, noun, ok := cut(name, '-')
	if !ok || noun == "" {
		return false
	}
	switch verb {
	case "remove", "stop", "clear", "format", "set", "new", "invoke", "restart", "disable", "add", "register", "unregister", "uninstall", "reset", "initialize", "resize",
		"enter", "limit", "out", "copy", "move", "rename", "start":
		return true
	}
	return false
}

// windowsPrograms is the row of section 13 for Windows' own shells.
func windowsPrograms() table {
	return table{{
		Key:    "script execution via -e/-c flag",
		Harms:  guard.Host,
		Match:  all(runs("powershell", "pwsh"), when(runsPowerShell)),
		Why:    "runs program text that can change things",
		Remedy: "use commands that only read: `pwsh -Command 'Get-Process'`",
		Hits:   []string{"powershell -ExecutionPolicy Bypass -File helper.ps1", "pwsh -c 'Remove-Item x'", "powershell -Command $X"},
		Passes: []string{"pwsh -Command 'Get-Process'", "powershell -ExecutionPolicy RemoteSigned -NoProfile", "powershell -ConfigurationName Microsoft.PowerShell"},
	}}
}

// runsPowerShell holds when PowerShell is given a program that does more than read.
func runsPowerShell(c *ctx, i int) (span, bool) {
	args := c.args(i)
	for k, w := range args[1:] {
		t := strings.ToLower(w.Text)
		if len(t) < 2 || t[0] != '-' && t[0] != '/' {
			continue
		}
		t = t[1:]
		program := strings.HasPrefix("command", t) && t != "co" || strings.HasPrefix("file", t) || strings.HasPrefix("encodedcommand", t) || t == "enc" || t == "ec"
		if program && (unknownWord(args) || !winsh.Harmless([]winsh.Command{winsh.Argv(bare(args), c.cmd(i).Start, c.cmd(i).End)})) {
			return at(args[k+1]), true
		}
	}
	return span{}, false
}

// unknownWord tells whether one of the words is not known.
func unknownWord(args []shell.Word) bool {
	for _, w := range args {
		if len(w.Holes) > 0 {
			return true
		}
	}
	return false
}
