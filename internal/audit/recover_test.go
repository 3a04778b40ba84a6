package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a writer finds when it opens a log, what it tells, and what Verify says afterwards: only what a crash can leave is
// forgiven.
func TestRecovery(t *testing.T) {
	raw := func(name, text string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString(text); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
	rows := []struct {
		what  string
		do    func(t *testing.T, dir string)
		marks []Mark
		clean bool // no problem afterwards
	}{
		{"nothing", func(*testing.T, string) {}, nil, true},
		{"a line without an end", raw(first, `{"n":11,"pr`), []Mark{{Damage: Torn, Bytes: 11, File: tornName}}, true},
		{"a new file with nothing in it", raw(segmentName(2), ""), nil, true},
		{"a new file with a line without an end", raw(segmentName(2), `{"n"`), []Mark{{Damage: Torn, Bytes: 4, File: tornName}}, true},
		{"a cut off record", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte { return l[:9] })
		}, []Mark{{Damage: CutOff, Lost: 2}}, false},
		{"a cut in the last line", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte { l[10] = l[10][:20]; return l })
		}, []Mark{{Damage: Torn, Bytes: 20, File: tornName}, {Damage: CutOff, Lost: 1}}, false},
		{"an emptied log", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte { return nil })
		}, []Mark{{Damage: CutOff, Lost: 11}}, false},
		{"a removed log", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, first)) },
			[]Mark{{Damage: CutOff, Lost: 11}}, false},
		{"an added record", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte {
				line, _ := encode(Record{N: 11, Prev: sum(l[10][:len(l[10])-1]), Kind: KindResult, Result: &Result{}})
				return append(l, line)
			})
		}, []Mark{{Damage: Extended, Extra: 1}}, false},
		{"a changed last record", func(t *testing.T, dir string) { edit(t, dir, first, replaced(10, `"bytes":7`, `"bytes":8`)) },
			[]Mark{{Damage: Altered}}, false},
		{"all of it garbage", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte { return [][]byte{[]byte("garbage\n")} })
		}, []Mark{{Damage: Altered}}, false},
		{"a removed head", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, headName)) }, []Mark{{Damage: Unsealed}}, false},
		{"a spoiled head", func(t *testing.T, dir string) { edit(t, dir, headName, replaced(0, "count", "Count")) },
			[]Mark{{Damage: Unsealed}}, false},
	}
	for _, row := range rows {
		// Verify finds more than a writer looks for at every record.
		for _, alive := range []bool{false, true} { // a writer that was open all the time finds the same
			root, dir := folder(t)
			var marks []Mark
			o := Options{Told: func(m Mark) { marks = append(marks, m) }}
			l := begin(t, root, o)
			fill(t, l, 5)
			row.do(t, dir)
			if !alive {
				l.Close()
				l = begin(t, root, o)
			}
			fill(t, l, 1)
			if strings.Contains(row.what, "new file") && alive {
				marks = nil // not noticed before that file is used
				row.marks = nil
			}
			if alive && row.marks != nil && row.marks[0].Damage == Altered && row.what != "all of it garbage" {
				if r := verify(t, root); len(r.Problems) == 0 {
					t.Errorf("%s: Verify finds nothing", row.what) // not noticed at every record; Verify does
				}
				continue
			}
			if diff := cmp.Diff(row.marks, marks); diff != "" {
				t.Errorf("%s, alive %v: %s", row.what, alive, diff)
			}
			r := verify(t, root)
			if (len(r.Problems) == 0) != row.clean {
				t.Errorf("%s, alive %v: problems %v", row.what, alive, r.Problems)
			}
			records := all2(t, root)
			if last := records[len(records)-1]; last.Result == nil || r.Records < 3 {
				t.Errorf("%s: the log does not go on: %+v", row.what, last)
			}
		}
	}
}

// all2 reads what can be read.
func all2(t *testing.T, root *os.Root) []Record {
	out := []Record{}
	for r, err := range Tail(t.Context(), root, Query{Last: -1}) {
		if err == nil {
			out = append(out, r)
		}
	}
	return out
}

// What was torn is kept beside the log.
func TestTornLineIsKept(t *testing.T) {
	root, dir := folder(t)
	l := begin(t, root, Options{})
	fill(t, l, 1)
	for _, part := range []string{`{"half`, `{"more`} {
		f, err := os.OpenFile(filepath.Join(dir, first), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(part); err != nil {
			t.Fatal(err)
		}
		f.Close()
		fill(t, l, 1)
	}
	if kept, err := os.ReadFile(filepath.Join(dir, tornName)); err != nil || !bytes.Equal(kept, []byte("{\"half\n{\"more\n")) {
		t.Errorf("%q, %v", kept, err)
	}
	if r := verify(t, root); len(r.Problems) > 0 || len(r.Notes) != 2 {
		t.Errorf("%+v", r)
	}
}

// A file that stands where the next one is to begin is found before anything is written into it.
func TestRotationIntoAFileThatIsThere(t *testing.T) {
	root, dir := folder(t)
	var marks []Mark
	l := begin(t, root, Options{Size: 1500, Told: func(m Mark) { marks = append(marks, m) }})
	fill(t, l, 1)
	if err := os.WriteFile(filepath.Join(dir, segmentName(2)), bytes.Repeat([]byte("x"), 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 5)
	if diff := cmp.Diff([]Mark{{Damage: Torn, Bytes: 5000, File: tornName}}, marks); diff != "" {
		t.Error(diff)
	}
	if r := verify(t, root); len(r.Problems) > 0 || len(r.Notes) != 1 || r.Files < 2 {
		t.Errorf("%+v", r)
	}
}
