package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker"
	"hermes/internal/sandbox/docker/image"
)

// withApp calls f with the wiring of this process.
func withApp(stdio *IO, f func(a *app.App, start string) error) error {
	a, err := app.Open(app.Process{Env: stdio.Env, Environ: stdio.Environ, Version: stdio.Version, HostKey: askHostKey(stdio), Tell: func(text string) {
		fmt.Fprintln(stdio.Stderr, "hermes: "+visible(text))
	}})
	if err != nil {
		return err
	}
	start, err := stdio.Dir()
	if err == nil {
		err = f(a, start)
	}
	return errors.Join(err, a.Close())
}

// hinted adds to an error of a backend what to do about it.
func hinted(err error) error {
	var missing *sandbox.MissingError
	var degraded *sandbox.DegradedError
	switch {
	case errors.As(err, &missing) && missing.Remedy != "":
		return usage(sentence(missing.Remedy), "%s", err)
	case errors.As(err, &degraded) && degraded.Remedy != "":
		return usage(sentence(degraded.Remedy), "%s", err)
	}
	return err
}

// verifyContainer opens a container as the settings say and tries every door from inside.
func verifyContainer(ctx context.Context, stdio *IO, o verifyOptions, dir string) error {
	return withApp(stdio, func(a *app.App, start string) error {
		session, err := a.Session("verify")
		if err != nil {
			return err
		}
		backend, spec, err := a.Sandbox(app.Where{Session: session, Backend: docker.Name, Start: start})
		if err != nil {
			return err
		}
		if spec.Env, err = a.Variables(docker.Name); err != nil {
			return err
		}
		box, err := backend.Open(ctx, spec)
		if err != nil {
			return hinted(err)
		}
		e, err := lookInside(ctx, stdio, box, docker.Name, docker.ProbePath, spec.Workdir.String(), dir)
		walls := ""
		if w, ok := box.(interface{ Walls() string }); ok {
			walls = w.Walls()
		}
		if closed := box.Close(context.WithoutCancel(ctx)); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
		return verified(stdio, o, docker.Name, walls, e)
	})
}

// withContainers calls f with the docker backend of the settings. Without any container of this home it is not called, unless
// the settings name that backend: an engine is not looked for where nobody uses one.
func withContainers(stdio *IO, dir string, always bool, f func(b *docker.Backend) error) error {
	if _, err := os.Stat(filepath.Join(dir, docker.SocketsDir)); err != nil && !always {
		return nil
	}
	return withApp(stdio, func(a *app.App, start string) error {
		session, err := a.Session("sandbox")
		if err != nil {
			return err
		}
		backend, _, err := a.Sandbox(app.Where{Session: session, Backend: docker.Name, Start: start})
		if err != nil {
			return err
		}
		b, ok := backend.(*docker.Backend)
		if !ok {
			return errors.New("docker is not among the backends")
		}
		return f(b)
	})
}

// listContainers returns the containers of this home. That no engine answers is told, and no error.
func listContainers(ctx context.Context, stdio *IO, dir string) (all []docker.Record, err error) {
	err = withContainers(stdio, dir, false, func(b *docker.Backend) error {
		all, err = b.List(ctx)
		var degraded *sandbox.DegradedError
		if errors.As(err, &degraded) {
			fmt.Fprintln(stdio.Stderr, "hermes: containers are not listed: "+visible(degraded.Text))
			return nil
		}
		return err
	})
	return all, err
}

func newSandboxImage(stdio *IO) *cobra.Command {
	c := &cobra.Command{
		Use:     "image",
		Short:   "Make images for containers, without a registry if need be",
		Example: "  hermes sandbox image build",
	}
	group(c)
	c.AddCommand(newSandboxImageBuild(stdio))
	return c
}

// imageOptions are the flags of sandbox image build.
type imageOptions struct {
	dockerfile, context, tag string
	programs                 []string
	pull                     bool
}

func newSandboxImageBuild(stdio *IO) *cobra.Command {
	var o imageOptions
	c := &cobra.Command{
		Use:   "build",
		Short: "Make an image of a Dockerfile, or of this machine's own programs",
		Long: "Makes an image for the docker backend. Without a Dockerfile it is made of this machine's own bash, coreutils, git,\n" +
			"python3 and the libraries they load: no registry is needed, and no file of yours is in it.",
		Example: "  hermes sandbox image build\n" +
			"  hermes sandbox image build --with node --with /usr/local/bin/terraform\n" +
			"  hermes sandbox image build --file Dockerfile --tag sandbox:mine",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return buildImage(c.Context(), stdio, o) },
	}
	f := c.Flags()
	f.StringVarP(&o.dockerfile, "file", "f", "", "build it from a Dockerfile: `FILE`")
	f.StringVar(&o.context, "context", "", "the `FOLDER` a Dockerfile may copy from (default: the one it is in)")
	f.BoolVar(&o.pull, "pull", false, "with a Dockerfile, look for newer base images")
	f.StringArrayVar(&o.programs, "with", nil, "one more `PROGRAM` of this machine, by name or path (may be repeated)")
	f.StringVarP(&o.tag, "tag", "t", "", "the image's `NAME` (default: hermes-sandbox:host, or :local of a Dockerfile)")
	return c
}

// buildTime bounds the making of an image.
const buildTime = time.Hour

func buildImage(ctx context.Context, stdio *IO, o imageOptions) error {
	if o.dockerfile == "" && (o.context != "" || o.pull) {
		return usage("Name the Dockerfile with --file.", "build: --context and --pull are for a Dockerfile")
	}
	if o.dockerfile != "" && len(o.programs) > 0 {
		return usage("Write it into the Dockerfile.", "build: --with is for an image of this machine's programs")
	}
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	return withContainers(stdio, "", true, func(b *docker.Backend) error {
		progress := live{stdio.Stderr}
		engine, err := b.Client(ctx, progress)
		if err != nil {
			return hinted(err)
		}
		built, err := makeImage(ctx, stdio, o, engine, progress)
		if err != nil {
			return err
		}
		for _, note := range built.Notes {
			fmt.Fprintln(stdio.Stderr, "hermes: "+visible(note))
		}
		size := ""
		if built.Files > 0 {
			size = fmt.Sprintf(" of %d files, %d MB", built.Files, built.Bytes>>20)
		}
		fmt.Fprintf(stdio.Stdout, "Made %s%s.\nUse it: hermes config set terminal.docker_image %s\n", visible(built.Tag), size, visible(built.Tag))
		return nil
	})
}

func makeImage(ctx context.Context, stdio *IO, o imageOptions, engine image.Engine, progress io.Writer) (image.Built, error) {
	if o.dockerfile == "" {
		return image.FromHost(ctx, engine, image.Host{Tag: cmp.Or(o.tag, "hermes-sandbox:host"), Programs: o.programs,
			Path: filepath.SplitList(stdio.Env("PATH"))}, progress)
	}
	start, err := stdio.Dir()
	if err != nil {
		return image.Built{}, err
	}
	file := o.dockerfile
	if !filepath.IsAbs(file) {
		file = filepath.Join(start, file)
	}
	from := cmp.Or(o.context, filepath.Dir(file))
	if !filepath.IsAbs(from) {
		from = filepath.Join(start, from)
	}
	return image.FromDockerfile(ctx, engine, image.Dockerfile{File: file, Context: from, Tag: cmp.Or(o.tag, "hermes-sandbox:local"), Pull: o.pull}, progress)
}
