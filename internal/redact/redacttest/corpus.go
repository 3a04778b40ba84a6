// Package redacttest writes texts to try a redactor on: logs, source and tool output as an agent sees them, always the same
// for the same arguments.
//
// It holds no real secret and judges nothing. Failure direction: none, it is used by tests and benchmarks only.
package redacttest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Clean gives about size bytes of mixed text without a secret in it.
func Clean(seed uint64, size int) string {
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	var b strings.Builder
	for b.Len() < size {
		block := blocks[g.IntN(len(blocks))]
		for range 3 + g.IntN(12) {
			b.WriteString(block(g))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Mixed gives Clean text with the lines of planted spread evenly through it.
func Mixed(seed uint64, size int, planted []string) string {
	lines := strings.SplitAfter(Clean(seed, size), "\n")
	var b strings.Builder
	step := len(lines)/(len(planted)+1) + 1
	for i, l := range lines {
		if i%step == step-1 && i/step < len(planted) {
			b.WriteString(planted[i/step] + "\n")
		}
		b.WriteString(l)
	}
	return b.String()
}

type generator struct{ *rand.Rand }

func (g generator) pick(words ...string) string { return words[g.IntN(len(words))] }

func (g generator) hex(n int) string {
	const d = "0123456789abcdef"
	b := make([]byte, n)
	for i := range b {
		b[i] = d[g.IntN(16)]
	}
	return string(b)
}

func (g generator) base64(n int) string {
	const d = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	b := make([]byte, n)
	for i := range b {
		b[i] = d[g.IntN(64)]
	}
	return string(b)
}

func (g generator) uuid() string {
	return g.hex(8) + "-" + g.hex(4) + "-4" + g.hex(3) + "-a" + g.hex(3) + "-" + g.hex(12)
}

func (g generator) stamp() string {
	return fmt.Sprintf("2026-%02d-%02dT%02d:%02d:%02d.%03dZ", 1+g.IntN(12), 1+g.IntN(28), g.IntN(24), g.IntN(60), g.IntN(60), g.IntN(1000))
}

func (g generator) words(n int) string {
	w := make([]string, n)
	for i := range w {
		w[i] = g.pick("the", "request", "server", "keyboard", "author", "tokenizer", "and", "cache", "is", "of", "authentication", "secretary",
			"passage", "monkey", "to", "file", "deployment", "compass", "turkey", "hockey", "container", "retry", "credentials", "for", "session", "started")
	}
	return strings.Join(w, " ")
}

func (g generator) path() string {
	return "/" + g.pick("api/v1", "static", "internal", "users", "assets") + "/" + g.pick("items", "reports", "keys", "tokens", "search") + "/" + fmt.Sprint(g.IntN(99999))
}

var blocks = []func(generator) string{
	func(g generator) string { // access log
		return fmt.Sprintf(`10.%d.%d.%d - - [%02d/May/2026:%02d:%02d:%02d +0000] "GET %s?page=%d&sort=name HTTP/1.1" %d %d "https://example.com/" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"`,
			g.IntN(255), g.IntN(255), g.IntN(255), 1+g.IntN(28), g.IntN(24), g.IntN(60), g.IntN(60), g.path(), g.IntN(90), 200+g.IntN(5)*75, g.IntN(90000))
	},
	func(g generator) string { // structured log
		return fmt.Sprintf(`{"time":%q,"level":%q,"msg":%q,"trace_id":%q,"user_id":%d,"duration_ms":%d,"key":"item-%d","path":%q}`,
			g.stamp(), g.pick("info", "warn", "debug"), g.words(6), g.hex(32), g.IntN(1e6), g.IntN(900), g.IntN(900), g.path())
	},
	func(g generator) string { // logfmt
		return fmt.Sprintf("time=%s level=%s msg=%q component=%s request_id=%s max_tokens=%d cache_key=%s",
			g.stamp(), g.pick("info", "warn"), g.words(4), g.pick("auth", "tokenizer", "gateway"), g.uuid(), g.IntN(8192), g.hex(40))
	},
	func(g generator) string { // test report
		return fmt.Sprintf("%s (%d.%02ds)", g.pick("--- PASS: TestTokenRefresh", "=== RUN   TestKeyRotation", "ok  \texample.com/auth/token", "--- PASS: TestPasswordPolicy/too_short"), g.IntN(9), g.IntN(99))
	},
	func(g generator) string { // git log
		return fmt.Sprintf("commit %s\nAuthor: Some One <someone%d@example.com>\n\n    %s\n", g.hex(40), g.IntN(99), g.words(8))
	},
	func(g generator) string { // diff and source
		return g.pick(
			"+\tif token := r.Header.Get(\"X-Request-Id\"); token == \"\" {",
			"-    password = getpass.getpass('Password: ')",
			" const apiKey = process.env.API_KEY;",
			"    def __init__(self, api_key: str, tokenizer=None, key=lambda x: x):",
			"        self.secret_key = settings.SECRET_KEY",
			"func (s *Store) Key(ctx context.Context, name string) (string, error) {",
			"    for key, value in sorted(items.items(), key=lambda kv: kv[1]):",
			"import { useAuth, tokenize } from '../auth/session';",
			"\treturn fmt.Errorf(\"token %s: %w\", name, err)",
			"  - name: API_TOKEN\n    valueFrom:\n      secretKeyRef: {name: app, key: api-token}")
	},
	func(g generator) string {
		return "github.com/" + g.pick("a/b", "acme/auth") + " v1." + fmt.Sprint(g.IntN(40)) + ".0 h1:" + g.base64(43) + "="
	},
	func(g generator) string {
		return g.hex(64) + "  " + g.pick("dist/app.tar.gz", "keys.txt", "token_test.go")
	},
	func(g generator) string {
		return `      "integrity": "sha512-` + g.base64(86) + `==",` + "\n" + `      "resolved": "https://registry.example.com/` + g.pick("lodash", "auth-token", "keyv") + `/-/x-1.2.3.tgz",`
	},
	func(g generator) string { return g.base64(76) },
	func(g generator) string { return g.words(16) + "." },
	func(g generator) string {
		return fmt.Sprintf("  at %s (/app/node_modules/%s/lib/index.js:%d:%d)", g.pick("Object.verifyToken", "Keyboard.onKey", "async getSecretNames"), g.pick("express", "keyv"), g.IntN(900), g.IntN(80))
	},
	func(g generator) string {
		return fmt.Sprintf("-rw-r--r-- 1 user user %7d May %2d 12:%02d %s", g.IntN(1e6), 1+g.IntN(28), g.IntN(60), g.pick("keys.go", "password_test.go", "README.md", "token.ts"))
	},
	func(g generator) string {
		return "\x1b[32m" + g.stamp() + "\x1b[0m \x1b[1mINFO\x1b[0m " + g.pick("auth::token", "server") + ": " + g.words(5)
	},
	func(g generator) string {
		return fmt.Sprintf("pod/%s-%s-%s   1/1   Running   0   %dd", g.pick("api", "auth"), g.hex(10), g.hex(5), g.IntN(99))
	},
}
