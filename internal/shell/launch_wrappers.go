package shell

import "strings"

// processLauncher lists the launchers that change how a process runs: priority, time, limits, signals, output.
func processLauncher(name string) *launcher {
	switch name {
	case "command":
		return &launcher{short: "pvV", query: "v V"}
	case "builtin":
		return &launcher{}
	case "exec":
		return &launcher{short: "a:cl"}
	case "nice":
		return &launcher{short: "n:", long: "adjustment= help version"}
	case "time":
		return &launcher{short: "af:o:pqvV", query: "V", long: "append format= output= portability quiet verbose help version"}
	case "timeout":
		return &launcher{short: "k:s:fpv", skip: 1, long: "kill-after= signal= foreground preserve-status verbose help version"}
	case "timelimit":
		return &launcher{short: "S:s:T:t:pq"}
	case "stdbuf":
		return &launcher{short: "e:i:o:", long: "error= input= output= help version"}
	case "ionice":
		return &launcher{short: "c:n:p:P:u:tVh", query: "p P u pid pgid uid V h",
			long: "class= classdata= pid= pgid= uid= ignore help version"}
	case "chrt":
		return &launcher{short: "T:P:D:abfdeimoprRGvhV", skip: 1, number: true, query: "p pid m max h V",
			long: "all-tasks batch deadline ext fifo idle other rr reset-on-fork sched-runtime= sched-period= sched-deadline= pid " +
				"max verbose help version"}
	case "taskset":
		return &launcher{short: "acphV", skip: 1, query: "p pid h V", long: "all-tasks cpu-list pid help version"}
	case "nohup", "eatmydata", "torify", "torsocks", "catchsegv", "dumb-init", "catatonit",
		"tsp", "nq", "detach", "winpty", "wine", "box64", "box86", "primusrun", "optirun", "gamemoderun", "colormake":
		return &launcher{short: "u:P:a:f:p:L:D:"}
	case "sandbox-exec":
		return &launcher{short: "f:n:p:D:"}
	case "setsid":
		return &launcher{short: "cfwhV", query: "h V", long: "ctty fork wait help version"}
	case "chronic", "ifne":
		return &launcher{short: "env"}
	case "caffeinate":
		return &launcher{short: "dimsut:w:"}
	case "arch":
		return &launcher{short: "e:d:c", long: "x86_64 x86_64h arm64 arm64e i386 arch= e= d= 32 64", single: true, exact: true, env: "e"}
	case "setarch":
		return &launcher{short: "BFILRSTXZhVvp:", skip: 1, query: "h V",
			long: "32bit fdpic-funcptrs short-inode addr-compat-layout addr-no-randomize whole-seconds sticky-timeouts read-implies-exec " +
				"mmap-page-zero 3gb 4gb uname-2.6 verbose list show help version"}
	case "linux32", "linux64", "i386", "x86_64", "i686":
		return &launcher{short: "BFILRSTXZhVv", query: "h V"}
	case "cpulimit":
		return &launcher{short: "l:e:p:P:c:m:ziqvbfkhrs:", query: "h", long: "limit= exe= pid= path= cpu= monitor-forks include-children background " +
			"foreground kill restore signal= lazy verbose quiet help"}
	case "prlimit":
		return &launcher{short: "p:o:c::d::e::f::i::l::m::n::q::r::s::t::u::v::x::y::hV", query: "p pid h V", long: "pid= output= core=? data=? nice=? " +
			"fsize=? sigpending=? memlock=? rss=? nofile=? msgqueue=? rtprio=? stack=? cpu=? nproc=? as=? locks=? rttime=? " +
			"noheadings raw verbose help version"}
	case "choom":
		return &launcher{short: "n:p:hV", query: "p pid h V", long: "adjust= pid= help version"}
	case "numactl":
		return &launcher{short: "i:w:N:C:m:P:p:lasHSt", query: "H s hardware show", long: "interleave= weighted-interleave= cpunodebind= physcpubind= membind= preferred= " +
			"preferred-many= localalloc balancing hardware show shm= shmid= length= offset= help version"}
	case "trickle":
		return &launcher{short: "u:d:w:t:l:n:L:P:svVh", query: "h V"}
	case "softlimit":
		return &launcher{short: "a:c:d:f:l:m:o:p:r:s:t:"}
	case "chpst":
		return &launcher{short: "u:U:e:/:n:l:L:m:d:o:p:f:c:t:C:b:vP012"}
	case "bear", "intercept-build", "scan-build", "ccache", "distcc", "sccache", "icecc", "shx":
		return &launcher{short: "o:j:", long: "output= append verbose help version"}
	case "setlock":
		return &launcher{short: "nNxX", skip: 1}
	case "setuidgid", "envuidgid", "s6-setuidgid", "envdir", "s6-envdir", "argv0", "pgrphack", "fghack", "gosu", "su-exec":
		p := &launcher{skip: 1}
		if name == "gosu" || name == "su-exec" || strings.HasSuffix(name, "setuidgid") {
			p.place = Root
		}
		if name == "pgrphack" || name == "fghack" {
			p.skip = 0
		}
		return p
	case "daemonize":
		return &launcher{short: "ac:e:E:l:o:p:u:v", dir: "c", env: "E", apart: true}
	case "daemon":
		return &launcher{short: "n:N:P:F:u:U:D:e:i:o:l:b:B:a:A:L:M:O:E:I:R:Y:X:c:p:t:T:m:SCrfHsxd", long: "name= pidfile= pidfiles= chroot= chdir= env= user= output= " +
			"stdout= stderr= command= respawn inherit unsafe safe foreground help version", text: "X command", apart: true}
	case "tini", "tini-static":
		return &launcher{short: "p:e:svwgl", query: "version"}
	case "faketime":
		return &launcher{short: "mp:f", skip: 1, long: "exclude-monotonic date-prog= disable-shm help version"}
	case "rlwrap":
		return &launcher{short: "a::b:cC:D:e:f:F:g:H:hiIl:m::M:nN:o::O:p::P:q:rRs:S:t:TuUvw:W::Xz:", query: "h v help version"}
	case "unbuffer":
		return &launcher{short: "p"}
	case "ltrace":
		return &launcher{short: "a:A:bcCD:e:fF:hiI:l:Ln:o:p:rs:Stu:Vw:x:X:", query: "h V", long: "align= config= demangle debug= help indent= library= no-signals " +
			"output= where= version"}
	case "strace":
		return &launcher{short: "a:Abce:CdDE:fFhiI:knNo:O:p:P:qrs:S:tTu:U:vVwxX:yYzZ", query: "h V", env: "E env", long: "columns= output-append-mode summary-only summary detach-on= " +
			"env= trace= abbrev= verbose= raw= signal= status= quiet= fault= inject= kvm= follow-forks output-separately interruptible= output= " +
			"summary-syscall-overhead= attach= trace-path= string-limit= summary-sort-by= user= summary-columns= const-print-style= " +
			"argv0= seccomp-bpf kill-on-exit daemonize=? stack-traces=? relative-timestamps=? absolute-timestamps=? syscall-times=? " +
			"decode-fds=? decode-pids=? tips=? help version"}
	case "valgrind", "callgrind", "helgrind":
		return &launcher{long: "help version", exact: true, short: "hqvd", query: "h help-debug help-dyn-options"}
	case "cgexec", "aa-exec":
		return &launcher{short: "g:p:n:div", long: "sticky profile= namespace= file= debug immediate help"}
	case "runcon":
		return &launcher{short: "ct:u:r:l:", skip: 1, long: "compute type= user= role= range= help version"}
	case "logsave":
		return &launcher{short: "asv", skip: 1}
	case "run-one", "run-this-one", "keep-one-running", "run-one-constantly", "host-spawn", "distrobox-host-exec", "sotruss", "memusage",
		"heaptrack", "rootlesskit", "systemd-socket-activate":
		return &launcher{short: "l:E:d:p:o:F:T:", env: "E setenv", long: "listen= setenv= fdname= net= copy-up= state-dir= mtu= pidns cgroupns utsns ipcns help version"}
	case "uftrace", "samply":
		return &launcher{under: "record|live", short: "d:F:N:D:P:A:R:o:r:", exact: true}
	case "retry", "wait-for-it", "wait-for-it.sh", "wait-for", "dockerize":
		return &launcher{short: "h:p:t:s:d:m:qc:", loose: true, dashes: true}
	case "xvfb-run":
		return &launcher{short: "ae:f:hn:lp:s:w:", query: "h", long: "auto-servernum auto-display error-file= auth-file= server-num= listen-tcp xauth-protocol= server-args= wait= help"}
	}
	if strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") || name == "ld.so" {
		return &launcher{exact: true, query: "list verify list-tunables list-diagnostics",
			long: "list verify inhibit-cache library-path= glibc-hwcaps-prepend= glibc-hwcaps-mask= inhibit-rpath= audit= preload= argv0= help version"}
	}
	return nil
}

// rootLauncher lists the launchers that change who or where in the file system and namespaces a command is.
func rootLauncher(name string) *launcher {
	switch name {
	case "sudo", "sudo-rs", "dzdo", "please":
		return &launcher{short: "ABbC:c:D:Eeg:Hh:iKklNnPp:R:r:SsT:t:U:u:Vv", place: Root, assigns: true, dir: "D chdir",
			query: "e edit K remove-timestamp l list V v validate", shell: "s shell i login",
			long: "askpass background bell chdir= chroot= class= close-from= edit preserve-env=? group= set-home help host= login remove-timestamp " +
				"reset-timestamp list no-update non-interactive preserve-groups prompt= role= stdin shell type= command-timeout= other-user= " +
				"user= version validate"}
	case "doas":
		return &launcher{short: "aC:Lnsu:", place: Root, query: "C L", shell: "s", assigns: true}
	case "pkexec":
		return &launcher{long: "user= disable-internal-agent keep-cwd help version", exact: true, place: Root, bare: true}
	case "run0", "systemd-run":
		p := &launcher{short: "u:p:H:M:E:D:g:C:dPtqrGShiT", query: "h", env: "E setenv", dir: "D chdir working-directory", shell: "S shell",
			later: "on-active on-boot on-startup on-unit-active on-unit-inactive on-calendar path-property socket-property timer-property",
			long: "user system scope unit= property= description= slice= slice-inherit expand-environment= no-block remain-after-exit wait send-sighup " +
				"service-type= uid= gid= group= nice= working-directory= chdir= same-dir setenv= background= pty pty-late pipe quiet json= no-pager " +
				"on-active= on-boot= on-startup= on-unit-active= on-unit-inactive= on-calendar= on-timezone-change on-clock-change " +
				"path-property= socket-property= timer-property= collect shell host= machine= capsule= no-ask-password job-mode= " +
				"ignore-failure shell-prompt-prefix= lightweight= area= via-shell empower help version"}
		if name == "run0" {
			p.place, p.bare = Root, true
			p.long = strings.Replace(p.long, "user ", "user= ", 1)
		}
		return p
	case "systemd-inhibit":
		return &launcher{short: "h", query: "h list", long: "what= who= why= mode= list no-pager no-legend no-ask-password help version"}
	case "systemd-cat":
		return &launcher{short: "ht:p:", query: "h", long: "identifier= priority= stderr-priority= level-prefix= namespace= help version"}
	case "setpriv":
		return &launcher{short: "dhV", query: "d dump h V list-caps", place: Root, exact: false,
			long: "dump nnp no-new-privs ambient-caps= inh-caps= bounding-set= list-caps ruid= euid= rgid= egid= reuid= regid= clear-groups keep-groups " +
				"init-groups groups= securebits= pdeathsig= ptracer= selinux-label= apparmor-profile= landlock-access= landlock-rule= " +
				"seccomp-filter= reset-env help version"}
	case "ip":
		return &launcher{short: "n:f:46", under: "netns exec|vrf exec|net exec", skip: 1, place: Inside, exact: true, single: true, long: "netns= family= rcvbuf="}
	case "arch-chroot":
		return &launcher{short: "hNru:", skip: 1, bare: true, place: Inside}
	case "schroot", "dchroot":
		return &launcher{short: "ac:d:u:pqn:s:o:f:rebV", bare: true, place: Inside, dir: "d directory", query: "V l list i info h",
			long: "all chroot= directory= user= preserve-environment quiet session-name= shell= option= run-session begin-session end-session automatic-session list info config help version"}
	case "chroot":
		return &launcher{long: "groups= userspec= skip-chdir help version", skip: 1, bare: true, place: Inside}
	case "nsenter":
		return &launcher{short: "t:aN:m::u::i::n::p::U::C::T::S:G:eFr::w::W:Zch V", query: "h V", bare: true, place: Inside,
			long: "all target= mount=? uts=? ipc=? net=? net-socket= pid=? user=? user-parent cgroup=? time=? setuid= setgid= preserve-credentials keep-caps " +
				"root=? wd=? wdns= env no-fork join-cgroup follow-context help version"}
	case "unshare":
		return &launcher{short: "m::u::i::n::p::U::C::T::frcR:w:S:G:l:hV", query: "h V", bare: true, place: Inside, dir: "w wd",
			long: "mount=? uts=? ipc=? net=? pid=? user=? cgroup=? time=? mount-proc=? mount-binfmt=? fork map-user= map-group= map-users= map-groups= " +
				"map-root-user map-current-user map-auto map-subids kill-child=? propagation= setgroups= root= wd= setuid= setgid= " +
				"load-interp= owner= keep-caps boottime= monotonic= forward-signals help version"}
	case "fakeroot", "fakeroot-ng", "fakechroot":
		return &launcher{short: "l:i:s:b:uhv", query: "h v", bare: true, long: "lib= faked= save-file= load-file= unknown-is-real fd-base= help version"}
	case "proot":
		return &launcher{short: "r:b:q:w:k:v:0i:S:R:m:p:hV", query: "h V", long: "rootfs= bind= qemu= pwd= cwd= kernel-release= root-id change-id= verbose= help about usage version",
			bare: true, place: Inside, dir: "w pwd cwd"}
	case "firejail":
		return &launcher{short: "c:", text: "c", long: "help version", exact: true, place: Inside, bare: true, query: "list tree top netstats debug-caps"}
	case "bubblejail", "nsjail", "minijail0", "systemd-nspawn":
		p := &launcher{short: "D:i:M:u:bxaqUS:E:M:p:", long: "directory= image= template= machine= uuid= user= bind= bind-ro= tmpfs= setenv= chdir= property= network-interface= " +
			"network-veth boot as-pid2 ephemeral pivot-root= hostname= capability= drop-capability= private-users=? private-network read-only help version",
			place: Inside, env: "E setenv", dir: "chdir"}
		if name != "systemd-nspawn" {
			p.loose, p.dashes = true, true
		}
		return p
	}
	return nil
}
