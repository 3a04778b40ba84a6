package shell

import "hermes/internal/shell/code"

// A handoff is one thing a command gives to another program to execute. A command may make several (find with two
// -exec, tar with a checkpoint action). Exactly one of argv, text, code, file and stdin is set.
type handoff struct {
	how     string    // the option or way: "argv", "-c", "-exec", "alias.x", …; shown to the person
	argv    []Word    // a command, run without a shell
	text    *Word     // shell text
	dialect Dialect   // of text, file or stdin
	code    *Word     // program text in lang
	file    *Word     // a script file that is run: by a shell, or in lang when lang is set
	stdin   bool      // the program is read from standard input: shell, or lang when set
	lang    code.Lang // zero with file or stdin means a shell

	args    []Word   // positional parameters: $0, $1, … of text and file
	assigns []Assign // set for the command by the launcher (env X=1 …)
	dir     *Word    // changed to before (env -C, git -C, make -C, docker -w)
	place   Place    // where it runs; Here means where the launcher itself runs
	looped  bool     // once for each of many items (xargs, find, parallel)
	feeds   bool     // the command reads the launcher's standard input (sudo, env, timeout … do; xargs does not)
	defer_  bool     // not now: at a later event (trap, git alias that is only stored)
	guess   bool     // the command is not known to forward; the words only look like a command
}

// sets notes a NAME=value that the launcher sets for the command. A word that is none sets nothing.
func (h *handoff) sets(w Word) {
	if a, ok := w.assignment(); ok {
		h.assigns = append(h.assigns, a)
	}
}

// in notes the directory the launcher changes to.
func (h *handoff) in(w Word) { h.dir = &w }
