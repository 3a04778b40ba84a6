package child

import (
	"bytes"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// After the program's end, output is read until its end or until the time is over, whichever comes first.
func TestDrain(t *testing.T) {
	const ms = time.Millisecond
	rows := []struct {
		what  string
		more  []time.Duration // when something left behind writes on
		end   time.Duration   // when it lets go of the pipe; 0 never
		limit time.Duration
		want  string
		took  time.Duration
		cut   bool
	}{
		{"nothing holds the pipe", nil, 1, 300 * ms, "", 1, false},
		{"something ends in time", []time.Duration{100 * ms}, 200 * ms, 300 * ms, "x", 200 * ms, false},
		{"something holds it and is silent", nil, 0, 300 * ms, "", 300 * ms, true},
		{"something writes for ever", []time.Duration{100 * ms, 200 * ms, 400 * ms}, 0, 300 * ms, "xx", 300 * ms, true},
	}
	for _, row := range rows {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			defer theirs.Close()
			var out bytes.Buffer
			s := &streams{outs: []*copying{{dst: &out, src: ours, end: ours}}}
			s.run()
			start := time.Now()
			for _, at := range row.more {
				time.AfterFunc(at, func() { _, _ = theirs.Write([]byte("x")) })
			}
			if row.end > 0 {
				time.AfterFunc(row.end, func() { theirs.Close() })
			}
			cut := s.drain(row.limit)
			if took := time.Since(start); took != row.took || cut != row.cut || out.String() != row.want {
				t.Errorf("%s: %q after %v, cut %v; want %q after %v, %v", row.what, out.String(), took, cut, row.want, row.took, row.cut)
			}
			time.Sleep(time.Minute) // lets what still writes fail
		})
	}
}

func TestEnding(t *testing.T) {
	e := &ending{limit: 10}
	for _, part := range []string{"first line\n", "second ", "line\n\n"} {
		_, _ = e.Write([]byte(part))
	}
	if got := e.line(); got != "ond line" {
		t.Errorf("line is %q", got)
	}
}
