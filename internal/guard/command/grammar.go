package command

// grammarOf returns how a program reads its options, as far as rules depend on it: which ones take the next word.
func grammarOf(name string) grammar {
	switch name {
	case "sudo", "doas":
		return grammar{short: "CDghpRrtTuU", posix: true, long: "close-from chdir group host prompt chroot role type command-timeout other-user user"}
	case "git":
		return grammar{short: "Cc", sub: true, posix: true, long: "git-dir work-tree namespace exec-path super-prefix config-env"}
	case "git commit", "git tag", "git merge", "git stash", "git notes":
		return grammar{short: "mFCc", long: "message file author date cleanup trailer"}
	case "git clean":
		return grammar{short: "e", long: "exclude"}
	case "git push":
		return grammar{short: "o", long: "repo push-option receive-pack exec"}
	case "git checkout", "git switch":
		return grammar{short: "bBcC", long: "orphan conflict pathspec-from-file"}
	case "git restore":
		return grammar{short: "s", long: "source conflict pathspec-from-file"}
	case "git log", "git diff", "git show":
		return grammar{short: "nSGLO", long: "grep author since until after before format output"}
	case "docker", "podman", "nerdctl":
		return grammar{short: "cHl", sub: true, posix: true, loose: true, bools: "D debug tls tlsverify v version r remote syslog trace noout " +
			"transient-store h help",
			long: "config context host log-level tlscacert tlscert tlskey url connection identity root runroot storage-driver storage-opt " +
				"cgroup-manager conmon events-backend hooks-dir module network-config-dir out ssh tmpdir volumepath namespace address"}
	case "docker run", "podman run", "docker exec", "podman exec", "docker create", "podman create":
		return grammar{short: "aceghlmpuvw", posix: true, loose: true, bools: "d i t it P q rm init privileged detach interactive tty read-only quiet"}
	case "docker compose", "podman compose", "docker-compose", "podman-compose":
		return grammar{short: "fp", loose: true, bools: "q quiet verbose debug compatibility dry-run all-resources d v volumes remove-orphans rm " +
			"force-recreate build no-build no-deps",
			long: "file project-name profile env-file project-directory ansi parallel progress"}
	case "kubectl", "oc":
		return grammar{short: "nfsclkLo", long: "namespace context cluster user server filename selector token as as-group kubeconfig request-timeout field-selector output grace-period timeout"}
	case "helm":
		return grammar{short: "n", long: "namespace kube-context kubeconfig timeout"}
	case "hermes":
		return grammar{short: "cp", long: "config profile home"}
	case "find", "gfind":
		return grammar{words: true}
	case "terraform", "tofu", "openssl", "java", "security", "osascript", "diskutil", "newfs":
		return grammar{words: true}
	case "npm", "pnpm":
		return grammar{short: "Cw", long: "prefix workspace registry dir filter tag userconfig globalconfig cache"}
	case "yarn":
		return grammar{long: "cwd registry cache-folder modules-folder use-yarnrc mutex"}
	case "pip", "pip3":
		return grammar{short: "r", long: "python log proxy cache-dir requirement timeout retries cert client-cert trusted-host"}
	case "kill":
		return grammar{short: "snq", long: "signal"}
	case "killall":
		return grammar{short: "snuoyZt", long: "signal user older-than younger-than context ns"}
	case "pkill", "pgrep", "pidof":
		return grammar{short: "gGPstuUFdrn", long: "signal pgroup group parent session terminal euid uid pidfile delimiter older runstates ns nslist cgroup env"}
	case "systemctl":
		return grammar{short: "HMnostpP", long: "host machine lines output state type property root signal kill-who kill-whom job-mode what preset-mode image"}
	case "chmod", "chown", "chgrp":
		return grammar{long: "reference from"}
	case "cp", "mv", "install", "ln":
		return grammar{short: "tSmog", long: "target-directory suffix mode owner group"}
	case "tee", "rm", "rmdir", "unlink", "mkdir", "touch":
		return grammar{short: "mdt", long: "mode reference date"}
	case "sed", "gsed":
		return grammar{short: "efl", long: "expression file line-length"}
	case "grep", "egrep", "fgrep", "rg", "ag", "ack":
		return grammar{short: "efmABCdDgGjtT", long: "regexp file max-count after-context before-context context include exclude exclude-dir include-dir glob iglob type type-not " +
			"pre pre-glob hostname-bin max-depth threads replace sort sortr encoding engine colors ignore ignore-dir pager depth path-to-ignore workers file-search-regex"}
	case "sort":
		return grammar{short: "koStT", long: "compress-program output key buffer-size field-separator temporary-directory files0-from batch-size parallel random-source sort"}
	case "man":
		return grammar{short: "CRLmMsSeEPrp", long: "config-file recode locale systems manpath sections extension encoding pager prompt preprocessor"}
	case "truncate":
		return grammar{short: "sr", long: "size reference"}
	case "shred":
		return grammar{short: "ns", long: "iterations size random-source"}
	case "rsync":
		return grammar{short: "efTBM", long: "rsh exclude include filter exclude-from include-from files-from temp-dir compare-dest copy-dest link-dest bwlimit port " +
			"password-file rsync-path log-file out-format partial-dir backup-dir suffix chmod chown max-size min-size timeout"}
	case "wipefs":
		return grammar{short: "otO", long: "offset types output lock backup"}
	case "sgdisk":
		return grammar{short: "acAbCdeEGIhilLmnNprRsStTuUvx"}
	case "mkswap":
		return grammar{short: "LpUeo", long: "label pagesize uuid endianness offset"}
	case "mkfs":
		return grammar{short: "tL"}
	case "curl":
		return grammar{short: "AbcCdDeEFhHKmMoPQrTtuUwxXyYz", long: "data data-raw data-binary data-urlencode data-ascii json form form-string upload-file header user-agent cookie cookie-jar " +
			"output request url user proxy proxy-user referer cert key cacert config max-time connect-timeout retry range resolve " +
			"write-out interface limit-rate dump-header oauth2-bearer netrc-file unix-socket retry-delay output-dir url-query variable"}
	case "wget":
		return grammar{short: "oOaeiUPtTwQARDIXBl", long: "post-data post-file body-data body-file header output-document output-file append-output execute input-file user-agent " +
			"directory-prefix tries timeout wait user password method referer load-cookies save-cookies"}
	case "launchctl":
		return grammar{short: "loepw", posix: true}
	case "nohup", "setsid", "exec", "command", "builtin", "nice", "time", "env", "timeout", "stdbuf", "xargs", "su", "ssh":
		return grammar{short: launcherShort(name), posix: true}
	case "bash", "sh", "zsh", "ksh", "mksh", "dash", "ash":
		return grammar{short: "oO", long: "rcfile init-file", posix: true, plus: true}
	}
	return grammar{}
}

func launcherShort(name string) string {
	switch name {
	case "exec":
		return "a"
	case "nice":
		return "n"
	case "time":
		return "fo"
	case "env":
		return "aCSu"
	case "timeout":
		return "ks"
	case "stdbuf":
		return "eio"
	case "xargs":
		return "aEdILnPs"
	case "ssh":
		return "bcDEeFIiJLlmOopQRSWw"
	case "su":
		return "cgGsw"
	}
	return ""
}
