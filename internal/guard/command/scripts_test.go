package command

import (
	"testing"

	"hermes/internal/guard"
)

// What a text runs out of a file that it has made of others is judged as what these hold, or not known; whichever program makes it.
func TestFilesTheTextMakes(t *testing.T) {
	files := map[string]string{
		"/home/u/p/evil.txt": "rm -rf ~\n", "/home/u/p/good.txt": "ls -l\n", "/home/u/p/mk.txt": "all:\n\trm -rf ~\n", "/home/u/p/run.sh": "make all\n",
	}
	f := Facts{Home: "/home/u", Dir: "/home/u/p", File: func(path string) (string, bool) {
		text, ok := files[path]
		return text, ok
	}}
	for text, want := range map[string]guard.Action{
		"cp evil.txt o.sh; bash o.sh":                      guard.Block,
		"cp evil.txt o.sh && chmod +x o.sh && ./o.sh":      guard.Block,
		"mv evil.txt o.sh; source o.sh":                    guard.Block,
		"ln -s evil.txt o.sh; . ./o.sh":                    guard.Block,
		"ln -sf ../evil.txt d/o.sh; sh d/o.sh":             guard.Block,
		"ln evil.txt o.sh; sh o.sh":                        guard.Block,
		"install -m 755 evil.txt o.sh; ./o.sh":             guard.Block,
		"rsync evil.txt o.sh; sh o.sh":                     guard.Block,
		"dd if=evil.txt of=o.sh; sh o.sh":                  guard.Block,
		"tee o.sh < evil.txt; sh o.sh":                     guard.Block,
		"cat evil.txt | tee o.sh; sh o.sh":                 guard.Block,
		"mkdir d; cp evil.txt d; sh d/evil.txt":            guard.Block,
		"cp -t d evil.txt; sh d/evil.txt":                  guard.Block,
		"cp *.txt d/; sh d/evil.txt":                       guard.Block,
		"cp -r . ../q; sh ../q/evil.txt":                   guard.Block,
		"ln -s . d; sh d/evil.txt":                         guard.Block,
		"cp evil.txt a; mv a b; ln b c; sh c":              guard.Block,
		"sudo cp evil.txt o.sh; sh o.sh":                   guard.Block,
		"bash -c 'cp evil.txt o.sh'; sh o.sh":              guard.Block,
		"echo ls > o.sh; cp evil.txt o.sh; sh o.sh":        guard.Block,
		"cp evil.txt run.sh; ./run.sh":                     guard.Block,
		"cp mk.txt Makefile; make":                         guard.Block,
		"sed s/x/y/ evil.txt > o.sh; sh o.sh":              guard.Ask,
		"sed -i s/make/rm/ run.sh; ./run.sh":               guard.Ask,
		"perl -pi.bak -e s/make/rm/ run.sh; ./run.sh":      guard.Ask,
		"sort -o run.sh evil.txt; ./run.sh":                guard.Ask,
		"patch run.sh fix.diff; ./run.sh":                  guard.Ask,
		"find . -name e\\* -exec cp {} o.sh \\; ; sh o.sh": guard.Ask,
		"cp good.txt o.sh; bash o.sh":                      guard.Allow,
		"cp good.txt o.sh && ls && ./o.sh":                 guard.Allow,
		"sed -i s/x/y/ mk.txt; make -f mk.txt":             guard.Ask,
		"cp -r tools /tmp/t; ls /tmp/t; ./run.sh":          guard.Allow,
		"sed -n 1,5p run.sh; ./run.sh":                     guard.Allow,
		"sed -i s/a/b/ notes.md; ./run.sh":                 guard.Allow,
	} {
		if v := (Policy{}).Check(text, f); v.Action != want {
			t.Errorf("%s: %v (%s), want %v", text, v.Action, v.Rule, want)
		}
	}
}
