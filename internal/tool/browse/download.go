package browse

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"hermes/internal/guard/taint"
	"hermes/internal/tool"
)

// Download is the tool download: a file of the web in the home's cache.
type Download struct {
	Options
	Store Store
	Most  int64 // bytes of one file: 32 MiB
	Total int64 // bytes of all files that are kept: 1 GiB; the oldest go first
}

// Spec implements tool.Tool.
func (Download) Spec() tool.Spec {
	return tool.Spec{
		Name: "download", Words: "url",
		Description: "Fetch one file (an image, a document, an archive) and keep it in the cache. Returns its path, type and size. Nothing in it is read or run.",
		Schema: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string","description":"http or https URL, without credentials"}},` +
			`"required":["url"],"additionalProperties":false}`),
	}
}

// Downloaded is the whole result of a download.
type Downloaded struct {
	Requested string   `json:"requested"`
	URL       string   `json:"url"`
	Path      string   `json:"path,omitempty"`
	Name      string   `json:"name,omitempty"`
	Type      string   `json:"content_type,omitempty"` // by its first bytes, else as the server says
	Size      int      `json:"size"`
	SHA256    string   `json:"sha256,omitempty"`
	Error     string   `json:"error,omitempty"`
	Blocked   *Blocked `json:"blocked_by_policy,omitempty"`
}

// Call implements tool.Tool.
func (d Download) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var args struct {
		URL string `json:"url"`
	}
	if err := tool.Decode(c, &args); err != nil {
		return tool.Result{}, err
	}
	if args.URL == "" {
		return tool.Result{}, errors.New("read arguments: no url")
	}
	if err := d.leaks(args.URL); err != nil {
		return tool.Result{}, err
	}
	ctx, cancel := d.deadline(ctx)
	defer cancel()
	got := d.get(ctx, args.URL)
	out := tool.Result{Data: got, Failed: got.Error != ""}
	if got.Error != "" {
		out.Parts = []tool.Part{{Text: got.URL + ": " + got.Error, Source: got.URL, Risk: taint.Assess(got.Error)}}
		return out, nil
	}
	// The name is the server's choice: it is text from outside.
	out.Parts = []tool.Part{{Text: fmt.Sprintf("%s\n%s, %d bytes, sha256 %s", got.Path, got.Type, got.Size, got.SHA256), Source: got.URL, Risk: taint.Assess(got.Name)}}
	return out, nil
}

func (d Download) get(ctx context.Context, url string) Downloaded {
	got := Downloaded{Requested: url, URL: url}
	u, blocked, err := d.judge(url)
	if err != nil {
		got.Error, got.Blocked = told(err), blocked
		return got
	}
	most := d.Most
	if most <= 0 {
		most = 32 << 20
	}
	a, blocked, err := d.fetch(ctx, u.String(), most)
	got.URL = a.url
	if err != nil {
		got.Error, got.Blocked = told(err), blocked
		return got
	}
	if err := d.keep(ctx, &got, a); err != nil {
		got.Path, got.Error = "", err.Error()
	}
	return got
}

// keep checks what came and writes it into the home.
func (d Download) keep(ctx context.Context, got *Downloaded, a answer) error {
	is := signed(a.body)
	got.Type, got.Size = a.kind, len(a.body)
	switch {
	case len(a.body) == 0:
		return errors.New("the file is empty")
	case is.kind == "" && binary(a.kind):
		return fmt.Errorf("the server says %s, and the file does not begin like one", a.kind)
	case is.kind != "" && !agrees(a.kind, is.kind):
		return fmt.Errorf("the server says %s, and the file is %s", clip(a.kind, 60), is.kind)
	case is.kind != "" && !(is.kind == "application/zip" && a.kind != "" && a.kind != "application/octet-stream"):
		got.Type = is.kind
	}
	sum := sha256.Sum256(a.body)
	got.SHA256 = hex.EncodeToString(sum[:])
	got.Name = fileName(a.disposition, a.url, is.extensions)
	// The content's own mark in front: two files of one name do not replace each other.
	name := got.SHA256[:12] + "-" + got.Name
	if err := d.put(ctx, name, a.body); err != nil {
		return err
	}
	got.Path = d.Store.Join(Folder + "/" + name)
	return nil
}

// binary tells whether files of a kind begin with a mark of their own, which is known here.
func binary(kind string) bool {
	for _, s := range &signatures {
		if s.kind == kind {
			return true
		}
	}
	return kind == "image/jpg"
}
