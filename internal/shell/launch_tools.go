package shell

import (
	"strings"

	"hermes/internal/shell/code"
)

// carrier is a row of the table of tools with options whose value is a program to run.
type carrier struct {
	short, long string
	runs        string // those options
	exact       bool
	single      bool
}

func carrierOf(name string) (carrier, bool) {
	switch name {
	case "sort":
		return carrier{runs: "compress-program", short: "bcCdfghik:mMno:rRS:st:T:uVz",
			long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort " +
				"random-source= reverse sort= version-sort batch-size= check=? compress-program= debug files0-from= key= merge output= stable buffer-size= " +
				"field-separator= temporary-directory= parallel= unique zero-terminated help version"}, true
	case "rg":
		return carrier{runs: "pre hostname-bin", exact: true, short: "A:B:C:E:e:f:g:M:m:j:t:T:r:d:",
			long: "pre= hostname-bin= pre-glob= after-context= before-context= context= color= colors= context-separator= dfa-size-limit= encoding= engine= " +
				"field-context-separator= field-match-separator= file= glob= iglob= hyperlink-format= ignore-file= max-columns= max-count= max-depth= maxdepth= max-filesize= " +
				"path-separator= regexp= regex-size-limit= replace= sort= sortr= threads= type= type-not= type-add= type-clear= generate= help version"}, true
	case "ag":
		return carrier{runs: "pager", exact: true, short: "A::B::C::G:m:p:g:W:",
			long: "pager= after=? before=? context=? color-line-number= color-match= color-path= depth= file-search-regex= ignore= ignore-dir= max-count= path-to-ignore= " +
				"path-to-agignore= width= workers= help version"}, true
	case "rsync":
		return carrier{runs: "e rsh", exact: true, short: "e:f:B:M:T:@:",
			long: "rsh= rsync-path= filter= block-size= remote-option= temp-dir= modify-window= exclude= exclude-from= include= include-from= files-from= " +
				"suffix= backup-dir= chmod= chown= usermap= groupmap= max-size= min-size= max-delete= partial-dir= timeout= contimeout= compare-dest= copy-dest= link-dest= " +
				"address= port= sockopts= outbuf= log-file= log-file-format= out-format= password-file= early-input= bwlimit= stop-after= stop-at= write-batch= " +
				"only-write-batch= read-batch= protocol= iconv= checksum-seed= checksum-choice= compress-choice= compress-level= skip-compress= info= debug= stderr= " +
				"copy-as= max-alloc= help version"}, true
	case "split":
		return carrier{runs: "filter", short: "a:b:C:d::x::n:l:et:u",
			long: "suffix-length= additional-suffix= bytes= line-bytes= numeric-suffixes=? hex-suffixes=? elide-empty-files filter= lines= number= separator= unbuffered verbose help version"}, true
	case "cpio":
		return carrier{runs: "rsh-command", short: "E:F:H:I:M:O:R:D:C:",
			long: "rsh-command= pattern-file= file= format= message= owner= directory= io-size= block-size= help version"}, true
	case "tcpdump":
		return carrier{runs: "z postrotate-command", exact: true, short: "B:C:c:E:F:G:i:j:M:r:s:T:V:w:W:y:z:Q:",
			long: "immediate-mode interface= time-stamp-type= time-stamp-precision= postrotate-command="}, true
	}
	return netCarrierOf(name)
}

func netCarrierOf(name string) (carrier, bool) {
	switch name {
	case "wget":
		return carrier{runs: "use-askpass", short: "a:o:e:i:B:t:O:T:w:Q:P:U:l:A:R:D:I:X:",
			long: "use-askpass= use-server-timestamps user= user-agent= execute= output-document= output-file= append-output= input-file= base= tries= timeout= " +
				"header= post-data= post-file= body-data= body-file= method= referer= directory-prefix= ca-certificate= load-cookies= save-cookies= help version"}, true
	case "go":
		return carrier{runs: "exec toolexec vettool", exact: true, single: true,
			long: "exec= toolexec= vettool= C= o= p= run= bench= count= tags= ldflags= gcflags= asmflags= mod= modfile= overlay= pkgdir= timeout= coverprofile= " +
				"cpuprofile= memprofile= f= benchtime= cpu= parallel= shuffle= skip= fuzz= fuzztime= covermode= coverpkg= buildmode= race json v x n"}, true
	case "dpkg":
		return carrier{runs: "pre-invoke post-invoke", exact: true, long: "pre-invoke= post-invoke= root= admindir= instdir= help version"}, true
	case "openvpn":
		return carrier{runs: "up down route-up route-pre-down ipchange tls-verify auth-user-pass-verify client-connect client-disconnect learn-address", exact: true,
			long: "up= down= route-up= route-pre-down= ipchange= tls-verify= auth-user-pass-verify= client-connect= client-disconnect= learn-address= config= dev= remote= " +
				"script-security= cd= log= help version"}, true
	case "nc", "ncat", "netcat":
		return carrier{runs: "e c exec sh-exec", short: "c:e:g:G:i:I:m:M:O:o:p:P:q:s:T:V:w:W:X:x:d:",
			long: "exec= sh-exec= lua-exec= source= source-port= delay= idle-timeout= wait= output= hex-dump= proxy= proxy-type= proxy-auth= max-conns= allow= deny= help version"}, true
	}
	return appCarrierOf(name)
}

// carrying reads tools that run something only because an option, or their input, says so.
func carrying(c *Command) ([]handoff, bool) {
	switch c.Name {
	case "zip":
		return zip(c), false
	case "less", "more", "most":
		return pager(c), false
	case "ed", "red":
		return editor(c), false
	case "hg", "svn":
		return versioned(c)
	case "fzf", "sk":
		return finder(c)
	case "apt", "apt-get", "aptitude":
		return invoked(c), false
	case "socat":
		return relay(c), false
	}
	name := c.Name
	if name == "gsort" || name == "gsplit" {
		name = name[1:]
	}
	k, ok := carrierOf(name)
	if !ok {
		return nil, false
	}
	s := optScan{args: c.Args[1:], short: k.short, long: k.long, exact: k.exact, single: k.single}
	var hs []handoff
	for s.next() {
		switch {
		case s.key == "help" && !s.has, s.key == "version" && !s.has:
			return nil, true
		case s.has && listed(k.runs, s.key):
			if w := s.val; s.key == "exec" && strings.HasPrefix(w.Text, "!") { // mail
				hs = say(hs, "--exec", w.behind(1), systemShell)
				continue
			}
			hs = say(hs, dashed(s.key), s.val, systemShell)
		case s.has && (s.key == "lua-exec" || s.key == "lua-filter" || s.key == "L" && name == "pandoc"):
			w := s.val
			hs = append(hs, handoff{how: dashed(s.key), file: &w, lang: code.Lua})
		case s.has && s.key == "rsync-path":
			w := s.val
			hs = append(hs, handoff{how: "--rsync-path", text: &w, place: Elsewhere})
		}
	}
	return hs, false
}

// man runs its pager and its browser. -H and --html own the next word too, as cautious readers have it.
func man(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], short: "aC:dD::E:e:fhH::IiKkL:lm:M:P:p:r:R:s:S:tT::uVwWX::Z7",
		long: "config-file= debug default warnings=? whatis apropos global-apropos local-file where path location where-cat location-cat recode= encoding= locale= " +
			"systems= manpath= sections= extension= ignore-case match-case regex wildcard names-only all update no-subpages pager= prompt= ascii no-hyphenation " +
			"no-justification preprocessor= troff troff-device=? html=? gxditview=? ditroff catman help usage version"}
	var hs []handoff
	for s.next() {
		switch s.key {
		case "help", "version", "usage", "V", "h":
			return nil, true
		case "P", "pager", "H", "html":
			w := s.val
			if !s.has {
				var ok bool
				if w, ok = s.take(); !ok {
					continue
				}
			}
			hs = say(hs, dashed(s.key), w, systemShell)
		}
	}
	return hs, false
}

const tarLong = "create extract get list append update catenate concatenate delete diff compare test-label file= force-local directory= " +
	"use-compress-program= to-command= checkpoint=? checkpoint-action= info-script= new-volume-script= rsh-command= rmt-command= exclude= exclude-from= " +
	"exclude-tag= exclude-vcs exclude-caches files-from= add-file= blocking-factor= record-size= format= label= listed-incremental= level= incremental " +
	"tape-length= multi-volume volno-file= newer= after-date= newer-mtime= mtime= clamp-mtime owner= group= owner-map= group-map= mode= sort= strip-components= transform= xform= " +
	"starting-file= suffix= backup=? occurrence=? index-file= quoting-style= quote-chars= no-quote-chars= pax-option= warning= hole-detection= totals=? " +
	"gzip gunzip bzip2 xz zstd lzma lzip lzop compress auto-compress no-auto-compress verbose verify wildcards null keep-old-files overwrite one-file-system " +
	"absolute-names dereference preserve-permissions same-owner no-same-owner numeric-owner to-stdout touch unlink-first recursive-unlink interactive " +
	"show-transformed-names xattrs=? acls selinux utc version help usage show-defaults"

// tar runs programs for compression, checkpoints, volumes and members. Its first word may be a bundle without a dash.
func tar(c *Command) ([]handoff, bool) {
	args := c.Args[1:]
	var hs []handoff
	if len(args) > 0 && args[0].Text != "" && args[0].Text[0] != '-' {
		letters := args[0].Text
		args = args[1:]
		for i := range len(letters) {
			if strings.IndexByte("bCfFgHIKLNTVX", letters[i]) < 0 || len(args) == 0 {
				continue
			}
			if letters[i] == 'I' || letters[i] == 'F' {
				hs = say(hs, "-"+letters[i:i+1], args[0], systemShell)
			}
			args = args[1:]
		}
	}
	s := optScan{args: args, short: "b:C:f:F:g:H:I:K:L:N:T:V:X:", long: tarLong}
	for s.next() {
		switch s.key {
		case "help", "version", "usage", "show-defaults":
			return nil, true
		case "I", "use-compress-program", "to-command", "F", "info-script", "new-volume-script", "rsh-command", "rmt-command":
			if s.has {
				hs = say(hs, dashed(s.key), s.val, systemShell)
			}
		case "checkpoint-action":
			if strings.HasPrefix(s.val.Text, "exec=") {
				hs = say(hs, "--checkpoint-action", s.val.behind(len("exec=")), systemShell)
			} else if strings.HasPrefix(s.val.Text, Unknown) {
				hs = say(hs, "--checkpoint-action", s.val, systemShell)
			}
		}
	}
	return hs, false
}

// zip tests the archive with the program behind -TT.
func zip(c *Command) (hs []handoff) {
	for i := 1; i < len(c.Args); i++ {
		t := c.Args[i].Text
		switch {
		case (t == "-TT" || t == "--unzip-command") && i+1 < len(c.Args):
			i++
			hs = say(hs, t, c.Args[i], systemShell)
		case strings.HasPrefix(t, "--unzip-command="):
			hs = say(hs, "--unzip-command", c.Args[i].behind(len("--unzip-command=")), systemShell)
		case strings.HasPrefix(t, "-TT") && len(t) > 3:
			hs = say(hs, "-TT", c.Args[i].behind(3), systemShell)
		}
	}
	return hs
}

// pager reads the commands less and more start with: +!text.
func pager(c *Command) (hs []handoff) {
	for _, w := range c.Args[1:] {
		t := strings.TrimLeft(w.Text, "+")
		if n := len(w.Text) - len(t); n > 0 && strings.HasPrefix(t, "!") {
			hs = say(hs, "+!", w.behind(n+1), systemShell)
		}
	}
	return hs
}

// editor reads ed: an operand !text, and the lines !text on its input.
func editor(c *Command) (hs []handoff) {
	if c.Name == "red" {
		return nil
	}
	for _, w := range c.Args[1:] {
		if strings.HasPrefix(w.Text, "!") {
			hs = say(hs, "!", w.behind(1), systemShell)
		}
	}
	for _, line := range stdinLines(c) {
		t := strings.TrimLeft(line.Text, " \t,.$0123456789;+-")
		for _, mark := range [...]string{"!", "r !", "w !", "e !", "E !", "r!", "w!", "e!"} {
			if strings.HasPrefix(t, mark) {
				hs = say(hs, mark, line.behind(len(line.Text)-len(t)+len(mark)), systemShell)
				break
			}
		}
	}
	return hs
}

// versioned reads the settings of hg and svn that name a program.
func versioned(c *Command) ([]handoff, bool) {
	var hs []handoff
	s := optScan{args: c.Args[1:], exact: true, short: "R:r:m:F:l:e:u:", long: "config= config-option= config-dir= editor-cmd= diff-cmd= diff3-cmd= merge-cmd= ssh= remotecmd= " +
		"cwd= repository= rev= revision= message= file= username= password= help version"}
	if c.Name == "svn" {
		s.short = "r:m:F:l:x:c:"
	}
	for s.next() {
		switch s.key {
		case "help", "version":
			return nil, true
		case "editor-cmd", "diff-cmd", "diff3-cmd", "merge-cmd", "ssh":
			if s.has {
				hs = say(hs, dashed(s.key), s.val, systemShell)
			}
		case "remotecmd":
			w := s.val
			hs = append(hs, handoff{how: "--remotecmd", text: &w, place: Elsewhere})
		case "e":
			if c.Name == "hg" && s.has && (len(c.Args) > 1 && (c.Args[1].Is("clone") || c.Args[1].Is("push") || c.Args[1].Is("pull") || c.Args[1].Is("incoming"))) {
				hs = say(hs, "-e", s.val, systemShell)
			}
		case "config", "config-option":
			name := optionName(s.val.Text)
			v := s.val.behind(len(name) + 1)
			switch {
			case strings.HasPrefix(name, "alias."), strings.HasPrefix(name, "hooks."):
				if strings.HasPrefix(v.Text, "!") {
					v = v.behind(1)
				} else if strings.HasPrefix(name, "alias.") {
					continue
				}
			case name == "ui.editor", name == "ui.ssh", name == "ui.merge", name == "pager.pager", name == "extdiff.cmd", strings.HasPrefix(name, "merge-tools."),
				strings.HasPrefix(name, "extdiff."), strings.HasPrefix(name, "config:helpers:"), strings.HasPrefix(name, "config:tunnels:"):
			default:
				continue
			}
			if v.Text != "" {
				hs = say(hs, name, v, systemShell)
			}
		}
	}
	return hs, false
}

// finder reads fzf: the preview, the source of its list, and the actions of --bind that run something.
func finder(c *Command) ([]handoff, bool) {
	s := optScan{args: c.Args[1:], exact: true, short: "f:q:n:d:m::c:I:", long: "preview= bind= cmd= filter= query= nth= with-nth= delimiter= preview-window= height=? header= prompt= help version"}
	var hs []handoff
	for s.next() {
		switch s.key {
		case "help", "version":
			return nil, true
		case "preview", "c", "cmd":
			if s.has {
				hs = say(hs, dashed(s.key), s.val, systemShell)
			}
		case "bind":
			for _, action := range [...]string{"execute", "execute-silent", "become", "reload", "reload-sync", "transform", "preview"} {
				at := strings.Index(s.val.Text, ":"+action)
				if at < 0 {
					at = strings.Index(s.val.Text, "+"+action)
				}
				if at < 0 || at+len(action)+2 > len(s.val.Text) {
					continue
				}
				if b := s.val.Text[at+1+len(action)]; b != '(' && b != '[' && b != '{' && b != ':' {
					continue
				}
				w := s.val.behind(at + len(action) + 2)
				if t := w.Text; t != "" && strings.IndexByte(")]}", t[len(t)-1]) >= 0 {
					w.Text = t[:len(t)-1]
				}
				hs = say(hs, action, w, systemShell)
			}
		}
	}
	return hs, false
}

// invoked reads apt's settings: hooks named …-Invoke run a text.
func invoked(c *Command) (hs []handoff) {
	s := optScan{args: c.Args[1:], exact: true, short: "o:c:t:", long: "option= config-file= target-release="}
	for s.next() {
		if s.key != "o" && s.key != "option" {
			continue
		}
		name := optionName(s.val.Text)
		low := strings.ToLower(name)
		if !strings.Contains(low, "-invoke") && !strings.Contains(low, "pre-install-pkgs") && low != "dir::bin::dpkg" {
			continue
		}
		if v := s.val.behind(len(name) + 1); v.Text != "" {
			hs = say(hs, strings.TrimRight(name, ":"), v, systemShell)
		}
	}
	return hs
}

// relay reads socat's addresses that start a program.
func relay(c *Command) (hs []handoff) {
	for _, w := range c.Args[1:] {
		kind, rest, ok := strings.Cut(w.Text, ":")
		if !ok {
			continue
		}
		switch strings.ToLower(kind) {
		case "exec", "system", "shell":
			v := w.behind(len(kind) + 1)
			if i := strings.IndexByte(rest, ','); i >= 0 { // options of the address
				n := min(strings.Count(rest[:i], Unknown), len(v.Holes))
				v.Text, v.Holes = v.Text[:i], v.Holes[:n:n]
			}
			hs = say(hs, kind, v, systemShell)
		}
	}
	return hs
}
