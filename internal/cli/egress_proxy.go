package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/audit"
	"hermes/internal/child"
	"hermes/internal/guard/egress"
	"hermes/internal/guard/scope"
	"hermes/internal/proxy"
	"hermes/internal/redact"
	"hermes/internal/safehttp"
)

// proxyOptions are the flags of egress proxy.
type proxyOptions struct {
	listen    string
	names     string
	allow     []string
	allowFile string
	tokenFile string
	tokenEnv  string
	open      bool
	audit     bool
	printEnv  bool
	grace     string
}

func newEgressProxy(stdio *IO) *cobra.Command {
	var o proxyOptions
	c := &cobra.Command{
		Use:   "proxy",
		Short: "Run the proxy by itself",
		Long: "Runs the proxy of the sandboxes by itself: HTTP and CONNECT, to the hosts on the list only, at addresses that the\n" +
			"settings allow. The list is terminal.network_allow of the home, where there is one, with --allow and --allow-file.\n" +
			"An entry is example.org, *.example.org, example.org:8443, https://…, http://…, tcp://…, GET,HEAD http://…/path/*,\n" +
			"192.0.2.0/24. In a tunnel the TLS hello must name the host of the CONNECT.\n\n" +
			"One line of JSON on standard output for every connection, when it has ended. SIGTERM and Ctrl-C end it: what is open\n" +
			"may end by itself for --grace.\n\n" +
			"A file of tokens has a user on each line: NAME TOKEN. The token goes into the password of the proxy's URL, or a\n" +
			"Bearer. Without any, everybody who can connect may use it: then it listens on the loopback only, unless told otherwise.",
		Example: "  hermes egress proxy --allow api.example.org --allow '*.pypi.org'\n" +
			"  hermes egress proxy --allow-file allow.txt --token-file users.txt --listen 10.0.0.2:3128\n" +
			"  hermes egress proxy --allow example.org --names 127.0.0.1:5353\n" +
			"  eval \"$(hermes egress proxy --print-env)\"",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runProxy(c.Context(), stdio, o) },
	}
	f := c.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:3128", "listen on `ADDRESS:PORT`")
	f.StringArrayVar(&o.allow, "allow", nil, "let `HOST` through (may be repeated)")
	f.StringVar(&o.allowFile, "allow-file", "", "let through what is in `FILE`, an entry a line, # for remarks")
	f.StringVar(&o.names, "names", "", "answer DNS questions about allowed names on `ADDRESS:PORT`, by UDP")
	f.StringVar(&o.names, "dns", "", "the same as --names")
	f.StringVar(&o.tokenFile, "token-file", "", "only who has a token of `FILE` may use it")
	f.StringVar(&o.tokenEnv, "token-env", "", "only who has the token in the environment variable `NAME` may use it")
	f.BoolVar(&o.open, "open-to-network", false, "without tokens, listen on an address that others can reach, all the same")
	f.BoolVar(&o.audit, "audit", false, "write decisions into the audit log of the home instead of standard output")
	f.StringVar(&o.grace, "grace", "5s", "after SIGTERM, let open connections go on for `TIME`")
	f.BoolVar(&o.printEnv, "print-env", false, "print the variables for programs that shall use it, and end")
	_ = f.MarkHidden("dns")
	return c
}

func runProxy(ctx context.Context, stdio *IO, o proxyOptions) error {
	users, err := proxyUsers(stdio, o)
	if err != nil {
		return err
	}
	if o.printEnv {
		return printProxyEnv(stdio, o)
	}
	if err := mayListen(o, len(users) > 0); err != nil {
		return err
	}
	grace, err := seconds(o.grace)
	if err != nil {
		return usage("Write seconds, or 90s, 5m.", "--grace %q is no time", o.grace)
	}
	policy, tell, done, err := proxyPolicy(stdio, o)
	if err != nil {
		return err
	}
	gate, err := proxy.NewGate(users, proxy.Options{Policy: policy, Resolve: safehttp.Lookup(nil, 10*time.Second), Tell: tell})
	if err != nil {
		return errors.Join(err, done())
	}
	ctx, stop := child.Asked(ctx)
	defer stop()
	err = serveGate(ctx, stdio, gate, o, grace, stop)
	return errors.Join(err, done())
}

// serveGate serves until it is told to end.
func serveGate(ctx context.Context, stdio *IO, gate *proxy.Gate, o proxyOptions, grace time.Duration, again func()) error {
	l, err := proxy.Listen(o.listen)
	if err != nil {
		return errors.Join(usage("Choose another with --listen.", "%s", err), gate.Close())
	}
	failed := make(chan error, 2)
	text := "hermes: the proxy listens on " + l.Addr().String()
	if o.names != "" {
		pc, err := proxy.ListenNames(o.names)
		if err != nil {
			return errors.Join(usage("Choose another address with --names.", "%s", err), l.Close(), gate.Close())
		}
		text += ", and for names on " + pc.LocalAddr().String()
		go func() { failed <- gate.ServeNames(pc) }()
	}
	go func() { failed <- gate.Serve(l) }()
	fmt.Fprintln(stdio.Stderr, text)
	select {
	case err := <-failed:
		return errors.Join(err, gate.Close())
	case <-ctx.Done():
	}
	again() // a second signal ends it at once
	end, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return gate.Shutdown(end)
}

// mayListen refuses to open a proxy without tokens to others by mistake.
func mayListen(o proxyOptions, tokens bool) error {
	for _, at := range []string{o.listen, o.names} {
		if at == "" {
			continue
		}
		own, err := proxy.Loopback(at)
		if err != nil {
			return usage("Write the address as a number: 127.0.0.1:3128.", "%s", err)
		}
		// Questions about names carry no token.
		if !own && (!tokens || at == o.names) && !o.open {
			return usage("Give it tokens with --token-file, or say --open-to-network if only those can reach it who may.",
				"listen on %s: others can reach this address, and nothing would tell them apart", at)
		}
	}
	return nil
}

// proxyPolicy returns what is let through, who hears of it, and what to call at the end.
func proxyPolicy(stdio *IO, o proxyOptions) (proxy.Policy, func(proxy.Decision), func() error, error) {
	entries := o.allow
	if o.allowFile != "" {
		lines, err := readEntries(o.allowFile)
		if err != nil {
			return nil, nil, nil, err
		}
		entries = append(entries[:len(entries):len(entries)], lines...)
	}
	// A list that was given by hand and cannot be read is a slip, not a setting to do without.
	if _, problems := egress.ParseRoutes(entries); len(problems) > 0 {
		return nil, nil, nil, usage("See `hermes egress proxy --help` for what an entry can be.", "%s", problems[0])
	}
	at, err := (&settings{stdio: stdio}).open(o.audit)
	if err != nil {
		return nil, nil, nil, err
	}
	at.close()
	if at.dir == nil {
		routes, _ := egress.ParseRoutes(entries)
		policy, _ := egress.New(egress.Config{Sites: egress.NoSites()})
		return egress.Exit{Routes: routes, Policy: policy}, decisions(stdio), func() error { return nil }, nil
	}
	a, err := app.Open(app.Process{Env: stdio.Env, Environ: stdio.Environ, Version: stdio.Version, Tell: func(text string) {
		fmt.Fprintln(stdio.Stderr, "hermes: "+visible(text))
	}})
	if err != nil {
		return nil, nil, nil, err
	}
	tell := decisions(stdio)
	if o.audit {
		session, err := a.Session("proxy")
		if err != nil {
			return nil, nil, nil, errors.Join(err, a.Close())
		}
		tell = logged(stdio, a, session)
	}
	return a.Exit(entries...), tell, a.Close, nil
}

// decisions writes a decision as one line of JSON, without the secrets that addresses carry. A line that cannot be written is told once: the proxy goes on.
func decisions(stdio *IO) func(proxy.Decision) {
	var mu sync.Mutex
	out := live{stdio.Stdout}
	told := false
	clean := redact.New(redact.Options{}).With(redact.Strict)
	return func(d proxy.Decision) {
		r := app.Reach(d)
		for _, text := range [...]*string{&r.Target, &r.Path, &r.Reason, &r.Error} {
			*text = clean.String(*text)
		}
		var line bytes.Buffer
		e := json.NewEncoder(&line)
		e.SetEscapeHTML(false) // -> and & are read by people
		err := e.Encode(struct {
			Time time.Time `json:"time"`
			audit.Reach
		}{time.Now().UTC(), r})
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			_, err = out.Write(line.Bytes())
		}
		if err != nil && !told {
			told = true
			fmt.Fprintln(stdio.Stderr, "hermes: decisions are not written: "+visible(err.Error()))
		}
	}
}

func logged(stdio *IO, a *app.App, session scope.Session) func(proxy.Decision) {
	return func(d proxy.Decision) {
		if err := a.Reached(session, d); err != nil {
			fmt.Fprintln(stdio.Stderr, "hermes: a connection is missing in the audit log: "+visible(err.Error()))
		}
	}
}

// readEntries reads a file with an entry a line.
func readEntries(path string) (out []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read list: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out, nil
}

// proxyUsers reads the tokens.
func proxyUsers(stdio *IO, o proxyOptions) (users []proxy.User, err error) {
	if o.tokenEnv != "" {
		token := strings.TrimSpace(stdio.Env(o.tokenEnv))
		if token == "" {
			return nil, usage("Set it, or leave --token-env out.", "the environment variable %s is empty", o.tokenEnv)
		}
		users = append(users, proxy.User{Name: "env", Token: token})
	}
	if o.tokenFile == "" {
		return users, nil
	}
	info, err := os.Stat(o.tokenFile)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, usage("chmod 600 "+o.tokenFile, "the tokens in %s can be read by others", o.tokenFile)
	}
	entries, err := readEntries(o.tokenFile)
	if err != nil {
		return nil, err
	}
	for i, line := range entries {
		f := strings.Fields(line)
		if len(f) != 2 {
			return nil, usage("Each line is NAME TOKEN.", "%s: entry %d is not a name and a token", o.tokenFile, i+1)
		}
		users = append(users, proxy.User{Name: f[0], Token: f[1]})
	}
	if len(users) == 0 {
		return nil, usage("Each line is NAME TOKEN.", "%s holds no token", o.tokenFile)
	}
	return users, nil
}

// printProxyEnv prints variables for a shell. Tokens are named, not printed.
func printProxyEnv(stdio *IO, o proxyOptions) error {
	at, err := netip.ParseAddrPort(o.listen)
	if err != nil {
		return usage("Write the address as a number: 127.0.0.1:3128.", "listen on %q: not ADDRESS:PORT", o.listen)
	}
	url := "http://" + at.String()
	switch {
	case o.tokenEnv != "":
		url = "http://env:${" + o.tokenEnv + "}@" + at.String()
	case o.tokenFile != "":
		url = "http://NAME:${HERMES_PROXY_TOKEN}@" + at.String()
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		fmt.Fprintf(stdio.Stdout, "export %s=\"%s\" %s=\"%[2]s\"\n", name, url, strings.ToLower(name))
	}
	fmt.Fprintln(stdio.Stdout, "export NO_PROXY=localhost,127.0.0.1,::1 no_proxy=localhost,127.0.0.1,::1\nexport NODE_USE_ENV_PROXY=1")
	return nil
}
