"""How the server is to behave: its eras, its misbehaviours, and what it writes down."""

import base64
import json
import threading

from . import eras
from .rules import need

# name: the meaning of its arguments with their defaults; a word as default means text
KNOWN = {
    # what is offered
    "bad": [],
    "hostile": [],
    "many": [0],
    "page": [0],
    # lines and processes (stdio)
    "die": [1],
    "hang": [1],
    "close-out": [1],
    "no-start": [1],
    "start-delay": [500],
    "stay": [],
    "linger": [1000],
    "chatty": [],
    # messages
    "crlf": [],
    "escaped": [],
    "noise": [],
    "batch": [],
    "twice": [],
    "bytes": [0],
    "deaf": ["server/discover"],
    # HTTP
    "json": [],
    "sse": [],
    "token": ["token"],
    "far-endpoint": [],
    "no-session": [],
    "lose-session": [1],
    "status": [500, 0],
    "type": ["text/html"],
    "stall": [0],
    "cut": [1],
    "drop": [1],
    "redirect": ["", 307],
    "no-get": [],
    "no-delete": [],
    "plain-errors": [],
    "chunks": [],
    "pings": [],
    "no-ids": [],
    "retry": [50],
    "slow-headers": [0],
    "method": [""],
}


class Options:
    def __init__(self, versions, behaviour="", log=None):
        self.versions = [v for v in eras.ALL if v in versions]
        if not self.versions or len(self.versions) != len(set(versions)):
            raise ValueError("no era: %s" % ",".join(versions))
        self.args, self.log, self.problems = {}, log, []
        self.reading = threading.Lock()  # held while `freeze` lasts
        self.lock = threading.Lock()
        self.http = False
        for item in behaviour.replace("+", " ").split():
            name, _, given = item.partition("=")
            if name not in KNOWN:
                raise ValueError("no behaviour: " + name)
            values = list(KNOWN[name])
            for i, word in enumerate(given.split(",") if given else []):
                if i >= len(values):
                    raise ValueError("too many arguments: " + item)
                values[i] = word if isinstance(values[i], str) else int(word)
            self.args[name] = values

    def has(self, name):
        return name in self.args

    def arg(self, name, index=0):
        return self.args.get(name, KNOWN[name])[index]

    word = arg

    @property
    def page(self):
        return self.arg("page")

    # ---- what is written down ----

    def note(self, **fields):
        with self.lock:
            if self.log is not None:
                self.log.write(json.dumps(fields) + "\n")
                self.log.flush()

    def read(self, message):
        self.note(read=message)

    def wrote(self, message):
        self.note(wrote=message)

    def problem(self, words):
        self.problems.append(words)
        self.note(problem=words)

    # ---- headers that mirror arguments ----

    def mirrored(self, schema, arguments, call):
        """The Mcp-Param-* headers of a modern call over HTTP."""
        if not self.http or not call.session.modern:
            return
        headers = call.stream.headers
        for key, member in schema["properties"].items():
            name = member.get("x-mcp-header")
            if name is None:
                continue
            seen, value = headers.get("Mcp-Param-" + name), arguments.get(key)
            if value is None:
                need(seen is None, "Mcp-Param-%s without a value" % name, -32020)
                continue
            need(seen is not None, "Mcp-Param-%s is missing" % name, -32020)
            need(decoded(seen) == plain(value), "Mcp-Param-%s is %r" % (name, seen), -32020)


def plain(value):
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def decoded(header):
    if not (header.startswith("=?base64?") and header.endswith("?=")):
        need(header.isascii() and header == header.strip(), "a header is plain ASCII", -32020)
        return header
    try:
        return base64.b64decode(header[9:-2], validate=True).decode()
    except ValueError:
        need(False, "a header's base64 is broken", -32020)
