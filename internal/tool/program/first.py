# Keeps of the variables only those that Hermes names, and starts the second part, whose text is the first argument, anew: what
# else there was is then in no part of the process. The names come as one line of JSON; null keeps all.
import sys
sys.path[:] = [p for p in sys.path if p]
import os, json
line = b""
while not line.endswith(b"\n"):
    byte = os.read(0, 1)
    if not byte:
        sys.exit("Hermes has not said what to do")
    line += byte
names = json.loads(line.decode())
if names is not None:
    fold = (lambda s: s.upper()) if os.name == "nt" else (lambda s: s)
    keep = set(fold(n) for n in names)
    left = dict((n, v) for n, v in os.environ.items() if fold(n) in keep)
    if sys.executable and os.name != "nt":
        os.execve(sys.executable, [sys.executable, "-X", "utf8", "-u", "-c", sys.argv[1]], left)
    if sys.flags.no_site:
        import site
        site.main()
    os.environ.clear()
    os.environ.update(left)
exec(compile(sys.argv[1], "<hermes>", "exec"), {"__name__": "hermes"})
