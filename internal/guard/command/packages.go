package command

import (
	"hermes/internal/guard"
)

// chmod +x and run (row 101), and removing packages (rows 104 to 108).
func packages() table {
	const key = "package manager uninstall"
	return table{{
		Key:   key,
		Harms: guard.Work,
		Match: either(
			all(runs("npm"), sub("uninstall|unlink|remove|rm|r|un")),
			all(runs("pnpm"), sub("uninstall|remove|rm|un")),
			all(runs("yarn"), either(sub("uninstall|remove"), sub("global", "uninstall|remove"))),
			all(runs("pip"), sub("uninstall")),
			all(runs("python"), when(pipModule)),
			all(runs("uv"), sub("pip", "uninstall")),
			all(runs("brew"), sub("uninstall|remove|rm")),
		),
		Why:    "takes away a package that others may need",
		Remedy: "list them: `npm ls`",
		Hits: []string{
			"npm r left-pad", "pnpm un -g left-pad", "pip3 uninstall left-pad", "npm --prefix ./app uninstall x", "yarn --cwd ./app remove x", "yarn global remove x",
			"brew rm x", "python -m pip uninstall x",
		},
		Passes: []string{"npm ls", "npm update -g left-pad", "pnpm add x", "yarn install", "brew upgrade x", `echo "pip uninstall foo"`, "pip install x"},
	}}
}

func pipModule(c *ctx, i int) (span, bool) {
	args := c.args(i)
	for k := 1; k+2 < len(args); k++ {
		if args[k].Is("-m") && (args[k+1].Is("pip") || args[k+1].Is("pip3")) {
			return at(args[k+2]), args[k+2].Is("uninstall")
		}
	}
	return span{}, false
}

func madeExecutable() table {
	return table{{
		Key:    "chmod +x followed by immediate execution",
		Harms:  guard.Host,
		Match:  all(runs("chmod"), when(thenRun)),
		Why:    "makes a file a program and runs it at once",
		Remedy: "read it first, then run it as its own command: `chmod +x script.sh`",
		Hits:   []string{"chmod +x script.sh; ./script.sh", "chmod u+x a && ./a --yes", "chmod 755 ./x.sh && ./x.sh"},
		Passes: []string{"chmod +x script.sh", "chmod +x a; ./b", "chmod -x a; ls"},
	}}
}

// thenRun holds when a later command is a file that this chmod makes executable.
func thenRun(c *ctx, i int) (span, bool) {
	l := c.line(i)
	if len(l.operands) < 2 || !executable(c.args(i)[l.operands[0]].Text) {
		return span{}, false
	}
	files := c.operandTargets(i)
	for n := i + 1; n < len(c.prog.Commands) && c.steps <= maxSteps; n++ {
		c.steps++
		args := c.args(n)
		if len(args) == 0 || len(args[0].Holes) > 0 {
			continue
		}
		run := c.resolve(args[0].Text, args[0], c.cmd(n).Dir).path
		if args[0].Text == base(args[0].Text) {
			continue
		}
		for _, f := range files {
			if f.path == run && !(c.facts.Tracked != nil && c.facts.Tracked(run) == Yes) {
				return span{c.cmd(i).Start, c.cmd(n).End}, true
			}
		}
	}
	return span{}, false
}

// executable tells whether a mode lets somebody run the file.
func executable(mode string) bool {
	if octal(mode) {
		return (mode[len(mode)-1]-'0')&1 != 0 || (mode[len(mode)-3]-'0')&1 != 0
	}
	plus := false
	for k := range len(mode) {
		switch mode[k] {
		case '+', '=':
			plus = true
		case '-', ',':
			plus = false
		case 'x', 'X':
			if plus {
				return true
			}
		}
	}
	return false
}
