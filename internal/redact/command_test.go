package redact

import "testing"

func TestModeFor(t *testing.T) {
	for _, row := range []struct {
		command string
		want    Mode
	}{
		// Environment dumps.
		{"env", Env}, {"env | sort", Env}, {"printenv HOME", Env}, {"set", Env}, {"export -p", Env}, {"declare -x", Env},
		{"cd /x && env", Env}, {"FOO=1 env", Env}, {"true; printenv", Env}, {"env > out.txt", Env}, {"echo a & env", Env},
		// Not dumps.
		{"env FOO=1 make", Code}, {"env python app.py", Code}, {"export A=b", Code}, {"set -e; make", Code}, {"echo 'a | env'", Code}, {"echo env", Code}, {"declare -a xs=(1)", Code},
		// Files of secrets.
		{"cat .env", Env}, {"tail -f /srv/app/.env.production", Env}, {"grep KEY ~/.bashrc", Env}, {"cat ~/.aws/credentials", Env}, {"sed -n 1,5p ~/.netrc", Env},
		{"cat ~/.hermes/config.yaml", Env}, {"cat prod.env", Env}, {"cat /proc/1/environ", Env}, {"cat <.env", Env}, {"ls && cat a.txt .env", Env},
		// Templates and other files.
		{"cat .env.example", Code}, {"cat .env.sample", Code}, {"cat config.yaml", Code}, {"cat environ.py", Code}, {"ls .env", Code}, {"cat env", Code}, {"", Code},
	} {
		if got := ModeFor(row.command); got != row.want {
			t.Errorf("ModeFor(%q) = %v, want %v", row.command, got, row.want)
		}
	}
}

func TestSecretFile(t *testing.T) {
	for path, want := range map[string]bool{".env": true, "a/.env.local": true, "main.go": false, ".env.dist": false, `C:\x\.ENV`: true, "/home/x/.docker/config.json": true, "config.json": false} {
		if got := secretFile(path); got != want {
			t.Errorf("secretFile(%q) = %v", path, got)
		}
	}
}

func TestParseMode(t *testing.T) {
	for _, m := range allModes {
		if got, err := ParseMode(m.String()); err != nil || got != m {
			t.Errorf("ParseMode(%q) = %v, %v", m.String(), got, err)
		}
	}
	if _, err := ParseMode("loud"); err == nil {
		t.Error("an unknown mode was taken")
	}
}
