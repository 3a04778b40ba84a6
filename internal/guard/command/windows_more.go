package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell/winsh"
)

// Windows' programs that carry another command, or change the environment of every later one.
func windowsMore() table {
	return table{
		{
			Key:    "Windows command behind another program",
			Harms:  guard.Host,
			Match:  by(carriesWindows, "cmd", "start", "forfiles", "runas", "psexec", "wmic", "mshta", "rundll32", "conhost", "pcalua"),
			Why:    "runs a Windows command that destroys or takes over",
			Remedy: "run a command that only looks: `cmd /c dir`",
			Hits:   []string{`cmd /k rmdir /S /Q "C:\data"`, `start /b cmd /c "del /s /q C:\data"`, `forfiles /p C:\data /s /c "cmd /c del @path"`, `runas /user:admin "cmd /c rd /s /q C:\data"`, "wmic process call create 'cmd /c rd /s /q C:\\data'"},
			Passes: []string{"cmd /c dir", "start notepad", "wmic os get caption", "cmd /k echo hi", `forfiles /s /c "cmd /c echo @file"`},
		},
		{
			Key:    "permanent change of the Windows environment",
			Harms:  guard.Host,
			Match:  by(setsEnvironment, "setx", "reg", "rp", "remove-itemproperty"),
			Why:    "changes what every later program sees or runs",
			Remedy: "set it for one command: `cmd /c set`",
			Hits:   []string{`setx PATH "C:\temp;%PATH%" /M`, "setx PATHEXT x", "setx /M JAVA_HOME x", "rp HKCU:/Environment -Name Path -Force"},
			Passes: []string{"setx EDITOR code", "setx /?", "cmd /c set", "reg query HKCU"},
		},
	}
}

// carriesWindows holds when what such a program runs is destructive by the tables of Windows' shells.
func carriesWindows(c *ctx, i int) (span, bool) {
	args := bare(c.args(i))
	for k := 1; k < len(args); k++ {
		t := args[k]
		if t == "" || t[0] == '/' && len(t) < 4 && !strings.EqualFold(t, "/k") && !strings.EqualFold(t, "/r") && !strings.EqualFold(t, "/c") {
			continue
		}
		rest := strings.Join(args[k:], " ")
		if t[0] == '/' {
			rest = strings.Join(args[k+1:], " ")
		}
		if len(winsh.Rules(winsh.Parse(winsh.Cmd, rest))) > 0 {
			return c.whole(i), true
		}
	}
	return span{}, false
}

func setsEnvironment(c *ctx, i int) (span, bool) {
	args := c.args(i)
	for k, w := range args[1:] {
		t := strings.ToUpper(w.Text)
		switch c.name(i) {
		case "setx":
			if t == "/M" || k == 0 && (t == "PATH" || t == "PATHEXT" || t == "COMSPEC" || t == "PSMODULEPATH" || t == "NODE_OPTIONS" || t == "PYTHONSTARTUP") {
				return at(w), true
			}
		case "rp", "remove-itemproperty":
			if strings.HasPrefix(t, "HK") {
				return at(w), true
			}
		}
	}
	return span{}, false
}
