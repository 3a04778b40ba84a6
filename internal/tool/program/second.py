# Runs the program, and gives it the module hermes_tools: each call goes to Hermes as a line of JSON, and the answer comes back
# as one. Standard input and output are the way; the program itself has an empty input, and prints to what was standard error.
import sys
sys.path[:] = [p for p in sys.path if p]
import atexit, json, linecache, os, threading, traceback, types


def start():
    replies = os.fdopen(os.dup(0), "rb")
    out = os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    first = json.loads(replies.readline().decode())
    mine, lock, waiting = os.getpid(), threading.Lock(), {}
    state = {"id": 0, "reads": False, "over": False}

    class ToolError(Exception):
        """A call that was refused, or that came to nothing."""

    def say(frame):
        rest = json.dumps(frame).encode() + b"\n"
        while rest:
            rest = rest[os.write(out, rest):]

    def read():
        for line in replies:
            reply = json.loads(line.decode())
            with lock:
                slot = waiting.pop(reply["id"], None)
            if slot:
                slot[1] = reply
                slot[0].set()
        with lock:
            state["over"] = True
            left = list(waiting.values())
            waiting.clear()
        for slot in left:
            slot[0].set()

    def ask(tool, args):
        if os.getpid() != mine:
            raise ToolError("tools are for the program itself, not for processes that it has started")
        slot = [threading.Event(), None]
        with lock:
            if state["over"]:
                raise ToolError("Hermes has gone")
            state["id"] += 1
            number = state["id"]
            waiting[number] = slot
            if not state["reads"]:
                state["reads"] = True
                threading.Thread(target=read, daemon=True).start()
            say({"id": number, "tool": tool, "args": args})
        slot[0].wait()
        if slot[1] is None:
            raise ToolError("Hermes has gone")
        if "error" in slot[1]:
            raise ToolError(slot[1]["error"])
        return slot[1].get("data")

    def make(tool):
        name, params = tool["name"], tool["params"]

        def call(*args, **named):
            if len(args) > len(params):
                raise TypeError("%s takes %d arguments: %s" % (name, len(params), ", ".join(params)))
            given = dict(zip(params, args))
            for key in named:
                if key not in params:
                    raise TypeError("%s has no argument %r; it has: %s" % (name, key, ", ".join(params)))
                if key in given:
                    raise TypeError("%s got %r twice" % (name, key))
            given.update(named)
            return ask(name, dict((k, v) for k, v in given.items() if v is not None))

        call.__name__ = call.__qualname__ = name
        call.__module__ = "hermes_tools"
        call.__doc__ = tool["doc"]
        return call

    module = types.ModuleType("hermes_tools", "Tools of the agent that runs this program.")
    module.ToolError = ToolError
    ToolError.__module__ = "hermes_tools"
    for tool in first["tools"]:
        setattr(module, tool["name"], make(tool))
    module.__all__ = [tool["name"] for tool in first["tools"]] + ["ToolError"]
    sys.modules["hermes_tools"] = module

    def leave():
        if os.getpid() == mine:
            try:
                say({"bye": True})
            except OSError:
                pass

    atexit.register(leave)
    # What lies where the program runs is found last: a file there takes the place of no other module.
    sys.path.append(os.getcwd())
    code, name = first["code"], "program.py"
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    sys.argv = [name]
    say({"hello": sys.version.split()[0]})
    return code, name, main


def run(code, name, main):
    try:
        exec(compile(code, name, "exec"), main.__dict__)
    except SystemExit:
        raise
    except BaseException:
        kind, value, trace = sys.exc_info()
        while trace and trace.tb_frame.f_code.co_filename in ("<hermes>", "<string>"):
            trace = trace.tb_next
        sys.stdout.flush()
        traceback.print_exception(kind, value, trace)
        sys.exit(130 if isinstance(value, KeyboardInterrupt) else 1)


run(*start())
