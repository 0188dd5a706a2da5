"""What every protocol of the mock has in common.

A wire is an object with the methods of `Wire` below. It knows three things: what its provider
refuses (`check_headers`, `parse`), how its provider words an error (`error_body`), and which events
a scripted turn becomes (`events`, `whole`). It does no I/O and keeps no state: server.py does both.
"""

import base64
import binascii
import hashlib
import json
import re


class Refusal(Exception):
    """A request the real API would refuse. `kind` is the provider's own error type."""
    def __init__(self, status, kind, message, param=None, code=None, headers=None):
        super().__init__(message)
        self.status, self.kind, self.message = status, kind, message
        self.param, self.code, self.headers = param, code, headers or {}


class Message:
    """One message of the conversation, free of protocol."""
    def __init__(self, role):
        self.role = role  # "user", "assistant" or "system"
        self.text = ""
        self.calls = []  # ids of tool calls
        self.results = []  # (call id, text) of tool results


class Conversation:
    """A request after its checks, free of protocol: all that a scenario looks at."""
    def __init__(self, model, stream):
        self.model, self.stream = model, stream
        self.system = ""
        self.messages = []
        self.tools = []  # names
        self.deferred = []  # names of those that the model does not see before a search finds them
        self.finds = None  # of a wire with a tool search: the blocks of one that finds these names
        self.wants_thinking = False
        self.wants_json = False  # by a field of its own
        self.wants_usage = True
        self.digest = ""  # of the raw body: makes ids that differ from request to request
        self.body_bytes = 0
        self.binding = None  # of a wire whose thinking is bound to what was before it
        self.tells_drops = False
        self.diagnostics = None  # what the request says of the cache's diagnostics
        self.diagnosis = {"cache_miss_reason": {"type": "unavailable"}}  # what the answer says

    def assistant_count(self):
        return sum(1 for m in self.messages if m.role == "assistant")

    def assistant_count_in_run(self):
        """Assistant messages since the last user message that brought no tool result."""
        count = 0
        for m in reversed(self.messages):
            if m.role == "user" and not m.results:
                break
            count += m.role == "assistant"
        return count

    def last_user(self):
        for m in reversed(self.messages):
            if m.role == "user" and m.text:
                return m.text
        return ""

    def last_results(self):
        """Texts of the tool results that answer the last assistant message which called tools."""
        out = []
        for m in reversed(self.messages):
            if m.role == "assistant":
                if out:
                    break
                continue
            out = [text for _, text in m.results] + out
        return out

    def new_id(self, prefix, index):
        digest = hashlib.sha1((self.digest + ":" + str(index)).encode()).hexdigest()
        return prefix + digest[:20]


class Asked:
    """A request as it came. `raw_path` is as the client sent it, percent signs and all."""
    def __init__(self, method, raw_path, path, query, headers, body):
        self.method, self.raw_path, self.path = method, raw_path, path
        self.query, self.headers, self.body = query, headers, body


class Wire:
    name = ""
    suffixes = ()  # paths that end so belong to this wire
    content_type = "text/event-stream; charset=utf-8"
    lines = True  # server-sent events; a wire with frames of its own has no comments, no BOM

    def owns(self, path):
        """Whether a path, without behaviours and scenario, is one of this wire's."""
        return path.endswith(self.suffixes)

    def check(self, asked, behaviour):
        """All checks of a request: a Conversation, or Refusal raised."""
        self.check_headers(asked.headers, behaviour)
        return self.parse(asked.body, asked.headers, behaviour)

    def check_headers(self, headers, behaviour):
        """Raises Refusal for a missing or wrong header."""

    def parse(self, body, headers, behaviour):
        """Checks the whole body, returns a Conversation or raises Refusal."""
        raise NotImplementedError

    def error_body(self, refusal, request_id):
        """The provider's JSON for an error answer."""
        raise NotImplementedError

    def refusal_for_status(self, status):
        """What the provider says with this HTTP status when it is in trouble itself."""
        raise NotImplementedError

    def overflow(self):
        """The provider's words for a prompt that is too long."""
        raise NotImplementedError

    def headers(self, request_id):
        """Response headers of the provider, rate limits included."""
        return {}

    def error_headers(self, refusal):
        """Headers that an error answer has besides."""
        return {}

    def events(self, turn, conversation, behaviour):
        """Yields (event name or None, dict or str) for the turn."""
        raise NotImplementedError

    def whole(self, turn, conversation):
        """The same answer as one JSON document, for `stream` false."""
        raise NotImplementedError

    def error_event(self, kind):
        raise NotImplementedError

    def unknown_event(self):
        raise NotImplementedError

    def big_event(self, text):
        """An event that carries `text` as a delta of the answer."""
        raise NotImplementedError

    def with_nulls(self, data):
        """The event as a careless gateway sends it: null where a field is of no use."""
        return data

    def newline(self, behaviour):
        return behaviour.newline

    def keepalive(self, behaviour):
        return b": keep-alive" + self.newline(behaviour) * 2

    def frame(self, name, data, behaviour):
        """One server-sent event as bytes. A wire with a framing of its own replaces this."""
        newline = self.newline(behaviour)
        colon = b":" if behaviour.has("tight") else b": "
        if isinstance(data, str):
            lines = [data]
        elif behaviour.has("multiline"):
            lines = json.dumps(data, ensure_ascii=False, indent=1).split("\n")
        else:
            lines = [json.dumps(data, ensure_ascii=False, separators=(",", ":"))]
        out = b""
        if name and not behaviour.has("no-names"):
            out += b"event" + colon + name.encode() + newline
        for line in lines:
            out += b"data" + colon + spoilt(line) + newline
        return out + newline


GARBAGE = "\ue000"  # stands for bytes that are not UTF-8 until the frame is made
GARBAGE_BYTES = b"\xff\xfe\xc3\x28\xed\xa0\x80"


def spoilt(text):
    return text.encode("utf-8").replace(GARBAGE.encode(), GARBAGE_BYTES)


# ---- helpers for the checks ----

LONE_MAYBE = re.compile(rb"\\u[dD][89a-fA-F]")


def parse_json(raw, refuse):
    """JSON as the providers read it: UTF-8, no NaN, no lone surrogate. `refuse(words)` raises."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as e:
        refuse("invalid UTF-8 at byte %d" % e.start)

    def constant(word):
        raise ValueError("%s is not JSON" % word)

    try:
        value = json.loads(text, parse_constant=constant)
    except (ValueError, RecursionError) as e:
        refuse(str(e))
    if LONE_MAYBE.search(raw):
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            refuse("no low surrogate in string")
    return value


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


IMAGE_MAGIC = {
    "image/png": (b"\x89PNG", ),
    "image/jpeg": (b"\xff\xd8", ),
    "image/gif": (b"GIF8", ),
    "image/webp": (b"RIFF", ),
}


def image_fault(media_type, data):
    """Why this base64 image would be refused, or None."""
    if media_type not in IMAGE_MAGIC:
        return "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
    if not isinstance(data, str) or not data:
        return "image cannot be empty"
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return "invalid base64 data"
    if not raw.startswith(IMAGE_MAGIC[media_type]):
        return "Image does not match the provided media type " + media_type
    return None


MEDIA_MAGIC = {
    "application/pdf": (b"%PDF-", ),
    "audio/wav": (b"RIFF", ),
}


def media_fault(media_type, data):
    """Why these base64 bytes of a document or a sound would be refused, or None."""
    if not isinstance(data, str) or not data:
        return "data cannot be empty"
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return "invalid base64 data"
    if not raw.startswith(MEDIA_MAGIC.get(media_type, (b"", ))):
        return "the bytes are not " + media_type
    return None


def deltas(text, size, whole=False):
    """Cuts a text into pieces of about `size` characters, at word ends where that is possible."""
    if whole or size <= 0:
        return [text] if text else []
    out, piece = [], ""
    for word in re.findall(r"\s*\S+|\s+$", text):
        if piece and len(piece) + len(word) > size:
            out.append(piece)
            piece = ""
        piece += word
        while len(piece) > 2 * size:
            out.append(piece[:size])
            piece = piece[size:]
    if piece:
        out.append(piece)
    return out


def slices(text, size):
    """Cuts without looking at words: for tool arguments, so that keys and escapes are cut too."""
    return [text[i:i + size] for i in range(0, len(text), size)]
