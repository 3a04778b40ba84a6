package docker_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker"
)

// registry serves one image by the distribution API: its manifest, by tag and digest, and what that names.
type registry struct {
	blobs    map[string][]byte // by digest
	manifest []byte
	mu       sync.Mutex
	pulled   int // layers
	layer    string
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// newRegistry makes an image of a single file.
func newRegistry(t testing.TB, name string, content []byte) *registry {
	t.Helper()
	var plain, packed bytes.Buffer
	w := tar.NewWriter(&plain)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))})
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(plain.Bytes())
	_ = z.Close()
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{"Env": []string{"FROM_IMAGE=yes"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digestOf(plain.Bytes())}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const kind = "application/vnd.docker."
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": kind + "distribution.manifest.v2+json",
		"config": map[string]any{"mediaType": kind + "container.image.v1+json", "size": len(config), "digest": digestOf(config)},
		"layers": []any{map[string]any{"mediaType": kind + "image.rootfs.diff.tar.gzip", "size": packed.Len(), "digest": digestOf(packed.Bytes())}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &registry{
		blobs: map[string][]byte{digestOf(config): config, digestOf(packed.Bytes()): packed.Bytes()}, manifest: manifest, layer: digestOf(packed.Bytes()),
	}
}

func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	path := q.URL.Path
	switch {
	case path == "/v2/":
	case strings.Contains(path, "/manifests/"):
		w.Header().Set("Content-Type", "application/vnd.docker.distribution.manifest.v2+json")
		w.Header().Set("Docker-Content-Digest", digestOf(r.manifest))
		w.Header().Set("Content-Length", fmt.Sprint(len(r.manifest)))
		if q.Method == http.MethodGet {
			_, _ = w.Write(r.manifest)
		}
	case strings.Contains(path, "/blobs/"):
		digest := path[strings.LastIndexByte(path, '/')+1:]
		blob, ok := r.blobs[digest]
		if !ok {
			http.NotFound(w, q)
			return
		}
		if digest == r.layer {
			r.mu.Lock()
			r.pulled++
			r.mu.Unlock()
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", fmt.Sprint(len(blob)))
		_, _ = w.Write(blob)
	default:
		http.NotFound(w, q)
	}
}

// An image that is not there is pulled, once, and the owner sees how that goes on. It needs nothing inside but itself.
func TestPull(t *testing.T) {
	r := rootful(t)
	content := fmt.Appendf(nil, "from the registry %x\n", rand.Uint64()) // the engine has no layer like it
	server := newRegistry(t, "greeting", content)
	http := httptest.NewServer(server)
	defer http.Close()
	s := hardened()
	s.Image = strings.TrimPrefix(http.URL, "http://") + "/hermes/tiny:1"
	t.Cleanup(func() { _ = r.engine(t.Context(), nil, &bytes.Buffer{}, "image", "rm", s.Image) })
	c := r.conf(t, s)
	c.Probe = r.probing(t)(nil)
	var progress []string
	var mu sync.Mutex
	c.Progress = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		progress = append(progress, line)
	}
	b := r.backend(t, c)
	for range 2 {
		box := open(t, b, spec(t))
		f, ok := box.(sandbox.Files)
		if !ok {
			t.Fatal("no files")
		}
		file, info, err := f.Open(t.Context(), "/greeting")
		if err != nil || info.Size() != int64(len(content)) {
			t.Fatalf("%v, %v", info, err)
		}
		_ = file.Close()
		if s, err := box.Run(t.Context(), sandbox.Command{Argv: []string{docker.ProbePath, "version"}, Dir: "/"}); err != nil || s.Code != 0 {
			t.Errorf("%+v, %v", s, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if server.pulled != 1 || len(progress) < 3 || progress[0] != "pulling "+s.Image {
		t.Errorf("pulled %d times, progress %q", server.pulled, progress)
	}
}
