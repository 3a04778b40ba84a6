# Real programs in a sandbox, and hosts that only a network namespace of the test's own has. $0: an empty folder; $1: the backend, $2:
# with docker, an image. Each line that is printed is one row: what ran, and its exit code.
cd "$0" || exit 1
prefix=$(python3 -c 'import sys; print(sys.prefix)') go=$(command -v go)
ip link set lo up && ip addr add 10.66.0.1/32 dev lo || exit 1
printf '127.0.0.1 localhost\n10.66.0.1 listed.test unlisted.test\n' >hosts
mount --bind hosts /etc/hosts || exit 1
mkdir -p www/simple/hello home/.hermes tree
echo reached >www/hello
export HOME=$0/home GIT_CONFIG_GLOBAL=/dev/null
git init -q seed && git -C seed -c user.name=t -c user.email=t@t.test commit -q --allow-empty -m seed
git clone -q --bare seed www/repo.git && git -C www/repo.git update-server-info
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out tree/ca.pem -days 2 -subj /CN=listed.test \
	-addext subjectAltName=DNS:listed.test,DNS:unlisted.test 2>/dev/null
mkdir -p www/npm/tar package www/go/m.test/hello/@v www/apt m.test/hello@v1.0.0
echo '{"name":"hello","version":"1.0.0"}' >package/package.json && tar czf www/npm/tar/hello-1.0.0.tgz package
echo '{"name":"hello","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"hello","version":"1.0.0","dist":{"tarball":"http://listed.test/npm/tar/hello-1.0.0.tgz"}}}}' >www/npm/hello
echo 'module m.test/hello' | tee m.test/hello@v1.0.0/go.mod >www/go/m.test/hello/@v/v1.0.0.mod
echo 'package hello' >m.test/hello@v1.0.0/hello.go
echo '{"Version":"v1.0.0"}' >www/go/m.test/hello/@v/v1.0.0.info && echo v1.0.0 >www/go/m.test/hello/@v/list
/usr/bin/python3 - <<'PY'
import zipfile
with zipfile.ZipFile('www/go/m.test/hello/@v/v1.0.0.zip', 'w') as z:
    for name in ('go.mod', 'hello.go'): z.write('m.test/hello@v1.0.0/' + name)
with zipfile.ZipFile('www/simple/hello/hello-1.0.0-py3-none-any.whl', 'w') as z:
    z.writestr('hello.py', '')
    z.writestr('hello-1.0.0.dist-info/METADATA', 'Metadata-Version: 2.1\nName: hello\nVersion: 1.0.0\n')
    z.writestr('hello-1.0.0.dist-info/WHEEL', 'Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
    z.writestr('hello-1.0.0.dist-info/RECORD', '')
PY
echo '<a href="hello-1.0.0-py3-none-any.whl">hello-1.0.0-py3-none-any.whl</a>' >www/simple/hello/index.html
printf 'Package: hello\nVersion: 1.0.0\nArchitecture: all\nMaintainer: t\nFilename: ./hello.deb\nSize: 1\nDescription: hello\n\n' >www/apt/Packages
case $1 in
native) own="native_read: [\"$prefix\"]" ;;
docker) # this machine's programs, read-only, in a container; the work tree is mounted
	own="docker_image: \"$2\", network: allowlist, docker_mount_cwd_to_workspace: true, docker_volumes: [\"/usr/bin:/usr/bin:ro\"]"
	[[ $prefix == /usr ]] && prefix= # the rest of /usr is the image's: its init is there
	for dir in $prefix /usr/lib /usr/share /usr/local /var/lib/dpkg /etc/apt /etc/ssl; do own=${own/%]/, \"$dir:$dir:ro\"]}; done
	# With the host's programs mounted it is no boundary, and would ask.
	skip='command_allowlist: ["packages from another registry", "export makes programs run or load something else"]'
	;;
esac
cat >home/.hermes/config.yaml <<YAML
terminal: {backend: $1, network_allow: [listed.test], $own}
security: {allow_private_hosts: [listed.test, unlisted.test]}
${skip-}
YAML
chmod -R go-rwx home
(cd www && exec /usr/bin/python3 -m http.server -b 10.66.0.1 80 >/dev/null 2>&1) &
web=$!
(cd www && exec /usr/bin/python3 -c '
import http.server, ssl
s = http.server.ThreadingHTTPServer(("10.66.0.1", 443), http.server.SimpleHTTPRequestHandler)
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain("../tree/ca.pem", "../key.pem")
s.socket = c.wrap_socket(s.socket, server_side=True)
s.serve_forever()' >/dev/null 2>&1) &
secure=$!
trap "kill $web $secure" EXIT
for _ in $(seq 200); do (exec 3<>/dev/tcp/10.66.0.1/443) 2>/dev/null && break; sleep 0.1; done
for _ in $(seq 200); do (exec 3<>/dev/tcp/10.66.0.1/80) 2>/dev/null && break; sleep 0.1; done
cd tree
run() { # name, command
	hermes exec "$2" </dev/null >>../log 2>&1
	echo "$1 $?"
}
run curl 'curl -sS --cacert ca.pem https://listed.test/hello | grep -q reached'
run git 'git -c http.sslCAInfo=$PWD/ca.pem clone -q https://listed.test/repo.git got && git -C got log --format=%s | grep -q seed'
run pip "$prefix/bin/python3"' -m pip download -q --no-deps --no-cache-dir --trusted-host listed.test -i http://listed.test/simple hello && ls hello-1.0.0*'
run npm 'npm install --no-audit --no-fund --cache $PWD/.npm --registry http://listed.test/npm/ hello && ls node_modules/hello/package.json'
run go 'mkdir gomod && cd gomod && export GOPROXY=http://listed.test/go GOFLAGS=-modcacherw GONOSUMDB=* GONOSUMCHECK=1 GOSUMDB=off GOMODCACHE=$PWD/mod GOCACHE=$PWD/cache GOTOOLCHAIN=local; '"$go"' mod init x.test/x && '"$go"' get m.test/hello@v1.0.0 && grep m.test/hello go.mod'
run apt 'mkdir -p a/lists/partial a/cache/archives/partial && echo "deb [trusted=yes] http://listed.test/apt ./" >a/list && apt-get -o Dir::Etc::sourcelist=$PWD/a/list -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists=$PWD/a/lists -o Dir::Cache=$PWD/a/cache -o APT::Sandbox::User=root update && ls a/lists | grep -q listed.test'
run direct "curl -sS -m 5 --noproxy '*' http://10.66.0.1/hello"
run unlisted 'curl -sS -f http://unlisted.test/hello'
run address 'curl -sS -f http://10.66.0.1/hello'
run unlisted-git 'git clone -q http://unlisted.test/repo.git no'
ask() { # answer, name
	local text= said= c
	coproc at { script -qec "hermes exec 'curl -sS http://unlisted.test/hello'" /dev/null; }
	local in=${at[1]} out=${at[0]} pid=$at_PID
	while IFS= read -r -t 30 -n 1 -d '' -u "$out" c 2>/dev/null; do # its descriptor is gone with it
		text+=$c
		if [[ -z $said && $text == *left:* ]]; then
			sleep 0.2 # what was typed before the question is no answer
			printf '%s\r' "$1" >&"$in"
			said=yes
		fi
	done
	wait "$pid"
	printf '%s\n' "$text" >>../log
	[[ $text == *'connect unlisted.test:80'* ]] || said=unasked
	[[ $text == *$'\n'reached* ]] && said+=' reached'
	echo "ask $2: $said; $(grep -c '^  - unlisted.test$' ../home/.hermes/config.yaml) listed"
}
ask '' deny
ask o once
ask s session
ask a always
run unlisted-listed 'curl -sS -f http://unlisted.test/hello'
cat ../home/.hermes/config.yaml >>../log
