package ssh

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// receiving takes a runner from its input: into a directory that only the account can write, whole or not at all, and under
// the name of its content. The last line it prints is the sum it computed.
func receiving(sum, word string) string {
	d := `"$HOME/` + store + `"`
	return hashing + `umask 077; d=$HOME/` + store + `; ` +
		`if [ -L ` + d + ` ] || [ -L "$d/` + sum + `" ]; then echo "$d is a link" >&2; exit 3; fi; ` +
		`mkdir -p "$d/` + sum + `" && [ -O "$d" ] && [ -O "$d/` + sum + `" ] && chmod 700 "$d" "$d/` + sum + `" || exit 4; ` +
		`n=$d/` + sum + `/.new-` + word + `; trap "rm -f \"$n\"" EXIT; ` +
		`cat >"$n" && chmod 500 "$n" || exit 5; s=$(h256 "$n"); ` +
		`case "$s" in ` + sum + `|none) ;; *) echo "what arrived has another content" >&2; exit 6;; esac; ` +
		`[ -d "$d/` + sum + `/hermes-runner" ] && exit 7; mv -f "$n" "$d/` + sum + `/hermes-runner" || exit 8; ` +
		// What nobody has installed again for long is of an old version.
		`find "$d" -mindepth 1 -maxdepth 1 -mtime +60 -exec rm -rf {} + 2>/dev/null; echo "$s"`
}

// install copies a runner there. It returns what computed its sum there, "none" if nothing did.
func (l *link) install(ctx context.Context, p Program) (string, error) {
	f, err := os.Open(p.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	out, err := l.run(ctx, receiving(p.Sum, nonce()), io.TeeReader(f, h), 4<<10)
	if err != nil {
		return "", err
	}
	if hex.EncodeToString(h.Sum(nil)) != p.Sum {
		return "", errors.New("the runner here is not what it was")
	}
	return lastLine(string(out)), nil
}

// compare reads a runner back, for a machine on which nothing computes sums.
func (l *link) compare(ctx context.Context, sum string) (same bool, err error) {
	h := sha256.New()
	errs := &tail{limit: 4 << 10}
	code, err := l.stream(ctx, `exec cat "$HOME/`+store+`/`+sum+`/hermes-runner"`, nil, h, errs)
	if err != nil {
		return false, err
	}
	return code == 0 && hex.EncodeToString(h.Sum(nil)) == sum, nil
}

// provide sees to it that the right runner is there.
func (b *Backend) provide(ctx context.Context, l *link, f facts) error {
	var program Program
	found := false
	for _, s := range systems {
		if s.uname == f.system+" "+f.machine {
			program, found = b.runner(s.goos, s.goarch)
		}
	}
	if !found {
		return fmt.Errorf("there is none for %s %s", f.system, f.machine)
	}
	sum := f.sum
	if sum == "none" {
		same, err := l.compare(ctx, program.Sum)
		if err != nil {
			return err
		}
		if same {
			return nil
		}
	}
	if sum == program.Sum {
		return nil
	}
	if sum != "" && sum != "none" {
		b.log("the runner on " + l.to.String() + " is not what was copied there: it is copied again")
	}
	sum, err := l.install(ctx, program)
	if err != nil || sum == program.Sum {
		return err
	}
	same, err := l.compare(ctx, program.Sum)
	if err == nil && !same {
		err = errors.New("what arrived has another content")
	}
	return err
}
