package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// conversation is a row of questions at a terminal, read by the byte, so that what is typed for one is no answer to another.
type conversation struct {
	f    tty
	ctx  context.Context // ends the row of questions
	keys chan keyed
}

// keyed is one byte that was typed, or the end.
type keyed struct {
	b   byte
	err error
}

// converse opens the terminal for a row of questions. Whoever gets it calls done.
func (t *atTerminal) converse(ctx context.Context) (c *conversation, done func(), err error) {
	t.mu.Lock()
	f, err := t.open()
	if err != nil {
		t.mu.Unlock()
		return nil, nil, fmt.Errorf("open the terminal: %w", bare(err))
	}
	return &conversation{f: f, ctx: ctx}, func() { _ = f.Close(); t.mu.Unlock() }, nil
}

func (c *conversation) say(line string) { fmt.Fprintln(c.f, visible(line)) }

// line asks for one line.
func (c *conversation) line(label string) (string, error) {
	fmt.Fprint(c.f, visible(label))
	text, err := c.read(false)
	return strings.TrimSpace(text), err
}

// hidden asks for one line that is not shown.
func (c *conversation) hidden(label string) (string, error) {
	back := rawly(c.f) // before anybody can type
	fmt.Fprint(c.f, visible(label))
	text, err := c.read(true)
	back()
	fmt.Fprintln(c.f)
	return text, err
}

// number asks for a number from 1 to most; Enter is the first proposal.
func (c *conversation) number(label string, most, first int) (int, error) {
	for {
		text, err := c.line(fmt.Sprintf("%s [%d]: ", label, first))
		if err != nil {
			return 0, err
		}
		if text == "" {
			return first, nil
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= most {
			return n, nil
		}
		c.say(fmt.Sprintf("A number from 1 to %d.", most))
	}
}

// mostAnswer bounds a line.
const mostAnswer = 8 << 10

// read reads one line. Raw means that the terminal does not edit it: that is done here. The end of input, Ctrl-C and Ctrl-D leave.
func (c *conversation) read(raw bool) (string, error) {
	var text []byte
	for {
		k := c.key()
		switch {
		case errors.Is(k.err, io.EOF):
			return "", errLeft
		case k.err != nil:
			return "", k.err
		case k.b == '\n', raw && k.b == '\r':
			return string(text), nil
		case raw && (k.b == 3 || k.b == 4):
			return "", errLeft
		case raw && (k.b == 8 || k.b == 0x7f):
			text = text[:max(0, len(text)-1)]
		case raw && k.b == 21: // Ctrl-U
			text = text[:0]
		case k.b < ' ' && k.b != '\t':
		case len(text) >= mostAnswer:
			return "", errors.New("the line is too long")
		default:
			text = append(text, k.b)
		}
	}
}

// key waits for one byte, or for the end of ctx.
func (c *conversation) key() keyed {
	if c.keys == nil {
		c.keys = make(chan keyed)
		go func() {
			one := make([]byte, 1)
			for {
				n, err := c.f.Read(one)
				if err == nil && n == 0 {
					err = io.EOF
				}
				if err != nil && !errors.Is(err, io.EOF) {
					err = fmt.Errorf("read the terminal: %w", bare(err))
				}
				select {
				case c.keys <- keyed{one[0], err}:
				case <-c.ctx.Done():
					return
				}
				if err != nil {
					return
				}
			}
		}()
	}
	select {
	case k := <-c.keys:
		return k
	case <-c.ctx.Done():
		return keyed{err: errLeft}
	}
}
