package chat

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/agent"
	"hermes/internal/approval"
	"hermes/internal/session"
)

// step does one thing in a chat and says what is to come of it.
type step struct {
	do   func(s *stage)
	what string // the line that is submitted, where do is nil
	want string
}

func line(text, want string) step { return step{what: text, want: want} }

func does(what string, do func(s *stage), want string) step { return step{do, what, want} }

// unordered stands before events whose order is not said: a desk does not wait for who asks once the time is over, nor /stop for the turn.
const unordered = "unordered:"

func sorted(lines string) string {
	all := strings.Split(lines, "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// flow plays steps one after the other.
func flow(t *testing.T, change func(*Options), steps ...step) {
	t.Helper()
	play(t, change, func(s *stage) {
		for _, p := range steps {
			got := ""
			if p.do == nil {
				got = s.does(p.what)
			} else {
				p.do(s)
				got = strings.Join(s.take(), "\n")
			}
			for _, id := range s.ids {
				got = strings.ReplaceAll(got, id, s.name(id))
			}
			if want, ok := strings.CutPrefix(p.want, unordered); ok {
				got, p.want = sorted(got), sorted(want)
			}
			s.want(p.what, got, p.want)
		}
	})
}

func answer(n int, c approval.Choice, reason string) func(*stage) {
	return func(s *stage) { s.chat.Answer(s.asked[n], c, reason) }
}

func reply(id, choice string) func(*stage) { return func(s *stage) { s.chat.Reply(id, choice) } }

func interrupt(s *stage) { s.chat.Interrupt() }

const (
	newAsk  = "confirm Begin a new conversation? This one stays in /sessions. What it was granted ends, and so does what it has left running. [once always cancel]"
	undoAsk = "confirm Take back “hello” and all that followed? What was done to files stays done. [once always cancel]"
	hello   = "said hello\ntext » hello\ndone answered"
	opened2 = "opened #2 []\nplain: A new conversation."
)

// What destroys asks first, once for good, and now and --yes skip that.
func TestConfirms(t *testing.T) {
	t.Run("cancel", func(t *testing.T) {
		flow(t, nil, line("hello", hello), line("/new", newAsk), does("cancel", reply("1", Cancel), "plain: Nothing was changed."), does("too late", reply("1", Once), ""))
	})
	t.Run("any other word", func(t *testing.T) {
		flow(t, nil, line("hello", hello), line("/new", newAsk), does("yes", reply("1", "yes"), "plain: Nothing was changed."))
	})
	t.Run("another line", func(t *testing.T) {
		flow(t, nil, line("hello", hello), line("/reset", newAsk), line("hello", "plain: Nothing was changed.\n"+hello), does("too late", reply("1", Once), ""))
	})
	t.Run("interrupt", func(t *testing.T) {
		flow(t, nil, line("hello", hello), line("/new", newAsk), does("Esc", interrupt, "plain: Nothing was changed."))
	})
	t.Run("another question's answer", func(t *testing.T) {
		flow(t, nil, line("hello", hello), line("/new", newAsk), does("0", reply("0", Once), ""))
	})
	t.Run("once", func(t *testing.T) {
		flow(t, nil, line("hello", hello), line("/new", newAsk), does("once", reply("1", Once), opened2), line("hello", hello), line("/new", newAsk))
	})
	t.Run("always", func(t *testing.T) {
		flow(t, nil, line("hello", hello), line("/undo", undoAsk),
			does("always", reply("1", Always), "plain: It will not ask again: approvals.destructive_slash_confirm is false now.\nopened #1 same []\nedit hello\nplain: Taken back: “hello”. Files are as they were left."),
			line("hello", hello), line("/new", opened2))
	})
	t.Run("always is kept nowhere", func(t *testing.T) {
		flow(t, func(o *Options) { o.Trust = nil }, line("hello", hello), line("/new", strings.Replace(newAsk, "once always", "once", 1)),
			does("always", reply("1", Always), "plain: Nothing was changed."))
	})
	t.Run("always cannot be kept", func(t *testing.T) {
		flow(t, func(o *Options) { o.Trust = func() error { return errors.New("read-only") } }, line("hello", hello), line("/new", newAsk),
			does("always", reply("1", Always), "warning: It will ask again: read-only\n"+opened2))
	})
	t.Run("skipped", func(t *testing.T) {
		for _, word := range []string{"now", "--yes", "-y"} {
			flow(t, nil, line("hello", hello), line("/clear "+word, "opened #2 clear []\nplain: A new conversation."), line("hello", hello),
				line("/undo 1 "+word, "opened #2 same []\nedit hello\nplain: Taken back: “hello”. Files are as they were left."))
		}
	})
	t.Run("nothing to lose", func(t *testing.T) { flow(t, nil, line("/new", opened2)) })
	t.Run("no settings", func(t *testing.T) {
		flow(t, func(o *Options) { o.Confirms = nil }, line("hello", hello), line("/new", newAsk))
	})
	t.Run("processes", func(t *testing.T) {
		flow(t, nil, does("one runs", func(s *stage) { s.left = 1 }, ""), line("/new", newAsk))
	})
}

// Messages during a turn: at its next step, else when it has ended, unless the person ended it.
func TestWhileItWorks(t *testing.T) {
	step := func(s *stage) { s.agents[s.ids[0]].step <- struct{}{} }
	t.Run("steered", func(t *testing.T) {
		flow(t, nil, line("wait", "said wait"), line("also this", "queued also this"), line("/steer and @a.go", "queued and @a.go"),
			does("a step", step, "steered also this\nsteered and @a.go\ntext » wait\ndone answered"))
	})
	t.Run("no step was left", func(t *testing.T) {
		flow(t, nil, line("finish", "said finish"), line("also", "queued also"), line("this", "queued this"),
			does("end", step, "text » finish\ndone answered\nsaid also\n\nthis\ntext » also\n\nthis\ndone answered"))
	})
	t.Run("queued", func(t *testing.T) {
		flow(t, nil, line("wait", "said wait"), line("/queue one", "later one"), line("/q fail", "later fail"),
			does("a step", step, "text » wait\ndone answered\nsaid one\ntext » one\ndone answered\nsaid fail\ndone failed"))
	})
	t.Run("ended by the person", func(t *testing.T) {
		flow(t, nil, line("wait", "said wait"), line("one", "queued one"), line("/queue two", "later two"), does("Esc", interrupt, "done interrupted\nedit one\ntwo"))
	})
	t.Run("nothing to end", func(t *testing.T) {
		play(t, nil, func(s *stage) {
			if s.chat.Interrupt() {
				t.Error("there was nothing")
			}
			s.does("wait")
			if !s.chat.Interrupt() {
				t.Error("there was a turn")
			}
		})
	})
	t.Run("the person's command first", func(t *testing.T) {
		flow(t, nil, line("wait", "said wait"), line("!long", `shell "long" "" ended=false "" ""`),
			does("Esc", interrupt, `shell "" "" ended=true "interrupted" ""`), does("Esc", interrupt, "done interrupted"))
	})
	t.Run("a process tells", func(t *testing.T) {
		tell := func(s *stage) { s.notes <- Notice{Text: "ended\n<what it printed>", Shown: "make ended"} }
		said := "process make ended\ntext » " + agent.Unasked + "ended\n<what it printed>\ndone answered"
		flow(t, nil, does("idle", tell, said), line("wait", "said wait"), does("busy", tell, "queued make ended"),
			does("a step", step, "steered ended\ntext » wait\ndone answered"))
		// What it printed is not given to the person to send, as if it were theirs.
		flow(t, nil, line("wait", "said wait"), does("busy", tell, "queued make ended"), line("mine", "queued mine"),
			does("Esc", interrupt, "done interrupted\nedit mine"))
		flow(t, nil, does("idle", tell, said), line("/undo", "error: /undo: you have said nothing that is still there."))
	})
}

// Turns that nobody asked for do not follow one another without end.
func TestAlone(t *testing.T) {
	tell := func(s *stage) { s.notes <- Notice{Text: "ended", Shown: "ended"} }
	var rows []step
	for i := range mostAlone + 2 {
		want := "process ended\ntext » " + agent.Unasked + "ended\ndone answered"
		switch i {
		case mostAlone:
			want = "process ended\nwarning: 12 turns in a row began because of processes, without a word from you. What they have to tell now waits for your next message."
		case mostAlone + 1:
			want = "process ended"
		}
		rows = append(rows, does("it ends", tell, want))
	}
	rows = append(rows, line("wait", "said wait"), does("a step", func(s *stage) { s.agents[s.ids[0]].step <- struct{}{} }, "steered ended\nsteered ended\ntext » wait\ndone answered"),
		does("it ends", tell, "process ended\ntext » "+agent.Unasked+"ended\ndone answered"))
	flow(t, nil, rows...)
}

// Questions: answered at the keyboard or by command, by the one they were put to, while they wait.
func TestQuestions(t *testing.T) {
	const asked = "said ask rm -rf x\nasked rm -rf x"
	end := func(text string) string { return "\ntext " + text + "\ntext » ask rm -rf x\ndone answered" }
	t.Run("once", func(t *testing.T) {
		flow(t, nil, line("ask rm -rf x", asked), does("once", answer(0, approval.Once, ""), `answered once by "ada" void=false`+end("user_approved ")), does("twice", answer(0, approval.Once, ""), ""))
	})
	t.Run("deny", func(t *testing.T) {
		flow(t, nil, line("ask rm -rf x", asked), line("/deny not today", `answered deny by "ada" void=false`+end("denied not today")))
	})
	t.Run("approve", func(t *testing.T) {
		flow(t, nil, line("ask rm -rf x", asked), line("/approve", `answered once by "ada" void=false`+end("user_approved ")))
	})
	t.Run("approve always, where it is not offered", func(t *testing.T) {
		flow(t, nil, line("ask rm -rf x", asked), line("/approve always", `error: "always" does not last for this one. /approve lets it run once.`))
	})
	t.Run("another command's answer", func(t *testing.T) {
		flow(t, nil, line("ask rm -rf x", asked), does("wrong sum", func(s *stage) {
			q := s.asked[0]
			q.Sum = "x"
			if s.chat.Answer(q, approval.Once, "") {
				t.Error("it counted")
			}
		}, ""))
	})
	t.Run("another session's answer", func(t *testing.T) {
		flow(t, nil, line("ask rm -rf x", asked), does("wrong session", func(s *stage) {
			q := s.asked[0]
			q.Session = s.agents[s.ids[0]].owner
			q.ID = "other"
			if s.chat.Answer(q, approval.Once, "") {
				t.Error("it counted")
			}
		}, ""))
	})
	t.Run("time", func(t *testing.T) {
		flow(t, nil, line("ask rm -rf x", asked), does("five minutes", func(*stage) { time.Sleep(5*time.Minute + time.Second) }, unordered+`answered deny by "" void=true`+end("timeout ")))
	})
	t.Run("ended turn", func(t *testing.T) {
		flow(t, nil, line("ask rm -rf x", asked), does("Esc", interrupt, unordered+`answered deny by "" void=true`+end("cancelled ")))
	})
}

// YOLO is the conversation's, is kept with it, and ends where another begins, unless it was asked for at the start.
func TestYolo(t *testing.T) {
	on, off := "warning: "+yoloOn, "plain: "+yoloOff
	yes := "said ask rm -rf x\ntext yolo \ntext » ask rm -rf x\ndone answered"
	t.Run("toggle", func(t *testing.T) {
		flow(t, nil, line("/yolo", on), line("ask rm -rf x", yes), line("/yolo", off), line("ask rm -rf x", "said ask rm -rf x\nasked rm -rf x"))
	})
	t.Run("by name", func(t *testing.T) {
		flow(t, nil, line("/yolo off", "plain: YOLO is off already."), line("/yolo on", on), line("/yolo on", "plain: YOLO is on already."),
			line("/yolo maybe", "error: Write /yolo, /yolo on or /yolo off. YOLO is on."), line("/yolo OFF", off))
	})
	t.Run("kept", func(t *testing.T) {
		flow(t, nil, line("/yolo", on), line("hello", hello), line("/new now", opened2), line("ask rm -rf x", "said ask rm -rf x\nasked rm -rf x"), line("/deny", "answered deny by \"ada\" void=false\ntext denied \ntext » ask rm -rf x\ndone answered"),
			does("resume", func(s *stage) { s.chat.Submit("/resume " + s.ids[0]) }, `opened #1 clear ["hello" "» hello"]`), line("ask rm -rf x", yes),
			does("status", func(s *stage) {
				if !s.chat.Status().Yolo {
					t.Error("the status does not say so")
				}
			}, ""))
	})
	t.Run("at the start", func(t *testing.T) {
		flow(t, func(o *Options) { o.Yolo = true }, line("ask rm -rf x", yes), line("/new now", opened2), line("ask rm -rf x", yes), line("/yolo", off), line("/new now", "opened #3 []\nplain: A new conversation."),
			line("ask rm -rf x", "said ask rm -rf x\nasked rm -rf x"))
	})
	t.Run("of the process", func(t *testing.T) {
		flow(t, func(o *Options) { o.Desk = approval.New(approval.Options{YOLO: true}) },
			line("/yolo", "error: YOLO stays on: it was asked for when Hermes was started. Start it anew without HERMES_YOLO_MODE and --yolo."))
	})
}

// Conversations: taken back, answered once more, left and found again.
func TestConversations(t *testing.T) {
	t.Run("undo", func(t *testing.T) {
		flow(t, nil, line("one", "said one\ntext » one\ndone answered"), line("two @a.go", "said two @a.go with a.go\ntext » two @a.go\n\n[Attached by the person: a.go]\n<a.go>\ndone answered"),
			line("/undo now", "opened #1 same [\"one\" \"» one\"]\nedit two @a.go\nplain: Taken back: “two @a.go”. Files are as they were left."), line("/undo 2 now", "error: /undo: there is one message to take back."))
	})
	t.Run("retry", func(t *testing.T) {
		flow(t, nil, line("hello", hello), line("/retry", "plain: Once more: “hello”\ntext » again hello\ndone answered"), does("stored", func(s *stage) {
			live, err := s.view.Live(context.Background(), s.ids[0])
			if err != nil || len(live) != 2 || live[1].Text != "» again hello" {
				t.Errorf("%v %v", live, err)
			}
		}, ""))
	})
	t.Run("retry goes on", func(t *testing.T) {
		flow(t, nil, line("stop half-way", "said stop half-way\ndone interrupted"), line("/retry", "text » again stop half-way\ndone answered"))
	})
	t.Run("resume", func(t *testing.T) {
		flow(t, nil, line("stop @a.go", "said stop @a.go with a.go\ndone interrupted"), line("/title Stopped", "plain: It is called “Stopped” now."), line("/new now", opened2),
			line("/resume Stopped", "opened #1 clear [\"stop @a.go\"]\nwarning: The last turn was cut off. /retry goes on with it."), line("/resume Stopped", "plain: It is this one."),
			does("nothing is kept of the empty one", func(s *stage) {
				if _, err := s.view.Info(context.Background(), s.ids[1]); !errors.Is(err, session.ErrNone) {
					t.Error(err)
				}
			}, ""))
	})
	t.Run("cannot be opened", func(t *testing.T) {
		flow(t, nil, line("hello", hello), does("", func(s *stage) { s.opens = errors.New("no backend") }, ""), line("/new now", "error: no backend."), line("hello", hello))
	})
	t.Run("quit and delete", func(t *testing.T) {
		flow(t, nil, line("hello", hello), line("/exit --delete", "confirm Delete this conversation for good, and leave? [once always cancel]"), does("once", reply("1", Once), "quit deleted=true #0"),
			does("gone", func(s *stage) {
				if err := s.chat.Close(context.Background()); err != nil {
					t.Error(err)
				}
				if _, err := s.view.Info(context.Background(), s.ids[0]); !errors.Is(err, session.ErrNone) {
					t.Error(err)
				}
			}, ""))
	})
	t.Run("quit and delete in a turn", func(t *testing.T) {
		flow(t, nil, line("wait", "said wait"), line("/quit --delete now", "done interrupted"), does("settled", func(*stage) { time.Sleep(time.Second) }, "quit deleted=true #0"))
	})
	t.Run("background", func(t *testing.T) {
		flow(t, nil, does("begin", func(s *stage) { s.chat.Submit("/bg ask rm -rf x") }, "plain: Background 1 begins, in conversation "+"#2"+". It asks here where it must; /stop ends it.\nasked rm -rf x"),
			line("hello", hello), line("/approve", "answered once by \"ada\" void=false\nplain: Background 1: answered.\nmarkdown: user_approved » ask rm -rf x"))
	})
	t.Run("what runs goes on in the background", func(t *testing.T) {
		play(t, nil, func(s *stage) {
			const none = "error: No command runs that could go on in the background. /background TEXT has something done there."
			s.want("nothing runs", s.does("/bg"), none)
			s.does("wait")
			s.waited = 1
			if !s.chat.Detachable() {
				t.Error("it could not go on")
			}
			s.want("a command runs", s.does("/bg"), "")
			if n := s.chat.Status().Running; n != 1 || s.chat.Detachable() {
				t.Errorf("%d were left running", n)
			}
			s.want("it has been let go", s.does("/background"), none)
		})
	})
	t.Run("background is stopped", func(t *testing.T) {
		flow(t, nil, does("begin", func(s *stage) { s.chat.Submit("/bg wait") }, "plain: Background 1 begins, in conversation #2. It asks here where it must; /stop ends it."), line("/stop", "plain: Ended: 1 in the background.\nplain: Background 1: interrupted by the person."))
	})
}

// Close ends what runs, and nothing is told after it.
func TestClose(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.does("wait")
		s.does("!long")
		s.does("/bg ask rm -rf x")
		for range 2 {
			if err := s.chat.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
		s.take()
		if got := s.does("hello"); got != "" {
			t.Error(got)
		}
	})
}

// What is missing is refused.
func TestNew(t *testing.T) {
	if _, err := New(context.Background(), Options{}); err == nil {
		t.Error("an empty chat was opened")
	}
	play(t, nil, func(s *stage) {
		o := s.chat.o
		o.Open = func(context.Context, Start) (*Talk, error) { return &Talk{}, nil }
		if _, err := New(context.Background(), o); err == nil {
			t.Error("a chat without an agent was opened")
		}
	})
}

// The status is told whenever it is another, and not else.
func TestStatus(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.does("hello")
		s.does("wait")
		s.does("more")
		for i, st := range s.status {
			if i > 0 && st == s.status[i-1] {
				t.Errorf("told twice: %+v", st)
			}
		}
		last := s.chat.Status()
		if want := (Status{ID: s.ids[0], Model: "model-a", Backend: "native", Boundary: true, Dir: "/w", Profile: "default", Context: 110, Limit: 1000, Input: 100, Output: 10, Dollars: 0.5, Priced: true, Busy: true, Queued: 1}); last != want || s.status[len(s.status)-1] != want {
			t.Errorf("%+v, want %+v", last, want)
		}
	})
}

// Who waits for rest waits for the turn, for what was queued behind it, and until all of it was heard.
func TestRest(t *testing.T) {
	play(t, nil, func(s *stage) {
		if err := s.chat.Rest(context.Background()); err != nil {
			t.Error(err)
		}
		s.does("wait")
		s.does("/queue hello")
		rested := make(chan int)
		go func() {
			if err := s.chat.Rest(context.Background()); err != nil {
				t.Error(err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			rested <- len(s.lines)
		}()
		s.take()
		s.agents[s.ids[0]].step <- struct{}{}
		if heard := <-rested; heard != 5 {
			t.Errorf("%d events were heard: %q", heard, s.take())
		}
		ctx, cancel := context.WithCancel(context.Background())
		s.does("wait")
		time.AfterFunc(time.Second, cancel)
		if err := s.chat.Rest(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
