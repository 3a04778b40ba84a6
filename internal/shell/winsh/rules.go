package winsh

import (
	"slices"
	"strings"
)

// Hit is a rule that commands meet.
type Hit struct {
	Key        string
	Floor      bool // nothing may lift it
	Start, End int  // byte span in the outermost text
}

// Rule is one row of the table. Hits and Passes are texts that must and must not meet it: PowerShell after "PS> ", else cmd.
type Rule struct {
	Key    string
	Harm   string // "host", "work", "remote" or "leak"
	Floor  bool
	Remedy string
	Hits   []string
	Passes []string

	names string // the commands it is about, blank-separated; "" for all
	match func(c *Command, x *situation) bool
}

// situation is what a command alone does not show.
type situation struct {
	from    *Command // the command whose output is piped in, nil for none
	via     string   // the interpreter whose program this is: "cmd", "powershell", "exec", ""
	cwd     string   // where the text has moved to; "" for where it started, "?" when that is not known
	fetched []string // files downloaded earlier in the text
}

// Table is all rules in the order in which a text's hits are reported.
func Table() []Rule { return slices.Clone(table().rules) }

// Rules lists the rules that commands of Parse or Argv meet, in table order, each at most once per command.
func Rules(cmds []Command) []Hit {
	r := run{index: table()}
	r.list(cmds, situation{})
	slices.SortStableFunc(r.found, func(a, b found) int {
		if a.row != b.row {
			return a.row - b.row
		}
		return a.Start - b.Start
	})
	out := make([]Hit, 0, len(r.found))
	for _, f := range r.found {
		if n := len(out); n > 0 && out[n-1] == f.Hit {
			continue
		}
		out = append(out, f.Hit)
	}
	return out
}

type found struct {
	Hit
	row int
}

type run struct {
	*index
	found []found
}

func (r *run) list(cmds []Command, x situation) {
	for i := range cmds {
		c := &cmds[i]
		x.from = nil
		if i > 0 && cmds[i-1].Pipe {
			x.from = &cmds[i-1]
		}
		y := x
		if c.carried && x.via == "" {
			y.via = "powershell"
		}
		r.rows(r.byName[c.Name], c, &y)
		r.rows(r.any, c, &y)
		for _, n := range c.Nested {
			y.via = n.Shell
			if n.Shell == "exec" && x.via != "" {
				y.via = x.via
			}
			r.list(n.Commands, y)
		}
		x.cwd = moved(c, x.cwd)
		if f := download(c); f != "" && len(x.fetched) < 16 {
			x.fetched = append(x.fetched, programName(f))
		}
	}
}

func (r *run) rows(rows []int, c *Command, x *situation) {
	for _, row := range rows {
		ru := &r.rules[row]
		if ru.match(c, x) {
			r.found = append(r.found, found{Hit{ru.Key, ru.Floor, c.Start, c.End}, row})
		}
	}
}

// moved is the folder after c.
func moved(c *Command, cwd string) string {
	switch c.Name {
	case "cd", "set-location", "pushd", "push-location":
	default:
		if len(c.Name) == 2 && c.Name[1] == ':' { // C: goes to that drive
			return c.Name + `\`
		}
		return cwd
	}
	for _, a := range operands(c, "-path", "-literalpath") {
		if strings.EqualFold(a, "/d") {
			continue
		}
		if _, relative := cleanPath(a); relative && cwd != "" && len(cwd) < 256 {
			return cwd + `\` + a
		} else if relative && strings.Contains(a, "..") {
			return "?"
		} else if relative {
			return cwd
		}
		return a
	}
	return cwd
}

// download is the file a command writes text from the network to.
func download(c *Command) string {
	name := ""
	switch c.Name {
	case "invoke-webrequest", "invoke-restmethod", "curl", "wget", "iwr", "irm":
		if v, ok := param(c.Args, "-outfile"); ok {
			name = v
		} else if v, ok := after(c.Args, "-o"); ok {
			name = v
		} else if v, ok := after(c.Args, "--output"); ok {
			name = v
		}
	case ".downloadfile":
		if len(c.Args) > 1 {
			name = c.Args[1]
		}
	case "start-bitstransfer":
		name, _ = param(c.Args, "-destination")
	case "certutil", "bitsadmin":
		if n := len(c.Args); n > 2 {
			name = c.Args[n-1]
		}
	}
	return name
}

// targets are the paths a deleting command is given, also by a pipe.
func targets(c *Command, x *situation) []string {
	t := operands(c, "-path", "-literalpath")
	if len(c.piped) > 0 {
		t = append(t, c.piped...)
	}
	if x.from != nil && c.Name == "remove-item" {
		switch x.from.Name {
		case "get-childitem", "get-item":
			src := operands(x.from, "-path", "-literalpath")
			if len(src) == 0 {
				src = []string{"."}
			}
			return append(t[:len(t):len(t)], src[0])
		}
	}
	return t
}

func isDelete(c *Command) bool {
	return c.Name == "del" || c.Name == "rd" || c.Name == "remove-item" || c.Name == "erase" || c.Name == "rmdir"
}

// recursive reports whether a delete goes into folders.
func recursive(c *Command, x *situation) bool {
	if hasParam(c, "-recurse", 2) || hasPrefix(c, "/s") || bundle(c) {
		return true
	}
	return x.from != nil && x.from.Name == "get-childitem" && c.Name == "remove-item" && hasParam(x.from, "-recurse", 2)
}

// forced reports whether c has -Force. Cut to -f it is ambiguous, an error, where there is a -Filter too.
func forced(c *Command) bool {
	if strings.HasPrefix(c.Name, "remove-item") {
		return hasParam(c, "-force", 3)
	}
	return hasParam(c, "-force", 2)
}

// bundle reports whether c is rm with short flags of its own: pwsh elsewhere than on Windows runs the program.
func bundle(c *Command) bool {
	return c.Name == "remove-item" && slices.ContainsFunc(c.Args, func(a string) bool {
		return len(a) > 2 && a[0] == '-' && strings.ContainsAny(a, "rR") && strings.Trim(a[1:], "rRfvidI") == ""
	})
}

// deletes reports whether c deletes anything but what is made to be deleted.
func deletes(c *Command, x *situation) bool {
	if !isDelete(c) || hasParam(c, "-whatif", 3) || has(c, "/?") {
		return false
	}
	t := targets(c, x)
	if len(t) == 0 {
		return true
	}
	for _, p := range t {
		if x.from != nil || placeOf(p, x.cwd) != passing {
			return true
		}
	}
	return false
}

// wipes reports whether c deletes a place of kind k and all in it.
func wipes(c *Command, x *situation, k place) bool {
	if !isDelete(c) || hasParam(c, "-whatif", 3) || has(c, "/?") {
		return false
	}
	deep := recursive(c, x)
	for _, t := range targets(c, x) {
		p := placeOf(t, x.cwd)
		if p != k {
			continue
		}
		if deep || k == systemDir && strings.HasSuffix(t, "*") {
			return true
		}
	}
	return false
}

// writes reports whether c changes what one of the words (lower case, with backslashes) is part of.
func writes(c *Command, words ...string) bool {
	contains := func(s string) bool {
		s = strings.ToLower(strings.ReplaceAll(s, "/", `\`))
		for _, w := range words {
			if strings.Contains(s, w) {
				return true
			}
		}
		return false
	}
	if slices.ContainsFunc(c.Writes, contains) {
		return true
	}
	switch c.Name {
	case "reg":
		return (verb(c) == "add" || verb(c) == "import" || verb(c) == "copy" || verb(c) == "restore") && slices.ContainsFunc(c.Args, contains)
	case "set-itemproperty", "new-itemproperty", "new-item", "set-item", "set-content", "add-content", "out-file", "copy-item", "move-item",
		"tee-object", "copy", "move", "xcopy", "robocopy", "mklink", "rename-item":
		return slices.ContainsFunc(c.Args, contains)
	}
	return false
}
