package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// scripted is a model that answers at once, and counts how long it had a request.
type scripted struct {
	calls bool // the first request of a run is answered with a call of a tool

	mu   sync.Mutex // guards what follows
	n    int
	busy time.Duration
}

// ServeHTTP answers as chat completions do.
func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	_, _ = io.Copy(io.Discard, r.Body)
	s.mu.Lock()
	call := s.calls && s.n%2 == 0
	s.n++
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	delta, stop := `{"content":"Done."}`, "stop"
	if call {
		delta, stop = `{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"terminal","arguments":"{\"command\":\"true\"}"}}]}`, "tool_calls"
	}
	fmt.Fprintf(w, "data: {\"id\":\"1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", delta)
	fmt.Fprintf(w, "data: {\"id\":\"1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n", stop)
	s.mu.Lock()
	s.busy += time.Since(begin)
	s.mu.Unlock()
}

// chats measures what hermes chat -q takes beyond the model: the whole process, less the time the model had a request.
func chats(table *tabwriter.Writer, hermes string, starts int) error {
	fmt.Fprintf(table, "hermes chat -q, beyond the model\tp50\tp90\t\n")
	for _, row := range []struct {
		name, backend string
		calls         bool
	}{
		{"an answer", "local", false},
		{"a command and an answer, local", "local", true},
		{"a command and an answer, native", "native", true},
	} {
		p, err := asked(hermes, row.backend, row.calls, starts)
		if err != nil {
			fmt.Fprintf(table, "%s\tleft out: %v\t\t\n", row.name, err)
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t\n", row.name, ms(p.quantile(0.5)), ms(p.quantile(0.9)))
	}
	fmt.Fprintln(table)
	return nil
}

func asked(hermes, backend string, calls bool, starts int) (*program, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	model := &scripted{calls: calls}
	server := &http.Server{Handler: model, ReadHeaderTimeout: time.Minute}
	defer server.Close()
	go func() { _ = server.Serve(listener) }()
	home, err := os.MkdirTemp("", "measure")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	if err := os.MkdirAll(filepath.Join(home, ".hermes"), 0o700); err != nil {
		return nil, err
	}
	settings := fmt.Sprintf("model: test:m\nproviders:\n  test:\n    base_url: http://%s/v1\n", listener.Addr())
	if err := os.WriteFile(filepath.Join(home, ".hermes", "config.yaml"), []byte(settings), 0o600); err != nil {
		return nil, err
	}
	work := filepath.Join(home, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return nil, err
	}
	p := &program{}
	for i := range starts + 2 {
		cmd := exec.Command(hermes, "chat", "-q", "go on", "--backend", backend)
		cmd.Dir, cmd.Env = work, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		before := model.busy
		begin := time.Now()
		out, err := cmd.Output()
		took := time.Since(begin)
		if err != nil || strings.TrimSpace(string(out)) != "Done." {
			return nil, fmt.Errorf("hermes chat -q: %q %w: %s", out, err, bytes.TrimSpace(stderr.Bytes()))
		}
		model.mu.Lock()
		took -= model.busy - before
		model.mu.Unlock()
		if i >= 2 { // the first ones make the home and warm the caches
			p.times = append(p.times, took)
		}
	}
	return p, nil
}
