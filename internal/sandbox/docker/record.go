package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// remember returns what an earlier probe of a policy found, in this process or another of this home.
func (b *Backend) remember(key string) (verdict, bool) {
	b.mu.Lock()
	v, ok := b.probed[key]
	b.mu.Unlock()
	if !ok {
		text, err := os.ReadFile(b.answer(key))
		if err != nil {
			return v, false
		}
		var kept struct {
			Key string
			verdict
		}
		if json.Unmarshal(text, &kept) != nil || kept.Key != key {
			return v, false
		}
		v = kept.verdict
	}
	if time.Since(v.At) > keepTime || v.At.After(time.Now()) {
		return v, false
	}
	b.mu.Lock()
	b.probed[key] = v
	b.mu.Unlock()
	return v, true
}

// keep keeps what a probe found. A file that cannot be written costs the next process a probe.
func (b *Backend) keep(key string, v verdict) {
	b.mu.Lock()
	b.probed[key] = v
	b.mu.Unlock()
	text, err := json.Marshal(struct {
		Key string
		verdict
	}{key, v})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(b.answer(key)), 0o700)
	}
	if err == nil {
		err = replace(b.answer(key), text)
	}
	if err != nil {
		b.log("what the probe found could not be kept: " + err.Error())
	}
}

func (b *Backend) answer(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(b.conf.State, "docker-probed", hex.EncodeToString(sum[:12])+".json")
}

// bootID identifies the start of this machine's kernel, "" where there is no telling.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
