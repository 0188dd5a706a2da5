"""A provider's prompt cache: how many tokens of a request it has read before, and how many are new.

With marks (Claude, at Anthropic and at Bedrock; Anthropic's and AWS's pages "Prompt caching"): a request
writes an entry at each of its marks, and reads the longest entry that ends at a mark of its own or up to
20 blocks before one. By itself (OpenAI's page "Prompt caching", Gemini's "Context caching"): a request
reads what it has in common with the beginning of an earlier one; OpenAI in steps of 128 tokens, and
only under the same prompt_cache_key. Below 1,024 tokens nothing is kept. A token is four bytes here, and
nothing expires.
"""

import hashlib
import json
import os

from binding import canonical

LEAST = 1024  # tokens
LOOKBACK = 20  # blocks before a mark
STEP = {"openai-chat": 128, "openai-responses": 128, "azure-responses": 128}
MOST_KEPT = 256  # requests under one key
MARKED = ("anthropic", "bedrock")


def blocks_of(content):
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def pieces(wire, body):
    """[(text, whether a mark stands behind it)]: tools, system prompt and messages, in the order in
    which the model is given them, without marks and without the bounds of messages of one role."""
    out = []

    def add(where, values):
        for value in values:
            if isinstance(value, dict) and set(value) == {"cachePoint"}:
                if out:
                    out[-1] = (out[-1][0], True)
            else:
                out.append((where + canonical(value),
                            isinstance(value, dict) and "cache_control" in value))

    if wire == "bedrock":
        add("tool", body.get("toolConfig", {}).get("tools", []))
        add("system", body.get("system", []))
        parts = [(m["role"], m["content"]) for m in body["messages"]]
    elif wire in ("gemini", "vertex"):
        add("tool", body.get("tools", []))
        add("system", body.get("systemInstruction", {}).get("parts", []))
        parts = [(c.get("role", "user"), c["parts"]) for c in body["contents"]]
    elif wire == "gemini-interactions":
        add("tool", body.get("tools", []))
        add("system", [body.get("system_instruction", "")])
        parts = [("", blocks_of(body["input"]))]
    elif wire in ("openai-responses", "azure-responses"):
        add("tool", body.get("tools") or [])
        add("system", [body.get("instructions") or ""])
        parts = [("", blocks_of(body["input"]))]
    elif wire == "openai-chat":
        add("tool", body.get("tools") or [])
        parts = [("", body["messages"])]
    else:
        add("tool", body.get("tools") or [])
        add("system", blocks_of(body.get("system", "")))
        parts = [(m["role"], blocks_of(m["content"])) for m in body["messages"]]
    for role, values in parts:
        add(role, values)
    return out


class PrefixCache:
    def __init__(self):
        self.entries = {}  # with marks: digest of a prefix -> nothing
        self.texts = {}  # by itself: key -> requests
        self.last = {}  # key -> the texts of the last request
        self.figures = []  # of each request
        self.answers = {}  # id of an answer -> the model, and the pieces of its request
        self.asked = []  # pieces of the request under way

    def ask(self, wire, model, raw):
        """One request that is answered; the usage to report for it."""
        body = json.loads(raw)
        given = self.asked = pieces(wire, body)
        texts = [text.encode("utf-8", "surrogatepass") for text, _ in given]
        key = (wire, model, body.get("prompt_cache_key"))
        total = sum(map(len, texts))
        if wire in MARKED:
            read, written = self.marked(key, texts, [mark for _, mark in given])
        else:
            read, written = self.common(key, b"\n".join(texts), STEP.get(wire, 1)), 0
        before = self.last.get(key, [])
        same = next((i for i, (a, b) in enumerate(zip(before, texts)) if a != b),
                    min(len(before), len(texts)))
        self.last[key] = texts
        prompt = total // 4
        self.figures.append({
            "request": len(raw), "context": total, "shared": sum(map(len, texts[:same])),
            "appended": int(same == len(before)), "read": read, "written": written,
            "input": prompt - read - written
        })
        return {"input": prompt - read - written, "cache_read": read, "cache_write": written}

    def diagnose(self, name, wanted, model):
        """Anthropic's diagnostics ("Cache diagnostics"): what differs from the request of an earlier
        answer; None for the first one, and where nothing does."""
        now = (model, [text for text, _ in self.asked])
        before = self.answers.get((wanted or {}).get("previous_message_id"))
        self.answers[name] = now
        if not (wanted or {}).get("previous_message_id"):
            return None
        if before is None:
            return {"cache_miss_reason": {"type": "previous_message_not_found"}}
        if before[0] == model and now[1][:len(before[1])] == before[1]:
            return None

        def part(texts, word):
            return [t for t in texts if t.startswith(word)]

        kind = "messages_changed"
        if before[0] != model:
            kind = "model_changed"
        elif part(before[1], "tool") != part(now[1], "tool"):
            kind = "tools_changed"
        elif part(before[1], "system") != part(now[1], "system"):
            kind = "system_changed"
        missed = sum(len(t.encode("utf-8", "surrogatepass")) for t in before[1]) // 4
        return {"cache_miss_reason": {"type": kind, "cache_missed_input_tokens": missed}}

    def marked(self, key, texts, marks):
        state, ends, sums, total = hashlib.sha1(repr(key).encode()), [], [], 0
        for text in texts:
            state.update(b"%d:" % len(text) + text)
            total += len(text)
            ends.append(state.hexdigest())
            sums.append(total // 4)
        read = written = 0
        for i, mark in enumerate(marks):
            if not mark or sums[i] < LEAST:
                continue
            near = range(max(0, i - LOOKBACK), i + 1)
            read = max([read] + [sums[j] for j in near if ends[j] in self.entries])
            written = sums[i]
        self.entries.update((ends[i], None) for i, mark in enumerate(marks)
                            if mark and sums[i] >= LEAST)
        return read, max(0, written - read)

    def common(self, key, text, step):
        kept = self.texts.setdefault(key, [])
        most = max([len(os.path.commonprefix([text, t])) for t in kept] or [0]) // 4
        kept.append(text)
        del kept[:-MOST_KEPT]
        return most // step * step if most >= LEAST else 0
