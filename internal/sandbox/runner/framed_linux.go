package runner

import (
	"errors"

	"golang.org/x/sys/unix"
)

// framed is the inner end of streams that come and go in frames. Each direction sends as much as the other has given credit
// for, so that a command that is not read is held up and nothing piles up here.
type framed struct {
	cmd   *command
	in    int // where its input is written, -1: nowhere
	queue []byte
	last  bool // no more input comes
	outs  [3]outlet
	idle  func() // called when all output is sent
	late  bool   // the program has ended long ago: only what was there then is waited for
}

// outlet is one stream of output.
type outlet struct {
	fd     int // -1: it is over
	credit int
	paused bool
	owed   int // what of it was there when it became late
}

func newFramed(cmd *command, in, out, errs int) *framed {
	f := &framed{cmd: cmd, in: in}
	f.outs = [3]outlet{{fd: -1}, {fd: out, credit: window}, {fd: errs, credit: window}}
	return f
}

// pipes makes the pipes of a command, and returns its ends of them.
func pipes(cmd *command, streams uint64) (f *framed, std [3]int, opened []int, err error) {
	std = [3]int{cmd.s.null, cmd.s.null, cmd.s.null}
	ours := [3]int{-1, -1, -1}
	for i, bit := range []uint64{hasIn, hasOut, hasErr} {
		if streams&bit == 0 {
			continue
		}
		var p [2]int
		if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
			for _, fd := range ours {
				if fd >= 0 {
					_ = unix.Close(fd)
				}
			}
			return nil, std, opened, err
		}
		_, _ = unix.FcntlInt(uintptr(p[0]), unix.F_SETPIPE_SZ, piece) // as far as the system allows
		own, theirs := 0, 1
		if i == 0 {
			own, theirs = 1, 0
		}
		ours[i], std[i] = p[own], p[theirs]
		opened = append(opened, p[theirs])
	}
	return newFramed(cmd, ours[0], ours[1], ours[2]), std, opened, nil
}

// terminal tells whether input and output are the same descriptor.
func (f *framed) terminal() bool { return f.in >= 0 && f.in == f.outs[1].fd }

// begin watches the streams once the command runs.
func (f *framed) begin() {
	for i := range f.outs {
		if fd := f.outs[i].fd; fd >= 0 {
			_ = unix.SetNonblock(fd, true)
			_ = f.cmd.s.add(fd, unix.EPOLLIN, func(events uint32) { f.ready(i, events) })
		}
	}
	if f.in >= 0 && !f.terminal() {
		_ = unix.SetNonblock(f.in, true)
		_ = f.cmd.s.add(f.in, 0, func(uint32) { f.write() })
	}
}

// ready sends what there is to read, and writes what there is to write on a terminal.
func (f *framed) ready(i int, events uint32) {
	if i == 1 && f.terminal() && events&unix.EPOLLOUT != 0 {
		f.write()
	}
	if events&^unix.EPOLLOUT != 0 {
		f.read(i)
	}
}

func (f *framed) read(i int) {
	o := &f.outs[i]
	if o.fd < 0 {
		return
	}
	if o.credit < frameCost {
		o.paused = true
		f.cmd.s.change(o.fd, 0)
		return
	}
	const front = headSize + 1
	text := f.cmd.s.scratch
	if text == nil {
		text = make([]byte, front+piece)
	}
	f.cmd.s.scratch = text
	n, err := unix.Read(o.fd, text[front:front+min(piece, o.credit)])
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
	case err != nil || n == 0:
		if f.terminal() && i == 1 {
			f.in = -1
		}
		f.cmd.s.drop(o.fd)
		o.fd = -1
		if f.idle != nil {
			f.idle()
		}
	default:
		o.credit -= max(n, frameCost)
		o.owed -= n
		head := appendHead(text[:0], frame{kind: outputKind, id: f.cmd.id}, n+1)
		if !f.cmd.c.queue(outgoing{bytes: append(head, byte(i))[:front+n]}) {
			f.cmd.c.keep(n)
		}
		if f.late && f.idle != nil {
			f.idle()
		}
	}
}

// credit lets a stream go on.
func (cmd *command) credit(stream, n uint64) error {
	if cmd.framed == nil || stream == 0 || stream > 2 || n > window {
		return errors.New("credit for a stream that has none")
	}
	o := &cmd.framed.outs[stream]
	if o.credit += int(n); o.credit > window {
		return errors.New("more credit than was taken")
	}
	if o.fd >= 0 && o.paused {
		o.paused = false
		cmd.framed.watch(int(stream))
	}
	return nil
}

// watch waits again for what a stream can do.
func (f *framed) watch(i int) {
	events := uint32(unix.EPOLLIN)
	if i == 1 && f.terminal() && len(f.queue) > 0 {
		events |= unix.EPOLLOUT
	}
	if f.outs[i].paused {
		events &^= unix.EPOLLIN
	}
	f.cmd.s.change(f.outs[i].fd, events)
}

// input takes input, of no length for its end.
func (cmd *command) input(body []byte) error {
	f := cmd.framed
	if f == nil {
		return errors.New("input for a command that has its own")
	}
	if len(f.queue)+len(body) > 2*window {
		return errors.New("more input than there is credit for")
	}
	f.queue = append(f.queue, body...)
	if len(body) == 0 {
		f.last = true
		if f.terminal() {
			f.queue = append(f.queue, 4) // as typed
		}
	}
	f.write()
	return nil
}

// write gives the command as much of its input as it takes.
func (f *framed) write() {
	taken, fault := 0, false
	for f.in >= 0 && taken < len(f.queue) {
		n, err := unix.Write(f.in, f.queue[taken:])
		if err == unix.EINTR {
			continue
		} else if err != nil {
			fault = err != unix.EAGAIN
			break
		}
		taken += n
	}
	if f.in < 0 || fault { // it takes no more; what comes is thrown away
		taken = len(f.queue)
	}
	f.queue = append(f.queue[:0], f.queue[taken:]...)
	if taken > 0 {
		w := writer{}
		w.num(0)
		w.num(uint64(taken))
		f.cmd.c.send(frame{kind: creditKind, id: f.cmd.id, body: w.b})
	}
	switch {
	case f.in < 0:
	case f.terminal():
		f.watch(1)
	case fault, f.last && len(f.queue) == 0:
		f.cmd.s.drop(f.in)
		f.in = -1
	case len(f.queue) > 0:
		f.cmd.s.change(f.in, unix.EPOLLOUT)
	default:
		f.cmd.s.change(f.in, 0)
	}
}

func (cmd *command) resize(rows, cols uint16) {
	if cmd.framed != nil && cmd.framed.terminal() {
		_ = resize(cmd.framed.in, rows, cols)
	}
}

// dry tells whether all that the command itself said is sent; if not, then is called once it is. What it left running may
// hold a stream for long, and write to it: that is not waited for, but what is there after a while is the command's, however
// long its reader takes for it. Of a command whose end was asked for nothing more is owed.
func (f *framed) dry(then func()) bool {
	switch {
	case f.cmd.c.dead || f.done():
		return true
	case f.late && f.cmd.cut:
		f.release()
		return true
	case f.idle != nil:
		return false
	}
	f.idle = func() {
		if f.done() {
			f.release()
			then()
		}
	}
	after(drainTime, func() {
		f.cmd.s.post(func() {
			if f.idle == nil {
				return
			}
			f.late = true
			for i := range f.outs {
				if o := &f.outs[i]; o.fd >= 0 && !f.cmd.cut {
					o.owed, _ = unix.IoctlGetInt(o.fd, unix.TIOCINQ)
				}
			}
			f.idle()
		})
	})
	return false
}

// done tells whether there is nothing more to send.
func (f *framed) done() bool {
	for _, o := range f.outs {
		if o.fd >= 0 && !(f.late && o.owed <= 0) {
			return false
		}
	}
	return true
}

// release lets go of everything.
func (f *framed) release() {
	if f.in >= 0 && !f.terminal() {
		f.cmd.s.drop(f.in)
	}
	f.in, f.idle = -1, nil
	for i := range f.outs {
		if f.outs[i].fd >= 0 {
			f.cmd.s.drop(f.outs[i].fd)
			f.outs[i].fd = -1
		}
	}
}
