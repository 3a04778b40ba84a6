package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// details is what the engine says of one. Only what both engines say alike is here.
type details struct {
	ID      string `json:"Id"`
	Name    string
	Created time.Time
	Image   string // digest
	State   struct {
		Status     string
		Running    bool
		Paused     bool
		Restarting bool
		OOMKilled  bool
		Dead       bool
		Pid        int
		ExitCode   int
		Error      string
		FinishedAt time.Time
	}
	Config struct {
		User   string
		Image  string
		Labels map[string]string
	}
	HostConfig struct {
		NetworkMode    string
		PidMode        string
		IpcMode        string
		UTSMode        string
		UsernsMode     string
		CgroupnsMode   string
		Privileged     bool
		CapAdd         []string
		CapDrop        []string
		SecurityOpt    []string
		Devices        []any
		DeviceRequests []any
		Memory         int64
		NanoCpus       int64
		CpuPeriod      int64
		CpuQuota       int64
		PidsLimit      *int64
		ReadonlyRootfs bool
		AutoRemove     bool
		Runtime        string
		Tmpfs          map[string]string
		MaskedPaths    *[]string
		Binds          []string
		StorageOpt     map[string]string
		GroupAdd       []string
	}
	Mounts []struct {
		Type, Source, Destination string
		RW                        bool
	}
	BoundingCaps []string // Podman's own answer
}

// name is how a container is called in messages.
func (c *details) name() string { return strings.TrimPrefix(c.Name, "/") }

// label returns a label's value.
func (c *details) label(name string) string { return c.Config.Labels[name] }

// inspect asks for containers. Those that are gone are left out.
func (e *engine) inspect(ctx context.Context, ids ...string) ([]details, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	text, err := e.do(ctx, call{args: append([]string{"container", "inspect"}, ids...)})
	gone := said(err, "no such container", "no container with name or id", "no such object")
	if err != nil && !gone {
		return nil, err
	}
	var out []details
	if err := json.Unmarshal(text, &out); err != nil {
		if gone {
			return nil, nil
		}
		return nil, fmt.Errorf("read what the engine says of a container: %w", err)
	}
	return out, nil
}

// list returns the ids of containers with all of the labels, the newest first.
func (e *engine) list(ctx context.Context, labels ...string) ([]string, error) {
	args := []string{"ps", "--all", "--no-trunc", "--format", "{{.ID}}"}
	for _, l := range labels {
		args = append(args, "--filter", "label="+l)
	}
	text, err := e.do(ctx, call{args: args})
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(text)), nil
}

// remove removes a container, running or not. One that is gone already is no error.
func (e *engine) remove(ctx context.Context, id string) error {
	_, err := e.do(ctx, call{args: []string{"rm", "--force", "--volumes", id}, time: runTime})
	if said(err, "no such container", "no container with name or id", "is already in progress") {
		return nil
	}
	return err
}

// image is what the engine says of one.
type image struct {
	ID           string `json:"Id"`
	Architecture string
	Os           string
	Config       struct {
		User       string
		Entrypoint words
		Env        []string
	}
}

// words is a list that some engines write as a text.
type words []string

// UnmarshalJSON reads either.
func (l *words) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*l = strings.Fields(one)
		return nil
	}
	return json.Unmarshal(text, (*[]string)(l))
}

// image asks for an image; false: the engine does not have it.
func (e *engine) image(ctx context.Context, name string) (image, bool, error) {
	text, err := e.do(ctx, call{args: []string{"image", "inspect", name}})
	if said(err, "no such image", "image not known", "unable to find", "failed to find image") {
		return image{}, false, nil
	}
	if err != nil {
		return image{}, false, err
	}
	var all []image
	if err := json.Unmarshal(text, &all); err != nil || len(all) == 0 {
		return image{}, false, fmt.Errorf("read what the engine says of image %s: %w", name, err)
	}
	all[0].ID = strings.TrimPrefix(all[0].ID, "sha256:")
	return all[0], true, nil
}

// s6 tells whether an image starts its own service manager, which must be the first process.
func (i image) s6() bool {
	return slices.Contains(i.Config.Entrypoint, "/init")
}
