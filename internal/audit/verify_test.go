package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const first = "audit-000001.jsonl"

// edit changes the lines of a file.
func edit(t testing.TB, dir, name string, change func(lines [][]byte) [][]byte) {
	t.Helper()
	full := filepath.Join(dir, name)
	text, err := os.ReadFile(full)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if err := os.WriteFile(full, bytes.Join(change(lines[:len(lines)-1]), nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

func replaced(i int, old, new string) func([][]byte) [][]byte {
	return func(l [][]byte) [][]byte { l[i] = bytes.Replace(l[i], []byte(old), []byte(new), 1); return l }
}

// What was done to a log of a start and ten records, and what is said about it. Numbers of records begin at 0, lines at 1.
func TestVerifyFinds(t *testing.T) {
	rows := []struct {
		what string
		do   func(t *testing.T, dir string)
		want []string
	}{
		{"nothing", func(*testing.T, string) {}, nil},
		{"a changed record", func(t *testing.T, dir string) { edit(t, dir, first, replaced(3, "allow", "alloW")) },
			[]string{first + ":4: record 3 was changed"}},
		{"a changed first record", func(t *testing.T, dir string) { edit(t, dir, first, replaced(0, "1.2.3", "1.2.4")) },
			[]string{first + ":1: record 0 was changed"}},
		{"a changed last record", func(t *testing.T, dir string) { edit(t, dir, first, replaced(10, `"bytes":7`, `"bytes":8`)) },
			[]string{first + ":11: record 10 was changed: it is not the one that was sealed"}},
		{"a dropped record", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte { return slices.Delete(l, 4, 5) })
		}, []string{first + ":5: record 5 follows record 3: record 4 is missing"}},
		{"two dropped records", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte { return slices.Delete(l, 4, 6) })
		}, []string{first + ":5: record 6 follows record 3: records 4 to 5 are missing"}},
		{"a repeated record", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte { return slices.Insert(l, 5, l[4]) })
		}, []string{first + ":6: record 4 follows record 4: moved or inserted"}},
		{"two swapped records", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte { l[4], l[5] = l[5], l[4]; return l })
		}, []string{first + ":5: record 5 follows record 3: record 4 is missing", first + ":6: record 4 follows record 5: moved or inserted",
			first + ":7: record 6 follows record 4: record 5 is missing"}},
		{"garbage", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte { l[4] = []byte("garbage\n"); return l })
		}, []string{first + ":5: not a record", first + ":5: record 4 was changed"}},
		{"a cut off record", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte { return l[:10] })
		}, []string{first + ":10: the log ends here: record 10 is missing"}},
		{"a cut off tail", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte { return l[:5] })
		}, []string{first + ":5: the log ends here: records 5 to 10 are missing"}},
		{"an emptied log", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte { return nil })
		}, []string{"audit.head: the log ends here: records 0 to 10 are missing"}},
		{"a removed log", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, first)) },
			[]string{"audit.head: the log ends here: records 0 to 10 are missing"}},
		{"a cut in the middle of the last line", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte { l[10] = l[10][:20]; return l })
		}, []string{first + ":10: the log ends here: record 10 is missing"}},
		{"a record added with the right hash", func(t *testing.T, dir string) {
			edit(t, dir, first, func(l [][]byte) [][]byte {
				line, _ := encode(Record{N: 11, Prev: sum(l[10][:len(l[10])-1]), Kind: KindResult, Result: &Result{}})
				return append(l, line)
			})
		}, []string{first + ":12: the log should end with record 10: 1 record too many"}},
		{"a removed head", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, headName)) },
			[]string{"audit.head: missing: records at the end may be missing"}},
		{"a spoiled head", func(t *testing.T, dir string) { edit(t, dir, headName, replaced(0, "count", "Count")) },
			[]string{"audit.head: unreadable: records at the end may be missing"}},
		{"a line without an end of another file", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, segmentName(3)), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{segmentName(3) + ": audit-000002.jsonl is missing"}},
	}
	for _, row := range rows {
		t.Run(row.what, func(t *testing.T) {
			root, dir := folder(t)
			fill(t, begin(t, root, Options{}), 5)
			row.do(t, dir)
			found := []string{}
			for _, p := range verify(t, root).Problems {
				found = append(found, p.String())
			}
			ok := len(found) == len(row.want)
			for i := range min(len(found), len(row.want)) {
				ok = ok && strings.HasPrefix(found[i], row.want[i])
			}
			if !ok {
				t.Errorf("found\n  %s\nwant\n  %s", strings.Join(found, "\n  "), strings.Join(row.want, "\n  "))
			}
		})
	}
}

func TestVerifyFindsMissingFiles(t *testing.T) {
	for _, gone := range []int{1, 2, 3, 4} {
		root, dir := folder(t)
		fill(t, begin(t, root, Options{Size: 900}), 5)
		if r := verify(t, root); r.Files != 4 {
			t.Fatalf("%d files", r.Files)
		}
		if err := os.Remove(filepath.Join(dir, segmentName(gone))); err != nil {
			t.Fatal(err)
		}
		r := verify(t, root)
		if len(r.Problems) == 0 {
			t.Errorf("file %d is gone and nothing is said", gone)
		}
		if want := segmentName(gone) + " is missing"; gone < 4 && !strings.Contains(fmt.Sprint(r.Problems), want) {
			t.Errorf("%v does not say %s", r.Problems, want)
		}
	}
}

func TestVerifyOfNothing(t *testing.T) {
	root, _ := folder(t)
	if r := verify(t, root); r.Records != 0 || len(r.Problems)+len(r.Notes) > 0 {
		t.Errorf("%+v", r)
	}
}

// Whatever byte is changed, wherever, into whatever: it is found. So is every cut.
func FuzzVerifyFindsEveryByte(f *testing.F) {
	root, dir := folder(f)
	fill(f, begin(f, root, Options{Size: 900}), 4)
	files := map[string][]byte{}
	names := []string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil && len(text) > 0 {
			files[e.Name()], names = text, append(names, e.Name())
		}
	}
	f.Add(uint8(0), uint16(0), byte(1))
	f.Add(uint8(1), uint16(511), byte(0x20))
	f.Add(uint8(2), uint16(899), byte(0x80))
	f.Fuzz(func(t *testing.T, which uint8, at uint16, flip byte) {
		if flip == 0 {
			return
		}
		name := names[int(which)%len(names)]
		text := bytes.Clone(files[name])
		pos := int(at) % len(text)
		text[pos] ^= flip
		found(t, files, name, text, fmt.Sprintf("byte %d of %s", pos, name))
		found(t, files, name, files[name][:pos], fmt.Sprintf("%s cut off at %d", name, pos))
	})
}

// found fails if a log in which one file has another text passes.
func found(t *testing.T, files map[string][]byte, name string, text []byte, what string) {
	t.Helper()
	root, dir := folder(t)
	for n, old := range files {
		if n == name {
			old = text
		}
		if err := os.WriteFile(filepath.Join(dir, n), old, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r := verify(t, root); len(r.Problems) == 0 {
		t.Errorf("%s: not found", what)
	}
}

// The same, for every byte there is.
func TestVerifyFindsEveryByte(t *testing.T) {
	root, dir := folder(t)
	fill(t, begin(t, root, Options{}), 2)
	for _, name := range []string{first, headName} {
		full := filepath.Join(dir, name)
		text, err := os.ReadFile(full)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(full, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range text {
			for _, flip := range []byte{1, 0x20, 0x80} {
				if _, err := f.WriteAt([]byte{b ^ flip}, int64(i)); err != nil {
					t.Fatal(err)
				}
				if r := verify(t, root); len(r.Problems) == 0 {
					t.Errorf("byte %d of %s: not found", i, name)
				}
			}
			if _, err := f.WriteAt([]byte{b}, int64(i)); err != nil {
				t.Fatal(err)
			}
		}
		f.Close()
	}
	if r := verify(t, root); len(r.Problems) > 0 {
		t.Errorf("%+v", r)
	}
}
