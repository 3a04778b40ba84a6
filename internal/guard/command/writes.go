package command

import (
	"strings"

	"hermes/internal/guard"
)

// Row 41: redirections into the system's configuration.
func systemWrites() table {
	return table{{
		Key:    "overwrite system config",
		Harms:  guard.Host,
		Match:  redirect((*ctx).isSystemConfig),
		Why:    "changes the system's configuration",
		Remedy: "write it here first: `echo x > ./hosts`",
		Hits:   []string{"echo x > /etc/hosts", "echo x >> /etc/profile", "cd /etc && echo x > hosts", "echo x > /private/etc/sudoers"},
		Passes: []string{"echo x > ./hosts", "cat /etc/hosts", "cat < /etc/passwd > x"},
	}}
}

// Rows 57 to 60: tee and redirections.
func fileWrites() table {
	return table{
		{
			Key:    "overwrite system file via tee",
			Harms:  guard.Host,
			Match:  all(runs("tee"), lands((*ctx).isSensitive)),
			Why:    "changes a file that decides over the machine or the account",
			Remedy: "write it here first: `echo x | tee ./hosts`",
			Hits:   []string{"echo x | tee /etc/hosts", "cat f | sudo tee -a ~/.ssh/authorized_keys", "echo x | tee $HERMES_HOME/.env", "echo x | tee ~/.bashrc"},
			Passes: []string{"echo x | tee ./hosts", "make 2>&1 | tee build.log", "tee /tmp/out"},
		},
		{
			Key:    "overwrite system file via redirection",
			Harms:  guard.Host,
			Match:  redirect((*ctx).isSensitive),
			Why:    "changes a file that decides over the machine or the account",
			Remedy: "write it here first: `echo x > ./hosts`",
			Hits:   []string{"echo x > ~/.bashrc", "cat key >> ~/.ssh/authorized_keys", "echo x > ~/.hermes/config.yaml", "echo x >> $HOME/.netrc", "echo x > /etc/hosts"},
			Passes: []string{"echo x > ./hosts", "cat ~/.bashrc", "echo x > /tmp/not-home/.bashrc"},
		},
		{
			Key:    "overwrite project env/config via tee",
			Harms:  guard.Work,
			Match:  all(runs("tee"), lands((*ctx).isProjectConfig)),
			Why:    "changes the project's secrets or configuration",
			Remedy: "write an example file: `printenv | tee env.example`",
			Hits:   []string{"printenv | tee .env.local", "echo x | tee -a deploy/config.yaml", "printenv | tee .env backup"},
			Passes: []string{"printenv | tee env.example", "printenv | tee .env#backup"},
		},
		{
			Key:    "overwrite project env/config via redirection",
			Harms:  guard.Work,
			Match:  redirect((*ctx).isProjectConfig),
			Why:    "changes the project's secrets or configuration",
			Remedy: "write an example file: `echo X= > env.example`",
			Hits:   []string{"echo SECRET=1 >> .env", "echo a > deploy/config.yaml", "echo x > .env.production"},
			Passes: []string{"echo X= > env.example", "cat .env > backup.txt", "echo x > config.yaml.bak", "echo x > .env#backup", "echo x > config.yaml#backup"},
		},
	}
}

// Rows 82 to 84: copies and moves.
func copies() table {
	copiers := func() match { return runs("cp", "mv", "install", "ln", "rsync", "scp") }
	return table{
		{
			Key:    "copy/move file into system config path",
			Harms:  guard.Host,
			Match:  all(copiers(), either(lands((*ctx).isSystemConfig), all(runs("mv"), operand((*ctx).isSystemConfig)))),
			Why:    "changes the system's configuration",
			Remedy: "copy out of it, not into it: `cp /etc/hosts ./hosts`",
			Hits:   []string{"cp my.conf /etc/app.conf", "mv evil /private/etc/ssh/sshd_config", "install -m 600 -t /etc x", "ln -sf x /etc/localtime", "mv /etc/hosts ./hosts"},
			Passes: []string{"cp /etc/hosts ./hosts", "cp a b", "install -m 755 x /usr/local/bin/x"},
		},
		{
			Key:    "overwrite project env/config file",
			Harms:  guard.Work,
			Match:  all(copiers(), lands((*ctx).isProjectConfig)),
			Why:    "changes the project's secrets or configuration",
			Remedy: "copy to another name: `cp .env env.backup`",
			Hits:   []string{"cp template.env .env", "mv config.yaml deploy/", "install -m 600 t .env.production", "cp .env.local .env"},
			Passes: []string{"cp .env env.backup", "cp a b"},
		},
		{
			Key:    "copy/move file into sensitive credential/SSH/shell-rc path",
			Harms:  guard.Host,
			Match:  all(copiers(), lands((*ctx).isSensitive)),
			Why:    "changes a file that decides over the machine or the account",
			Remedy: "copy out of it, not into it: `cp ~/.bashrc ./bashrc`",
			Hits:   []string{"cp id_rsa ~/.ssh/authorized_keys", "mv x ~/.bashrc", "cp /tmp/evil.yaml ~/.hermes/config.yaml", "cp authorized_keys ~/.ssh/", "ln -sf x ~/.zshrc"},
			Passes: []string{"cp ~/.bashrc ./bashrc", "cp ~/.ssh/config /tmp/x", "cp a b"},
		},
	}
}

// Rows 85 to 92: edits in place.
func edits() table {
	sed := func(long bool, is place) match {
		if long {
			return all(runs("sed"), flag("--in-place"), lands(is))
		}
		return all(runs("sed"), flag("-i", "-I", "--in-place"), lands(is))
	}
	perl := func(is place) match { return all(runs("perl", "ruby"), lands(is)) }
	row := func(key string, m match, file string, long bool, prog string) Rule {
		hit := prog + " -i 's/a/b/' " + file
		if long {
			hit = prog + " --in-place 's/a/b/' " + file
		}
		if prog == "perl" {
			hit = "perl -i -pe 's/a/b/' " + file
		}
		return Rule{
			Key: key, Harms: guard.Host, Match: m, Why: "changes a file that decides over the machine or the account",
			Remedy: "edit a copy: `cp " + file + " ./copy && sed -i 's/a/b/' ./copy`",
			Hits:   []string{hit, "sudo " + hit},
			Passes: []string{"sed 's/a/b/' " + file, strings.ReplaceAll(hit, file, "./notes.txt"), "echo \"" + hit + "\""},
		}
	}
	return table{
		row("in-place edit of sensitive credential/SSH/shell-rc path", sed(false, (*ctx).isLogin), "~/.bashrc", false, "sed"),
		row("in-place edit of sensitive credential/SSH/shell-rc path (long flag)", sed(true, (*ctx).isLogin), "~/.ssh/config", true, "sed"),
		row("in-place edit of sensitive credential/SSH/shell-rc path (perl/ruby)", perl((*ctx).isLogin), "~/.netrc", false, "perl"),
		row("in-place edit of system config", sed(false, (*ctx).isSystemConfig), "/etc/hosts", false, "sed"),
		row("in-place edit of system config (long flag)", sed(true, (*ctx).isSystemConfig), "/etc/hosts", true, "sed"),
		row("in-place edit of Hermes config/env", sed(false, (*ctx).isHermesFile), "~/.hermes/config.yaml", false, "sed"),
		row("in-place edit of Hermes config/env (long flag)", sed(true, (*ctx).isHermesFile), "~/.hermes/.env", true, "sed"),
		row("in-place edit of Hermes config/env (perl/ruby)", perl((*ctx).isHermesFile), "~/.hermes/config.yaml", false, "perl"),
	}
}
