package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes/internal/approval"
	"hermes/internal/chat"
)

// guardTime is how long a question stands before keys answer it, and how long the keyboard must have been quiet: what somebody
// was writing when it appeared is no answer.
const guardTime = 600 * time.Millisecond

// panel is a question on the screen: of the approval desk, or before something is destroyed.
type panel struct {
	question approval.Question
	confirm  *chat.Confirm // the other kind
	word     editor        // what is typed as the answer
	armed    bool          // keys answer it
	touched  int           // counts keys that came too early
	scroll   int           // lines that are above
	seen     bool          // its end has been on the screen
	remark   string        // about the last answer
}

// body returns what a question says.
func (p *panel) body(cols int, look Look) []line {
	if p.confirm == nil {
		return question(p.question, cols, look)
	}
	hang := strings.Repeat(" ", len(margin)+14)
	out := wrap(styled(clean(firstRow(p.confirm.Text)), bold|caution), cols, line{{"  " + look.pick("⚠", "!") + "  ", bold | caution}}, plainLine(margin))
	for _, r := range rows(p.confirm.Text)[min(1, len(rows(p.confirm.Text))):] {
		out = append(out, wrap(plainLine(r), cols, plainLine(margin), plainLine(margin))...)
	}
	out = append(out, line{})
	if p.offers(chat.Once) {
		out = append(out, wrap(plainLine(margin+"[o]nce        do it"), cols, nil, plainLine(hang))...)
	}
	if p.offers(chat.Always) {
		out = append(out, wrap(plainLine(margin+"[a]lways      do it, and ask no more before such commands"), cols, nil, plainLine(hang))...)
	}
	return append(out, plainLine(margin+"[c]ancel      (Enter)"))
}

func firstRow(text string) string {
	if r := rows(text); len(r) > 0 {
		return r[0]
	}
	return ""
}

func (p *panel) offers(choice string) bool { return slices.Contains(p.confirm.Choices, choice) }

// ask returns the line in front of the answer.
func (p *panel) ask(now time.Time) string {
	if p.confirm == nil {
		return Ask(p.question, now)
	}
	if p.offers(chat.Always) {
		return "  Choice [o/a/C]: "
	}
	return "  Choice [o/C]: "
}

// window returns the lines of a body that fit into room, and notes when its end has been seen.
func (p *panel) window(body []line, cols, room int, look Look) []line {
	room = max(1, room)
	if len(body) <= room {
		p.scroll, p.seen = 0, true
		return body
	}
	room = max(1, room-1)
	p.scroll = max(0, min(p.scroll, len(body)-room))
	left := len(body) - p.scroll - room
	p.seen = p.seen || left == 0
	out := body[p.scroll : p.scroll+room : p.scroll+room]
	text := margin + look.dots() + " " + number(left, "more line") + ": PgDn reads on"
	if left == 0 {
		text = margin + look.dots() + " " + number(p.scroll, "line") + " above: PgUp"
	}
	return append(out, look.clip(styled(text, caution), cols))
}

// verdict is what came of Enter.
type verdict struct {
	choice approval.Choice
	reason string
	reply  string // to a confirm
}

// enter reads the word that was typed. ok is false if it answers nothing yet.
func (p *panel) enter() (v verdict, ok bool) {
	typed := p.word.value()
	p.remark = ""
	if p.confirm != nil {
		v.reply = chat.Cancel
		switch choice := Word(typed); {
		case choice == approval.Once && p.offers(chat.Once):
			v.reply = chat.Once
		case choice == approval.Always && p.offers(chat.Always):
			v.reply = chat.Always
		}
		return v, true
	}
	v.choice = Word(typed)
	switch {
	case v.choice == approval.Deny:
		v.reason = reasonIn(typed)
		return v, true
	case !p.question.Offers(v.choice):
		p.remark = fmt.Sprintf("%q is not offered for this command", v.choice)
	case !p.seen:
		p.remark = "read it to the end first (PgDn): only then can it be allowed"
	default:
		return v, true
	}
	p.word.clear()
	return verdict{}, false
}
