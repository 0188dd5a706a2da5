"""Which misbehaviours there are, and how they are asked for.

Path segments /m/NAME or /m/NAME=ARG,ARG (several joined by +), the query ?m=..., or a header
X-Mock. What each does is in README.md. Those about events are applied in delivery.py, the others in
server.py.
"""

from urllib.parse import unquote

# name: the meaning of its arguments with their defaults; a word as default means text
KNOWN = {
    # delivery of bytes
    "bytes": [0],
    "split": [1, 40],
    "delay": [10],
    "first-delay": [500],
    "slow-headers": [0],
    # where the stream stops, after event N
    "stall": [1],
    "eof": [1],
    "rst": [1],
    "cut": [1],
    "end": [1],
    "end-mid": [1],
    "ping-forever": [1, 50],
    "comment-forever": [1, 50],
    # status and error bodies
    "status": [500],
    "retry-after": ["1"],
    "retry-after-ms": ["1000"],
    "should-retry": ["true"],
    "overflow": [],
    "empty-body": [],
    "html": [],
    "json-error": [],
    "whole": [],
    "truncated-json": [],
    "case": [""],
    "replay": [""],
    "redirect": [301],
    # odd streams
    "garbage": [],
    "big-event": [64],
    "unknown": [],
    "no-names": [],
    "crlf": [],
    "cr": [],
    "bom": [],
    "tight": [],
    "multiline": [],
    "no-blank-end": [],
    "nulls": [],
    "error-event": [1, ""],
    "echo": ["plain"],
    "overloaded": [1],
    "no-done": [],
    "no-usage": [],
    "pings": [],
    "type": ["application/octet-stream"],
    # Chat servers that differ
    "reasoning": ["reasoning_content"],
    "whole-calls": [],
    "no-ids": [],
    "no-index": [],
    "args-object": [],
    "usage-in-finish": [],
    # connections
    "close": [],
    "close-early": [],
    "hold": [0],
    "drop-second": [],
    "http10": [],
    "early": [413],
    "no-read": [],
    "slow-body": [100000],
    "big-header": [64],
    # when to misbehave, and how strict to be
    "on-turn": [0],
    "times": [1, ""],
    "no-key": [],
    "bind-silent": [],
    "cache": [],
}


class UnknownBehaviour(Exception):
    pass


class Behaviour:
    """The misbehaviours asked for in one request; empty for a well-behaved answer."""
    def __init__(self):
        self.args = {}
        self.echo = ""  # what `echo` repeats of the request

    def add(self, text):
        for item in text.replace("+", " ").split():
            name, _, given = item.partition("=")
            if name not in KNOWN:
                raise UnknownBehaviour(name)
            values = list(KNOWN[name])
            for i, word in enumerate(unquote(given).split(",") if given else []):
                if i >= len(values):
                    raise UnknownBehaviour(item)
                values[i] = word if isinstance(values[i], str) else int(word)
            self.args[name] = values

    def has(self, name):
        return name in self.args

    def arg(self, name, index=0):
        return self.args[name][index]

    @property
    def newline(self):
        return b"\r\n" if self.has("crlf") else b"\r" if self.has("cr") else b"\n"

    def clear(self):
        """Behave: what is said about strictness stays."""
        self.args = {k: v for k, v in self.args.items() if k in ("no-key", "bind-silent", "cache")}


def split_path(raw_path):
    """'/m/crlf/s/demo/v1/messages' -> (behaviour, 'demo', '/v1/messages')."""
    behaviour, scenario = Behaviour(), None
    parts = raw_path.split("/")[1:]
    while len(parts) >= 2 and parts[0] in ("m", "s"):
        if parts[0] == "m":
            behaviour.add(parts[1])
        else:
            scenario = unquote(parts[1])
        parts = parts[2:]
    return behaviour, scenario, "/" + "/".join(parts)
