"""The prefix check of thinking blocks, as Anthropic documents it ("Preserved thinking", "Prefix checks on
thinking blocks", read 2026-11-26).

A thinking block is valid while system, tools and every message before it are what they were when it
was made, and while the thinking before it is what was before it then, or it is the first. The mock
keeps nothing: a signature carries digests of all that, in hexadecimal digits:

    bW9jayBC  TEXT 16  MODEL 6  SYSTEM 8  TOOLS 8  MESSAGES 16  BEFORE 16  CHECK 16  ==

BEFORE is the CHECK of the thinking before it, CHECK is a digest of all to its left.
"""

import hashlib
import json
import re

BETA = "thinking-binding-controls-2026-08-01"
MARK = "bW9jayBC"
NONE = "0" * 16  # there is no thinking before it
TOKEN = re.compile(MARK + "([0-9a-f]{16})([0-9a-f]{6})([0-9a-f]{8})([0-9a-f]{8})([0-9a-f]{16})"
                   "([0-9a-f]{16})([0-9a-f]{16})==$")
FAMILIES = ("opus", "sonnet", "haiku", "fable", "mythos")
# The first versions that check, and that take role "system" in messages.
CHECKS = {"opus": (5, 5), "sonnet": (5, 5), "haiku": (5, 5), "fable": (5, 1), "mythos": (5, 1)}
SYSTEM = {"opus": (4, 8), "sonnet": (5, 5), "haiku": (5, 5), "fable": (5, 0), "mythos": (5, 0)}
ALWAYS = {"opus": (5, 5), "fable": (5, 0), "mythos": (5, 0)}  # think, whatever is asked
UNFORCED = {"opus": (5, 5), "sonnet": (5, 5), "fable": (5, 1), "mythos": (5, 1)}
REASONS = {"model": "model_binding_mismatch", "prefix": "prefix_binding_mismatch"}


def model_of(name):
    """(family, (major, minor)) of "claude-opus-5-5", "us.anthropic.claude-opus-5-5-v1:0"; or None."""
    found = re.search(r"claude-([a-z]+)-(\d+)(?:[-.](\d{1,2}))?(?:[-:@.]|$)", name)
    if not found or found.group(1) not in FAMILIES:
        return None
    return found.group(1), (int(found.group(2)), int(found.group(3) or 0))


def since(table, name):
    found = model_of(name)
    return bool(found) and found[1] >= table.get(found[0], (99, 0))


def checks(name):
    return since(CHECKS, name)


def takes_system(name):
    return since(SYSTEM, name)


def thinks(name, thinking):
    """Whether a model that checks thinks: all but Haiku do, whatever they are asked."""
    return checks(name) and (thinking or {}).get("type") != "disabled"


def reads(reader, maker, first_party):
    """Whether a model reads the thinking of another one ("Model read matrix")."""
    if reader == maker:
        return True
    if reader is None or reader[1] < CHECKS[reader[0]]:
        return False
    if {reader[0], maker[0]} == {"fable", "mythos"} and reader[1] == maker[1]:
        return True
    if reader[0] in ("fable", "mythos"):
        return first_party and reader[1] == (5, 1) and maker == ("opus", (5, 5))
    if reader == ("opus", (5, 5)):
        return first_party and maker in (("sonnet", (5, 5)), ("haiku", (5, 5)))
    return first_party and (reader, maker) == (("sonnet", (5, 5)), ("haiku", (5, 5)))


# ---- digests ----


def digest(*parts):
    out = hashlib.sha1()
    for part in parts:
        out.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return out.hexdigest()[:16]


def bare(value):
    """A block or a tool without cache marks: they may come and go."""
    if isinstance(value, list):
        return [bare(v) for v in value if not (isinstance(v, dict) and set(v) == {"cachePoint"})]
    if not isinstance(value, dict):
        return value
    out = {k: v for k, v in value.items() if k != "cache_control"}
    for key in ("content", "tool", "definition", "toolResult"):  # where blocks are in blocks
        if isinstance(out.get(key), (dict, list)):
            out[key] = bare(out[key])
    return out


def canonical(value):
    """JSON whose formatting and order of keys do not count."""
    return json.dumps(bare(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def seal(text, model, state, before):
    family, (major, minor) = model
    body = MARK + digest(text) + "%02x%02x%02x" % (FAMILIES.index(family), major, minor)
    body += state.system + state.tools + state.messages + before
    return body + digest("check", body) + "=="


def opened(signature):
    """The parts of a signature, or None where it is none of these, or was altered."""
    found = TOKEN.match(signature or "")
    if not found or digest("check", signature[:-18]) != found.group(7):
        return None
    return found.groups()


def authentic(text, signature):
    """Whether a signature of a bound block is whole, and is of that text; an empty text is let be."""
    parts = opened(signature)
    return parts is not None and (not text or parts[0] == digest(text))


def is_bound(signature):
    return isinstance(signature, str) and signature.startswith(MARK)


# ---- one request ----


class State:
    """What a request says before a place in it."""
    def __init__(self, system, tools, deferred):
        self.system, self.tools = digest(canonical(system))[:8], digest(canonical(tools))[:8]
        self.messages = digest("messages")
        self.deferred = dict(deferred)  # name -> definition: of the prefix where it is referred to

    def add(self, role, block):
        self.messages = digest(self.messages, role, canonical(block))
        for name in references(block):
            if name in self.deferred:
                self.messages = digest(self.messages, "tool", canonical(self.deferred.pop(name)))


def references(block):
    """Names of the tools that a block of the Messages API refers to."""
    if isinstance(block, list):
        return [n for b in block for n in references(b)]
    if not isinstance(block, dict):
        return []
    if block.get("type") == "tool_reference":
        return [block.get("name", block.get("tool_name"))]
    return [n for key in ("content", "tool", "tool_references") if key in block
            for n in references(block[key])]


class Binding:
    """Walks the blocks of a request, and finds those that are not valid, or not read by the model."""
    def __init__(self, model, state, first_party=True, field="prefix_mismatch_behavior"):
        self.model, self.state, self.first_party = model_of(model), state, first_party
        self.checks, self.field = checks(model), field
        self.last = NONE
        self.sent = 0
        self.failed = False
        self.dropped = []  # (path, reason)
        self.unknown = self.bound = None  # words of refusals

    def block(self, role, block):
        self.state.add(role, block)

    def thinking(self, path, text, signature, kind="thinking"):
        """A thinking block of the request, at messages.I.content.J."""
        self.sent += 1
        parts = opened(signature)
        if parts is None:
            self.foreign(path, signature, kind)
            return
        maker = FAMILIES[int(parts[1][:2], 16)], (int(parts[1][2:4], 16), int(parts[1][4:], 16))
        if not reads(self.model, maker, self.first_party):
            self.dropped.append((path, REASONS["model"]))
            self.last = parts[6]  # it stays in the sequence: its own model reads it again
            return
        fault = self.fault(parts)
        if fault or self.failed:
            self.failed = True
            self.dropped.append((path, REASONS["prefix"]))
            self.bound = self.bound or self.bound_elsewhere(path, kind, fault)
            return
        self.last = parts[6]

    def foreign(self, path, signature, kind):
        """One that carries no digests: of an older model, or of nobody."""
        if not self.checks:
            return  # another check has seen its signature
        if is_bound(signature) or not (signature or "").startswith("bW9jay"):
            word = "data" if kind == "redacted_thinking" else "signature"
            self.unknown = self.unknown or "%s: Invalid `%s` in `%s` block" % (path, word, kind)
        elif self.failed:
            self.dropped.append((path, REASONS["prefix"]))
        else:
            self.last = digest(signature)
            if self.model[0] == "haiku":
                self.dropped.append((path, REASONS["model"]))

    def fault(self, parts):
        """What differs from what was before the block when it was made."""
        if not self.checks:
            return None
        if parts[2] != self.state.system:
            return "The system prompt differs."
        if parts[3] != self.state.tools:
            return "The tools differ."
        if parts[4] != self.state.messages:
            return "The messages before the block differ."
        if self.last != NONE and parts[5] != self.last:
            return "An earlier thinking block is missing or out of order."
        return None

    def bound_elsewhere(self, path, kind, fault):
        return ("%s: Invalid `signature` in `%s` block. The block is bound to a different "
                "conversation. Remove the block, or set `thinking.block_binding.%s` to "
                "\"drop_block\"." % (path, kind, self.field)), fault

    def settle(self, behaviour, silent, has_beta):
        """The words of a refusal, or None: then what failed is dropped. No setting is about a
        signature that is unknown."""
        if self.unknown or self.bound is None or silent or behaviour == "drop_block":
            return self.unknown
        words, fault = self.bound
        if not has_beta:
            words += (" That setting requires the `%s` value in the `anthropic-beta` header." % BETA)
        return words + " " + fault

    def transformations(self):
        return [{"type": "thinking_dropped", "path": path, "reason": reason}
                for path, reason in self.dropped]

    def sealed(self, blocks, as_sent):
        """The blocks of an answer with signatures. `as_sent` makes of a block what a client sends
        back, None for nothing."""
        out, last = [], self.last
        for i, block in enumerate(blocks):
            key = {"thinking": "thinking", "redacted_thinking": "data"}.get(block["type"])
            if key:
                token = seal(block[key], self.model, self.state, last)
                last = opened(token)[6]
                out.append(dict(block, **({"signature": token} if key == "thinking" else
                                          {"data": token})))
                continue
            out.append(block)
            sent = as_sent(block, i)
            if sent is not None:
                self.state.add("assistant", sent)
        return out
