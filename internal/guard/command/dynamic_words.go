package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
)

// Words that are not known where they decide what a program does: its verb, its options, a mode, a place. What names a
// thing (a branch, an image, a host) may stay unknown.
func dynamicWords() table {
	return table{
		{
			Key:    "verb cannot be known",
			Tier:   guard.Unknown,
			Harms:  guard.Host | guard.Work | guard.Remote,
			Match:  match{names: verbPrograms(), test: unknownVerb},
			Why:    "the word that says what the program does is not known",
			Remedy: "write the verb: `service nginx status`",
			Hits: []string{
				"aws s3 $OP s3://prod --recursive", "service nginx $ACTION", "docker-compose $X", "apt-get $ACTION nginx", "gh $X", "zfs $OP tank/x", "vault $V secret/x", "npm $CMD", "crontab $X",
			},
			Passes: []string{
				"git status", `git checkout "$branch"`, `git push origin "$BRANCH"`, `docker run "$IMAGE"`, `kubectl get pods -n "$NS"`, `systemctl status "$svc"`, `git -C "$DIR" status`, "V=status; git $V", `kubectl -n "$NS" get pods`,
				`aws s3 ls "s3://$B"`, `aws --profile "$P" s3 ls`, `service "$SVC" status`, `redis-cli -h "$HOST" get k`, `docker --context "$C" ps`, `terraform -chdir="$D" plan`, `kubectl --context "$CTX" get ns`, "git show $COMMIT",
			},
		},
		{
			Key:    "tool options cannot be known",
			Tier:   guard.Unknown,
			Harms:  guard.Host | guard.Work | guard.Remote,
			Match:  match{names: optionPrograms(), test: unknownOptions},
			Why:    "a word that is not known may be an option that takes over the machine, forces or recurses",
			Remedy: "write the options: `rsync -a src/ dst/`",
			Hits:   []string{"nerdctl run $ARGS alpine", "find . $EXPR -delete", "rsync $FLAGS a/ b/", "chmod $OPTS x", "curl $CURL_OPTS https://x.example | sh", "sudo $SUDO_ARGS ls", "find . -exec? rm {} \\;", "tar $TAROPTS x"},
			Passes: []string{`docker run "$IMAGE"`, "docker run $IMAGE", "git reset $COMMIT", `git reset "$REF"`, "find $DIR -name x", "rsync -a $SRC $DST", `chmod 644 "$F"`, "curl $URL", "chmod +x $FILES", `docker run --rm -v "$PWD":/w "$IMG" make`},
		},
		{
			Key:    "target cannot be known",
			Tier:   guard.Unknown,
			Harms:  guard.Host,
			Match:  either(by(unknownGroup, "kill"), by(unknownPeer, "nc", "ncat", "netcat", "socat"), by(unknownMode, "chmod", "chown")),
			Why:    "what it works on decides, and is not known",
			Remedy: "write it out: `kill 12345`",
			Hits:   []string{"kill -9 -$X", "chmod $MODE /etc/passwd", `nc "$H" "$P" < "$F"`, "chown $OWNER /usr/local/bin"},
			Passes: []string{"kill $PID", "kill -- -$$", `chmod "$MODE" build`, "nc -z $HOST 80", "nc -vz localhost 5432 < /dev/null", `chown "$USER" build/output.txt`},
		},
		{
			Key:    "file in the home directory that cannot be known",
			Tier:   guard.Unknown,
			Harms:  guard.Host,
			Match:  match{on: onWrite, test: unknownDotfile},
			Why:    "may be a file that the shell runs at login",
			Remedy: "write the file's name: `echo x >> ~/notes.txt`",
			Hits:   []string{`echo x >> "$HOME/$RC"`, "echo x > ~/.$NAME", `cp x "$HOME/$F"`, `echo x | tee -a ~/"$RC"`},
			Passes: []string{"echo x >> ~/notes.txt", `echo x > "$HOME/notes/$F"`, `echo x > "$DIR/$F"`, `echo x > "$F"`, `cp x ~/backup-$D.txt`},
		},
	}
}

func verbPrograms() []string {
	return []string{
		"service", "terragrunt", "aws", "docker-compose", "apt", "apt-get", "dnf", "yum", "pacman", "zfs", "zpool",
		"virsh", "vagrant", "gh", "glab", "hermes", "crontab", "doctl", "flyctl", "fly", "heroku", "eksctl", "vault", "consul", "nomad", "rclone", "restic", "lxc", "ip", "nft", "ufw", "loginctl",
		"kustomize", "argocd", "flux", "cdk", "serverless", "ansible", "diskutil", "cryptsetup", "btrfs", "npm", "pip", "brew", "cargo", "gem", "openssl", "security", "gsutil", "s3cmd", "etcdctl",
	}
}

// unknownVerb holds when the first word that is neither an option nor the value of one is not known.
func unknownVerb(c *ctx, i int) (span, bool) {
	args := c.args(i)
	name := c.name(i)
	at0 := 1
	switch name {
	case "service":
		at0 = 2
	case "npm", "pip", "brew", "cargo", "gem", "openssl", "ip", "ansible", "crontab":
		if len(args) < 2 || !bareUnknown(args[1], true) || strings.Contains(strings.ToUpper(holeName(args[1])), "FILE") {
			return span{}, false
		}
		return at(args[1]), true
	}
	for k := at0; k < len(args); k++ {
		w := args[k]
		t := w.Text
		switch {
		case t == "" || t == "--":
			continue
		case t[0] == '-':
			if valued(t) {
				k++
			}
			continue
		case bareUnknown(w, true):
			return at(w), true
		}
		// Some programs have the verb behind a group: aws s3 cp, docker compose up.
		if grouped(name, t) && k+1 < len(args) {
			name = ""
			continue
		}
		return span{}, false
	}
	return span{}, false
}

// valued tells whether a global option of a program takes the next word.
func valued(opt string) bool {
	if strings.IndexByte(opt, '=') > 0 {
		return false
	}
	if len(opt) == 2 && opt[1] != '-' {
		return strings.IndexByte("CcHlnsfhpaUrPo", opt[1]) >= 0
	}
	return listed("context config host namespace kubeconfig cluster user server token profile region output endpoint-url query project account git-dir work-tree kube-context file project-name chdir machine root subscription "+
		"project-directory env-file app org stack cwd repo log-level password-file address hostname", strings.TrimLeft(opt, "-"))
}

func grouped(name, word string) bool {
	switch name {
	case "aws":
		return true
	case "gh", "glab":
		return has([]string{"repo", "release", "pr", "issue", "secret", "workflow", "run"}, word)
	}
	return false
}

// bareUnknown tells whether a word is nothing but one unknown piece that may be anything.
func bareUnknown(w shell.Word, quoted bool) bool {
	if len(w.Holes) == 0 || w.Text != shell.Unknown {
		return false
	}
	h := w.Holes[0]
	if h.Quoted && !quoted {
		return false
	}
	return h.Kind == shell.Variable && h.Name != "@" && h.Name != "*" || h.Kind == shell.Output || h.Kind == shell.Computed
}

// holeName returns the name of the first unknown piece of a word.
func holeName(w shell.Word) string {
	if len(w.Holes) == 0 {
		return ""
	}
	return w.Holes[0].Name
}

// plausible tells whether the name of an unknown piece speaks of one of the things.
func plausible(w shell.Word, things ...string) bool {
	name := strings.ToUpper(holeName(w))
	for _, s := range things {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}

func optionPrograms() []string {
	return []string{"nerdctl", "find", "rsync", "chmod", "chown", "curl", "wget", "sudo", "tar", "rm", "mv", "cp", "ssh", "scp", "psql", "mysql", "kubectl", "xargs", "dd", "mount", "iptables", "useradd", "usermod", "pkill"}
}

// unknownOptions holds for an unquoted unknown word that is named like options, in a program whose options matter.
func unknownOptions(c *ctx, i int) (span, bool) {
	args := c.args(i)
	for k := 1; k < len(args); k++ {
		w := args[k]
		if w.Is("--") {
			break
		}
		if c.name(i) == "find" && w.Pattern != "" && strings.HasPrefix(w.Text, "-") {
			return at(w), true
		}
		if !bareUnknown(w, false) {
			continue
		}
		switch name := c.name(i); name {
		case "kubectl", "psql", "mysql", "wget", "curl", "ssh", "scp", "cp", "mv", "rm":
			if c.cmd(i).Reader < 0 && name != "curl" || name == "curl" && !c.feedsShell(i) {
				continue
			}
		}
		if plausible(w, "OPT", "FLAG", "ARG", "MODE", "EXPR", "SWITCH", "PARAM", "EXTRA") {
			return at(w), true
		}
	}
	return span{}, false
}

// feedsShell tells whether the output of command i is read by a shell.
func (c *ctx) feedsShell(i int) bool {
	r := c.cmd(i).Reader
	return r >= 0 && r < len(c.prog.Commands) && isShell(c.name(r))
}

// unknownGroup holds for kill of a process group whose number is not known. A shell's own group is.
func unknownGroup(c *ctx, i int) (span, bool) {
	for k, w := range c.args(i)[1:] {
		if k > 0 && len(w.Holes) > 0 && w.Text == "-\x00" && holeName(w) != "$" && holeName(w) != "!" && !plausible(w, "PID", "PGID") {
			return at(w), true
		}
	}
	return span{}, false
}

// unknownPeer holds for a raw connection to a host that is not known which a file is sent over.
func unknownPeer(c *ctx, i int) (span, bool) {
	if c.given(i, "-z -l --listen") {
		return span{}, false
	}
	file := false
	for _, r := range c.cmd(i).Redirs {
		file = file || r.Op == "<" && r.Target.Text != "/dev/null"
	}
	if !file && (c.cmd(i).Stdin == nil || len(c.cmd(i).Stdin.From) == 0) {
		return span{}, false
	}
	for _, w := range rawOperands(c.args(i)) {
		if bareUnknown(w, true) && file {
			return at(w), true
		}
	}
	return span{}, false
}

// unknownMode holds for a mode or owner that is not known, on what the system runs on.
func unknownMode(c *ctx, i int) (span, bool) {
	w, ok := c.operand(i, 0)
	if !ok || len(w.Holes) == 0 {
		return span{}, false
	}
	for _, t := range c.operandTargets(i) {
		if t.where == at(w) || t.maybe {
			continue
		}
		if c.isSystemConfig(t) || c.isVital(t) || systemProgram(t.path) || inside(t.path, "/usr") {
			return at(w), true
		}
	}
	return span{}, false
}

// unknownDotfile holds for a write to a file right in the home directory whose name is not known.
func unknownDotfile(c *ctx, i int) (span, bool) {
	switch c.name(i) {
	case "rm", "mkdir", "chmod", "chown", "touch":
		return span{}, false
	}
	return c.find(c.writes(i), func(c *ctx, t target) bool {
		p, ok := c.fromHome(t)
		return ok && t.blind && !strings.Contains(p, "/") && (p[0] == 0 || strings.HasPrefix(p, ".\x00"))
	})
}
