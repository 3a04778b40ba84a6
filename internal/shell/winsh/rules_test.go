package winsh

import (
	"strings"
	"testing"
)

// read parses an example of the table: PowerShell after "PS> ", else cmd.
func read(text string) []Command {
	if s, ok := strings.CutPrefix(text, "PS> "); ok {
		return Parse(PowerShell, s)
	}
	return Parse(Cmd, text)
}

func keys(text string) map[string]bool {
	out := map[string]bool{}
	for _, h := range Rules(read(text)) {
		out[h.Key] = true
	}
	return out
}

// Every rule is met by its examples and by none of its counter-examples.
func TestTableExamples(t *testing.T) {
	rows := 0
	seen := map[string]bool{}
	for _, r := range Table() {
		if seen[r.Key] {
			t.Errorf("key %q stands twice", r.Key)
		}
		seen[r.Key] = true
		if len(r.Hits) == 0 || len(r.Passes) == 0 || r.Remedy == "" {
			t.Errorf("%s: a rule needs a hit, a pass and a remedy", r.Key)
		}
		switch r.Harm {
		case "host", "work", "remote", "leak":
		default:
			t.Errorf("%s: harm %q", r.Key, r.Harm)
		}
		for _, text := range r.Hits {
			rows++
			if !keys(text)[r.Key] {
				t.Errorf("%s\n\tnot met by %s\n\tread as %s", r.Key, text, show(read(text)))
			}
			if Harmless(read(text)) {
				t.Errorf("harmless, though it meets %q: %s", r.Key, text)
			}
		}
		for _, text := range r.Passes {
			rows++
			if keys(text)[r.Key] {
				t.Errorf("%s\n\tmet by %s\n\tread as %s", r.Key, text, show(read(text)))
			}
		}
	}
	t.Logf("%d rules, %d rows", len(seen), rows)
}

// The keys of rows 5 to 29 are in users' allow-lists: they stay as they are, in this order.
func TestKnownKeys(t *testing.T) {
	want := []string{
		"Windows cmd destructive delete",
		"Windows PowerShell destructive delete",
		"PowerShell encoded command execution",
		"PowerShell destructive delete (Remove-Item)",
		"Windows destructive delete (recursive/quiet switch)",
		"pipe remote content to PowerShell (iwr | iex)",
		"execute remote content via Invoke-Expression",
		"force kill processes (taskkill /F)",
		"force kill processes (Stop-Process -Force)",
		"format filesystem (Format-Volume)",
		"wipe disk (Clear-Disk)",
		"disk partitioning (diskpart)",
		"format drive (format.com)",
		"wipe free space (cipher /w)",
		"grant Everyone access (icacls)",
		"reset ACLs recursively (icacls /reset)",
		"delete volume shadow copies (vssadmin)",
		"delete backups (wbadmin)",
		"modify boot configuration (bcdedit /set)",
		"registry delete (reg delete)",
		"registry value delete (Remove-ItemProperty -Force)",
		"force stop service (Stop-Service -Force)",
		"stop/delete service (sc)",
		"access to SSH keys (Windows path)",
		"access to Hermes secrets (Windows path)",
	}
	i := 0
	for _, r := range Table() {
		if i < len(want) && r.Key == want[i] {
			i++
		}
	}
	if i < len(want) {
		t.Errorf("missing, or out of order: %q", want[i])
	}
}

// The first hit is the one to report; floors come before the rest.
func TestFirstHit(t *testing.T) {
	for _, row := range []struct {
		text, key string
		floor     bool
	}{
		{`powershell Remove-Item -Recurse -Force C:\tmp\x`, "Windows PowerShell destructive delete", false},
		{`cmd /c del /f /q C:\tmp\x`, "Windows cmd destructive delete", false},
		{`powershell -c "Remove-Item -Recurse -Force C:\"`, "recursive delete of drive root (Windows)", true},
		{`powershell -enc UgBlAG0AbwB2AGUALQBJAHQAZQBtACAALQBSAGUAYwB1AHIAcwBlACAAQwA6AFwA`, "recursive delete of drive root (Windows)", true},
		{`format C:`, "format system drive (Windows)", true},
		{`reg delete HKLM\SOFTWARE`, "delete registry hive", true},
		{`PS> Format-Volume -DriveLetter D`, "format filesystem (Format-Volume)", false},
		{`cmd /c powershell -c "cmd /c shutdown /s"`, "system shutdown/reboot (Windows)", true},
	} {
		hits := Rules(read(row.text))
		if len(hits) == 0 || hits[0].Key != row.key || hits[0].Floor != row.floor {
			t.Errorf("%s: %v, want %q (floor %v) first", row.text, hits, row.key, row.floor)
		}
	}
}

func TestHarmless(t *testing.T) {
	for _, text := range []string{
		`dir`, `dir /s C:\`, `type notes.txt`, `cmd /c dir`, `echo del /s x`, `dir | findstr x`, `dir > nul`, `if exist x (type x) else (echo no)`,
		`for %i in (a b) do type %i`, `cd src && dir`, `reg query HKLM`, `icacls file`, `set X=1`, `pwsh -Command 'Get-Process'`, `powershell -NoProfile -c "Get-Date"`,
		`powershell -ExecutionPolicy Bypass -Command "Get-ChildItem | Select-Object Name"`,
		`PS> Get-Process`, `PS> Get-ChildItem -Recurse | Where-Object { $_.Length -gt 1MB } | Sort-Object Length`, `PS> gc a.txt | sls x`, `PS> Test-Path C:\x`,
		`PS> Write-Output 'Remove-Item x'`, `PS> $a = 1; $b = $a + 2; "sum $b"`, `PS> dir | % { $_.Name.ToUpper() }`, `PS> (Get-Date).ToString('yyyy')`, `PS> [math]::Round(1.5)`,
		`PS> if (Test-Path x) { Get-Content x }`, `PS> iex 'Get-Date'`, `PS> & 'Get-Date'`, `PS> Get-Content x 2>$null`, `PS> $env:PATH -split ';'`, ``,
		`PS> @{a=1; b=2} | ConvertTo-Json`, "PS> Get-Process |\n  Select-Object -First 3", `PS> switch (1) { 1 { Get-Date } }`, `PS> 1..3 | % { $_ }`,
	} {
		if !Harmless(read(text)) {
			t.Errorf("not harmless: %s\n\tread as %s, hits %v", text, show(read(text)), Rules(read(text)))
		}
	}
	for _, text := range []string{
		`npm test`, `dir > x.txt`, `%X% y`, `pwsh -File x.ps1`, `powershell`, `powershell -enc RwBlAHQALQBEAGEAdABlAA==`, `cmd`, `set`, `bash -c ls`, `del x`, `copy a b`,
		`PS> Remove-Item x`, `PS> & $x`, `PS> iex $x`, `PS> 'x' > a.txt`, `PS> dir | % Delete`, `PS> (gi x).MoveTo('y')`, `PS> [IO.File]::WriteAllText('x','y')`, `PS> Get-Credential`,
		`PS> dir env:`, `PS> $env:PATH = 'x'`, `PS> Set-Content x y`, `PS> gcm rem* | % { & $_ x }`, `PS> Start-Process notepad`, `PS> .\x.ps1`, `PS> git status`, `PS> function get-x { rm y }; get-x`,
		`PS> iwr https://x.y`, `PS> sort x -o y`, `PS> man -P sh ls`, `PS> .\Get-Evil.ps1`, `PS> .\Get-Evil`, `PS> $a='C:\x\Get-Date'; & $a`, `PS> Get-Evil.exe`, `C:\x\whoami`, `find . -delete`,
		`PS> $a='Get-Date'; while (1) { & $a; $a='ri' }`, `PS> $a='Get-Date'; $a,$b='ri','x'; & $a`, `PS> $a='Get-Date'; Write-Output ri -ov a; & $a x`,
		`setlocal enabledelayedexpansion & set a=dir& for %i in (1 2) do (!a! x & set a=del)`, `PS> sal get-x rm; get-x y`, `PS> Get-Date; rm x`, `PS> Get-Date $(rm x)`, `PS> Get-Item x -OutVariable (rm y)`, `PS> Where-Object { rm x }`,
	} {
		if Harmless(read(text)) {
			t.Errorf("harmless: %s\n\tread as %s", text, show(read(text)))
		}
	}
}

// What a delete means depends on the place, however it is spelled.
func TestPlaces(t *testing.T) {
	for _, row := range []struct {
		path, cwd string
		want      place
	}{
		{`C:\`, "", driveRoot}, {`c:`, "", driveRoot}, {`C:/`, "", driveRoot}, {`C:\*`, "", driveRoot}, {`\`, "", driveRoot}, {`C:\a\..`, "", driveRoot}, {`\\?\C:\`, "", driveRoot},
		{`\\srv\C$`, "", driveRoot}, {`.`, `D:\`, driveRoot}, {`..`, `D:\a`, driveRoot}, {`$env:SystemDrive\`, "", driveRoot}, {`%USERPROFILE%\..\..`, "", driveRoot},
		{`C:\Windows`, "", systemDir}, {`c:\WINDOWS\system32\drivers`, "", systemDir}, {`${env:SystemRoot}`, "", systemDir}, {`Windows`, `C:\`, systemDir}, {`\Windows`, "", systemDir},
		{`C:\ProgramData\*`, "", systemDir}, {`C:\Users`, "", profile}, {`C:\Users\me\`, "", profile}, {`~`, "", profile}, {`$HOME/*`, "", profile}, {`%TEMP%\..\..\..`, "", profile},
		{`%HOMEDRIVE%%HOMEPATH%`, "", profile}, {`*`, `%USERPROFILE%`, profile},
		{`HKLM:\`, "", hive}, {`HKLM\SOFTWARE`, "", hive}, {`Registry::HKEY_CURRENT_USER`, "", hive}, {`HKCU:\Software\x`, "", ordinary},
		{`%TEMP%\x`, "", passing}, {`C:\Windows\Temp\x`, "", passing}, {`C:\Users\me\AppData\Local\Temp\x`, "", passing}, {`$env:LOCALAPPDATA\Temp`, "", passing},
		{`node_modules`, "", passing}, {`.\web\dist`, "", passing}, {`build\*`, "", passing},
		{`..\build`, "", ordinary}, {`build\..`, "", ordinary}, {`build`, "?", ordinary}, {`build`, `C:\x`, ordinary}, {`src`, "", ordinary}, {`C:\build`, "", ordinary}, {`%X%\build`, "", ordinary},
		{`%APPDATA%\..`, "", ordinary}, {`%X%\..\Temp`, "", ordinary}, {`C:\Users\me\x`, "", ordinary}, {``, "", ordinary},
	} {
		if got := placeOf(row.path, row.cwd); got != row.want {
			t.Errorf("%q in %q: %d, want %d", row.path, row.cwd, got, row.want)
		}
	}
}

func TestSecretPath(t *testing.T) {
	for _, row := range []struct{ text, key, path string }{
		{`cat key >> C:\Users\tester\.ssh\authorized_keys`, keySSH, `C:\Users\tester\.ssh\authorized_keys`},
		{`cat key >> C:/Users/tester/.ssh/authorized_keys`, keySSH, `C:/Users/tester/.ssh/authorized_keys`},
		{`cat "C:\\Users\\tester\\.ssh\\id_rsa"`, keySSH, `C:\\Users\\tester\\.ssh\\id_rsa`},
		{`cat /mnt/c/Users/tester/.ssh/id_rsa`, keySSH, `/mnt/c/Users/tester/.ssh/id_rsa`},
		{`type "Users\John Doe\.ssh\id_rsa"`, keySSH, `Users\John Doe\.ssh\id_rsa`},
		{`type %USERPROFILE%\.ssh\id_rsa`, keySSH, `%USERPROFILE%\.ssh\id_rsa`},
		{`gc $env:USERPROFILE/.ssh/id_rsa`, keySSH, `$env:USERPROFILE/.ssh/id_rsa`},
		{`type AppData\Roaming\hermes\.env`, keySecret, `AppData\Roaming\hermes\.env`},
		{`cat "C:/Users/me/AppData/Local/hermes/profiles/a/.env"`, keySecret, `C:/Users/me/AppData/Local/hermes/profiles/a/.env`},
		{`type %LOCALAPPDATA%\hermes\.env`, keySecret, `%LOCALAPPDATA%\hermes\.env`},
		{`type c:\users\me\.hermes\.env`, keySecret, `c:\users\me\.hermes\.env`},
		{`dir C:\USERS\ME\.SSH`, keySSH, `C:\USERS\ME\.SSH`},
		// Not these.
		{`cat ~/.ssh/id_rsa`, "", ""}, // the POSIX rule's business
		{`cat /Users/me/.ssh/id_rsa`, "", ""},
		{`cp report.txt C:\Users\tester\notes.txt`, "", ""},
		{`type C:\Users\me\.ssh\id_rsa.pub`, "", ""},
		{`type C:\Users\me\.sshrc`, "", ""},
		{`type .env`, "", ""},
		{`type C:\src\hermes\.env`, "", ""},
		{`type %APPDATA%\hermes\.envrc`, "", ""},
		{`cat C:\Users\me\project\.env`, "", ""},
	} {
		key, start, end, ok := SecretPath(row.text)
		if key != row.key || ok != (row.key != "") || row.text[start:end] != row.path {
			t.Errorf("%s: %q %q %v, want %q %q", row.text, key, row.text[start:end], ok, row.key, row.path)
		}
	}
}
