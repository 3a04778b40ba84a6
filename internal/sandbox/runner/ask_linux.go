package runner

import (
	"cmp"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// ask answers a question, beside the thread: it may take long.
func (c *conn) ask(f frame) error {
	if len(f.body) == 0 {
		return errors.New("an empty question")
	}
	if c.asked.Add(1) > maxAsked {
		return fmt.Errorf("more than %d questions at once", maxAsked)
	}
	what, body := f.body[0], append([]byte(nil), f.body[1:]...)
	r := &reader{b: body}
	var work func() ([]byte, error)
	var fds []int // that go with the answer
	switch what {
	case askLeft:
		c.asked.Add(-1)
		w := writer{}
		w.num(0)
		encodeLeft(&w, c.left())
		c.send(frame{kind: answerKind, id: f.id, body: w.b})
		return nil
	case askKillAll:
		c.over = true
		all := c.mine()
		work = func() ([]byte, error) { return nil, all.kill() }
	case askProbe:
		name, question := r.str(), r.raw()
		if err := r.done(); err != nil {
			return fmt.Errorf("probe: %w", err)
		}
		hook := c.s.parts.Hooks[name]
		work = func() ([]byte, error) {
			if hook == nil {
				return nil, fmt.Errorf("this runner has no hook %q", name)
			}
			answer, err := hook(c.s.ctx, question)
			w := writer{}
			w.raw(answer)
			return w.b, err
		}
	case askSockets:
		port := r.num()
		if err := r.done(); err != nil || port == 0 || port > 65535 {
			return fmt.Errorf("sockets: port %d: %w", port, cmp.Or(err, errors.New("is none")))
		}
		work = func() (_ []byte, err error) {
			fds, err = sockets(int(port))
			return nil, err
		}
	default:
		var err error
		if work, err = c.files.work(what, r); err != nil {
			return err
		}
	}
	beside(func() {
		answer, err := work()
		w := writer{}
		if err != nil {
			code := uint64(1 << 16)
			var errno unix.Errno
			if errors.As(err, &errno) {
				code = uint64(errno)
			}
			w.num(code)
			w.str(err.Error())
		} else {
			w.num(0)
			w.b = append(w.b, answer...)
		}
		c.s.post(func() {
			c.asked.Add(-1)
			if what == askKillAll {
				c.s.reap()
			}
			c.send(frame{kind: answerKind, id: f.id, body: w.b, fds: fds})
		})
	})
	return nil
}
