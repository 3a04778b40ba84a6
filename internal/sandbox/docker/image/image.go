// Package image makes local images for container engines: from a Dockerfile, or from this machine's own programs and libraries
// with no registry at all.
//
// It starts no program itself: the engine is a function, which sandbox/docker fills in. It does not choose which image a
// container gets. Failure direction: an image that lacks a program that was asked for by name is not made.
package image

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"hermes/internal/guard/checked"
)

// Engine runs the engine's client with arguments ("import", "-", …) and returns when it has ended; an exit code other than 0 is an
// error that says what the client printed. Standard output goes to stdout; stdin may be nil.
type Engine func(ctx context.Context, stdin io.Reader, stdout io.Writer, args ...string) error

// The labels of images made here.
const (
	LabelImage  = "hermes-image"        // "dockerfile" or "host"
	LabelDigest = "hermes-image-digest" // of a host image, the digest of its archive
)

// Built is an image that was made.
type Built struct {
	Tag    string
	ID     string   // as the engine names it
	Digest string   // of a host image, "sha256:…" of its archive: the same files give the same digest
	Files  int      // of a host image
	Bytes  int64    // of a host image
	Absent []string // programs of the usual list that this machine does not have
	Notes  []string // what else a person should know
}

// Dockerfile says what to build.
type Dockerfile struct {
	File    string // path of the Dockerfile
	Context string // folder it may copy from
	Tag     string
	Pull    bool // look for newer base images
}

// FromDockerfile lets the engine build an image; what it prints goes to progress.
func FromDockerfile(ctx context.Context, run Engine, d Dockerfile, progress io.Writer) (Built, error) {
	tag, err := tagged(d.Tag)
	if err != nil {
		return Built{}, err
	}
	for _, path := range [...]string{d.File, d.Context} {
		if path == "" || strings.HasPrefix(path, "-") {
			return Built{}, fmt.Errorf("build image %s: %q is not a path", tag, path)
		}
	}
	args := []string{"build", "--file", d.File, "--tag", tag, "--label", LabelImage + "=dockerfile"}
	if d.Pull {
		args = append(args, "--pull")
	}
	if err := run(ctx, nil, progress, append(args, d.Context)...); err != nil {
		return Built{}, fmt.Errorf("build image %s: %w", tag, err)
	}
	id, err := identify(ctx, run, tag)
	return Built{Tag: tag, ID: id}, err
}

func tagged(tag string) (string, error) {
	ref, err := checked.ParseImage(tag)
	if err != nil {
		return "", fmt.Errorf("build image: %w", err)
	}
	if strings.Contains(tag, "@") {
		return "", fmt.Errorf("build image %s: a digest cannot be chosen", tag)
	}
	return ref.String(), nil
}

// identify asks the engine for an image's id.
func identify(ctx context.Context, run Engine, tag string) (string, error) {
	var out bytes.Buffer
	if err := run(ctx, nil, &out, "image", "inspect", "--format", "{{.Id}}", tag); err != nil {
		return "", fmt.Errorf("inspect image %s: %w", tag, err)
	}
	id := strings.TrimSpace(out.String())
	if id == "" || strings.ContainsAny(id, " \n") {
		return "", fmt.Errorf("inspect image %s: the engine answered %q", tag, id)
	}
	return id, nil
}
