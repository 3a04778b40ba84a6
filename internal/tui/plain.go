package tui

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/chat"
)

// Plain shows a chat as lines: nothing on them moves, and nothing is drawn twice. Where a person types, lines go to the chat as
// they come; lines of a pipe wait until what came of the one before is done. It ends with the input, or with the person.
func Plain(ctx context.Context, o Options) error {
	p := &plain{o: o, look: Look{Wide: o.Look.Wide, Home: o.Look.Home}, cols: o.Width, calls: map[string]*call{},
		in: &lineReader{r: o.In}, left: make(chan struct{})}
	if p.cols <= 0 {
		p.cols = 80
	}
	p.mu.Lock() // events wait until there is a chat that their questions can be answered to
	talk, err := o.Open(p.hear)
	p.talk = talk
	p.mu.Unlock()
	if err != nil {
		return err
	}
	lines := make(chan typed)
	go p.in.read(lines) // ends with the input: a read of a terminal cannot be ended from here
	if err := p.loop(ctx, lines); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.broken
}

// plain is the line renderer. Events come from one goroutine, lines from another.
type plain struct {
	o    Options
	look Look
	cols int
	in   *lineReader
	left chan struct{} // closed when the chat is over, or nobody reads

	mu      sync.Mutex // guards what follows, and the output
	talk    Talker
	calls   map[string]*call
	word    string // of the answer, which may go on
	within  bool   // the cursor stands within a line of the answer
	asked   []approval.Question
	confirm *chat.Confirm
	age     int // of the lines that answer what is asked
	status  chat.Status
	foot    bool      // a turn has ended
	greet   bool      // a new conversation has begun
	waits   time.Time // since when a command runs that could go on in the background; zero: none does
	hinted  bool      // that was said
	over    bool
	broken  error // the output is
}

func (p *plain) loop(ctx context.Context, lines <-chan typed) error {
	var passes <-chan time.Time
	if p.o.Person {
		t := time.NewTicker(time.Second)
		defer t.Stop()
		passes = t.C
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-passes:
			p.wait(now)
		case <-p.left:
			return nil
		case t, ok := <-lines:
			if !ok {
				lines = nil
				p.talk.Submit("/quit")
				break
			}
			p.line(t)
			if p.o.Person {
				break
			}
			if err := p.talk.Rest(ctx); err != nil {
				return nil // ctx has ended
			}
		}
	}
}

// silent is how long a command runs before it is said that it does.
const silent = 5 * time.Second

// wait says once of a command that takes its time what the person can do about it.
func (p *plain) wait(now time.Time) {
	runs := p.talk.Detachable()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !runs:
		p.waits, p.hinted = time.Time{}, false
	case p.waits.IsZero():
		p.waits = now
	case !p.hinted && now.Sub(p.waits) >= silent && len(p.asked) == 0 && p.confirm == nil:
		p.hinted = true
		p.say(paragraph("A command runs. /bg lets it go on in the background, Ctrl-C ends it with the turn.", normal, p.cols, "", "  ")...)
	}
}

// line takes a line: an answer if something is asked, else one for the chat.
func (p *plain) line(t typed) {
	p.mu.Lock()
	p.within = false // the person's Enter has ended it
	var q *approval.Question
	confirm := p.confirm
	if len(p.asked) > 0 {
		q = &p.asked[0]
	}
	if t.age < p.age { // it was written before the question
		q, confirm = nil, nil
	}
	p.mu.Unlock()
	switch {
	case q != nil:
		choice, reason := Word(t.text), ""
		if choice == approval.Deny {
			reason = reasonIn(t.text)
		}
		p.talk.Answer(*q, choice, reason)
	case confirm != nil:
		p.mu.Lock()
		p.confirm = nil
		p.mu.Unlock()
		p.talk.Reply(confirm.ID, confirmWord(confirm, t.text))
	case strings.TrimSpace(t.text) != "":
		p.talk.Submit(t.text)
	}
}

// confirmWord reads the answer to a Confirm.
func confirmWord(c *chat.Confirm, text string) string {
	reply := chat.Cancel
	switch Word(text) {
	case approval.Once:
		reply = chat.Once
	case approval.Always:
		reply = chat.Always
	}
	if !slices.Contains(c.Choices, reply) {
		return chat.Cancel
	}
	return reply
}

// ask puts a question, or refuses it where nobody is there.
func (p *plain) ask(q approval.Question) {
	if !p.o.Person {
		p.say(paragraph("asked, and nobody is there to answer: "+q.Command, normal, p.cols, "", "  ")...)
		p.talk.Answer(q, approval.Deny, "nobody is there to ask")
		return
	}
	p.asked = append(p.asked, q)
	if len(p.asked) == 1 {
		p.put()
	}
}

// put writes the first question. The output stands still until the keyboard was quiet.
func (p *plain) put() {
	q := p.asked[0]
	p.fresh()
	var b strings.Builder
	WriteQuestion(&b, q, p.cols, p.look)
	p.write(b.String())
	p.age = p.in.forget()
	p.write(Ask(q, time.Now()))
	p.within = true
}

func (p *plain) answered(e chat.Answered) {
	for i, q := range p.asked {
		if q.ID != e.ID {
			continue
		}
		t := transcript{look: p.look}
		t.answered(q, e, time.Now())
		p.say(t.entries[0].lines(p.view())...)
		p.asked = append(p.asked[:i:i], p.asked[i+1:]...)
		if i == 0 && len(p.asked) > 0 {
			p.put()
		}
		return
	}
}

func (p *plain) confirmed(e chat.Confirm) {
	if !p.o.Person {
		p.say(paragraph(e.Text, normal, p.cols, "not done, since nobody is there to ask: ", "  ")...)
		p.talk.Reply(e.ID, chat.Cancel)
		return
	}
	c := &panel{confirm: &e}
	p.say(append(append([]line{{}}, c.body(p.cols, p.look)...), line{})...)
	p.age = p.in.forget()
	p.confirm = &e
	p.write(c.ask(time.Now()))
	p.within = true
}

func (p *plain) hear(e chat.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.event(e)
	if _, quit := e.(chat.Quit); (quit || p.broken != nil) && !p.over {
		p.over = true
		close(p.left)
	}
}

func (p *plain) write(s string) {
	if p.broken == nil {
		if _, err := io.WriteString(p.o.Out, s); err != nil {
			p.broken = fmt.Errorf("write: %w", err)
		}
	}
}

// say writes lines of their own.
func (p *plain) say(lines ...line) {
	p.fresh()
	var b strings.Builder
	for _, l := range lines {
		p.look.paint(&b, l)
		b.WriteByte('\n')
	}
	p.write(b.String())
}

// raw writes a piece of an answer.
func (p *plain) raw(s string) {
	if s == "" {
		return
	}
	parts := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i := range parts {
		parts[i] = clean(parts[i])
	}
	p.write(strings.Join(parts, "\n"))
	p.within = !strings.HasSuffix(s, "\n")
}

// fresh begins a new line.
func (p *plain) fresh() {
	word := p.word
	p.word = ""
	p.raw(word)
	if p.within {
		p.write("\n")
		p.within = false
	}
}

func (p *plain) event(e chat.Event) {
	switch e := e.(type) {
	case chat.Opened:
		p.opened(e)
	case chat.Turn:
		p.turn(e.Event)
	case chat.Said:
		if e.Process || !p.o.Person {
			v := p.view()
			v.open = true // there is no key for the rest
			p.say((&said{text: e.Text, files: e.Files, process: e.Process}).lines(v)...)
		}
	case chat.Queued:
		p.say(paragraph(e.Text, normal, p.cols, "waits: ", "  ")...)
	case chat.Asked:
		p.ask(e.Question)
	case chat.Answered:
		p.answered(e)
	case chat.Output:
		p.say((&notice{e.Text, e.Form}).lines(p.view())...)
	case chat.Confirm:
		p.confirmed(e)
	case chat.Shell:
		p.shell(e)
	case chat.Changed:
		p.changed(e.Status)
	case chat.Quit:
		p.fresh()
		if e.ID != "" && !e.Deleted && p.o.Person {
			p.say(plainLine("To go on: hermes chat --resume " + clean(e.ID)))
		}
	}
}

func (p *plain) view() view { return view{cols: p.cols, look: p.look, now: time.Now()} }

func (p *plain) opened(e chat.Opened) {
	if p.greet = p.o.Person && len(e.History) == 0; len(e.History) > 0 {
		p.say(plainLine(number(len(e.History), "message") + " so far."))
	}
}

// changed tells what a status line would show, when it changes what holds.
func (p *plain) changed(s chat.Status) {
	yolo := s.Yolo && !p.status.Yolo
	p.status = s
	if yolo {
		p.say(plainLine(p.look.banner()))
	}
	if p.foot && !s.Busy {
		p.foot = false
		p.say(append(line{{"[", normal}}, append(statusLine(s, p.cols-2, p.look), span{"]", normal})...))
	}
	if p.greet { // now it is known with what
		p.greet = false
		p.say(welcome{&p.status}.lines(p.view())...)
	}
}

func (p *plain) turn(e agent.Event) {
	switch e := e.(type) {
	case agent.Text:
		p.text(e.Text)
	case agent.Began:
		p.calls[e.Call.ID] = &call{id: e.Call.ID, name: e.Call.Name, title: e.Title, args: e.Call.Arguments, began: time.Now()}
	case agent.Ended:
		p.ended(e)
	case agent.Told:
		if c := p.calls[e.ID]; c != nil {
			c.tell(e.Output, "")
		}
	case agent.Thinking, agent.Used:
	case agent.Done:
		p.fresh()
		p.scratch(e)
		p.foot = p.o.Person // once it is known what it took
	default:
		p.scratch(e)
	}
}

// scratch lays out what a transcript says about an event.
func (p *plain) scratch(e agent.Event) {
	t := transcript{look: p.look}
	t.hear(e, time.Now())
	for _, i := range t.entries {
		p.say(i.lines(p.view())...)
	}
}

// text writes a piece of the answer as it is, but for what a terminal would obey.
func (p *plain) text(s string) {
	if !p.within && p.word == "" {
		s = strings.TrimLeft(s, "\n")
	}
	s = p.word + s
	cut := strings.LastIndexAny(s, " \n") + 1
	if len(s)-cut > p.cols { // no word, but text without blanks
		cut = len(s)
	}
	s, p.word = s[:cut], s[cut:] // a word is written whole: something else may come between
	p.raw(s)
}

func (p *plain) ended(e agent.Ended) {
	c := p.calls[e.Call.ID]
	if c == nil {
		c = &call{id: e.Call.ID, name: e.Call.Name, title: agent.Title(e.Call.Arguments)}
	}
	delete(p.calls, e.Call.ID)
	c.end(e)
	v := p.view()
	v.cols = max(v.cols, 40)
	lines := c.lines(v)
	if !p.o.Person && len(lines) > 1 && !c.failed && !c.refused && c.diff == "" {
		lines = lines[:1]
	}
	p.say(lines...)
}

func (p *plain) shell(e chat.Shell) {
	switch {
	case e.Command != "":
		return // the person has just written it
	case e.Text != "":
		for _, l := range printed(e.Text) {
			p.say(plainLine(l))
		}
	}
	if e.Refused != "" {
		p.say(paragraph(e.Refused, bad, p.cols, "", "  ")...)
	} else if e.Ended && e.Summary != "" {
		p.say(plainLine(clean(e.Summary)))
	}
}
