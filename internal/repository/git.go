package repository

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"hermes/internal/child"
	"hermes/internal/guard/environ"
)

// quiet are settings that win over those of the work tree: its own may name programs (a monitor of files, hooks, transports),
// and a repository that lacks objects may fetch them.
func quiet() []string {
	return []string{
		"--no-pager", "--no-optional-locks", "--no-replace-objects",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.untrackedCache=false",
		"-c", "core.sshCommand=false", "-c", "core.askPass=false", "-c", "core.pager=cat", "-c", "core.editor=false",
		"-c", "credential.helper=", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "protocol.allow=never",
		"-c", "safe.bareRepository=explicit", "-c", "submodule.recurse=false",
	}
}

// spec says how git is started: with nothing of this process's environment, and in the folder it is asked about.
func (f *Facts) spec(dir string, out io.Writer, args ...string) child.Spec {
	extra := map[string]string{
		"PATH": search(), "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1",
		"GIT_ALLOW_PROTOCOL": "none", "GIT_PROTOCOL_FROM_USER": "0", "GIT_ASKPASS": "false", "SSH_ASKPASS": "false",
	}
	if f.o.Home != "" {
		extra["HOME"] = f.o.Home
	}
	env, _ := environ.New(environ.Config{Windows: runtime.GOOS == "windows"}).Build(environ.Request{Surface: environ.Helper, Extra: extra})
	return child.Spec{
		Program: f.program, Args: append(quiet(), args...), Env: env, Dir: dir, Stdio: child.Stdio{Out: out}, End: child.End{Grace: -1},
	}
}

// search is where git is looked for: where systems install it, and nowhere that a work tree could put a program of its own.
func search() string {
	if runtime.GOOS == "windows" {
		return `C:\Program Files\Git\cmd;C:\Program Files (x86)\Git\cmd`
	}
	return strings.Join([]string{"/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin", "/run/current-system/sw/bin"},
		string(filepath.ListSeparator))
}

// nested tells whether a folder is a repository of its own.
func nested(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// counter counts what is written, and keeps nothing.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
