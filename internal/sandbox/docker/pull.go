package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"hermes/internal/sandbox"
)

// ensure returns what the engine knows of an image, having it pulled when it is not there.
func (b *Backend) ensure(ctx context.Context, e *engine, name string) (image, error) {
	if found, ok, err := e.image(ctx, name); err != nil {
		return image{}, fmt.Errorf("open docker sandbox: %w", err)
	} else if ok {
		return found, nil
	}
	b.pulling.Lock()
	defer b.pulling.Unlock()
	if found, ok, err := e.image(ctx, name); err == nil && ok {
		return found, nil // somebody else pulled it meanwhile
	}
	b.progress("pulling " + name)
	lines := &liner{line: b.progress}
	_, err := e.do(ctx, call{args: []string{"pull", name}, out: lines, time: pullTime})
	if full := qualified(name); said(err, "short-name") && full != name { // Podman, not told where to look
		b.progress("pulling " + full)
		_, err = e.do(ctx, call{args: []string{"pull", full}, out: lines, time: pullTime})
	}
	lines.end()
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return image{}, fmt.Errorf("open docker sandbox: pull %s: %w", name, cause)
		}
		return image{}, &sandbox.DegradedError{Backend: Name, Text: "image " + name + " is not here and cannot be pulled", Cause: err,
			Remedy: "make one here with hermes sandbox image build (from a Dockerfile, or from this machine's own programs without any registry), " +
				"or name another in terminal.docker_image"}
	}
	found, ok, err := e.image(ctx, name)
	if err == nil && !ok {
		err = errors.New("it is not there after the pull")
	}
	if err != nil {
		return image{}, fmt.Errorf("open docker sandbox: image %s: %w", name, err)
	}
	return found, nil
}

// qualified returns the whole name of an image, as Docker reads it: a name that begins with no registry is one of Docker Hub's.
func qualified(name string) string {
	first, _, path := strings.Cut(name, "/")
	switch {
	case !path:
		return "docker.io/library/" + name
	case first == "localhost" || strings.ContainsAny(first, ".:"):
		return name
	}
	return "docker.io/" + name
}

func (b *Backend) progress(line string) {
	if b.conf.Progress != nil {
		b.conf.Progress(line)
	}
}

// liner hands on whole lines.
type liner struct {
	line func(string)
	mu   sync.Mutex // two streams write
	rest []byte
}

func (l *liner) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		i := bytes.IndexAny(l.rest, "\r\n")
		if i < 0 {
			break
		}
		l.say(l.rest[:i])
		l.rest = l.rest[i+1:]
	}
	if len(l.rest) > 4096 { // not a line of an engine
		l.rest = nil
	}
	return len(p), nil
}

func (l *liner) say(text []byte) {
	if s := strings.TrimSpace(string(text)); s != "" {
		l.line(s)
	}
}

func (l *liner) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.say(l.rest)
	l.rest = nil
}
