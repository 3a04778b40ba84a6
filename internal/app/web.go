package app

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"hermes/internal/audit"
	"hermes/internal/child"
	"hermes/internal/config"
	"hermes/internal/guard/scope"
	"hermes/internal/redact"
	"hermes/internal/safehttp"
	"hermes/internal/tool"
	"hermes/internal/tool/browse"
)

// PDFCommand are the arguments with which this program, started again, makes text of the PDF on its standard input.
var PDFCommand = [...]string{"tools", "pdf-text"}

// Tools returns the tools for the web, as the settings say now. What they reach is written down, for a session if it is one's. Their
// connections are the App's to close.
func (a *App) Tools(s scope.Session) ([]tool.Tool, error) {
	snap, err := a.settings()
	if err != nil {
		return nil, err
	}
	set := &snap.Settings
	web := safehttp.Options{Policy: a.Egress, Proxy: strings.TrimSpace(set.Security.Proxy), Agent: "Hermes/" + a.version(), Tell: a.p.Tell, Limits: safehttp.Limits{
		Body: 33 << 20, Timeout: 2 * time.Minute, Idle: 30 * time.Second,
	}, Heard: func(h safehttp.Hop) { a.fetched(s, h) }}
	client, err := a.connect(web)
	if err != nil {
		return nil, err
	}
	o := browse.Options{Client: client, Policy: a.Egress, Secret: a.secretIn(), PDF: a.readPDF, Chars: int(set.Web.Chars)}
	engine, err := a.engine(snap, web)
	if err != nil {
		return nil, err
	}
	return []tool.Tool{browse.Extract{Options: o}, browse.Search{Options: o, Engine: engine}, browse.Download{Options: o, Store: a.dir, Total: min(set.Web.CacheMB, math.MaxInt64>>20) << 20}}, nil
}

// fetched writes down what a tool has asked of the web.
func (a *App) fetched(s scope.Session, h safehttp.Hop) {
	r := audit.Reach{
		Client: "web", Method: h.Method, Target: h.Target, Verdict: h.Verdict.Action.String(), Rule: h.Verdict.Rule, Reason: h.Verdict.Reason,
		Down: h.Down, Duration: h.Took,
	}
	if h.Err != nil {
		r.Error = a.strictly(h.Err.Error())
	}
	ref := audit.Ref{}
	if !s.IsZero() {
		ref.Session = s.String()
	}
	if err := a.log.Reached(ref, r); err != nil {
		a.p.Tell("a request is missing in the audit log: " + err.Error())
	}
}

func (a *App) version() string {
	if a.p.Version == "" {
		return "dev"
	}
	return a.p.Version
}

// connect makes an HTTP client that the App closes.
func (a *App) connect(o safehttp.Options) (*safehttp.Client, error) {
	c, err := safehttp.New(o)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closes = append(a.closes, c)
	return c, nil
}

// secretIn tells whether a text carries a secret: a value that is held as one, or what looks like one.
func (a *App) secretIn() func(string) bool {
	return func(text string) bool {
		rules, err := a.rules()
		return err != nil || rules.Redact == nil || len(rules.Redact.With(redact.Text).Spans(text)) > 0
	}
}

// engine returns what searches, nil where nothing is configured. Each may reach its own host only.
func (a *App) engine(snap *config.Snapshot, o safehttp.Options) (browse.Engine, error) {
	set := &snap.Settings.Web
	brave, _, _ := snap.Variable("BRAVE_SEARCH_API_KEY")
	tavily, _, _ := snap.Variable("TAVILY_API_KEY")
	missing := func(what string) error {
		return errors.New("web.search_backend is " + set.Search + ", and " + what + " is not set")
	}
	switch name := set.Search; {
	case name == "searxng" && set.SearXNG == "":
		return nil, missing("SEARXNG_URL")
	case name == "brave" && brave.Empty():
		return nil, missing("BRAVE_SEARCH_API_KEY")
	case name == "tavily" && tavily.Empty():
		return nil, missing("TAVILY_API_KEY")
	case name == "searxng", name == "" && set.SearXNG != "":
		o.Origins = []string{set.SearXNG}
		c, err := a.connect(o)
		return browse.SearXNG{Client: c, Base: set.SearXNG}, err
	case name == "brave", name == "" && !brave.Empty():
		o.Hosts = []string{browse.BraveHost}
		c, err := a.connect(o)
		return browse.Brave{Client: c, Key: brave}, err
	case name == "tavily", name == "" && !tavily.Empty():
		o.Hosts = []string{browse.TavilyHost}
		c, err := a.connect(o)
		return browse.Tavily{Client: c, Key: tavily}, err
	}
	return nil, nil
}

// readPDF makes text of a PDF in a process of its own, which has no variable, no file, little memory and little time.
func (a *App) readPDF(ctx context.Context, file []byte) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	spec := child.Spec{Program: self, Name: "hermes", Args: PDFCommand[:], Dir: a.dir.Path(), Stdio: child.Stdio{In: bytes.NewReader(file)}}
	if runtime.GOOS == "linux" {
		spec.DieWithParent = true
		spec.Limits = child.Limits{CPU: 20, Memory: 2 << 30, FileSize: 1, Files: 32}
	}
	out, err := child.Output(ctx, spec, 8<<20)
	var ended *child.ExitError
	switch {
	case ctx.Err() != nil:
		return "", errors.New("read PDF: it took too long")
	case errors.As(err, &ended) && ended.Status.Signal == 0 && strings.HasPrefix(ended.Text, "hermes: "):
		return "", errors.New(strings.TrimPrefix(ended.Text, "hermes: "))
	case errors.As(err, &ended):
		return "", errors.New("read PDF: it took too much memory or time")
	case err != nil:
		return "", err
	}
	return string(out), nil
}
