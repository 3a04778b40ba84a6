package winsh

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// show prints commands as name(arg, arg), ? for what is not known, > writes, | pipes, [ ] programs within.
func show(cmds []Command) string {
	var b strings.Builder
	for i, c := range cmds {
		if i > 0 && !cmds[i-1].Pipe {
			b.WriteString("; ")
		}
		b.WriteString(c.Name)
		switch {
		case c.Limit:
			b.WriteString("!")
		case !c.Known:
			b.WriteString("?")
		}
		for j, a := range c.Args {
			fmt.Fprintf(&b, " %s", a)
			for _, u := range c.Unknown {
				if u == j {
					b.WriteString("?")
				}
			}
		}
		for _, w := range c.Writes {
			b.WriteString(" >" + w)
		}
		for _, n := range c.Nested {
			switch {
			case n.File != "":
				fmt.Fprintf(&b, " [%s file %s]", n.Shell, n.File)
			case !n.Known:
				fmt.Fprintf(&b, " [%s ?]", n.Shell)
			case n.Commands == nil:
				fmt.Fprintf(&b, " [%s %s]", n.Shell, n.Text)
			default:
				fmt.Fprintf(&b, " [%s]", show(n.Commands))
			}
		}
		if c.Pipe {
			b.WriteString(" | ")
		}
	}
	return b.String()
}

func TestParse(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		// cmd: separators, carets, quotes.
		{`dir & del x && rd y || echo z`, `dir; del x; rd y; echo z`},
		{`dir ^& del x`, `dir & del x`},
		{`d^e^l x`, `del x`},
		{`echo "a & b" | more`, `echo a & b | more`},
		{`del "a b" c`, `del a b c`},
		{"dir\r\ndel x\n", `dir; del x`},
		{`dir > a.txt 2>&1`, `dir >a.txt`},
		{`2>nul del x`, `del x >nul`},
		{`del/f/q x`, `del /f /q x`},
		{`RD/S/Q x`, `rd /S /Q x`},
		{`cd\ && cd..`, `cd \; cd ..`},
		{`echo.del x`, `echo .del x`},
		{`C:\Windows\System32\TASKKILL.EXE /f`, `taskkill /f`},
		{`"C:\Program Files\x\y.exe" a`, `y a`},
		{`(del a & del b) > log`, `del a; del b >log`},
		{`@del x`, `del x`},
		{`:: del x`, ``},
		// cmd: variables.
		{`set a=del& %a% x`, `set a del; del x`},
		{`%nosuch% x`, `%nosuch%? x`},
		{`d%nosuch%el x`, `d%nosuch%el? x`},
		{`%ComSpec% /c dir`, `cmd /c dir [dir]`},
		{`set a=xdelx& %a:~1,3% y`, `set a xdelx; del y`},
		{`set a=dzel& %a:z=% y`, `set a dzel; del y`},
		{`del %TEMP%\x`, `del %temp%\x?`},
		// cmd: structure.
		{`if exist a.txt del a.txt`, `del a.txt`},
		{`if not "%x%"=="1" (rd y) else dir`, `rd y; dir`},
		{`if /i a == b del x`, `del x`},
		{`if errorlevel 1 del x`, `del x`},
		{`for %i in (a b) do del %i`, `del a b`},
		{`for %%i in (*.txt) do @del %%i`, `del *.txt`},
		{`for /f "tokens=*" %i in ('dir /b') do del "%i"`, `dir /b; del %i?`},
		{`call del x`, `del x`},
		{`start "t" /wait del x`, `start t /wait del x; del x`},
		// cmd: carriers.
		{`cmd /c "del a & del b"`, `cmd /c del a & del b [del a; del b]`},
		{`cmd /s /c ""del" x"`, `cmd /s /c del x [del x]`},
		{`cmd /c cmd /c del x`, `cmd /c cmd /c del x [cmd /c del x [del x]]`},
		{`cmd /c "powershell -c ""ri x"""`, `cmd /c powershell -c ri x [powershell -c ri x [remove-item x]]`},
		{`powershell -c "Write-Host \"hi\"; ri x"`, `powershell -c Write-Host "hi"; ri x [write-host hi; remove-item x]`},
		{`powershell -NoP -W Hidden -File a.ps1 b`, `powershell -NoP -W Hidden -File a.ps1 b [powershell file a.ps1]`},
		{`powershell -f a.ps1`, `powershell -f a.ps1 [powershell file a.ps1]`},
		{`powershell -ec RABpAHIA`, `powershell -ec RABpAHIA [get-childitem]`},
		{`powershell -enc %X%`, `powershell -enc %x%? [powershell ?]`},
		{`bash -c "rm -rf x"`, `bash -c rm -rf x [bash rm -rf x]`},
		{`wsl rm -rf x`, `wsl rm -rf x [sh rm -rf x]`},
		{`forfiles /p x /c "cmd /c del @path"`, `forfiles /p x /c cmd /c del @path [cmd /c del @path [del @path]]`},
		{`wmic process call create "cmd /c del x"`, `wmic process call create cmd /c del x [cmd /c del x [del x]]`},
		{`runas /user:admin "cmd /c del x"`, `runas /user:admin cmd /c del x [cmd /c del x [del x]]`},
		{`schtasks /create /tn a /tr "cmd /c del x"`, `schtasks /create /tn a /tr cmd /c del x [cmd /c del x [del x]]`},
		// PowerShell: names.
		{`PS> RM x`, `remove-item x`},
		{"PS> R`emove-It`em x", `remove-item x`},
		{`PS> & 'Remove-Item' x`, `remove-item x`},
		{`PS> &('Remove'+'-Item') x`, `remove-item x`},
		{`PS> & ('{1}{0}' -f 'Item','Remove-') x`, `remove-item x`},
		{`PS> & (-join ('i','e','x')) 'ri x'`, `invoke-expression ri x [remove-item x]`},
		{`PS> & ([char]105+[char]101+[char]120) 'dir'`, `invoke-expression dir [get-childitem]`},
		{`PS> & ($env:ComSpec[4,24,25] -join '') 'dir'`, `invoke-expression dir [get-childitem]`},
		{`PS> & ('xRIx'.Trim('x')) y`, `.trim x; $(.trim)? y`},
		{`PS> & 'Remove-Itex'.Replace('x','m') y`, `remove-item y`},
		{`PS> $a='Remove-Item'; & $a x`, `remove-item x`},
		{`PS> & $a x`, `$a? x`},
		{`PS> . ./x.ps1 y`, `x.ps1 y`},
		{`PS> C:\x\y.exe a`, `y a`},
		{`PS> 7z x a.7z`, `7z x a.7z`},
		{`PS> sal zap ri; zap x`, `set-alias zap ri; remove-item x`},
		{`PS> ri –Recurse x`, `remove-item -Recurse x`},
		{`PS> ri ‘a b’`, `remove-item a b`},
		// PowerShell: arguments.
		{`PS> ri a, b,c -Recurse`, `remove-item a b c -Recurse`},
		{`PS> ri -Path:x -Recurse:$true`, `remove-item -Path:x -Recurse:$true`},
		{`PS> ri "$home\x" '$y'`, `remove-item $home\x? $y`},
		{`PS> $d='C:\t'; ri "$d\x" $d\y`, `remove-item C:\t\x C:\t\y`},
		{`PS> $d='a'; $d+='b'; ri $d`, `remove-item ab`},
		{`PS> $d=@('a','b'); ri $d`, `remove-item a b`},
		{`PS> foreach ($i in 'a','b') { ri $i }`, `remove-item a b`},
		{`PS> $p=@{Recurse=$true; Path='x'}; ri @p`, `remove-item -recurse:$true -path:x`},
		{"PS> ri @'\na'b\n'@", `remove-item a'b`},
		{"PS> $x=\"a`tb\"; ri $x", "remove-item a\tb"},
		{`PS> ri 'it''s'`, `remove-item it's`},
		{`PS> cmd --% /c del x`, `cmd /c del x [del x]`},
		{`PS> ri x > $null`, `remove-item x`},
		{`PS> dir 2>&1 > a.txt`, `get-childitem >a.txt`},
		{"PS> ri `\n x", `remove-item x`},
		// PowerShell: structure.
		{`PS> dir | ri; ps`, `get-childitem | remove-item; get-process`},
		{`PS> dir | % { ri $_ } | out-null`, `remove-item $_?; get-childitem | foreach-object {} | out-null`},
		{`PS> if ($x) { ri a } else { ri b }`, `remove-item a; remove-item b`},
		{`PS> function f($x) { ri $x }`, `remove-item $x?`},
		{`PS> try { ri a } catch { ri b }`, `remove-item a; remove-item b`},
		{`PS> $x = ri a`, `remove-item a`},
		{`PS> echo $(ri a)`, `remove-item a; write-output ?`},
		{`PS> "x $(ri a) y"`, `remove-item a`},
		{`PS> (ri a)`, `remove-item a`},
		{`PS> dir # ri a`, `get-childitem`},
		{`PS> dir <# ri a #> b`, `get-childitem b`},
		{`PS> dir && ri a || ri b`, `get-childitem; remove-item a; remove-item b`},
		{`PS> while (1) { ri a }`, `remove-item a`},
		{`PS> for ($i=0; $i -lt 3; $i++) { ri $i }`, `remove-item 0?`},
		{`PS> [IO.File]::Delete('x')`, `[io.file]::delete x`},
		{`PS> (New-Object Net.WebClient).DownloadString('http://x')`, `new-object Net.WebClient; .downloadstring http://x`},
		// PowerShell: carriers.
		{`PS> iex "ri x"`, `invoke-expression ri x [remove-item x]`},
		{`PS> 'ri x' | iex`, `invoke-expression [remove-item x]`},
		{`PS> iex $x`, `invoke-expression $x? [powershell ?]`},
		{`PS> Start-Process cmd -ArgumentList '/c del x'`, `start-process cmd -ArgumentList /c del x [cmd /c del x [del x]]`},
		{`PS> saps powershell -Args '-c','ri x'`, `start-process powershell -Args -c ri x [powershell -c ri x [remove-item x]]`},
		{`PS> Start-Process -Verb RunAs -FilePath powershell -ArgumentList '-NoProfile','-c','ri x' -Wait`, `start-process -Verb RunAs -FilePath powershell -ArgumentList -NoProfile -c ri x -Wait [powershell -NoProfile -c ri x [remove-item x]]`},
		{`PS> [scriptblock]::Create('ri x').Invoke()`, `[scriptblock]::create ri x [remove-item x]; .invoke`},
		{`PS> (New-Object -ComObject WScript.Shell).Run('cmd /c del x')`, `new-object -ComObject WScript.Shell; .run cmd /c del x [cmd /c del x [del x]]`},
		{`PS> icm { ri x }`, `remove-item x; invoke-command {}`},
		{`PS> bash -c 'rm x'`, `bash -c rm x [bash rm x]`},
	} {
		if diff := cmp.Diff(row.want, show(read(row.text))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", row.text, diff)
		}
	}
}

// A hit points at the guilty part also where that is a program within a program.
func TestSpans(t *testing.T) {
	for _, row := range []struct{ text, part string }{
		{`dir & rd /s /q old & dir`, `rd /s /q old`},
		{`cmd /c "dir & del x"`, `del x`},
		{`powershell -NoProfile -c "Get-Date; Remove-Item -Force x"`, `Remove-Item -Force x`},
		{`PS> Get-Date; ri -r x | Out-Null`, `ri -r x`},
		{`PS> iex 'ri -r x'`, `ri -r x`},
		{`PS> ‘a’; ri -r ‘b’; dir`, `ri -r ‘b’`},
	} {
		text := strings.TrimPrefix(row.text, "PS> ")
		hits := Rules(read(row.text))
		if len(hits) == 0 {
			t.Errorf("%s: no hit", row.text)
			continue
		}
		if got := text[hits[0].Start:hits[0].End]; got != row.part {
			t.Errorf("%s: %q, want %q", row.text, got, row.part)
		}
	}
}

// Words that another shell has taken apart are read as they are.
func TestArgv(t *testing.T) {
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"cmd", "/c", "del", "/f", "x"}, `cmd /c del /f x [del /f x]`},
		{[]string{"/mnt/c/Windows/System32/cmd.exe", "/c", "del x"}, `cmd /c del x [del x]`},
		{[]string{"pwsh", "-Command", "Get-Process | ri"}, `pwsh -Command Get-Process | ri [get-process | remove-item]`},
		{[]string{"powershell.exe", "ri", "x"}, `powershell ri x [remove-item x]`},
		{[]string{"git", "status"}, `git status`},
		{nil, `?`},
	} {
		if diff := cmp.Diff(row.want, show([]Command{Argv(row.args, 3, 9)})); diff != "" {
			t.Errorf("%q (-want +got)\n%s", row.args, diff)
		}
	}
}
