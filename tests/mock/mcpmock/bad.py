"""Tools that misbehave in the middle of a call. The streams' own misbehaviours are options."""

import os
import sys
import time

from .tools import BAD, INTEGER, STRING, text, tool


def bad(description, properties=None, required=()):
    return tool(description, properties, required, into=BAD)


@bad("Ends the server's process.", {"code": INTEGER, "signal": INTEGER})
def die(session, call, arguments):
    if "signal" in arguments:
        os.kill(os.getpid(), int(arguments["signal"]))
        time.sleep(10)
    os._exit(int(arguments.get("code", 3)))


@bad("Dies in the middle of its answer.")
def die_midway(session, call, arguments):
    call.stream.raw(b'{"jsonrpc":"2.0","id":')
    os._exit(4)


@bad("Never answers.")
def hang(session, call, arguments):
    while True:
        call.sleep(3600)


@bad("Never answers, and shows progress for ever.", {"ms": INTEGER})
def busy(session, call, arguments):
    n = 0
    while True:
        n += 1
        call.progress(n)
        call.sleep(arguments.get("ms", 20) / 1000)


@bad("Stops reading and writing for a while.", {"ms": INTEGER})
def freeze(session, call, arguments):
    with session.options.reading:
        time.sleep(arguments.get("ms", 1000) / 1000)
    return text("thawed")


@bad("Prints lines that are no messages.", {"lines": INTEGER})
def garbage(session, call, arguments):
    for i in range(int(arguments.get("lines", 5))):
        call.stream.raw([b"Starting up...\n", b"\n", b"\xff\xfe\x00\n", b"{\"jsonrpc\":\n", b"[]\n",
                         b"null\n", b"{\"a\":1}\n", b"\"text\"\n"][i % 8])
    return text("after garbage")


@bad("Prints bytes without a line break.", {"mb": INTEGER, "end": {"type": "boolean"}})
def flood(session, call, arguments):
    for _ in range(int(arguments.get("mb", 100))):
        call.stream.raw(b"x" * 1048576)
    if arguments.get("end", True):
        call.stream.raw(b"\n")
    return text("after the flood")


@bad("An answer of so many megabytes.", {"mb": INTEGER})
def huge(session, call, arguments):
    return text("y" * (int(arguments.get("mb", 100)) << 20))


@bad("Floods stderr.", {"mb": INTEGER})
def stderr_flood(session, call, arguments):
    for i in range(int(arguments.get("mb", 1)) * 1024):
        sys.stderr.write("%07d " % i + "e" * 1015 + "\n")
    sys.stderr.write("the last words\n")
    sys.stderr.flush()
    return text("after stderr")


@bad("Sends notifications that nobody knows, before its answer.")
def strange_notes(session, call, arguments):
    call.notify("notifications/no/such/thing", {"a": [1, 2, {"b": None}]})
    call.notify("odd")
    call.stream.send({"jsonrpc": "2.0", "method": "notifications/message", "params": 7})
    call.stream.send({"jsonrpc": "2.0", "method": "notifications/progress",
                      "params": {"progressToken": "never given", "progress": 1}})
    return text("after strange notes")


@bad("Sends answers to nothing, before its own.")
def stray(session, call, arguments):
    for number in (999999, "nobody", "", -1, 1.5, None, 2**70, "i" * 1000):
        call.stream.send({"jsonrpc": "2.0", "id": number, "result": {}})
    call.stream.send({"jsonrpc": "2.0", "id": 999998, "error": {"code": 1, "message": "no"}})
    call.stream.send({"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}})
    return text("after strays")


@bad("Answers twice.")
def twice(session, call, arguments):
    call.stream.send({"jsonrpc": "2.0", "id": call.id, "result": session.finish(text("first"))})
    return text("second")


@bad("Answers with its id as text.")
def id_as_text(session, call, arguments):
    call.silent = True
    call.stream.send({"jsonrpc": "2.0", "id": str(call.id), "result": session.finish(text("t"))})
    return text("")


@bad("Asks with an id of so many bytes.", {"bytes": INTEGER})
def huge_id(session, call, arguments):
    number = "i" * int(arguments.get("bytes", 5 << 20))
    if not session.modern:
        call.stream.send({"jsonrpc": "2.0", "id": number, "method": "ping"})
    call.stream.send({"jsonrpc": "2.0", "id": number + "x", "result": {}})
    return text("after the id")


@bad("Asks for something that nobody offers.", {"method": STRING})
def odd_request(session, call, arguments):
    from .rules import Refused
    try:
        call.ask(arguments.get("method", "no/such/method"), {})
    except Refused as e:
        return text(e.message)
    return text("it was answered")


@bad("JSON of a depth.", {"depth": INTEGER})
def deep(session, call, arguments):
    depth = int(arguments.get("depth", 100000))
    call.stream.raw(b'{"jsonrpc":"2.0","method":"notifications/deep","params":{"a":' + b"[" * depth +
                    b"]" * depth + b"}}\n")
    return text("after the depth")


@bad("Members of the wrong types in the result.", {"which": INTEGER})
def wrong_types(session, call, arguments):
    return [{"content": "text"}, {"content": [7, None, "x", {}]}, {"content": [{"type": 7}]},
            {"content": [{"type": "text"}]}, {"content": [{"type": "image", "data": 5}]},
            {"content": [{"type": "image", "data": "***", "mimeType": "image/png"}]}, {},
            {"content": None, "isError": "yes"}][int(arguments.get("which", 0)) % 8]


@bad("Its answer is not in an envelope.", {"which": INTEGER})
def wrong_envelope(session, call, arguments):
    call.silent = True
    number = call.id
    call.stream.send([
        {"jsonrpc": "2.0", "id": number}, {"jsonrpc": "1.0", "id": number, "result": {}},
        {"jsonrpc": "2.0", "id": number, "result": 7}, {"jsonrpc": "2.0", "id": number, "result": None},
        {"jsonrpc": "2.0", "id": number, "error": "no"},
        {"jsonrpc": "2.0", "id": number, "error": {"code": "x", "message": 7}},
        {"jsonrpc": "2.0", "id": number, "result": {}, "error": {"code": 1, "message": "both"}},
        [{"jsonrpc": "2.0", "id": number, "result": session.finish(text("in a batch"))}],
    ][int(arguments.get("which", 0)) % 8])
    return text("")


@bad("Words with escapes for a terminal.")
def escapes(session, call, arguments):
    return text("\x1b]0;title\x07\x1b[2J\x00\u202e\ud800 after".encode("utf-8", "replace").decode())


@bad("Answers after the client has stopped waiting.", {"ms": INTEGER})
def late(session, call, arguments):
    time.sleep(arguments.get("ms", 500) / 1000)
    call.stream.send({"jsonrpc": "2.0", "id": call.id, "result": session.finish(text("late"))})
    call.silent = True
    return text("")
