package docker_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/docker/plan"
)

// Several begin at the same moment, and the container that is there is one of another policy: one of them makes the new one, one starts
// its helper, and all work in it.
func TestTogether(t *testing.T) {
	r := rootful(t)
	c := r.conf(t, kept())
	_ = r.backend(t, c) // which removes what is kept, at the end
	for round := range 3 {
		old := c
		old.Plan.Limits.Memory = plan.Limit{Value: float64(300 + round), Set: true}
		b := newBackend(old)
		box := open(t, b, spec(t))
		_ = box.Close(t.Context())
		_ = b.Close()

		const n = 6
		var (
			wg    sync.WaitGroup
			start = make(chan struct{})
			names = make([]string, n)
			errs  = make([]error, n)
		)
		for i := range n {
			s := spec(t)
			wg.Go(func() {
				b := newBackend(c) // as a process of its own
				defer b.Close()
				<-start
				box, err := b.Open(t.Context(), s)
				if err != nil {
					errs[i] = err
					return
				}
				defer box.Close(context.Background())
				names[i] = container(box)
				var out bytes.Buffer
				status, err := box.Run(t.Context(), sandbox.Command{Text: "echo here", Stdout: &out, Stderr: &out})
				if err != nil || status.Code != 0 || strings.TrimSpace(out.String()) != "here" {
					errs[i] = fmt.Errorf("%+v, %w, %q", status, err, out.String())
				}
			})
		}
		close(start)
		wg.Wait()
		for i := range n {
			if errs[i] != nil || names[i] != names[0] {
				t.Errorf("round %d: %d is in %q: %v", round, i, names[i], errs[i])
			}
		}
	}
}
