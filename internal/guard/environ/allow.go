package environ

import (
	"slices"
	"strings"
)

// What a name must not contain to reach a program that the model wrote.
const secretWords = `KEY TOKEN SECRET PASSWORD CREDENTIAL PASSWD AUTH DSN WEBHOOK CREDS BEARER APIKEY PASS PRIVATE COOKIE`

// What such a program may have: the name itself, or the word and "_" before more.
const codeWords = `PATH HOME USER LANG LC TERM TMPDIR TMP TEMP SHELL LOGNAME XDG PYTHONPATH VIRTUAL_ENV CONDA`

// And these alone.
const codeNames = `
	HERMES_HOME HERMES_PROFILE HERMES_CONFIG HERMES_ENV HERMES_DELEGATED_CHILD_CONTEXT LANGUAGE TERMINFO USERNAME USERPROFILE USERDOMAIN
	PATHEXT HOMEDRIVE HOMEPATH`

// What programs need on Windows.
const windowsNames = `
	ALLUSERSPROFILE APPDATA COMMONPROGRAMFILES COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA NUMBER_OF_PROCESSORS OS PATHEXT
	PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PUBLIC SYSTEMDRIVE SYSTEMROOT TEMP TMP USERDOMAIN USERNAME
	USERPROFILE WINDIR`

const serverNames = `PATH HOME USER LANG LC_ALL TERM SHELL TMPDIR`

// What a command inside the native sandbox may have of the host: how to talk to the terminal, and how to build.
const insideNames = `
	PATH LANG LANGUAGE TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR COLUMNS LINES TZ USER LOGNAME SHELL EDITOR VISUAL PAGER GIT_PAGER
	AI_AGENT HERMES_AGENT CI DEBIAN_FRONTEND SOURCE_DATE_EPOCH MAKEFLAGS CC CXX CPP CFLAGS CXXFLAGS CPPFLAGS LDFLAGS PKG_CONFIG_PATH
	GOFLAGS GOTOOLCHAIN GOEXPERIMENT GO111MODULE CGO_ENABLED GOOS GOARCH GOROOT RUSTFLAGS RUSTUP_TOOLCHAIN CARGO_TERM_COLOR
	NODE_ENV PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONUTF8 JAVA_HOME`

const clientNames = `
	PATH HOME USER LOGNAME LANG TERM SHELL TMPDIR SSH_AUTH_SOCK KUBECONFIG DBUS_SESSION_BUS_ADDRESS APPTAINER_CACHEDIR
	APPTAINER_TMPDIR SINGULARITY_CACHEDIR CONTAINER_HOST CONTAINER_CONNECTION CONTAINERS_CONF CONTAINERS_STORAGE_CONF`

// allowed returns the list of a surface that begins with nothing.
func allowed(s Surface, windows bool) func(string) bool {
	return func(name string) bool {
		upper := name
		if windows {
			upper = strings.ToUpper(name)
			if hasWord(windowsNames, upper) {
				return true
			}
		}
		switch s {
		case ExecuteCode:
			return allowedCode(upper)
		case MCP:
			return hasWord(serverNames, upper) || strings.HasPrefix(upper, "XDG_")
		case Native:
			return hasWord(insideNames, upper) || strings.HasPrefix(upper, "LC_")
		case Engine:
			return hasWord(clientNames, upper) || hasPrefix(upper, "LC_", "XDG_", "DOCKER_") && !hasPart(upper)
		case Helper:
			return upper == "PATH"
		}
		return false
	}
}

// allowedCode is the list for programs that the model wrote: no word of a secret, then only what is known.
func allowedCode(name string) bool {
	if hasPart(name) || classOf(name) != free && !hasWord(codeNames, name) {
		return false
	}
	if hasWord(codeNames, name) || hasWord(codeWords, name) {
		return true
	}
	return slices.ContainsFunc(strings.Fields(codeWords), func(word string) bool { return strings.HasPrefix(name, word+"_") })
}

// hasPart tells whether a name contains a word that secrets are named by.
func hasPart(name string) bool {
	upper := strings.ToUpper(name)
	return slices.ContainsFunc(strings.Fields(secretWords), func(word string) bool { return strings.Contains(upper, word) })
}

func hasWord(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

func hasPrefix(name string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}
