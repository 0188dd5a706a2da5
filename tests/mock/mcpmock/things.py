"""What the server offers, and the results of its methods (one function each, named for it)."""

import base64
import json
import struct
import zlib

from . import bad, eras, tools
from .rules import Refused, need

PAGE = 5
README = "# Mock\n\nA file of the mock server.\n"


def notification(method, params=None):
    message = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return message


def error(number, refused):
    out = {"code": refused.code, "message": refused.message}
    if refused.data is not None:
        out["data"] = refused.data
    message = {"jsonrpc": "2.0", "error": out}
    if number is not None:
        message["id"] = number
    return message


class Things:
    """What tools can change about the server."""
    def __init__(self):
        self.extra = []  # tools that `grow` added
        self.changed = 0  # how often `change` rewrote the definition of `echo`
        self.hits = 0  # calls of `count`
        self.tasks = {}


# ---- pages ----


def page(session, call, items):
    size = session.options.page
    if not size:
        need("cursor" not in call.params, "no cursor was given out")
        return items, {}
    start = 0
    if "cursor" in call.params:
        cursor = call.params["cursor"]
        need(cursor.startswith("at-") and cursor[3:].isdigit() and int(cursor[3:]) < len(items),
             "cursor %r is none of ours" % cursor)
        start = int(cursor[3:])
    more = {"nextCursor": "at-%d" % (start + size)} if start + size < len(items) else {}
    return items[start:start + size], more


def listing(session, call, key, items):
    items, more = page(session, call, items)
    return dict({key: items}, **more)


# ---- beginnings ----


def offered(session):
    out = {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "prompts": {"listChanged": True},
        "logging": {},
    }
    if session.era >= "2025-03-26":
        out["completions"] = {}
    if session.era == "2025-11-25":
        out["tasks"] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    if session.era == eras.MODERN:
        out["extensions"] = {eras.TASKS: {}}
    return out


def initialize(session, call):
    return {
        "protocolVersion": session.era,
        "capabilities": offered(session),
        "serverInfo": {"name": "mcp-mock", "version": "1.0"},
        "instructions": "Call echo.",
    }


def server_discover(session, call):
    return {
        "supportedVersions": session.versions,
        "capabilities": offered(session),
        "instructions": "Call echo.",
    }


def ping(session, call):
    return {}


def logging_setLevel(session, call):
    session.log_level = call.params["level"]
    return {}


# ---- tools ----


def tools_list(session, call):
    return listing(session, call, "tools", tools.listed(session))


def tools_call(session, call):
    return tools.call(session, call)


# ---- resources ----


def png(red, green, blue):
    """A picture of one pixel."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(
            ">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(bytes([0, red, green, blue]))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")


def base64_of(data):
    return base64.b64encode(data).decode()


RESOURCES = {
    "file:///readme.md": ("readme.md", "text/markdown", README),
    "mock://picture": ("picture", "image/png", png(255, 0, 0)),
    "mock://clock": ("clock", "text/plain", "12:00"),
    "mock://long": ("long", "text/plain", "line\n" * 40000),
    "mock://ask": ("ask", "text/plain", None),
}


def resources_list(session, call):
    items = [{"uri": uri, "name": name, "mimeType": mime}
             for uri, (name, mime, _) in sorted(RESOURCES.items())]
    return listing(session, call, "resources", items)


def resources_templates_list(session, call):
    items = [{"uriTemplate": "mock://item/{id}", "name": "item", "mimeType": "application/json"}]
    return listing(session, call, "resourceTemplates", items)


def resources_read(session, call):
    uri = call.params["uri"]
    if uri.startswith("mock://item/"):
        text = json.dumps({"id": uri[len("mock://item/"):]})
        return {"contents": [{"uri": uri, "mimeType": "application/json", "text": text}]}
    if uri not in RESOURCES:
        code = -32602 if session.modern else -32002
        raise Refused("Resource not found: " + uri, code, 200, {"uri": uri}, probe=True)
    _, mime, content = RESOURCES[uri]
    if content is None:
        answer = call.ask("elicitation/create", tools.form(session, "Which one?"))
        content = json.dumps(answer, sort_keys=True)
    key, value = ("text", content) if isinstance(content, str) else ("blob", base64_of(content))
    return {"contents": [{"uri": uri, "mimeType": mime, key: value}]}


def resources_subscribe(session, call):
    session.subscribed.add(call.params["uri"])
    return {}


def resources_unsubscribe(session, call):
    need(call.params["uri"] in session.subscribed, "nobody subscribed to " + call.params["uri"])
    session.subscribed.discard(call.params["uri"])
    return {}


def subscriptions_listen(session, call):
    """Open until the client or the transport ends it."""
    wanted = {k: v for k, v in call.params["notifications"].items() if v}
    meta = {eras.META + "subscriptionId": call.id}
    session.listeners[call.key] = (call, wanted)
    call.notify("notifications/subscriptions/acknowledged",
                {"notifications": wanted, "_meta": meta})
    call.stream.held = True
    call.gone.wait()
    session.listeners.pop(call.key, None)
    return {"_meta": dict(meta)}


# ---- prompts and completion ----

PROMPTS = {
    "greet": ("Greets somebody", [("name", True), ("style", False)]),
    "plain": ("Says one thing", []),
    "picture": ("Shows a picture", []),
}


def prompts_list(session, call):
    items = [{"name": name, "description": text,
              "arguments": [{"name": a, "required": r} for a, r in arguments]}
             for name, (text, arguments) in sorted(PROMPTS.items())]
    return listing(session, call, "prompts", items)


def prompts_get(session, call):
    name, given = call.params["name"], call.params.get("arguments", {})
    need(name in PROMPTS, "Unknown prompt: " + name, -32602, 200)
    text, arguments = PROMPTS[name]
    for argument, required in arguments:
        need(not required or argument in given, "prompt %s needs %s" % (name, argument), -32602,
             200)
    if name == "greet":
        content = {"type": "text", "text": "Say hello to %s, %s." %
                   (given["name"], given.get("style", "kindly"))}
    elif name == "picture":
        content = {"type": "image", "data": base64_of(png(0, 255, 0)), "mimeType": "image/png"}
    else:
        content = {"type": "text", "text": "Say one thing."}
    return {"description": text, "messages": [{"role": "user", "content": content}]}


NAMES = ["Ada", "Alan", "Barbara", "Dennis", "Edsger", "Grace", "Ken", "Margaret"]


def completion_complete(session, call):
    typed = call.params["argument"]["value"].lower()
    values = [name for name in NAMES if name.lower().startswith(typed)]
    return {"completion": {"values": values[:3], "total": len(values), "hasMore": len(values) > 3}}


# ---- tasks ----


def task_of(session, call):
    task = session.things.tasks.get(call.params["taskId"])
    need(task is not None, "no task %r" % call.params["taskId"], -32602, 200)
    return task


def tasks_get(session, call):
    return task_of(session, call).shown(session)


def tasks_list(session, call):
    return listing(session, call, "tasks",
                   [t.shown(session) for t in session.things.tasks.values()])


def tasks_result(session, call):
    return task_of(session, call).wait(call)


def tasks_update(session, call):
    return task_of(session, call).update(session, call)


def tasks_cancel(session, call):
    return task_of(session, call).cancel(session)


assert bad  # the tools that misbehave are registered by their import
