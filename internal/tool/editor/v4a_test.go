package editor

import (
	"math/rand/v2"
	"strings"
	"testing"

	"hermes/internal/workspace"
)

const sample = "package a\n\nfunc one() {\n\treturn\n}\n\nfunc two() {\n\treturn\n}\n"

func TestPatchFiles(t *testing.T) {
	for _, row := range []struct {
		name, patch string
		holds       map[string]string // after; what is not named is as before
		err         string
	}{
		{"all at once", `*** Begin Patch
*** Add File: new/n.txt
+one
+
+two
*** Update File: a.go
@@ func two() {
-	return
+	return 2
*** Delete File: gone.txt
*** Update File: old.txt
*** Move to: sub/moved.txt
@@
-old
+new
*** End Patch`, map[string]string{"new/n.txt": "one\n\ntwo\n", "a.go": strings.Replace(sample, "two() {\n\treturn\n", "two() {\n\treturn 2\n", 1),
			"gone.txt": "", "old.txt": "", "sub/moved.txt": "new\n"}, ""},
		{"move alone", "*** Begin Patch\n*** Move File: old.txt -> x.txt\n*** End Patch", map[string]string{"old.txt": "", "x.txt": "old\n"}, ""},
		{"move onto another", "*** Begin Patch\n*** Move File: old.txt -> a.go\n*** End Patch", nil, "there is a file of that name"},
		{"add over another", "*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch", nil, "there is a file of that name"},
		{"the second does not fit", "*** Begin Patch\n*** Update File: old.txt\n-old\n+new\n*** Update File: a.go\n@@\n-func thre() {\n+x\n*** End Patch", nil,
			"its lines are not in the file. The nearest place is line"},
		{"one is protected", "*** Begin Patch\n*** Delete File: old.txt\n*** Add File: ~/.ssh/authorized_keys\n+k\n*** End Patch", nil, "protected system/credential file"},
		{"a secret is not moved out", "*** Begin Patch\n*** Move File: .env -> env.txt\n*** End Patch", nil, "secret-bearing"},
		{"twice the same file", "*** Begin Patch\n*** Update File: old.txt\n-old\n+a\n*** Update File: ./old.txt\n-old\n+b\n*** End Patch", nil, "named twice"},
		{"not clear", "*** Begin Patch\n*** Update File: a.go\n@@\n-\treturn\n+\treturn 1\n*** End Patch", nil, "there more than once (lines 4, 8)"},
		{"two anchors", "*** Begin Patch\n*** Update File: a.go\n@@ package a\n@@ func one() {\n \treturn\n+\t// end\n*** End Patch",
			map[string]string{"a.go": strings.Replace(sample, "\treturn\n", "\treturn\n\t// end\n", 1)}, ""},
		{"anchor said again", "*** Begin Patch\n*** Update File: a.go\n@@ func two() {\n func two() {\n-\treturn\n*** End Patch",
			map[string]string{"a.go": strings.Replace(sample, "two() {\n\treturn\n", "two() {\n", 1)}, ""},
		{"end of file", "*** Begin Patch\n*** Update File: a.go\n@@\n \treturn\n }\n+// end\n*** End of File\n*** End Patch", map[string]string{"a.go": sample + "// end\n"}, ""},
		{"not the end", "*** Begin Patch\n*** Update File: a.go\n@@\n package a\n+x\n*** End of File\n*** End Patch", nil, "do not end the file"},
		{"only adds", "*** Begin Patch\n*** Update File: a.go\n@@\n+x\n*** End Patch", nil, "does not say where"},
		{"adds behind an anchor", "*** Begin Patch\n*** Update File: a.go\n@@ package a\n+x\n*** End Patch", map[string]string{"a.go": strings.Replace(sample, "a\n", "a\nx\n", 1)}, ""},
		{"backwards", "*** Begin Patch\n*** Update File: a.go\n@@\n-func two() {\n+func 2() {\n@@\n-func one() {\n+func 1() {\n*** End Patch", nil, "not in the file from line 8 on"},
		{"missing file", "*** Begin Patch\n*** Update File: none\n@@\n-a\n+b\n*** End Patch", nil, "write none: file does not exist"},
		{"CR LF", "*** Begin Patch\r\n*** Update File: crlf.txt\r\n@@\r\n-two\r\n+2\r\n*** End Patch\r\n", map[string]string{"crlf.txt": "one\r\n2\r\n"}, ""},
		{"mixed ends", "*** Begin Patch\n*** Update File: mixed.txt\n@@\n one\n-two\n+2\n*** End Patch", map[string]string{"mixed.txt": "one\r\n2\n"}, ""},
		{"unended", "*** Begin Patch\n*** Update File: unended.txt\n@@\n-two\n+2\n*** End Patch", map[string]string{"unended.txt": "one\n2"}, ""},
		{"blank lines between", "*** Begin Patch\n\n*** Update File: old.txt\n\n@@\n-old\n+new\n\n*** Delete File: gone.txt\n\n*** End Patch", map[string]string{"old.txt": "new\n", "gone.txt": ""}, ""},
		{"no begin", "*** Update File: a.go\n-x\n*** End Patch", nil, "line 1: the first line is not *** Begin Patch"},
		{"no end", "*** Begin Patch\n*** Delete File: a.go", nil, "line 2: the last line is not *** End Patch"},
		{"nothing", "*** Begin Patch\n*** End Patch", nil, "names no file"},
		{"unified", "*** Begin Patch\n--- a\n+++ b\n*** End Patch", nil, `line 2: "--- a" comes before any file`},
		{"no change", "*** Begin Patch\n*** Update File: a.go\n*** End Patch", nil, "line 2: a.go: the update changes nothing"},
		{"odd line", "*** Begin Patch\n*** Update File: a.go\n@@\nx\n*** End Patch", nil, `line 4: "x": lines of a change begin with`},
		{"unknown", "*** Begin Patch\n*** Rename File: a.go\n*** End Patch", nil, `line 2: "*** Rename File: a.go" is not a line of a patch`},
	} {
		t.Run(row.name, func(t *testing.T) {
			files := map[string]string{"a.go": sample, "old.txt": "old\n", "gone.txt": "gone\n", ".env": "T=1\n", "crlf.txt": "one\r\ntwo\r\n",
				"mixed.txt": "one\r\ntwo\n", "unended.txt": "one\ntwo"}
			b := newBench(t, files)
			_, err := b.call(Patch{b.o}, "mode", "patch", "patch", row.patch)
			if row.err == "" && err != nil || row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) {
				t.Errorf("%v, want %q", err, row.err)
			}
			after := map[string]string{"new/n.txt": "", "x.txt": "", "env.txt": "", "sub/moved.txt": ""}
			for name, text := range files {
				after[name] = text
			}
			for name, text := range row.holds {
				after[name] = text
			}
			for name, text := range after {
				b.holds(name, text)
			}
			if err == nil {
				ok(t, b.o.Workspace.Undo(t.Context(), b.done...))
				for name, text := range files {
					b.holds(name, text)
				}
			}
		})
	}
}

// asPatch writes the way from one text to another as the hunks of a patch, with all lines around.
func asPatch(before, after string) hunk {
	diff, _, _ := workspace.Unified("a", "b", before, after)
	var h hunk
	// The unified form shows three lines around; what is between is taken from the text, so that a hunk is the whole file.
	old := strings.Split(strings.TrimSuffix(before, "\n"), "\n")
	at := 0
	for _, l := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n")[2:] {
		switch {
		case strings.HasPrefix(l, "@@ "):
			start := 0
			for _, c := range strings.TrimPrefix(l, "@@ -") {
				if c < '0' || c > '9' {
					break
				}
				start = start*10 + int(c-'0')
			}
			first := start - 1
			if strings.Contains(strings.Fields(l)[1], ",0") {
				first = start
			}
			for ; at < first; at++ {
				h.lines = append(h.lines, " "+old[at])
			}
			continue
		case l[0] != '+':
			at++
		}
		h.lines = append(h.lines, l)
	}
	for ; at < len(old); at++ {
		h.lines = append(h.lines, " "+old[at])
	}
	return h
}

func reversed(h hunk) hunk {
	out := hunk{}
	for _, l := range h.lines {
		switch l[0] {
		case '+':
			l = "-" + l[1:]
		case '-':
			l = "+" + l[1:]
		}
		out.lines = append(out.lines, l)
	}
	return out
}

// A difference that is written as a patch and applied gives the other text; the patch the other way round gives the first.
func TestPatchReversed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range 1 + r.IntN(40) {
			b.WriteString([]string{"a", "b", "c", "", "\tx"}[r.IntN(5)] + "\n")
		}
		return b.String()
	}
	for range 3000 {
		before := text()
		lines := strings.SplitAfter(before, "\n")
		for range r.IntN(5) {
			lines[r.IntN(len(lines))] = []string{"", "new\n", "a\n", "b\nc\n"}[r.IntN(4)]
		}
		after := strings.Join(lines, "")
		if after == before || after == "" {
			continue
		}
		h := asPatch(before, after)
		got, err := file{path: "f", hunks: []hunk{h}}.apply(before)
		if err != nil || got != after {
			t.Fatalf("%q to %q by %q: %q, %v", before, after, h.lines, got, err)
		}
		back, err := file{path: "f", hunks: []hunk{reversed(h)}}.apply(got)
		if err != nil || back != before {
			t.Fatalf("%q back to %q by %q: %q, %v", after, before, h.lines, back, err)
		}
	}
}

// printed writes a patch.
func printed(files []file) string {
	var b strings.Builder
	b.WriteString(beginPatch + "\n")
	for _, f := range files {
		b.WriteString([]string{updates: updateFile, adds: addFile, deletes: deleteFile}[f.kind] + f.path + "\n")
		if f.to != "" {
			b.WriteString(moveTo + f.to + "\n")
		}
		for l := range strings.Lines(f.text) {
			b.WriteString("+" + l)
		}
		for _, h := range f.hunks {
			if len(h.anchors) == 0 {
				b.WriteString("@@\n")
			}
			for _, a := range h.anchors {
				b.WriteString("@@ " + a + "\n")
			}
			b.WriteString(strings.Join(h.lines, "\n") + "\n")
			if h.end {
				b.WriteString(endOfFile + "\n")
			}
		}
	}
	return b.String() + endPatch
}

// Whatever is given, reading it does not break down; what was read and is written again reads the same; and a patch that
// applies touches only what it says.
func FuzzPatch(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ x\n-a\n+b\n c\n*** End of File\n*** End Patch", "x\na\nc\n")
	f.Add("*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n*** Move File: c -> d\n*** End Patch", "")
	f.Add("*** Begin Patch\n*** Update File: a\n\n@@\n\n-a\n\n*** End Patch", "\na\r\n")
	f.Fuzz(func(t *testing.T, patch, text string) {
		files, err := parse(patch)
		if err != nil {
			return
		}
		again, err := parse(printed(files))
		if err != nil || printed(again) != printed(files) {
			t.Fatalf("%q is written as %q: %v", patch, printed(files), err)
		}
		for _, one := range files {
			got, err := one.apply(text)
			if err != nil || one.kind != updates {
				continue
			}
			added, deleted := 0, 0
			for _, h := range one.hunks {
				for _, l := range h.lines {
					switch l[0] {
					case '+':
						added++
					case '-':
						deleted++
					}
				}
			}
			count := func(s string) int {
				if s == "" {
					return 0
				}
				return 1 + strings.Count(strings.TrimSuffix(s, "\n"), "\n")
			}
			if count(text)+added-deleted != count(got) && got != "" && got != "\n" {
				t.Fatalf("%q on %q: %d lines became %d, with +%d -%d: %q", patch, text, count(text), count(got), added, deleted, got)
			}
		}
	})
}

func FuzzNearest(f *testing.F) {
	f.Add("a\nb\n", "a\n b")
	f.Fuzz(func(t *testing.T, text, want string) {
		if nearest(text, want) == "" {
			t.Error("it says nothing")
		}
	})
}
