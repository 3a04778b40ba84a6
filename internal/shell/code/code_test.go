package code

import (
	"strings"
	"testing"
)

// row says what a text could do. harmless and effects are two kinds of row: want "-" is a text that must pass; any
// other want lists effects that must be there. frag, if given, is a fragment the report must hold, written as
// "shell: rm -rf /", "exec: rm -rf /", "write: x", "delete: x", "read: x" or "host: x"; ? is an unknown piece.
type row struct{ text, want, frag string }

func check(t *testing.T, lang Lang, rows []row) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.text] {
			t.Errorf("%s: row appears twice: %s", lang, r.text)
		}
		seen[r.text] = true
		rep := Scan(lang, r.text)
		if r.want == "-" && !rep.Effects.Harmless() {
			t.Errorf("%s: %s\n\tis %v, want harmless", lang, r.text, rep.Effects)
		}
		if r.want != "-" {
			if rep.Effects.Harmless() {
				t.Errorf("%s: %s\n\tis %v, must not be harmless", lang, r.text, rep.Effects)
			}
			have := "|" + rep.Effects.String() + "|"
			for _, w := range strings.Split(r.want, "|") {
				if not, neg := strings.CutPrefix(w, "!"); neg == strings.Contains(have, "|"+strings.TrimPrefix(w, "!")+"|") {
					t.Errorf("%s: %s\n\tis %v, want %v (%v)", lang, r.text, rep.Effects, r.want, not)
				}
			}
		}
		if r.frag != "" && !strings.Contains(fragments(rep), r.frag+"\n") {
			t.Errorf("%s: %s\n\thas %q, want %q", lang, r.text, fragments(rep), r.frag)
		}
	}
}

func fragments(r Report) string {
	var b strings.Builder
	add := func(name string, fs []Fragment) {
		for _, f := range fs {
			b.WriteString(name + ": " + f.Text + "\n")
		}
	}
	add("shell", r.Shell)
	add("write", r.Writes)
	add("delete", r.Deletes)
	add("read", r.Reads)
	add("host", r.Hosts)
	for _, argv := range r.Exec {
		b.WriteString("exec:")
		for _, f := range argv {
			b.WriteString(" " + f.Text)
		}
		b.WriteString("\n")
	}
	return strings.ReplaceAll(b.String(), unknown, "?")
}

func TestPython(t *testing.T) {
	check(t, Python, []row{
		// Computing, printing and reading pass.
		{`import json,sys;print(json.load(sys.stdin)["x"])`, "-", ""},
		{`import sys; print(sys.version)`, "-", ""},
		{`print("\n".join(sorted(set(open("a.txt")))))`, "-", "read: a.txt"},
		{`print(1+1)`, "-", ""},
		{`import json; print(json.dumps(json.load(open("a.json")), indent=2))`, "-", "read: a.json"},
		{`import os; print(os.getcwd(), os.environ["HOME"])`, "-", ""},
		{`import os.path as p; print(p.join("a", "b"))`, "-", ""},
		{`from collections import Counter; print(Counter(open("x").read().split()).most_common(3))`, "-", "read: x"},
		{`import datetime; print(datetime.datetime.now().isoformat())`, "-", ""},
		{`from datetime import datetime as d; print(d.now())`, "-", ""},
		{`import re; print(re.sub(r"\d+", lambda m: m.group(0)*2, "a1"))`, "-", ""},
		{"import sys\nfor line in sys.stdin:\n    a, b = line.split()\n    if a > b:\n        print(f\"{a:>10} {b!r}\")\n", "-", ""},
		{"def f(x):\n    return x * 2\nprint([f(i) for i in range(10) if i % 2])", "-", ""},
		{`import hashlib; print(hashlib.sha256(open("f","rb").read()).hexdigest())`, "-", "read: f"},
		{`import base64; print(base64.b64encode(b"hi").decode())`, "-", ""},
		{`from importlib.metadata import version; print(version("requests"))`, "-", ""},
		{`import pathlib; print(pathlib.Path("a.txt").read_text())`, "-", "read: a.txt"},
		{`import urllib.parse; print(urllib.parse.quote("a b"))`, "-", ""},
		{`import sys; sys.stdout.write("x" * 10)`, "-", ""},
		{`import random; print(random.randint(1, 6))`, "-", ""},
		{`x = {"a": 1, "b": [1, 2]}; print(x["a"], x.get("c"))`, "-", ""},
		{`print("rm -rf /")`, "-", ""},
		{`# os.system("rm -rf /")`, "-", ""},
		{`import platform; print(platform.python_version())`, "-", ""},
		{`import math; print(math.sqrt(2), math.pi)`, "-", ""},
		{`import sys; [print(l.strip()) for l in sys.stdin if "x" in l]`, "-", ""},
		{`import csv,sys; w=csv.writer(sys.stdout); [w.writerow(r) for r in csv.reader(sys.stdin)]`, "-", ""},
		{`import time; print(int(time.time()))`, "-", ""},
		{"class A:\n    def __init__(self, x):\n        self.x = x\n    def show(self):\n        print(self.x)\nA(3).show()\n", "-", ""},
		{"try:\n    import json\n    print('ok')\nexcept ImportError as e:\n    print(e)\n", "-", ""},
		{`import uuid; print(uuid.uuid4())`, "-", ""},
		{`with open("a") as f: print(sum(1 for _ in f))`, "-", "read: a"},
		// Third-party code is loaded, no more.
		{`import torch; print(torch.__version__)`, "import|!unknown", ""},
		{`import numpy as np; print(np.__version__)`, "import|!unknown", ""},
		{`import pandas as pd; print(pd.read_csv('a.csv').groupby('k')['v'].agg(['count', 'mean']))`, "import|read|!unknown", ""},
		{`import pandas as pd; pd.read_csv('a.csv').to_csv('b.csv')`, "unknown", ""},
		{`import pandas as pd; pd.read_csv('a.csv').agg('to_csv', path_or_buf='x')`, "unknown", ""},
		{`import pandas as pd; pd.read_csv('a.csv').eval('@pd.io.os.system(1)')`, "unknown", ""},
		{`from pandas.io.common import os; os.system('id')`, "unknown", ""},
		{`import torch; torch.load('a.pt', weights_only=True)`, "import|read|!unknown", ""},
		{`import torch; torch.load('a.pt')`, "eval|unknown", ""},
		{`import numpy as np; np.load('a.npy', allow_pickle=True)`, "eval|unknown", ""},
		{`import yaml; yaml.load(open('a'), Loader=yaml.Loader)`, "unknown", ""},
		{`import torch; print(torch.cuda.is_available())`, "import|!unknown", ""},
		{`import evil; evil.go()`, "import|unknown", ""},
		// Commands.
		{`import os; os.system("rm -rf /")`, "spawn|!unknown", "shell: rm -rf /"},
		{`from os import system as s; s("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`import subprocess as sp; sp.run(["rm","-rf","/"])`, "spawn|!unknown", "exec: rm -rf /"},
		{`import subprocess; subprocess.run("rm -rf /", shell=True)`, "spawn", "shell: rm -rf /"},
		{`import subprocess; subprocess.check_output(["git", "log"]).decode()`, "spawn|!unknown", "exec: git log"},
		{`import subprocess; subprocess.Popen(args=["id"])`, "spawn", "exec: id"},
		{`import os; os.execvp("rm", ["rm", "-rf", "/"])`, "spawn", "exec: rm -rf /"},
		{`import os; os.execlp("rm", "rm", "-rf", "/")`, "spawn", "exec: rm -rf /"},
		{`__import__('os').system('rm -rf /')`, "spawn", "shell: rm -rf /"},
		{`__import__('o'+'s').system('r'+'m -rf /')`, "spawn", "shell: rm -rf /"},
		{`import os; getattr(os, "sys"+"tem")("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`import importlib; importlib.import_module("os").system("id")`, "spawn", "shell: id"},
		{`import os; c = "rm -rf /"; os.system(c)`, "spawn", "shell: rm -rf /"},
		{`import os; c = "rm"; c += " -rf /"; os.system(c)`, "spawn", "shell: rm -rf /"},
		{`import os; os.system("".join(["rm", " -rf", " /"]))`, "spawn", "shell: rm -rf /"},
		{`import os; os.system("rm %s %s" % ("-rf", "/"))`, "spawn", "shell: rm -rf /"},
		{`import os; os.system("rm {} /".format("-rf"))`, "spawn", "shell: rm -rf /"},
		{`import os; d="/"; os.system(f"rm -rf {d}")`, "spawn", "shell: rm -rf /"},
		{`import os,sys; os.system(f"rm -rf {sys.argv[1]}")`, "spawn", "shell: rm -rf ?"},
		{`import os; os.system(chr(114)+chr(109)+" -rf /")`, "spawn", "shell: rm -rf /"},
		{`import os; os.system("".join(chr(c) for c in [105, 100]))`, "spawn", "shell: id"},
		{`import os; os.system("".join(map(chr, [105, 100])))`, "spawn", "shell: id"},
		{`import os; os.system("/ fr- mr"[::-1])`, "spawn", "shell: rm -rf /"},
		{`import os; os.system("\x72\x6d -rf /")`, "spawn", "shell: rm -rf /"},
		{`import os,base64; os.system(base64.b64decode("cm0gLXJmIC8=").decode())`, "spawn", "shell: rm -rf /"},
		{`import os; os.system("rm -rf " "/")`, "spawn", "shell: rm -rf /"},
		{`exec("import os; os.system('rm -rf /')")`, "eval|spawn", "shell: rm -rf /"},
		{`import base64; exec(base64.b64decode("aW1wb3J0IG9zO29zLnN5c3RlbSgiaWQiKQ=="))`, "eval|spawn", "shell: id"},
		{`eval(input())`, "eval|unknown", ""},
		{`exec(open("x.py").read())`, "eval|unknown", ""},
		{`eval("__import__('os')").system("id")`, "spawn|eval", "shell: id"},
		{`import os; f = os.system; f("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`import os; list(map(os.system, ["rm -rf /"]))`, "spawn|unknown", ""},
		{`import pty; pty.spawn("/bin/sh")`, "spawn", "exec: /bin/sh"},
		{"import os\nif 1:\n    c = 'ls'\nelse:\n    c = 'rm'\nos.system(c)\n", "spawn", "shell: ?"},
		{"import os\nfor c in ['a', 'b']:\n    os.system(c)\n", "spawn", "shell: ?"},
		{`from os import *; system("id")`, "spawn", "shell: id"},
		{`print(f"{__import__('os').system('id')}")`, "spawn", "shell: id"},
		// Files.
		{`open("/etc/passwd", "w").write("x")`, "write", "write: /etc/passwd"},
		{`open("x", mode="a")`, "write", "write: x"},
		{`import sys; open("x", sys.argv[1])`, "write|unknown", "write: x"},
		{`import shutil; shutil.rmtree("/etc")`, "delete|!unknown", "delete: /etc"},
		{`import os; os.remove("a" + ".txt")`, "delete|!unknown", "delete: a.txt"},
		{`import os; os.rename("a", "b")`, "write|delete", "write: b"},
		{`import pathlib; (pathlib.Path("/etc") / "x").unlink()`, "delete", "delete: /etc/x"},
		{`from pathlib import Path; Path("x").write_text("hi")`, "write", "write: x"},
		{`import os; os.chmod("/etc/shadow", 0o777)`, "write", "write: /etc/shadow"},
		{`import json; json.dump({}, open("a.json", "w"))`, "write", "write: a.json"},
		// Network.
		{`import urllib.request; print(urllib.request.urlopen("http://x.y").read())`, "connect", "host: http://x.y"},
		{`import socket; s=socket.socket(); s.connect(("1.2.3.4", 80))`, "connect|unknown", ""},
		{`import requests; requests.get("https://x.y")`, "import|connect", "host: https://x.y"},
		// Ways to hide.
		{`().__class__.__bases__[0].__subclasses__()`, "unknown", ""},
		{`globals()["__builtins__"].exec("x")`, "unknown", ""},
		{`__builtins__.exec("import os")`, "eval", ""},
		{`print.__self__.exec("1")`, "unknown", ""},
		{`import sys; sys.modules["os"].system("id")`, "unknown", ""},
		{`import uuid; uuid.os.system("id")`, "unknown", ""},
		{`import random; random._os.system("id")`, "unknown", ""},
		{`import json; json.codecs.builtins.exec("1")`, "unknown", ""},
		{`for m in [__import__("os")]: m.system("id")`, "unknown", ""},
		{`import pickle; pickle.loads(b"")`, "eval|unknown", ""},
		{`import ctypes; ctypes.CDLL(None).system(b"id")`, "unknown", ""},
		{`@exec` + "\n" + `def f(): pass`, "eval|unknown", ""},
		{`import os; os.kill(1, 9)`, "signal", ""},
		{`print("unterminated`, "unknown", ""},
		{`x = lambda: __import__("os").system("id")`, "spawn", "shell: id"},
		{`exec "print 1"`, "eval", ""},
		{`from posixpath import os; os.system("id")`, "import|unknown", ""},
		{`import os as print; print.system("id")`, "spawn", "shell: id"},
		{"import shutil as s\nif 0: s = ''\ns.copy('a', 'b')", "unknown", ""},
		{"class A: r = __import__('os').remove\nA.r('/x')", "unknown", ""},
		{`import pathlib; pathlib.Path("a").replace("b")`, "write|delete", "write: b"},
		{`import datetime; print(datetime.datetime.now().replace(microsecond=0))`, "-", ""},
		{`import os; f = g = os.remove; f("/x")`, "delete", "delete: /x"},
		{`import os; print(list(map((f := os.remove), ["x"])))`, "delete|unknown", ""},
		{`(lambda f: f("id"))(__import__("os").system)`, "spawn|unknown", ""},
		{`import subprocess; a = ["ls"]; a.append("x"); subprocess.run(a)`, "spawn", "exec: ?"},
	})
}

func TestPerl(t *testing.T) {
	check(t, Perl, []row{
		{`print if /foo/`, "-", ""},
		{`s/a/b/g`, "-", ""},
		{`print "hello\n"`, "-", ""},
		{`$s += $F[0]; END { print $s }`, "-", ""},
		{`print join(",", map { $_ * 2 } 1..10), "\n"`, "-", ""},
		{`use POSIX; print strftime("%Y", localtime), "\n"`, "-", ""},
		{`my %h; while (<STDIN>) { chomp; $h{$_}++ } print "$_ $h{$_}\n" for sort keys %h;`, "-", ""},
		{`print "$ENV{HOME}\n"`, "-", ""},
		{`print $]; print "$^V\n"`, "-", ""},
		{`tr/a-z/A-Z/; print`, "-", ""},
		{`y/a/b/`, "-", ""},
		{`use MIME::Base64; print decode_base64("aGk=")`, "-", ""},
		{`print qq{a b}, q(c), qw(d e)`, "-", ""},
		{`s/(\d+)/$1+1/e; print`, "-", ""},
		{`print scalar(@ARGV), "\n"; # system("x")`, "-", ""},
		{`open(F, "<", "x"); print <F>`, "-", "read: x"},
		{`printf "%s\n", length($_)`, "-", ""},
		{`print "yes" unless -e "/tmp/x"`, "-", ""},
		{`use List::Util qw(sum); print sum(1, 2)`, "-", ""},
		{`print reverse <>`, "-", ""},
		{`@a = sort { $a <=> $b } @F; print "@a"`, "-", ""},
		{`system("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`system "rm -rf /"`, "spawn", "shell: rm -rf /"},
		{`system("rm", "-rf", "/")`, "spawn", "exec: rm -rf /"},
		{`exec "rm -rf /"`, "spawn", "shell: rm -rf /"},
		{"`rm -rf /`", "spawn", "shell: rm -rf /"},
		{`print qx{rm -rf /}`, "spawn", "shell: rm -rf /"},
		{`my $x = "rm"; system("$x -rf /")`, "spawn", "shell: rm -rf /"},
		{`system("rm" . " -rf" . " /")`, "spawn", "shell: rm -rf /"},
		{`open(F, "rm -rf / |")`, "spawn", "shell: rm -rf /"},
		{`open F, "| rm -rf /"`, "spawn", "shell: rm -rf /"},
		{`open(my $f, "-|", "rm", "-rf", "/")`, "spawn", "exec: rm -rf /"},
		{`open(F, ">", "/etc/x")`, "write", "write: /etc/x"},
		{`open(F, ">/etc/x")`, "write", "write: /etc/x"},
		{`unlink "a", "b"`, "delete", "delete: b"},
		{`unlink("/etc/passwd")`, "delete", "delete: /etc/passwd"},
		{`use File::Path; rmtree("/etc")`, "delete", "delete: /etc"},
		{`eval "system('id')"`, "eval|spawn", "shell: id"},
		{`eval $x`, "eval|unknown", ""},
		{`s/x/system("id")/e`, "spawn", "shell: id"},
		{`s/x/$y/ee`, "eval", ""},
		{`print "@{[system('id')]}"`, "spawn", "shell: id"},
		{`print "${\ system('id')}"`, "spawn", "shell: id"},
		{`/(?{system("id")})/`, "eval", ""},
		{`&{"system"}("id")`, "unknown", ""},
		{`do "x.pl"`, "import|eval", ""},
		{`require "x.pl"`, "import", ""},
		{`use Evil; go()`, "import|unknown", ""},
		{`@ARGV = ("id|"); print <>`, "spawn|unknown", "shell: id"},
		{`kill 9, -1`, "signal", ""},
		{`fork while 1`, "spawn", ""},
		{`use IO::Socket::INET; IO::Socket::INET->new("1.2.3.4:80")`, "connect", ""},
		{`CORE::system("id")`, "spawn", "shell: id"},
		{`system(pack("H*", "6964"))`, "spawn", "shell: id"},
		{`system(join("", "i", "d"))`, "spawn", "shell: id"},
		{`$^I = ""; @ARGV = "x"; while (<>) { print }`, "write", ""},
		{`eval { die }; print $@`, "-", ""},
		{`eval { system("id") }`, "spawn", "shell: id"},
		{`my $f = \&CORE::system; $f->("id")`, "spawn|unknown", ""},
		{`chmod 0777, "/etc/x"`, "write", "write: /etc/x"},
		{"system(<<E)\nrm -rf /\nE\n", "spawn", ""},
	})
}

func TestNode(t *testing.T) {
	check(t, Node, []row{
		{`console.log(process.version)`, "-", ""},
		{`require("./package.json").version`, "-", "read: ./package.json"},
		{`console.log(1+1)`, "-", ""},
		{`const fs = require("fs"); console.log(fs.readFileSync("a.txt", "utf8"))`, "-", "read: a.txt"},
		{`console.log(JSON.stringify(JSON.parse(require("fs").readFileSync(0)), null, 2))`, "-", ""},
		{`console.log([1,2,3].map(x => x * 2).join(","))`, "-", ""},
		{`for (const k of Object.keys(process.versions)) console.log(k)`, "-", ""},
		{"console.log(`a ${1 + 1} b`)", "-", ""},
		{`const {version} = require("./package.json"); console.log(version)`, "-", ""},
		{`process.stdin.on("data", d => console.log(d.toString().trim()))`, "-", ""},
		{`console.log(require("os").cpus().length)`, "-", ""},
		{`console.log(process.env.HOME)`, "-", ""},
		{`console.log(require("path").join("a", "b"))`, "-", ""},
		{`console.log(Buffer.from("aGk=", "base64").toString())`, "-", ""},
		{`console.log(new Date().toISOString())`, "-", ""},
		{`function f(a) { return a + 1 } console.log(f(2))`, "-", ""},
		{`console.log(require("crypto").randomUUID())`, "-", ""},
		{`const p = JSON.parse(require("fs").readFileSync("package.json")); for (const k in p.scripts) console.log(k, p.scripts[k])`, "-", ""},
		{`"a-b".replace(/-/g, "_")`, "-", ""},
		{`// require("child_process").execSync("x")`, "-", ""},
		{`process.exit(0)`, "-", ""},
		{`let s = 0; for (let i = 0; i < 10; i++) { s += i } console.log(s)`, "-", ""},
		{`require("child_process").execSync("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`const {execSync}=require("child_process"); execSync("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`const {execSync: e} = require("node:child_process"); e("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`const cp = require("child_"+"process"); cp.exec("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`require("child_process").spawn("rm", ["-rf", "/"])`, "spawn", "exec: rm -rf /"},
		{`require("child_process").spawnSync("rm -rf /", {shell: true})`, "spawn", "shell: rm -rf /"},
		{`import {rmSync} from "fs"; rmSync("/etc")`, "delete", "delete: /etc"},
		{`import * as fs from "fs"; fs.rmSync("/etc")`, "delete", "delete: /etc"},
		{`import fs from "node:fs"; fs.writeFileSync("x", "y")`, "write", "write: x"},
		{`require("fs").rmSync("/", {recursive: true, force: true})`, "delete", "delete: /"},
		{`require("fs").promises.unlink("x")`, "delete", "delete: x"},
		{`fs.unlinkSync("x")`, "delete", "delete: x"},
		{`fetch("http://x.y")`, "connect", "host: http://x.y"},
		{`require("https").get("https://x.y", r => r.pipe(process.stdout))`, "connect", "host: https://x.y"},
		{`eval("require('child_process').execSync('id')")`, "eval|spawn", "shell: id"},
		{`Function("return process")()`, "eval", ""},
		{`new Function("x", "return require('fs')")`, "eval", ""},
		{`[].constructor.constructor("return process")()`, "unknown", ""},
		{`[]["con"+"structor"]["constructor"]("x")()`, "unknown", ""},
		{`const k = process.argv[1]; [][k][k]("x")()`, "unknown", ""},
		{`process.binding("spawn_sync")`, "unknown", ""},
		{`process.mainModule.require("child_process").execSync("id")`, "unknown", ""},
		{`globalThis["ev"+"al"]("1")`, "eval", ""},
		{`globalThis.process.kill(1)`, "signal", ""},
		{`this.require("child_process").execSync("id")`, "spawn", "shell: id"},
		{"require(`child_process`).execSync(`rm -rf ${'/'}`)", "spawn", "shell: rm -rf /"},
		{`import("child_process").then(m => m.execSync("id"))`, "unknown", ""},
		{`const {constructor: F} = () => 1; F("x")()`, "unknown", ""},
		{`require(process.argv[1])`, "import|unknown", ""},
		{`require("lodash").chunk([1], 1)`, "import", ""},
		{`Reflect.get(process, "kill")(1)`, "unknown", ""},
		{`process.kill(1)`, "signal", ""},
		{`Object.values(require("child_process")).forEach(f => f("id"))`, "unknown", ""},
		{`(0, eval)("1")`, "eval", ""},
		{`const e = require("child_process").execSync; e("id")`, "spawn", "shell: id"},
		{`require("vm").runInThisContext("1")`, "eval", ""},
		{`(Bun => 0); Bun.write("/etc/x", "y")`, "write", "write: /etc/x"},
		{`function f(http) {} http.get("http://x.y")`, "connect", "host: http://x.y"},
		{`var r = require("fs").rmSync; globalThis.r("/x")`, "delete", "delete: /x"},
		{`class A { r = require("fs").rmSync } new A().r("/x")`, "unknown", ""},
		{`console.log((1 + 2) / 3, "a/b")`, "-", ""},
		{`if (1) /"/.test(1); eval("1") //"`, "unknown", ""},
	})
}

func TestRuby(t *testing.T) {
	check(t, Ruby, []row{
		{`puts 1+1`, "-", ""},
		{`puts RUBY_VERSION`, "-", ""},
		{`puts [1,2,3].map { |x| x * 2 }.sum`, "-", ""},
		{`require "json"; puts JSON.parse(STDIN.read)["a"]`, "-", ""},
		{`puts "a #{1 + 1} b"`, "-", ""},
		{`(1..10).each do |i| puts i if i.even? end`, "-", ""},
		{`puts File.read("x")`, "-", "read: x"},
		{`puts ENV["HOME"]`, "-", ""},
		{`require 'date'; puts Date.today.strftime("%Y")`, "-", ""},
		{`puts %w[a b].join(",")`, "-", ""},
		{`gsub(/a/, "b")`, "-", ""},
		{`puts $_.split(":")[0]`, "-", ""},
		{`def f(x) x + 1 end; puts f(2)`, "-", ""},
		{`p({a: 1, "b" => 2}.keys)`, "-", ""},
		{`puts ARGF.readlines.map(&:strip).sort.uniq`, "-", ""},
		{`x = [3, 1]; x.sort!; puts x.inspect`, "-", ""},
		{`puts Time.now.to_i`, "-", ""},
		{`puts [1,2].inject(:+)`, "-", ""},
		{`puts "x" if File.exist?("a")`, "-", ""},
		{`# system("x")`, "-", ""},
		{`puts Gem::VERSION`, "-", ""},
		{`system("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`system "rm", "-rf", "/"`, "spawn", "exec: rm -rf /"},
		{`exec "rm -rf /"`, "spawn", "shell: rm -rf /"},
		{"`rm -rf /`", "spawn", "shell: rm -rf /"},
		{`puts %x(rm -rf /)`, "spawn", "shell: rm -rf /"},
		{`%x{rm -rf /}`, "spawn", "shell: rm -rf /"},
		{`x = "rm"; system("#{x} -rf /")`, "spawn", "shell: rm -rf /"},
		{`Kernel.system("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`Kernel.send(:system, "rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`send("sys" + "tem", "rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`IO.popen("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`IO.popen(["rm", "-rf", "/"])`, "spawn", "exec: rm -rf /"},
		{`open("|rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`require "open3"; Open3.capture2("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`eval("system('id')")`, "eval|spawn", "shell: id"},
		{`instance_eval("1")`, "eval", ""},
		{`"x".instance_eval { system("id") }`, "eval", ""},
		{`File.delete("x")`, "delete", "delete: x"},
		{`File.delete "x"`, "delete", "delete: x"},
		{`require "fileutils"; FileUtils.rm_rf("/etc")`, "delete", "delete: /etc"},
		{`File.write("x", "y")`, "write", "write: x"},
		{`File.open("x", "w") { |f| f.puts 1 }`, "write", "write: x"},
		{`require "net/http"; Net::HTTP.get(URI("http://x.y"))`, "connect", ""},
		{`method(:system).call("id")`, "unknown", ""},
		{`["id"].each(&method(:system))`, "unknown", ""},
		{`["1"].inject(:instance_eval)`, "unknown", ""},
		{`Object.const_get(:Kernel).system("id")`, "unknown", ""},
		{`Process.kill(9, 1)`, "signal", ""},
		{`spawn("id")`, "spawn", "shell: id"},
		{`puts "#{system("id")}"`, "spawn", "shell: id"},
		{`require "evil"`, "import", ""},
		{`x = :system; send(x, "id")`, "spawn", "shell: id"},
		{`fork { loop {} }`, "spawn", ""},
		{`Pathname.new("x").delete`, "delete", "delete: x"},
		{`x = Pathname("x"); x.write("y")`, "write", "write: x"},
		{`class File; end; File.write("x", "y")`, "write", "write: x"},
		{`x = ->(a) { a + 1 }; puts x.call(2)`, "-", ""},
	})
}

func TestPHP(t *testing.T) {
	check(t, PHP, []row{
		{`echo PHP_VERSION;`, "-", ""},
		{`echo 1;`, "-", ""},
		{`echo json_encode(["a" => 1, "b" => [1, 2]]), "\n";`, "-", ""},
		{`$x = json_decode(file_get_contents("a.json"), true); echo $x["version"];`, "-", "read: a.json"},
		{`echo date("Y-m-d");`, "-", ""},
		{`foreach ([1, 2] as $v) { echo $v, PHP_EOL; }`, "-", ""},
		{`echo strtoupper("a") . "b";`, "-", ""},
		{`print_r(get_loaded_extensions());`, "-", ""},
		{`echo base64_encode("a");`, "-", ""},
		{`<?php echo "hi"; ?> text`, "-", ""},
		{`echo array_sum(array_map(fn($x) => $x * 2, [1, 2]));`, "-", ""},
		{`usort($a, function($x, $y) { return $x <=> $y; });`, "-", ""},
		{`echo getenv("HOME");`, "-", ""},
		{`function f($x) { return $x + 1; } echo f(2);`, "-", ""},
		{`$d = new DateTime("now"); echo $d->format("c");`, "-", ""},
		{`echo "a $x {$y['z']} b";`, "-", ""},
		{`// system("x");`, "-", ""},
		{`echo str_replace("a", "b", "abc");`, "-", ""},
		{`var_dump(extension_loaded("curl"));`, "-", ""},
		{`echo preg_match('/a/', "abc") ? "y" : "n";`, "-", ""},
		{`system("rm -rf /");`, "spawn", "shell: rm -rf /"},
		{`SYSTEM("rm -rf /");`, "spawn", "shell: rm -rf /"},
		{`shell_exec("rm -rf /");`, "spawn", "shell: rm -rf /"},
		{`exec("rm " . "-rf /");`, "spawn", "shell: rm -rf /"},
		{"echo `rm -rf /`;", "spawn", "shell: rm -rf /"},
		{`passthru("rm -rf /");`, "spawn", "shell: rm -rf /"},
		{`$f = "sys" . "tem"; $f("rm -rf /");`, "spawn", "shell: rm -rf /"},
		{`"system"("rm -rf /");`, "spawn", "shell: rm -rf /"},
		{`$x = "rm -rf /"; system($x);`, "spawn", "shell: rm -rf /"},
		{`call_user_func("system", "rm -rf /");`, "spawn", "shell: rm -rf /"},
		{`array_map("system", ["rm -rf /"]);`, "spawn", "shell: rm -rf /"},
		{`$_GET["f"]("x");`, "unknown", ""},
		{`eval("system('id');");`, "eval|spawn", "shell: id"},
		{`eval(base64_decode("c3lzdGVtKCdpZCcpOw=="));`, "eval|spawn", "shell: id"},
		{`assert("system('id')");`, "eval", ""},
		{`preg_replace("/a/e", "system('id')", "a");`, "unknown", ""},
		{`unlink("x");`, "delete", "delete: x"},
		{`file_put_contents("x", "y");`, "write", "write: x"},
		{`fopen("x", "w");`, "write", "write: x"},
		{`file_get_contents("http://x.y");`, "connect", "host: http://x.y"},
		{`include "x.php";`, "import", ""},
		{`include("php://stdin");`, "import", ""},
		{`proc_open(["rm", "-rf", "/"], [], $p);`, "spawn", "exec: rm -rf /"},
		{`popen("rm -rf /", "r");`, "spawn", "shell: rm -rf /"},
		{`mail("a", "b", "c", "", "-X/x");`, "unknown", ""},
		{`(new ReflectionFunction("system"))->invoke("id");`, "unknown", ""},
		{`$g = fn() => system("id"); $g();`, "spawn", "shell: id"},
		{`echo "{$x->y(system('id'))}";`, "spawn", "shell: id"},
		{`$$a("id");`, "unknown", ""},
		{`unserialize($x);`, "unknown", ""},
		{`#[A] function f() {} system("id");`, "spawn", "shell: id"},
		{`?><?php system("id");`, "spawn", "shell: id"},
	})
}

func TestLuaAndR(t *testing.T) {
	check(t, Lua, []row{
		{`print(_VERSION)`, "-", ""},
		{`for i = 1, 10 do print(i, math.sqrt(i)) end`, "-", ""},
		{`local t = {a = 1}; for k, v in pairs(t) do print(k, v) end`, "-", ""},
		{`print(("x"):rep(3))`, "-", ""},
		{`io.write(io.read("*a"):upper())`, "-", ""},
		{`os.execute("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`os["exe" .. "cute"]("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`_G["os"].execute("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`os.execute[[rm -rf /]]`, "spawn", "shell: rm -rf /"},
		{`io.popen("id"):read()`, "spawn", "shell: id"},
		{`local o = os; o.execute("id")`, "spawn", "shell: id"},
		{`load("os.execute('id')")()`, "eval|spawn", "shell: id"},
		{`os.remove("x")`, "delete", "delete: x"},
		{`io.open("x", "w")`, "write", "write: x"},
		{`for k, v in pairs(os) do v("id") end`, "unknown", ""},
		{`require("x")`, "import", ""},
		{`--[[ os.execute("x") ]] print(1)`, "-", ""},
	})
	check(t, R, []row{
		{`cat(mean(c(1, 2, 3)), "\n")`, "-", ""},
		{`x <- 1:10; print(sum(x))`, "-", ""},
		{`print(R.version.string)`, "-", ""},
		{`system("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`unlink("/etc", recursive = TRUE)`, "delete", "delete: /etc"},
		{`library(ggplot2)`, "import", ""},
		{`eval(parse(text = "system('id')"))`, "eval", ""},
	})
}

func TestAwk(t *testing.T) {
	check(t, Awk, []row{
		{`{print $1}`, "-", ""},
		{`{s+=$1} END {print s}`, "-", ""},
		{`NR==1 || /foo/ {print $0; next}`, "-", ""},
		{`BEGIN {FS=":"; OFS="\t"} {print $1, $3}`, "-", ""},
		{`{a[$1]++} END {for (k in a) print k, a[k] | "sort"}`, "spawn|!unknown", "shell: sort"},
		{`length($0) > 80`, "-", ""},
		{`$3 > 100 {print $1}`, "-", ""},
		{`{gsub(/a/, "b"); print}`, "-", ""},
		{`{printf "%s %d\n", $1, $2}`, "-", ""},
		{`{print ($1 > $2)}`, "-", ""},
		{`!seen[$0]++`, "-", ""},
		{`{print > "/dev/stderr"}`, "-", ""},
		{`function f(x) {return x*2} {print f($1)}`, "-", ""},
		{`# system("x")`, "-", ""},
		{`/system\("rm"\)/ {print}`, "-", ""},
		{`{print toupper(substr($1, 1, 1)) substr($1, 2)}`, "-", ""},
		{`BEGIN {print ENVIRON["HOME"]}`, "-", ""},
		{`{ if ($1 ~ /x/) print; else print "no" }`, "-", ""},
		{`{print > "file"}`, "write", "write: file"},
		{`{print >> "out" ".txt"}`, "write", "write: out.txt"},
		{`{print > $1}`, "write", "write: ?"},
		{`{print $1 > $2 ".txt"}`, "write", "write: ?.txt"},
		{`BEGIN {system("rm -rf /")}`, "spawn", "shell: rm -rf /"},
		{`BEGIN {system("rm" " -rf" " /")}`, "spawn", "shell: rm -rf /"},
		{`BEGIN {c="rm -rf /"; system(c)}`, "spawn", "shell: rm -rf /"},
		{`{system("rm " $1)}`, "spawn", "shell: rm ?"},
		{`BEGIN {"id" | getline x; print x}`, "spawn", "shell: id"},
		{`BEGIN {while (("ls" | getline l) > 0) print l}`, "spawn", "shell: ls"},
		{`{print | "sh"}`, "spawn", "shell: sh"},
		{`{print |& "sh"}`, "spawn", "shell: sh"},
		{`BEGIN {print "x" > "/inet/tcp/0/h/80"}`, "connect", ""},
		{`BEGIN {f = "sys"; @f("x")}`, "unknown", ""},
		{`@load "x"`, "unknown", ""},
		{`BEGIN {while ((getline l < "x") > 0) print l}`, "-", "read: x"},
		{`BEGIN {system("\x69\x64")}`, "spawn", "shell: id"},
		{`{$0 | getline}`, "spawn", "shell: ?"},
	})
}

func TestSed(t *testing.T) {
	check(t, Sed, []row{
		{`s/a/b/`, "-", ""},
		{`s/a/b/g;s/c/d/gI`, "-", ""},
		{`1,5p`, "-", ""},
		{`/foo/d`, "-", ""},
		{`$!N;P;D`, "-", ""},
		{`1~2d`, "-", ""},
		{`/a/,/b/{s/x/y/;p}`, "-", ""},
		{`s|/usr|/opt|`, "-", ""},
		{`y/abc/xyz/`, "-", ""},
		{`:a;N;$!ba;s/\n/ /g`, "-", ""},
		{`5q`, "-", ""},
		{`s/[/]w x/e/`, "-", ""},
		{`1i\` + "\n" + `text w file`, "-", ""},
		{`a e rm`, "-", ""},
		{`r file`, "-", "read: file"},
		{`10,20p;20q`, "-", ""},
		{`/^#/!d`, "-", ""},
		{`s/x/w/2p`, "-", ""},
		{`=`, "-", ""},
		{`\,x,d`, "-", ""},
		{`/[[:space:]]$/s///`, "-", ""},
		{`s/x/y/e`, "spawn", "shell: y"},
		{`s/.*/rm -rf \//e`, "spawn", ""},
		{`w file`, "write", "write: file"},
		{`s/a/b/w out.txt`, "write", "write: out.txt"},
		{`s/a/b/gw /etc/x`, "write", "write: /etc/x"},
		{`1e rm -rf /`, "spawn", "shell: rm -rf /"},
		{`e`, "spawn", "shell: ?"},
		{`/x/w /etc/passwd`, "write", "write: /etc/passwd"},
		{`/x/{e id` + "\n" + `}`, "spawn", "shell: id"},
		{`$!{/x/W f` + "\n" + `}`, "write", "write: f"},
		{`s/a/b`, "unknown", ""},
		{`s,a,b,;1e id`, "spawn", "shell: id"},
		{`1!e id`, "spawn", "shell: id"},
		{`p;w /dev/stdout`, "-", ""},
		{`k`, "unknown", ""},
	})
}

func TestSQL(t *testing.T) {
	check(t, SQL, []row{
		{`SELECT 1`, "-", ""},
		{`select * from users where id = 3;`, "-", ""},
		{`SELECT count(*) FROM t GROUP BY a ORDER BY 1 DESC LIMIT 10`, "-", ""},
		{`SELECT 'DROP TABLE x'`, "-", ""},
		{`-- DROP TABLE x` + "\n" + `SELECT 1`, "-", ""},
		{`/* DELETE FROM x */ SELECT 1`, "-", ""},
		{`SHOW TABLES`, "-", ""},
		{`EXPLAIN DELETE FROM users`, "-", ""},
		{`WITH x AS (SELECT 1) SELECT * FROM x`, "-", ""},
		{`\dt`, "-", ""},
		{`.tables`, "-", ""},
		{`PRAGMA table_info(t)`, "-", ""},
		{`SELECT "delete", [drop] FROM t`, "-", ""},
		{`SELECT now(), version(), current_user`, "-", ""},
		{`DESCRIBE t`, "-", ""},
		{`SELECT * FROM a JOIN b ON (a.x = b.x) WHERE a.y IN (1, 2)`, "-", ""},
		{`COPY t TO STDOUT`, "-", ""},
		{`DROP TABLE users`, "delete", ""},
		{`DELETE FROM users`, "delete", ""},
		{`DELETE FROM users WHERE id = 1`, "delete", ""},
		{`TRUNCATE TABLE users`, "delete", ""},
		{`UPDATE users SET a = 1`, "write", ""},
		{`INSERT INTO t VALUES (1)`, "write", ""},
		{`ALTER TABLE t ADD c int`, "write", ""},
		{`EXPLAIN ANALYZE DELETE FROM users`, "delete", ""},
		{`WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d`, "delete", ""},
		{`COPY t TO PROGRAM 'rm -rf /'`, "spawn", "shell: rm -rf /"},
		{`COPY t FROM PROGRAM $$id$$`, "spawn", "shell: id"},
		{`\! rm -rf /`, "spawn", "shell: rm -rf /"},
		{`.shell rm -rf /`, "spawn", "shell: rm -rf /"},
		{`SELECT LOAD_FILE('/etc/passwd')`, "-", "read: /etc/passwd"},
		{`SELECT * INTO OUTFILE '/var/www/x.php' FROM t`, "write", "write: /var/www/x.php"},
		{`ATTACH DATABASE '/x/y.db' AS z`, "write", "write: /x/y.db"},
		{`SELECT 1; DROP TABLE x`, "delete", ""},
		{`/*!50000 DROP TABLE x */`, "delete|unknown", ""},
		{`SELECT pg_terminate_backend(1)`, "signal", ""},
		{`EXEC xp_cmdshell 'id'`, "unknown", ""},
		{`SELECT my_function(1)`, "unknown", ""},
		{`DO $$ BEGIN DELETE FROM x; END $$`, "unknown", ""},
		{`SELECT writefile('x', 'y')`, "write", "write: x"},
		{`SELECT 'a\'; DROP TABLE x; --'`, "unknown", ""},
		{`\copy t to program 'id'`, "unknown", ""},
		{`GRANT ALL ON t TO x`, "write", ""},
		{`SELECT "lo_export"(1, '/x')`, "write", ""},
		{`SELECT a FROM t WHERE x > (SELECT avg(x) FROM t)`, "-", ""},
		{`SELECT a #> '{b}' FROM t`, "-", ""},
		{`.output x`, "write", "write: x"},
	})
}

func TestStatements(t *testing.T) {
	rows := []struct {
		text string
		want Statement
	}{
		{`DELETE FROM users`, Statement{Verb: "DELETE", Object: "users"}},
		{`delete from "public"."users" where id=1`, Statement{Verb: "DELETE", Object: "public.users", Where: true}},
		{`UPDATE users SET a = 'where'`, Statement{Verb: "UPDATE", Object: "users"}},
		{`DROP TABLE IF EXISTS a.b`, Statement{Verb: "DROP", Object: "a.b"}},
		{"TRUNCATE `x`", Statement{Verb: "TRUNCATE", Object: "x"}},
		{`WITH d AS (SELECT 1) DELETE FROM t WHERE 1`, Statement{Verb: "DELETE", Object: "t", Where: true}},
		{`DROP DATABASE prod;`, Statement{Verb: "DROP", Object: "prod"}},
		{`DELETE /* WHERE */ FROM t -- WHERE`, Statement{Verb: "DELETE", Object: "t"}},
	}
	for _, r := range rows {
		rep := Scan(SQL, r.text)
		if len(rep.SQL) != 1 {
			t.Errorf("%s: %d statements", r.text, len(rep.SQL))
			continue
		}
		q := rep.SQL[0]
		q.Start, q.End = 0, 0
		if q != r.want {
			t.Errorf("%s\n\tis %+v, want %+v", r.text, q, r.want)
		}
	}
}

func TestOthers(t *testing.T) {
	check(t, Vim, []row{
		{`q`, "-", ""},
		{`:set nu | q!`, "-", ""},
		{`:!rm -rf /`, "spawn", "shell: rm -rf /"},
		{`:w !sudo tee x`, "spawn", "shell: sudo tee x"},
		{`wq`, "write", ""},
		{`%s/a/b/g | w out`, "write", "write: out"},
		{`call system("rm -rf /")`, "spawn", "shell: rm -rf /"},
		{`py3 import os; os.system("id")`, "spawn", "shell: id"},
		{`g/x/d`, "-", ""},
		{`source x`, "unknown", ""},
		{`exe "!id"`, "spawn", "shell: id"},
	})
	check(t, Make, []row{
		{"all:\n\trm -rf /\n", "spawn", "shell: rm -rf /"},
		{"all: ; rm -rf /", "spawn", "shell: rm -rf /"},
		{"X := $(shell rm -rf /)", "spawn", "shell: rm -rf /"},
		{"all:\n\t@echo $(X) $$HOME\n", "spawn", "shell: echo ? $HOME"},
	})
	check(t, AppleScript, []row{
		{`display notification "done" with title "x"`, "-", ""},
		{`do shell script "rm -rf /"`, "spawn", "shell: rm -rf /"},
		{`do shell script "rm " & "-rf /"`, "spawn", "shell: rm -rf /"},
		{`tell application "Terminal" to do script "id"`, "spawn", "shell: id"},
		{`tell application "Finder" to delete every file`, "unknown", ""},
	})
	check(t, Tcl, []row{
		{`puts "hi"`, "-", ""},
		{`exec rm -rf /`, "spawn", "exec: rm -rf /"},
		{`file delete -force /etc`, "delete", "delete: /etc"},
		{`puts [exec id]`, "spawn", ""},
	})
	check(t, Unlisted, []row{{`anything`, "unknown", ""}, {` `, "-", ""}})
}

func TestLangOf(t *testing.T) {
	rows := []struct {
		program string
		want    Lang
	}{
		{"python3.11", Python}, {"/usr/bin/python", Python}, {"python3", Python}, {"nodejs", Node}, {"perl5.36.0", Perl}, {"gawk", Awk}, {"mawk", Awk},
		{"psql", SQL}, {"mysql", SQL}, {"sqlite3", SQL}, {`C:\x\Python.EXE`, Python}, {"ruby3.2", Ruby}, {"php8.2", PHP}, {"lua5.4", Lua}, {"osascript", AppleScript},
		{"gmake", Make}, {"tclsh8.6", Tcl}, {"cat", Unlisted}, {"", Unlisted}, {"bun", Node},
	}
	for _, r := range rows {
		if l, found := LangOf(r.program); l != r.want || found != (r.want != Unlisted) {
			t.Errorf("LangOf(%q) = %v, %v, want %v", r.program, l, found, r.want)
		}
	}
}

// What a program is given does nothing by itself; what it does with the results counts as always.
func TestGiven(t *testing.T) {
	given := []string{"hermes_tools.terminal", "hermes_tools.read_file"}
	for _, r := range []row{
		{"from hermes_tools import terminal, read_file\nprint(terminal('rm -rf /')['output'])", "-", ""},
		{"import hermes_tools as h\nfor line in h.read_file('a')['content'].splitlines():\n    print(line)", "-", ""},
		{"from hermes_tools import *\nprint(terminal('ls'))", "-", ""},
		{"from hermes_tools import *\nevil()", "unknown", ""},
		{"from hermes_tools import other\nother()", "unknown", ""},
		{"import hermes_tools\nhermes_tools.os.system('ls')", "unknown", ""},
		{"from hermes_tools import read_file\nexec(read_file('a')['content'])", "eval", ""},
		{"from hermes_tools import terminal\nopen('x','w').write(terminal('ls')['output'])", "write", "write: x"},
		{"import hermes_tool\nhermes_tool.terminal('ls')", "import", ""},
	} {
		rep := ScanGiven(Python, r.text, given)
		if rep.Effects.Harmless() != (r.want == "-") || r.want != "-" && !strings.Contains(rep.Effects.String(), r.want) {
			t.Errorf("%s\n\tis %v, want %s", r.text, rep.Effects, r.want)
		}
		if r.frag != "" && !strings.Contains(fragments(rep), r.frag+"\n") {
			t.Errorf("%s\n\thas %q, want %q", r.text, fragments(rep), r.frag)
		}
		if r.want == "-" && Scan(Python, r.text).Effects.Harmless() {
			t.Errorf("%s\n\tis harmless where nothing is given", r.text)
		}
	}
}
