package command

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/vectortest"
)

// benchRows returns the vector rows of up to 4 kB.
func benchRows(b *testing.B) []string {
	b.Helper()
	var out []string
	for _, file := range []string{"approvals", "approvals_rule_coverage", "lifecycle", "sudo_stdin"} {
		for _, v := range vectortest.Rows[vector](b, filepath.Join("testdata", "vectors", file+".jsonl")) {
			if s := v.text(); len(s) <= 4<<10 {
				out = append(out, s)
			}
		}
	}
	return out
}

// spread reports the median and the 99th percentile of what one row takes, each row's best of a few.
func spread(b *testing.B, rows []string, f func(s string)) {
	took := make([]time.Duration, len(rows))
	for n := 0; b.Loop(); n++ {
		for k, s := range rows {
			start := time.Now()
			f(s)
			if d := time.Since(start); took[k] == 0 || d < took[k] {
				took[k] = d
			}
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/row")
}

func BenchmarkVerdict(b *testing.B) {
	k := Compile(Policy{})
	spread(b, benchRows(b), func(s string) { k.Check(s, Facts{}) })
}

// Benchmark60Regexes is what a guard of the usual kind does: sixty patterns, one after the other.
func Benchmark60Regexes(b *testing.B) {
	var list []*regexp.Regexp
	for _, p := range usualPatterns() {
		list = append(list, regexp.MustCompile(`(?is)`+p))
	}
	spread(b, benchRows(b), func(s string) {
		for _, re := range list {
			re.MatchString(s)
		}
	})
}

// usualPatterns returns sixty patterns in the style such guards use.
func usualPatterns() []string {
	start := `(?:^|[;&|\n]|\$\(|` + "`" + `)\s*(?:sudo\s+(?:-\S+\s+)*)?(?:env\s+(?:\w+=\S*\s+)*)?(?:(?:exec|nohup|setsid|time)\s+)*`
	out := []string{
		`\brm\s+(-\S+\s+)*/`, `\brm\s+-\S*r`, `\brm\s+--recursive\b`, `\bchmod\s+(-\S+\s+)*(777|666|o\+\S*w|a\+\S*w)\b`, `\bchown\s+(-\S+\s+)*-R\s+root`,
		start + `mkfs\b`, start + `dd\s+.*if=`, `>\s*/dev/(sd|hd|nvme)\w+`, `\bDROP\s+(TABLE|DATABASE)\b`, `\bDELETE\s+FROM\b`, `\bTRUNCATE\s+(TABLE\s+)?\w+`, `>\s*/etc/`,
		`\bsystemctl\s+(-\S+\s+)*(stop|restart|disable|mask)\b`, `\bkill\s+-9\s+-1\b`, `\bpkill\s+-9\b`, `\bkillall\s+(-\S+\s+)*-(9|KILL)\b`,
		`:\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:`, `\b(curl|wget)\b.*\|\s*(\S*/)?(ba|z|k|da)?sh\b`, `\b(ba|z|k)?sh\s+<\s*\(\s*(curl|wget)`, `\beval\s+.*\$\(\s*(curl|wget)`,
		`169\.254\.169\.254`, `\bbase64\s+.*-d.*\|\s*(ba)?sh\b`, `\bxxd\s+-r.*\|\s*(ba)?sh\b`, `\becho\b.*\|\s*tr\b.*\|\s*(ba)?sh`, `\bopenssl\b.*-d.*\|\s*(ba)?sh`,
		`\btee\b.*(/etc/|~/\.ssh|\.bashrc)`, `>>?\s*(/etc/|~/\.ssh|\$HOME/\.ssh)`, `\bxargs\s+.*\brm\b`, `\bfind\b.*-exec(dir)?\s+(\S*/)?rm\b`, `\bfind\b.*-delete\b`,
	}
	for _, verb := range []string{
		`docker\s+(-\S+\s+)*(stop|kill|restart)`, `docker\s+compose\s+(-\S+\s+)*down`, `git\s+reset\s+--hard`, `git\s+push\s+.*--force`, `git\s+push\s+.*-f\b`, `git\s+clean\s+-\w*f`,
		`git\s+branch\s+.*-D`, `npm\s+(-\S+\s+)*uninstall`, `pip3?\s+uninstall`, `brew\s+uninstall`, `shutdown\b`, `reboot\b`, `halt\b`, `poweroff\b`, `init\s+[06]\b`, `telinit\s+[06]\b`,
		`systemctl\s+(poweroff|reboot)`, `wipefs\b.*-a`, `shred\b.*/dev/`, `sgdisk\b.*-Z`, `cp\b.*\s/etc/`, `mv\b.*\s/etc/`, `sed\s+.*-i.*/etc/`, `perl\s+.*-i.*\.bashrc`, `sudo\s+.*-S\b`,
		`hermes\s+gateway\s+(stop|restart)`, `launchctl\s+(stop|bootout)`, `python3?\s+-c\b`, `(ba|z)?sh\s+-\w*c\b`, `chmod\s+\+x\b.*[;&|]\s*\./`,
	} {
		out = append(out, start+verb)
	}
	return out
}

func BenchmarkLong(b *testing.B) {
	for _, size := range []int{10_000, 100_000} {
		s := strings.Repeat("echo 'some words' \"$X\" | grep -v x > out.txt; ", size/47)
		b.Run(fmt.Sprintf("%dkB", size/1000), func(b *testing.B) {
			k := Compile(Policy{})
			for b.Loop() {
				k.Check(s, Facts{})
			}
		})
	}
}

func BenchmarkDeny(b *testing.B) {
	rows := benchRows(b)
	for _, n := range []int{0, 10, 1000} {
		var globs []string
		for i := range n {
			globs = append(globs, fmt.Sprintf("%c%c%ctool%d *", 'a'+i%26, 'a'+i/26%26, 'a'+i*7%26, i))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			k := Compile(Policy{Deny: globs})
			for b.Loop() {
				for _, s := range rows {
					k.Check(s, Facts{})
				}
			}
		})
	}
}
