package shell

import (
	"strings"
	"testing"
)

func TestItems(t *testing.T) {
	testLaunches(t, []launchRow{
		{"find . -name x -exec rm {} ;", "-exec: rm ./… looped"},
		{"find /etc /usr/ -type f -exec rm -f {} ;", "-exec: rm -f /etc/… looped ; -exec: rm -f /usr/… looped"},
		{"find /etc /usr -exec rm {} +", "-exec: rm /etc/… /usr/… looped"},
		{"find -exec rm x{}y ;", "-exec: rm x./…y looped"},
		{"find . -execdir sh -c 'rm {}' ;", "-execdir: sh -c rm ./… looped"},
		{"find . -ok rm {} ; -okdir mv {} /t ;", "-ok: rm ./… looped ; -okdir: mv ./… /t looped"},
		{"find -L /x ( -name a -o -name b ) -exec rm -- {} +", "-exec: rm -- /x/… looped"},
		{"find . -name -exec -print", ""},
		{"find . -exec reboot ;", "-exec: reboot looped"},
		{"find $X -exec rm {} ;", "-exec: rm $X/… looped"},
		{"find . -exec rm {}", "-exec: rm ./… looped"},
		{"find . -delete", ""},
		{"gfind . -exec rm {} ;", "-exec: rm ./… looped"},
		{"fd -x rm", "-x: rm ./… looped"},
		{"fd . /etc -x rm {} ; -H", "-x: rm /etc/… looped"},
		{"fd -e log x /var -X rm -f", "-X: rm -f /var/… looped"},
		{"fd pat -t f --exec mv {} {.}.bak", "--exec: mv ./… ….bak looped"},
		{"fd pat", ""},
		{"xargs rm", "rm … looped"},
		{"xargs", ""},
		{"a b 'c d' |> xargs rm", "rm a b 'c d' looped"},
		{"a b\\nc |> xargs -n 2 rm", "rm a b looped ; rm c looped"},
		{"a b\\nc |> xargs -L1 rm", "rm a b looped ; rm c looped"},
		{"a b\\nc |> xargs -I{} rm -r /x/{}", "rm -r '/x/a b' looped ; rm -r /x/c looped"},
		{"a b\\nc |> xargs -d \\n rm", "rm 'a b' c looped"},
		{"a:b |> xargs -d: rm", "rm a b looped"},
		{"a\\ b |> xargs rm", "rm 'a b' looped"},
		{"a $X |> xargs rm", "rm a $X looped"},
		{"a |> xargs -a list rm", "rm … looped"},
		{"rm -rf / |> xargs -I@ sh -c @", "sh -c 'rm -rf /' looped"},
		{"xargs -0 -P4 -r rm -f", "rm -f … looped"},
		{"xargs -0n1 rm", "rm … looped"},
		{"xargs --max-args=1 --null sudo rm", "sudo rm … looped"},
		{"xargs -i rm {}", "rm … looped"},
		{"xargs -E end -- rm", "rm … looped"},
		{"a end b |> xargs -E end rm", "rm a looped"},
		{"xargs -t -p rm -v", "rm -v … looped"},
		{"xargs --help", "query"},
		{"gxargs rm", "rm … looped"},
		{"parallel rm {} ::: a b", "rm a looped ; rm b looped"},
		{"parallel -j4 rm ::: a", "rm a looped"},
		{"parallel 'rm {}; id' ::: a", "text: {rm a; id} looped"},
		{"parallel 'gzip -9 {}' ::: a", "gzip -9 a looped"},
		{"parallel ::: 'rm -rf /' reboot", ":::: {rm -rf /} looped ; :::: {reboot} looped"},
		{"parallel", "stdin: <stdin> looped"},
		{"parallel -a list rm", "rm … looped"},
		{"parallel rm {1} {2} ::: a b ::: c", "rm … … looped"},
		{"parallel mv {} {.}.x :::: list", "mv … ….x looped"},
		{"parallel -S host rm ::: a", "rm a @elsewhere looped"},
		{"a\\nb |> parallel rm", "rm a looped ; rm b looped"},
		{"parallel --dry-run rm ::: a", "query"},
		{"parallel --pipe wc -l", "wc -l"},
		{"sem -j 2 rm x", "rm x"},
	})
}

func TestSessions(t *testing.T) {
	testLaunches(t, []launchRow{
		{"watch -n 5 rm x", "text: {rm x}"},
		{"watch -n5 -d 'rm x; ls'", "text: {rm x; ls}"},
		{"watch -x rm x", "rm x"},
		{"watch --interval 2 ls", "text: {ls}"},
		{"watch --help", "query"},
		{"script -c 'rm x' log", "-c: {rm x}"},
		{"script -qec 'rm x' /dev/null", "-c: {rm x}"},
		{"script -q log rm x", "rm x"},
		{"script", "stdin: <stdin>"},
		{"dbus-run-session -- rm x", "rm x"},
		{"ssh-agent rm x", "rm x"},
		{"ssh-agent -k", "query"},
		{"ssh-agent -s", ""},
		{"sshpass -p pw rm x", "rm x"},
		{"proxychains4 -q rm x", "rm x"},
		{"torsocks -i rm x", "rm x"},
		{"entr -r rm /_", "rm …"},
		{"entr -s 'rm x'", "-s: {rm x}"},
		{"at now", "stdin: <stdin> later"},
		{"at -f x.sh now", "file: <x.sh> later"},
		{"at -l", "query"},
		{"batch", "stdin: <stdin> later"},
		{"* * * * * rm -rf / |> crontab -", "stdin: {rm -rf /} later"},
		{"# c\\nPATH=/bin\\n@daily rm x%in\\n |> crontab", "stdin: {rm x} later"},
		{"crontab -", "stdin: {standard input} later"},
		{"crontab jobs", "file: {$(jobs)} later"},
		{"crontab -l", "query"},
		{"crontab -r", ""},
		{"screen -dmS name rm x", "rm x"},
		{"screen -d -m rm x", "rm x"},
		{"screen -S s -X stuff 'rm x^M'", "-X stuff: {rm x\n}"},
		{"screen -S s -p 0 -X quit", ""},
		{"screen -ls", "query"},
		{"screen -r name", ""},
		{"tmux new-session -d -s x 'rm x'", "new-session: {rm x}"},
		{"tmux new -d rm x", "new: rm x"},
		{"tmux -L s neww -c /srv 'rm x'", "neww: {rm x} in(/srv)"},
		{"tmux new -d ; send-keys -t 0 'rm -rf /' Enter", "send-keys: {rm -rf /\n}"},
		{"tmux send -t0 rm Space x C-m", "send-keys: {rm x\n}"},
		{"tmux run-shell 'rm x'", "run-shell: {rm x}"},
		{"tmux if-shell true 'run rm'", "if-shell: {true} ; run: {rm}"},
		{"tmux ls", ""},
		{"tmux kill-server", ""},
		{"hyperfine -w 3 'rm x' 'ls'", "text: {rm x} ; text: {ls}"},
		{"hyperfine --prepare 'rm x' ls", "--prepare: {rm x} ; text: {ls}"},
		{"gdb --args rm x", "--args: rm x"},
		{"gdb -q -ex '!rm x' a", "--ex: {rm x}"},
		{"gdb -ex 'shell rm x' --batch", "--ex: {rm x}"},
		{"gdb -ex run a", ""},
		{"lldb -o 'platform shell rm x'", "-o: {rm x}"},
		{"lldb -- rm x", "rm x"},
		{"xterm -T t -e rm x", "-e: rm x"},
		{"gnome-terminal -- rm x", "rm x"},
	})
}

func TestDevelopment(t *testing.T) {
	testLaunches(t, []launchRow{
		{"npx rimraf dist", "rimraf dist"},
		{"npx -y rimraf@5 dist", "rimraf dist"},
		{"npx -p rimraf -c 'rimraf x'", "-c: {rimraf x}"},
		{"npx --package=rimraf rimraf x", "rimraf x"},
		{"npx @scope/tool@1 x", "@scope/tool x"},
		{"npm exec -- rimraf x", "rimraf x"},
		{"npm x -c 'rm x'", "-c: {rm x}"},
		{"npm run build", ""},
		{"npm install rm", ""},
		{"pnpm dlx rimraf x", "rimraf x"},
		{"pnpm exec rm x", "rm x"},
		{"yarn dlx rimraf x", "rimraf x"},
		{"bunx rimraf x", "rimraf x"},
		{"uvx ruff@latest check", "ruff check"},
		{"uv run rm x", "rm x"},
		{"uv run --with rich python x.py", "python x.py"},
		{"uv tool run ruff", "ruff"},
		{"uv pip install rm", ""},
		{"pipx run black==22 .", "black ."},
		{"poetry run rm x", "rm x"},
		{"poetry -C /srv run rm x", "rm x"},
		{"poetry add rm", ""},
		{"pipenv run rm x", "rm x"},
		{"conda run -n base rm x", "rm x"},
		{"conda run --no-capture-output -p /x rm x", "rm x"},
		{"bundle exec rm x", "rm x"},
		{"bundle install", ""},
		{"dotenv -f .env run -- rm x", "rm x"},
		{"dotenv -e .env -- rm x", "rm x"},
		{"direnv exec . rm x", "rm x"},
		{"nix-shell -p hello --run 'rm x'", "--run: {rm x}"},
		{"nix develop -c rm x", "-c: rm x"},
		{"nix shell nixpkgs#hello --command rm x", "-c: rm x"},
		{"nix build", ""},
		{"asdf exec rm x", "rm x"},
		{"mise exec node@20 -- rm x", "rm x"},
		{"mise x -c 'rm x'", "-c: {rm x}"},
		{"rbenv exec rm x", "rm x"},
		{"aws-vault exec prod -- rm x", "rm x"},
		{"aws-vault exec prod rm x", "rm x"},
		{"op run --env-file=.env -- rm x", "rm x"},
		{"doppler run -p a -c b -- rm x", "rm x"},
		{"doppler run --command 'rm x'", "--command: {rm x}"},
		{"env-cmd -f .env rm x", "rm x"},
		{"cross-env A=b rm x", "rm x set(A=b)"},
		{"concurrently 'rm x' 'npm:dev'", "text: {rm x} ; text: {npm:dev}"},
		{"foreman run rm x", "rm x"},
		{"sops exec-env s.yaml 'rm x'", "text: {rm x}"},
		{"rustup run stable rm x", "rm x"},
		{"make", ""},
		{"make -j4 sudo", ""},
		{"make SHELL='rm x' all", "SHELL: {rm x}"},
		{"make -f -", "-f: make<stdin>"},
		{"make --eval 'x: ; rm x'", "--eval: make{x: ; rm x}"},
		{"make -C /srv -f- all", "-f: make<stdin> in(/srv)"},
		{"cargo run -- rm x", ""},
		{"go run . -- rm x", ""},
	})
}

func TestRemote(t *testing.T) {
	testLaunches(t, []launchRow{
		{"ssh host rm -rf /x", "text: {rm -rf /x} @elsewhere"},
		{"ssh -p 22 -i key me@host 'rm x; ls'", "text: {rm x; ls} @elsewhere"},
		{"ssh host -p 22 rm x", "text: {rm x} @elsewhere"},
		{"ssh -tt host -- rm x", "text: {rm x} @elsewhere"},
		{"ssh host", ""},
		{"rm x |> ssh host", "stdin: <stdin> @elsewhere"},
		{"ssh -N -L 1:a:1 host", ""},
		{"ssh -V", "query"},
		{"ssh -G host rm", "query"},
		{"ssh -o ProxyCommand='rm x' host", "ProxyCommand: {rm x}"},
		{"ssh -oProxyCommand=none host id", "text: {id} @elsewhere"},
		{"ssh -o 'proxycommand rm x' host", "proxycommand: {rm x}"},
		{"ssh -o LocalCommand=id host", ""},
		{"ssh -o LocalCommand=id -o PermitLocalCommand=yes host", "LocalCommand: {id}"},
		{"ssh -o RemoteCommand=id host", "RemoteCommand: {id} @elsewhere"},
		{"scp -o ProxyCommand=id a b:", "ProxyCommand: {id}"},
		{"scp -S prog a b:", "-S: {prog}"},
		{"scp a host:b", ""},
		{"ls\\n!rm x |> sftp host", "!: {rm x}"},
		{"mosh --ssh='ssh -p 2' host -- rm x", "--ssh: {ssh -p 2} ; rm x @elsewhere"},
		{"rsync -e 'ssh -p 2' a b:", "-e: {ssh -p 2}"},
		{"rsync -avze ssh a b:", "-e: {ssh}"},
		{"rsync --rsh=ssh --rsync-path='rm x' a b:", "--rsh: {ssh} ; --rsync-path: {rm x} @elsewhere"},
		{"rsync -av --exclude e a b", ""},
		{"docker run --rm -it -v /:/h -e A=1 -w /w img rm x", "rm x set(A=1) in(/w) @container"},
		{"docker run --entrypoint sh img -c 'rm x'", "--entrypoint: sh -c 'rm x' @container"},
		{"docker run --name x --network host img", ""},
		{"docker run -d img", ""},
		{"docker -H tcp://x run img id", "id @container"},
		{"docker container exec -u 0 c rm x", "rm x @container"},
		{"docker exec -it c rm x", "rm x @container"},
		{"docker exec --user root --workdir /x c rm x", "rm x in(/x) @container"},
		{"docker ps", ""},
		{"docker rm -f x", ""},
		{"podman run --log-level debug img id", "id @container"},
		{"podman exec -l rm x", "rm x @container"},
		{"docker compose -f a.yml exec -T web rm x", "rm x @container"},
		{"docker compose run --rm -e A=1 web rm x", "rm x set(A=1) @container"},
		{"docker-compose exec web sh -c 'rm x'", "sh -c 'rm x' @container"},
		{"docker compose up -d", ""},
		{"kubectl exec -it pod -- rm x", "rm x @container"},
		{"kubectl -n ns exec pod -c c -- sh -c 'rm x'", "sh -c 'rm x' @container"},
		{"kubectl exec pod rm x", "rm x @container"},
		{"kubectl run x --image=i --command -- rm x", "rm x @container"},
		{"kubectl delete pod x", ""},
		{"kubectl get pods -- rm", ""},
		{"oc rsh pod rm x", "rm x @container"},
		{"crictl exec -it id rm x", "rm x @container"},
		{"machinectl shell root@c /bin/rm x", "/bin/rm x @container"},
		{"systemd-nspawn -D /mnt rm x", "rm x @inside"},
		{"lxc exec c -- rm x", "rm x @container"},
		{"lxc-attach -n c -- rm x", "rm x @container"},
		{"vagrant ssh web -c 'rm x'", "-c: {rm x} @elsewhere"},
		{"vagrant up", ""},
		{"multipass exec vm -- rm x", "rm x @container"},
		{"adb -s 1 shell rm -r /sdcard", "shell: {rm -r /sdcard} @elsewhere"},
		{"adb install x.apk", ""},
		{"wsl rm x", "text: {rm x} @container"},
		{"wsl -d u -e rm x", "-e: rm x @container"},
		{"wsl --list", ""},
		{"flatpak run --command=sh app -c id", "--command: sh -c id @inside"},
		{"flatpak install rm", ""},
		{"heroku run -a app rm x", "run: {rm x} @elsewhere"},
		{"fly ssh console -C 'rm x'", "-C: {rm x} @elsewhere"},
		{"gcloud compute ssh vm --command='rm x'", "--command: {rm x} @elsewhere"},
		{"ansible all -m shell -a 'rm x'", "-a: {rm x} @elsewhere"},
		{"ansible all -m ping", ""},
		{"salt '*' cmd.run 'rm x'", "cmd.run: {rm x} @elsewhere"},
		{"pssh -h hosts rm x", "text: {rm x} @elsewhere"},
		{"pdsh -w a,b rm x", "text: {rm x} @elsewhere"},
		{"clush -w a -b rm x", "text: {rm x} @elsewhere"},
	})
}

func TestGit(t *testing.T) {
	testLaunches(t, []launchRow{
		{"git status", ""},
		{"git commit -m 'rm -rf /'", ""},
		{"git -C /srv status", ""},
		{"git -c alias.x='!rm x' x", "alias.x: {rm x}"},
		{"git -c alias.x='!rm' x a b", `alias.x: {rm "$@"} args(x a b)`},
		{"git -c alias.x='!rm x' y", ""},
		{"git -c alias.x='push --force' x o", "alias.x: git push --force o"},
		{"git -C /srv -c alias.x='!rm x' x", "alias.x: {rm x} in(/srv)"},
		{"git -c core.pager='rm x' log", "core.pager: {rm x}"},
		{"git -c core.sshCommand='rm x' fetch", "core.sshcommand: {rm x}"},
		{"git -c core.fsmonitor='rm x' status", "core.fsmonitor: {rm x}"},
		{"git -c core.fsmonitor=true status", ""},
		{"git -c credential.helper='!rm x' fetch", "credential.helper: {rm x}"},
		{"git -c credential.helper=store fetch", ""},
		{"git -c credential.https://h.helper='!rm x' fetch", "credential.https://h.helper: {rm x}"},
		{"git -c filter.x.smudge='rm x' checkout a", "filter.x.smudge: {rm x}"},
		{"git -c diff.external='rm x' diff", "diff.external: {rm x}"},
		{"git -c user.name=x -c color.ui=always log", ""},
		{"git --config-env=core.pager=P log", "core.pager: {$P}"},
		{"git --exec-path=/x --git-dir /y status", ""},
		{"git --version", "query"},
		{"git config alias.x '!rm x'", "alias.x: {rm x} later"},
		{"git config --global core.pager 'rm x'", "core.pager: {rm x} later"},
		{"git config set core.editor 'rm x'", "core.editor: {rm x} later"},
		{"git config --get alias.x", ""},
		{"git config user.name x", ""},
		{"git rebase -x 'rm x' main", "-x: {rm x}"},
		{"git rebase -i --exec='rm x' main", "--exec: {rm x}"},
		{"git bisect run rm x", "bisect run: rm x"},
		{"git submodule foreach 'rm x; ls'", "foreach: {rm x; ls}"},
		{"git submodule foreach --recursive git clean -fdx", "foreach: git clean -fdx looped"},
		{"git submodule update --init", ""},
		{"git filter-branch --tree-filter 'rm x' HEAD", "--tree-filter: {rm x}"},
		{"git grep -O'rm x' pat", "-O: {rm x}"},
		{"git grep --open-files-in-pager=less pat", "--open-files-in-pager: {less}"},
		{"git grep -n rm -r .", ""},
		{"git difftool -x 'rm x'", "-x: {rm x}"},
		{"git clone -u 'rm x' a b", "-u: {rm x}"},
		{"git ls-remote --upload-pack='rm x' a", "--upload-pack: {rm x}"},
		{"git push --receive-pack 'rm x' o", "--receive-pack: {rm x}"},
		{"git clone 'ext::sh -c whoami% x'", "ext::: sh -c 'whoami x'"},
		{"git clone -c core.sshCommand='rm x' a", "core.sshcommand: {rm x}"},
		{"git clone https://host/a", ""},
		{"hg --config alias.x='!rm x' x", "alias.x: {rm x}"},
		{"svn --editor-cmd 'rm x' ci", "--editor-cmd: {rm x}"},
		{"svn diff --diff-cmd=rm", "--diff-cmd: {rm}"},
	})
}

func TestToolOptions(t *testing.T) {
	testLaunches(t, []launchRow{
		{"sort --compress-program=sh x", "--compress-program: {sh}"},
		{"sort --compress-program -x names", "--compress-program: {-x}"},
		{"sort --comp sh x", "--compress-program: {sh}"},
		{"sort -- --compress-program sh", ""},
		{"sort --output --compress-program names", ""},
		{"sort x --compress-program sh", "--compress-program: {sh}"},
		{"rg --pre sh x", "--pre: {sh}"},
		{"rg --hostname-bin=sh x", "--hostname-bin: {sh}"},
		{"rg --pre-glob --pre x", ""},
		{"rg -e --pre x", ""},
		{"rg -n rm", ""},
		{"ag --pager sh x", "--pager: {sh}"},
		{"ag -G --pager x", ""},
		{"ag --ignore --pager x", ""},
		{"man -P sh ls", "-P: {sh}"},
		{"man -Psh ls", "-P: {sh}"},
		{"man --pager -x ls", "--pager: {-x}"},
		{"man -H sh ls", "-H: {sh}"},
		{"man -Hsh ls", "-H: {sh}"},
		{"man --html=sh ls", "--html: {sh}"},
		{"man --config-file --pager printf", ""},
		{"man -p e ls", ""},
		{"man -k pager", ""},
		{"man rm", ""},
		{"tar cf a.tar --checkpoint=1 --checkpoint-action=exec='rm x' b", "--checkpoint-action: {rm x}"},
		{"tar --checkpoint-action exec=id -cf a b", "--checkpoint-action: {id}"},
		{"tar -I 'rm x' -xf a", "-I: {rm x}"},
		{"tar -xIzstd -f a", "-I: {zstd}"},
		{"tar xfI a.tar 'rm x'", "-I: {rm x}"},
		{"tar xf a --to-command='rm x'", "--to-command: {rm x}"},
		{"tar --use-comp='rm x' -xf a", "--use-compress-program: {rm x}"},
		{"tar -cf a -F 'rm x' b", "-F: {rm x}"},
		{"tar xzf a.tgz", ""},
		{"tar -czf a.tgz -C / I", ""},
		{"zip a.zip b -T -TT 'rm x'", "-TT: {rm x}"},
		{"zip -r a.zip b", ""},
		{"split --filter='rm x' a", "--filter: {rm x}"},
		{"split -l 10 a", ""},
		{"cpio --rsh-command='rm x' -i", "--rsh-command: {rm x}"},
		{"tcpdump -i any -z 'rm x' -w a", "-z: {rm x}"},
		{"less +!id x", "+!: {id}"},
		{"less +G x", ""},
		{"1p\\n!rm x\\nq |> ed a", "!: {rm x}"},
		{"ed '!rm x'", "!: {rm x}"},
		{"ed a", ""},
	})
}

func TestInterpreters(t *testing.T) {
	testLaunches(t, []launchRow{
		{"python -c 'x' a", "-c: python{x}"},
		{"python3.11 -Bc 'x'", "-c: python{x}"},
		{"python3 -cx", "-c: python{x}"},
		{"python -W once -c x", "-c: python{x}"},
		{"python -Wonce a.py", "file: python<a.py> args(a.py)"},
		{"python a.py -c x", "file: python<a.py> args(a.py -c x)"},
		{"python -m pytest -c x", ""},
		{"python -V", "query"},
		{"python --version", "query"},
		{"python", "stdin: python<stdin>"},
		{"python -", "stdin: python<stdin>"},
		{"python - a b", "stdin: python<stdin>"},
		{"perl -e x", "-e: perl{x}"},
		{"perl -wne x f", "-e: perl{x}"},
		{"perl -pi -e x f", "-e: perl{x}"},
		{"perl -pie x f", "file: perl<x> args(x f)"},
		{"perl -i.bak -pe x f", "-e: perl{x}"},
		{"perl -0777 -ne x", "-e: perl{x}"},
		{"perl -lane x", "-e: perl{x}"},
		{"perl -MFoo -e x -e y", "-e: perl{x\ny}"},
		{"perl -c a.pl", "query"},
		{"perl -v", "query"},
		{"perl a.pl", "file: perl<a.pl> args(a.pl)"},
		{"node -e x", "-e: node{x}"},
		{"node -p x", "-p: node{x}"},
		{"node -pe x", "-e: node{x}"},
		{"node -p -e x", "-e: node{x}"},
		{"node --eval=x", "--eval: node{x}"},
		{"node --print x", "--print: node{x}"},
		{"node -r dotenv/config a.js", "file: node<a.js> args(a.js)"},
		{"node -c a.js", ""},
		{"node a.js -e x", "file: node<a.js> args(a.js -e x)"},
		{"ruby -e x", "-e: ruby{x}"},
		{"ruby -rjson -ne x", "-e: ruby{x}"},
		{"ruby -c a.rb", "query"},
		{"ruby a.rb", "file: ruby<a.rb> args(a.rb)"},
		{"php -r x", "-r: php{x}"},
		{"php -d a=b -r x", "-r: php{x}"},
		{"php -B x -R y -E z", "-B: php{x} ; -R: php{y} ; -E: php{z}"},
		{"php -l a.php", "query"},
		{"php -f a.php", "-f: php<a.php>"},
		{"lua -e x", "-e: lua{x}"},
		{"lua -l m a.lua", "file: lua<a.lua> args(a.lua)"},
		{"osascript -e x -e y", "-e: applescript{x\ny}"},
		{"Rscript -e x", "-e: r{x}"},
		{"tclsh a.tcl", "file: tcl<a.tcl> args(a.tcl)"},
		{"expect -c x", "-c: tcl{x}"},
		{"bun -e x", "-e: node{x}"},
		{"bun run a.ts", "file: node<a.ts> args(a.ts)"},
		{"bun run build", ""},
		{"bun a.ts", "file: node<a.ts> args(a.ts)"},
		{"bun install", ""},
		{"bun x rimraf@5 d", "rimraf d"},
		{"deno eval x", "program: node{x}"},
		{"deno run -A a.ts", "file: node<a.ts> args(a.ts)"},
		{"deno test", ""},
		{"julia -e x", "-e: unlisted{x}"},
		{"groovy -e x", "-e: unlisted{x}"},
		{"elixir --eval x", "--eval: unlisted{x}"},
		{"emacs --batch --eval x", "--eval: unlisted{x}"},
		{"emacs a.c", ""},
		{"powershell -c x", ""},
		{"cmd /c del x", ""},
		{"awk '{print}' f", "program: awk{{print}}"},
		{"awk -F: -v a=b x f", "program: awk{x}"},
		{"awk -f a.awk f", "-f: awk<a.awk>"},
		{"awk -f - f", "stdin: awk<stdin>"},
		{"gawk -e x f", "-e: awk{x}"},
		{"awk --version", "query"},
		{"sed x f", "program: sed{x}"},
		{"sed -n -e x -e y f", "-e: sed{x\ny}"},
		{"sed -i.bak x f", "program: sed{x}"},
		{"sed -i '' x f", "program: sed{x}"},
		{"sed -ie x f", "program: sed{x}"},
		{"sed -f a.sed f", "-f: sed<a.sed>"},
		{"sed --expression=x f", "--expression: sed{x}"},
		{"sed f -e x", "-e: sed{x}"},
		{"vim -c '!rm x' f", "-c: vim{!rm x}"},
		{"vim '+!rm x' f", "+: vim{!rm x}"},
		{"vim +12 f", ""},
		{"vim --cmd x f", "--cmd: vim{x}"},
		{"nvim --headless -S a.vim", "-S: vim<a.vim>"},
		{"vim f", ""},
		{"!rm x |> vim -es f", "stdin: vim<stdin>"},
		{"!rm x |> ex f", "stdin: vim<stdin>"},
		{"psql -c x db", "-c: sql{x}"},
		{"psql -h h -U u --command=x", "--command: sql{x}"},
		{"psql -c '\\! rm x'", "-c: sql{\\! rm x} ; -c: { rm x}"},
		{"psql -f a.sql", "-f: sql<a.sql>"},
		{"psql -l", "query"},
		{"psql db", ""},
		{"x |> psql db", "stdin: sql<stdin>"},
		{"mysql -u r -ppw -e x db", "-e: sql{x}"},
		{"mysql --execute=x", "--execute: sql{x}"},
		{"sqlite3 a.db x", "sql: sql{x}"},
		{"sqlite3 -cmd x a.db", "--cmd: sql{x}"},
		{"sqlite3 a.db '.shell rm x'", ".shell: {rm x}"},
		{"sqlite3 a.db '.output |rm x'", ".output: {rm x}"},
		{"x\\n.system rm x |> sqlite3 a.db", "stdin: sql<stdin> ; .system: {rm x}"},
		{"mongosh --eval x db", "--eval: unlisted{x}"},
		{"redis-cli flushall", ""},
	})
}

func TestData(t *testing.T) {
	testLaunches(t, []launchRow{
		{"echo rm -rf /", ""},
		{"printf -- rm -rf /", ""},
		{"grep -rn rm -r .", ""},
		{"which sudo -a", ""},
		{"type rm", ""},
		{"apt install sudo -y", ""},
		{"apt-get remove -- sudo", ""},
		{"brew install dd -v", ""},
		{"pip install rm -U", ""},
		{"info rm -a", ""},
		{"kill -9 -1", ""},
		{"cat rm -n", ""},
		{"systemctl reboot", ""},
		{"ls -la", ""},
		{"[ rm -nt x ]", ""},
	})
}

func TestUnknownForwarders(t *testing.T) {
	testLaunches(t, []launchRow{
		{"wrapper rm -rf /", "rm -rf / guess"},
		{"wrapper --opt v sh -c 'rm x'", "sh -c 'rm x' guess"},
		{"wrapper run x -- rm x", "rm x guess"},
		{"wrapper -- python a.py", "python a.py guess"},
		{"wrapper -- curl host", "curl host guess"},
		{"wrapper /usr/bin/sudo -u root id", "/usr/bin/sudo -u root id guess"},
		{"wrapper rm", ""},
		{"wrapper rm x", ""},
		{"wrapper -- file", ""},
		{"wrapper --rm -f", ""},
		{"wrapper a b c", ""},
		{"$X rm -rf /", "rm -rf / guess"},
		{"$X sudo rm", "sudo rm guess"},
		{"$X a b", ""},
	})
}

var launchSink []handoff

func BenchmarkHandoffs(b *testing.B) {
	for _, line := range []string{"git status", "ls -la", "unknown -x a b c", "sudo rm -rf x", "docker run --rm -it img sh -c x"} {
		c := launchCommand(line)
		b.Run(c.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				launchSink, _ = handoffs(c)
			}
		})
	}
}

func FuzzHandoffs(f *testing.F) {
	for _, s := range []string{"sudo -u a rm x", "git -c alias.x='!id' x", "env -S 'a b' c", "a b |> xargs -n1 rm", "screen -dmS x id", "tar xfI a b", "$X -c a", "bash -$X a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > 1000 || strings.Contains(line, Unknown) {
			return
		}
		c := launchCommand(line)
		hs, query := handoffs(c)
		if query && hs != nil {
			t.Errorf("%q is a question and hands on %s", line, renderHandoffs(hs, false))
		}
		for _, h := range hs {
			n := 0
			for _, set := range []bool{h.argv != nil, h.text != nil, h.code != nil, h.file != nil, h.stdin} {
				if set {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%q: %d kinds in one handoff: %+v", line, n, h)
			}
			for _, w := range append(append([]Word{}, h.argv...), h.args...) {
				checkHoles(t, line, w)
			}
			for _, w := range []*Word{h.text, h.code, h.file, h.dir} {
				if w != nil {
					checkHoles(t, line, *w)
				}
			}
		}
	})
}

// checkHoles tells whether a word has one hole for each unknown byte.
func checkHoles(t *testing.T, line string, w Word) {
	t.Helper()
	n := 0
	for i := range len(w.Text) {
		if w.Text[i] == 0 {
			n++
		}
	}
	if n != len(w.Holes) {
		t.Errorf("%q: word %q has %d holes, want %d", line, w.Text, len(w.Holes), n)
	}
}
