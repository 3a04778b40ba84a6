package command

import (
	"strings"

	"hermes/internal/guard"
)

// Permissions and owners: rows 30 to 33.
func permissions() table {
	return table{
		{
			Key:    "world/other-writable permissions",
			Harms:  guard.Host,
			Match:  all(runs("chmod"), not(flag("--recursive")), when(openMode)),
			Why:    "lets every user on the machine change the file",
			Remedy: "give only what is needed: `chmod 755 script.sh`",
			Hits:   []string{"chmod 777 x", "chmod -R 666 dir", "chmod o+w x", "chmod a+rwx x", "chmod +w,o+w x", "chmod 0777 /tmp/x", "chmod u+x,a+w f", "chmod 1777 d", "chmod ugo+rwx x"},
			Passes: []string{"chmod 755 script.sh", "chmod +x script.sh", "chmod u+w x", "chmod 644 a o+w.txt", "chmod 600 key", "chmod a+x x", "chmod o-w x", "chmod +w x"},
		},
		{
			Key:    "recursive world/other-writable (long flag)",
			Harms:  guard.Host,
			Match:  all(runs("chmod"), flag("--recursive"), when(openMode)),
			Why:    "lets every user on the machine change all the files",
			Remedy: "give only what is needed: `chmod --recursive u+w build`",
			Hits:   []string{"chmod --recursive 777 dir", "chmod --recursive o+w dir", "chmod --recursive dir 777"},
			Passes: []string{"chmod --recursive u+w build", "chmod -R 777 dir"},
		},
		{
			Key:    "recursive chown to root",
			Harms:  guard.Host,
			Match:  all(runs("chown"), flag("-R"), when(toRoot)),
			Why:    "takes the files away from their owner",
			Remedy: "keep the owner: `chown -R me:me ./build`",
			Hits:   []string{"chown -R root file.txt", "chown -R root:root .", "sudo chown -hR 0:0 x", "chown dir -R root"},
			Passes: []string{"chown -R me:me ./build", "chown root file", "chown -R www-data:www-data public"},
		},
		{
			Key:    "recursive chown to root (long flag)",
			Harms:  guard.Host,
			Match:  all(runs("chown"), flag("--recursive"), when(toRoot)),
			Why:    "takes the files away from their owner",
			Remedy: "keep the owner: `chown --recursive me:me ./build`",
			Hits:   []string{"chown --recursive root file.txt", "chown --recur root x"},
			Passes: []string{"chown --recursive me:me ./build", "chown -R root x"},
		},
	}
}

// openMode holds when a mode among the operands makes files writable for everyone.
func openMode(c *ctx, i int) (span, bool) {
	l := c.line(i)
	for n, k := range l.operands {
		w := c.args(i)[k]
		// The mode is the first operand; a program that is given it later refuses, but people type it so.
		if len(w.Holes) > 0 || n > 0 && !octal(w.Text) {
			continue
		}
		if writableByAll(w.Text) {
			return at(w), true
		}
	}
	return span{}, false
}

func octal(s string) bool {
	for k := range len(s) {
		if s[k] < '0' || s[k] > '7' {
			return false
		}
	}
	return len(s) >= 3 && len(s) <= 5
}

func writableByAll(mode string) bool {
	if octal(mode) {
		return (mode[len(mode)-1]-'0')&2 != 0
	}
	for _, part := range strings.Split(mode, ",") {
		n := strings.IndexAny(part, "+=")
		if n <= 0 || strings.Trim(part[:n], "ugoa") != "" || !strings.ContainsAny(part[:n], "oa") {
			continue
		}
		if strings.Contains(part[n:], "w") {
			return true
		}
	}
	return false
}

func toRoot(c *ctx, i int) (span, bool) {
	for n, w := range c.operands(i) {
		owner, _, _ := cut(strings.ReplaceAll(w.Text, ".", ":"), ':')
		if len(w.Holes) == 0 && (owner == "root" || owner == "0" && n == 0) {
			return at(w), true
		}
	}
	return span{}, false
}
