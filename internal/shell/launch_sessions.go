package shell

// sessionLauncher lists the launchers that give a command a terminal, a session, an agent or a repetition.
func sessionLauncher(name string) *launcher {
	switch name {
	case "busybox", "toybox", "sbase-box", "coreutils":
		return &launcher{query: "list list-full install long"}
	case "watch":
		return &launcher{short: "n:bcd::egpq:rs:txwhv", query: "h v", joined: true, split: "x exec", apart: true,
			long: "beep color no-color differences=? errexit chgexit equexit= exec precise no-rerun shotsdir= no-title no-wrap interval= help version"}
	case "script":
		return &launcher{short: "aB:c:deE:fFI:km:o:O:pqrt::T:Vh", query: "h V", skip: 1, text: "c command", bare: true,
			long: "append command= echo= flush force log-in= log-out= log-io= log-timing= logging-format= output-limit= quiet return timing=? " +
				"version help"}
	case "scriptlive":
		return &launcher{short: "c:t:I:T:m:d:Vh", query: "h V", long: "command= timing= log-in= log-timing= maxdelay= divisor= help version", text: "c command"}
	case "dbus-run-session":
		return &launcher{long: "config-file= dbus-daemon= help version"}
	case "dbus-launch":
		return &launcher{long: "auto-syntax binary-syntax close-stderr exit-with-session autolaunch= config-file= csh-syntax sh-syntax help version"}
	case "ssh-agent":
		return &launcher{short: "cDdksTO:a:E:P:t:", query: "k"}
	case "sshpass":
		return &launcher{short: "p:f:d:e::P:vhV", query: "h V"}
	case "proxychains", "proxychains4", "proxychains-ng":
		return &launcher{short: "f:q"}
	case "graftcp", "tsocks", "tun2proxy", "mgraftcp":
		return &launcher{}
	case "xterm", "urxvt", "rxvt", "alacritty", "konsole", "st", "foot", "lxterminal", "xfce4-terminal", "mate-terminal", "terminator", "uxterm":
		return &launcher{short: "e:x:T:t:", from: "e x command execute", single: true, loose: true, dashes: true,
			long: "title= geometry= font= fn= fg= bg= name= working-directory= workdir= config-file= class= e= x= hold command= execute= help version"}
	case "gnome-terminal", "ptyxis", "kgx":
		return &launcher{short: "t:e:x:", from: "x", text: "e command", loose: true, dashes: true,
			long: "title= geometry= working-directory= profile= command= execute= window tab wait help version", dir: "working-directory"}
	case "kitty":
		return &launcher{short: "c:d:o:T:1e", dir: "d directory", long: "config= directory= override= title= class= name= session= hold single-instance start-as= help version"}
	case "dtach":
		return &launcher{short: "A:c:n:N:a:p:r:eEzR"}
	case "abduco":
		return &launcher{short: "e:lfr", skip: 1}
	case "watchexec":
		return &launcher{short: "w:W:e:f:i:F:j:r:s:d:o:E:N:c::1pn", joined: true, env: "E env",
			long: "watch= exts= filter= ignore= on-busy-update= signal= stop-signal= debounce= delay-run= shell= env= project-origin= workdir= help version"}
	case "reflex":
		return &launcher{short: "c:d:g:r:R:G:j:se", loose: true, dashes: true}
	case "onchange":
		return &launcher{loose: true, dashes: true, short: "i:e:p:d:k:j:"}
	case "chokidar":
		return &launcher{short: "c:d:t:i:p:", text: "c command", long: "command= debounce= throttle= ignore= initial polling help version", loose: true, dashes: true}
	case "nodemon":
		return &launcher{short: "x:e:w:i:d:s:C:L:V:q", text: "x exec", loose: true, dashes: true,
			long: "exec= ext= watch= ignore= delay= signal= cwd= config= help version"}
	}
	return nil
}

// devLauncher lists the launchers of tool chains, environments and secret stores.
func devLauncher(name string) *launcher {
	switch name {
	case "poetry", "pipenv", "pdm", "rye", "hatch", "pixi", "honcho", "foreman", "dotenvx":
		return &launcher{short: "C:P:p:e:f:d:t:", under: "run", exact: true, dir: "C directory",
			long: "directory= project= env= env-file= procfile= manifest-path= environment= root= app-root= help version"}
	case "conda", "mamba", "micromamba":
		return &launcher{short: "n:p:v", under: "run", long: "name= prefix= cwd= no-capture-output live-stream dev debug-wrapper-scripts help", dir: "cwd", exact: true}
	case "bundle", "bundler":
		return &launcher{short: "", under: "exec|e|ex|exe", long: "gemfile= keep-file-descriptors no-color verbose help version", exact: true}
	case "dotenv":
		return &launcher{short: "f:e:v:p:q:co", drop: "run", long: "file= quote= export= help version"}
	case "direnv":
		return &launcher{under: "exec", skip: 1}
	case "asdf", "rbenv", "pyenv", "nodenv", "jenv", "goenv", "plenv", "phpenv", "opam", "stack", "cabal", "carton", "perlbrew", "luaenv",
		"nodebrew", "volta", "nvm", "fnm", "lerna", "rtx", "dvc", "tox":
		p := &launcher{under: "exec|run", short: "j:C:", long: "switch= with= using= node= npm= yarn= cwd= scope= ignore= stream parallel concurrency=", exact: true}
		if name == "nvm" {
			p.skip = 1
		}
		return p
	case "rustup":
		return &launcher{under: "run", skip: 1, long: "install help version"}
	case "mise":
		return &launcher{short: "c:j:C:E:", under: "exec|x", text: "c command", long: "command= jobs= cd= env= raw yes quiet help version", exact: true, loose: true, dashes: true, dir: "C cd"}
	case "aws-vault":
		return &launcher{short: "d:n:t:js", under: "exec", skip: 1, exact: true,
			long: "duration= mfa-token= region= backend= prompt= keychain= json server ec2-server ecs-server lazy stdout debug help"}
	case "chamber", "envchain", "aws-okta", "saml2aws", "granted", "assume":
		p := &launcher{under: "exec", loose: true, dashes: true}
		if name == "envchain" {
			p = &launcher{skip: 1}
		}
		return p
	case "op", "doppler", "infisical", "teller", "secretspec", "devbox", "akeyless", "varlock", "phase":
		return &launcher{short: "p:c:t:e:", under: "run", text: "command", exact: true,
			long: "env-file= environment= account= session= project= config= token= scope= command= name-transformer= mount= mount-template= mount-format= " +
				"mount-max-reads= fallback= passphrase= env= path= projectId= domain= tags= env-name= help version"}
	case "sops":
		return &launcher{under: "exec-env|exec-file", skip: 1, joined: true, long: "filename= user= no-fifo background pristine same-process help"}
	case "env-cmd":
		return &launcher{short: "f:e:r:xsv", long: "file= environments= rc-file= fallback no-override silent use-shell expand-envs recursive verbose help version"}
	case "cross-env":
		return &launcher{assigns: true}
	case "cross-env-shell":
		return &launcher{assigns: true, joined: true}
	case "devenv":
		return &launcher{under: "shell"}
	case "guix":
		return &launcher{under: "shell|environment", loose: true, dashes: true, short: "f:e:m:p:L:D:s:E:"}
	case "toolbox":
		return &launcher{under: "run", short: "c:d:r:", long: "container= distro= release= preserve-fds=", place: Container}
	case "distrobox", "distrobox-enter":
		p := &launcher{short: "n:a:e:", loose: true, dashes: true, from: "e exec", place: Container, long: "name= additional-flags= exec= root no-tty help version"}
		if name == "distrobox" {
			p.under = "enter"
		}
		return p
	}
	return nil
}

// containerLauncher lists the plain launchers into containers, virtual machines and other machines.
func containerLauncher(name string) *launcher {
	switch name {
	case "crictl":
		return &launcher{short: "itsc:r:", under: "exec", skip: 1, place: Container, apart: true,
			long: "config= runtime-endpoint= timeout= interactive tty sync transport= help version"}
	case "runc", "crun", "youki":
		return &launcher{short: "u:e:d:p:c:t", under: "exec", skip: 1, place: Container, env: "e env", dir: "cwd", exact: true,
			long: "root= log= user= env= cwd= process= pid-file= cap= tty detach help version"}
	case "apptainer", "singularity":
		return &launcher{short: "B:H:W:S:o:ceCpuqsv", under: "exec", skip: 1, place: Container, env: "env", dir: "pwd cwd", exact: true,
			long: "bind= home= workdir= scratch= overlay= env= env-file= pwd= cwd= app= network= network-args= security= add-caps= drop-caps= mount= " +
				"hostname= dns= cpus= memory= fusemount= pem-path= nv rocm writable writable-tmpfs contain containall cleanenv fakeroot no-home help version"}
	case "machinectl":
		return &launcher{short: "H:M:E:", under: "shell", skip: 1, place: Container, env: "E setenv", long: "host= machine= uid= setenv= quiet help version"}
	case "multipass":
		return &launcher{short: "d:nv", under: "exec", skip: 1, place: Container, dir: "d working-directory", long: "working-directory= no-map-working-directory help"}
	case "lxc", "incus":
		return &launcher{short: "tTnq", under: "exec", skip: 1, place: Container, env: "env", dir: "cwd", exact: true,
			long: "cwd= env= user= group= mode= project= force-interactive force-noninteractive disable-stdin help version"}
	case "lxc-attach", "lxc-execute":
		return &launcher{short: "n:P:f:l:o:s:R:v:L:u:g:eq", place: Container, env: "v set-var", long: "name= lxcpath= rcfile= logpriority= logfile= namespaces= arch= set-var= uid= gid= context= clear-env help version"}
	case "limactl":
		return &launcher{under: "shell", skip: 1, place: Container, dir: "workdir", long: "workdir= shell= tty help"}
	case "colima":
		return &launcher{under: "ssh", loose: true, dashes: true, place: Container, short: "p:", long: "profile="}
	case "flatpak-spawn":
		return &launcher{long: "forward-fd= clear-env watch-bus env= unset-env= latest-version sandbox host directory= no-network help version", env: "env", dir: "directory"}
	case "pssh", "parallel-ssh":
		return &launcher{short: "h:H:l:p:o:e:t:O:x:X:viIAPB:", long: "hosts= host= user= par= outdir= errdir= timeout= options= extra-args= inline askpass print help version",
			query: "help version", joined: true, place: Elsewhere, apart: true}
	case "pdsh":
		return &launcher{short: "w:x:l:f:t:u:R:M:g:bSdLNqVh", query: "L V h q", joined: true, place: Elsewhere, apart: true}
	case "clush":
		return &launcher{short: "w:g:x:X:l:f:t:u:o:O:m:baBLNSqvdpR:", long: "hostfile= topology= worker= outdir= errdir= color= user= fanout= options= help version", joined: true, place: Elsewhere, apart: true}
	case "dsh":
		return &launcher{short: "m:g:f:r:o:ac:MqvwiF:", joined: true, place: Elsewhere, apart: true, long: "machine= group= file= remoteshell= remoteshellopt= all concurrent-shell help version"}
	}
	return nil
}
