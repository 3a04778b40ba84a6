package docker

import "testing"

func TestQualified(t *testing.T) {
	for name, want := range map[string]string{
		"debian":                              "docker.io/library/debian",
		"debian:12":                           "docker.io/library/debian:12",
		"nousresearch/hermes-sandbox:desktop": "docker.io/nousresearch/hermes-sandbox:desktop",
		"docker.io/a/b":                       "docker.io/a/b",
		"localhost/hermes-sandbox:host":       "localhost/hermes-sandbox:host",
		"127.0.0.1:5000/a:1":                  "127.0.0.1:5000/a:1",
		"ghcr.io/a/b@sha256:00":               "ghcr.io/a/b@sha256:00",
	} {
		if got := qualified(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
