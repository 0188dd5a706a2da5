"""Scripted conversations.

A scenario is a list of turns, or {"turns": [...], "count": "all"|"run", "after": "last"|"cycle"}.
A turn is {"blocks": [...], "stop": ..., "usage": {...}, "chunk": characters a delta, "delay_ms":
pause between deltas}. Which turn answers a request depends on the request alone (the number of
assistant messages in it), so any number of clients may talk to one server. README.md tells of
blocks and placeholders.
"""

import json
import re


class Turn:
    """One answer of the model, all placeholders filled."""
    def __init__(self, blocks, spec, index):
        self.blocks = blocks
        self.index = index
        self.chunk = spec.get("chunk", 12)
        self.delay_ms = spec.get("delay_ms", 0)
        self.usage = spec.get("usage", {})
        calls = any(b["type"] == "tool_use" for b in blocks)
        self.stop = spec.get("stop", "tool_use" if calls else "stop")

    def output_tokens(self):
        size = sum(
            len(b.get("text", "") * b.get("times", 1)) + len(b.get("thinking", ""))
            + len(arguments(b) if b["type"] == "tool_use" else "") for b in self.blocks)
        return self.usage.get("output", size // 4 + 1)

    def thinking_tokens(self):
        return self.usage.get("reasoning",
                              sum(len(b.get("thinking", "")) for b in self.blocks) // 4)

    def text(self):
        return "".join(b["text"] * b.get("times", 1) for b in self.blocks if b["type"] == "text")


def arguments(block):
    """The JSON text of a tool call's arguments; `raw` lets a script send what is not JSON."""
    if "raw" in block:
        return block["raw"]
    return json.dumps(block.get("input", {}), ensure_ascii=False)


def answer(block, conversation):
    """A block `answer` is a call of respond_json where that is offered, or JSON as text."""
    if block["type"] != "answer":
        return block
    if "respond_json" in conversation.tools:
        return {"type": "tool_use", "name": "respond_json", "input": block["input"]}
    return {"type": "text", "text": arguments(block) if conversation.wants_json
            else "No JSON was asked for."}


def answers(blocks, conversation):
    """The blocks of an answer. `finds` is a search of the provider for deferred tools by these names;
    a call of a tool that no search has found is none."""
    out, known = [], set(conversation.tools)
    for block in blocks:
        if block["type"] == "finds" and conversation.finds and conversation.deferred:
            known.update(block["names"])
            out += conversation.finds(block["names"])
        elif block["type"] == "finds":
            out.append({"type": "text", "text": "There is no tool search."})
        elif block["type"] == "tool_use" and block["name"] in conversation.deferred and (
                block["name"] not in known):
            out.append({"type": "text", "text": "%s is deferred." % block["name"]})
        else:
            out.append(answer(block, conversation))
    return out


# ---- placeholders ----

PLACEHOLDER = re.compile(r"\$\{([a-z_]+)(?:\.(\d+))?(?:/((?:[^/\\]|\\.)*)/)?(?::(\d+))?\}")


def fill(value, conversation, n):
    """Fills ${name}, ${name.K}, ${name/REGEX/}, ${name:MAX} in every string of a value."""
    if isinstance(value, list):
        return [fill(v, conversation, n) for v in value]
    if isinstance(value, dict):
        return {k: fill(v, conversation, n) for k, v in value.items()}
    if not isinstance(value, str):
        return value

    def one(match):
        name, index, regex, most = match.groups()
        text = lookup(name, int(index) if index else None, conversation, n)
        if text is None:
            return match.group(0)
        if regex:
            found = re.search(regex, text, re.M)
            text = (found.group(1) if found.groups() else found.group(0)) if found else ""
        return text[:int(most)] if most else text

    return PLACEHOLDER.sub(one, value)


def lookup(name, index, conversation, n):
    results = conversation.last_results()
    if name == "last_user":
        return conversation.last_user()
    if name == "last_tool_result":
        return results[-1] if results else ""
    if name == "tool_results":
        return "\n".join(results)
    if name == "tool_result":
        return results[index or 0] if (index or 0) < len(results) else ""
    if name == "all_tool_results":
        return "\n".join(t for m in conversation.messages for _, t in m.results)
    if name == "earlier_tool_result":
        every = [t for m in conversation.messages for _, t in m.results]
        return every[-2 - (index or 0)] if len(every) > 1 + (index or 0) else ""
    if name == "model":
        return conversation.model
    if name == "system":
        return conversation.system
    if name == "tools":
        return ", ".join(conversation.tools)
    if name == "turn":
        return str(conversation.assistant_count())
    if name == "stamp":  # four digits: what is base64 stays base64 with it
        return "%04d" % conversation.assistant_count()
    if name == "n":
        return str(n)
    return None


# ---- the scripts that come with the server ----


def text(words, **more):
    return dict({"type": "text", "text": words}, **more)


def thinking(words):
    return {"type": "thinking", "thinking": words}


def call(name, arguments, **more):
    return dict({"type": "tool_use", "name": name, "input": arguments}, **more)


def turn(*blocks, **spec):
    return dict(spec, blocks=list(blocks))


def run(*turns):
    """A script that starts again with each prompt."""
    return {"count": "run", "turns": list(turns)}


def long_turn(n):
    return turn(text("word ", times=n or 1000), chunk=0)


def slow_turn(n):
    words = "one two three four five six seven eight nine ten"
    return turn(text(words), chunk=5, delay_ms=n or 200)


def bigargs_turn(n):
    size = n or 100000
    line = 'line with "quotes", a \\ and a tab\t\n'
    body = (line * (size // len(line) + 1))[:size]
    return turn(call("write_file", {"path": "big.txt", "content": body}), chunk=100)


def hosted(name, arguments, **more):
    """A call of the provider's own tool."""
    return dict({"type": "server_tool_use", "name": name, "input": arguments}, **more)


def found(call_id, url, title):
    """The result of a hosted search; the wire seals its content."""
    return {
        "type": "web_search_tool_result", "tool_use_id": call_id,
        "content": [{"type": "web_search_result", "title": title, "url": url, "page_age": None}]
    }


LIST = call("list_files", {"path": "."})
A_TEXT_FILE = r"${last_tool_result/^(?:\.\/)?(\S+\.(?:md|txt|toml|c|h|py))\s*$/}"
PACE = {"chunk": 10, "delay_ms": 15}
BUILTIN = {
    "hello": [turn(text("Hello! I am a scripted model, and this answer came as a stream."))],
    "demo": run(
        turn(text("I'll look at what is there."), LIST, **PACE),
        turn(text("One of these should say what it is about. Let me read it."),
             call("read_file", {"path": A_TEXT_FILE}), **PACE),
        turn(text("The directory holds:\n\n${earlier_tool_result:600}\n\n"
                  "and the file begins with:\n\n${last_tool_result:400}\n\n"
                  "That is all there is to see."), **PACE)),
    "thinking": run(
        turn(thinking("The user wants to know something. I should look first."), text("Looking."),
             LIST),
        turn(thinking("Now I know."), text("Seen: ${last_tool_result:200}"))),
    "parallel": run(
        turn(text("Both at once."), LIST, call("read_file", {"path": "README.md"})),
        turn(text("First: ${tool_result.0:120} Second: ${tool_result.1:120}"))),
    "loop": [turn(text("Once more. "), LIST)],
    "long": [long_turn],
    "echo": [turn(text("${last_user}"))],
    "slow": [slow_turn],
    "npc": run(
        turn(text("Aye, follow me."), call("walk_to", {"place": "forge"}), delay_ms=30),
        turn(text("Here we are. Lay the sword on the anvil and I will see what can be done."),
             delay_ms=30)),
    "chat": {"after": "cycle", "turns": [
        turn(text("Hello! You said: \"${last_user:200}\". What shall we talk about?"), delay_ms=20),
        turn(text("I see: \"${last_user:200}\". I am only a script, but a patient one."),
             delay_ms=20),
        turn(text("Tell me more about \"${last_user:80}\"."), delay_ms=20),
        turn(text("That makes ${turn} answers so far. Type /quit when you have had enough."),
             delay_ms=20)]},
    "bigargs": run(bigargs_turn, turn(text("Written: ${last_tool_result:200}"))),
    "badargs": run(turn(call("read_file", {}, raw='{"path": "a.c", ')),
                   turn(text("The tool said: ${last_tool_result:300}"))),
    "notool": run(turn(call("no_such_tool", {"x": 1})),
                  turn(text("The tool said: ${last_tool_result:300}"))),
    "noargs": run(turn(call("list_files", {})), turn(text("Seen: ${last_tool_result:200}"))),
    "length": [turn(text("This answer ends because the limit of"), stop="length")],
    "refusal": [turn(text("I cannot"), stop="refusal")],
    "empty": [turn()],
    "unicode": [turn(text("Grüße, 世界 \U0001f600 👩\u200d👩\u200d👧 \u2028 "
                          "\"quoted\" \\ back\tslash\n✓"), chunk=3)],
    "search": run(
        turn(text("Let me check."), hosted("web_search", {"query": "weather"}, id="srvtoolu_1"),
             stop="pause"),
        turn(found("srvtoolu_1", "https://weather.example/", "Weather"),
             text("It is sunny.", citations=[{
                 "type": "web_search_result_location", "cited_text": "Sunny", "title": "Weather",
                 "url": "https://weather.example/", "encrypted_index": "I"
             }]))),
    "tools": [turn(text("Tools: ${tools}. System: ${system:200}"))],
}


class Scenarios:
    def __init__(self, default="hello"):
        self.table = dict(BUILTIN)
        self.default = default

    def add_file(self, path):
        """Adds the scenarios of a JSON file {name: scenario}; a single one is named `file`."""
        with open(path, encoding="utf-8") as f:
            value = json.load(f)
        if isinstance(value, list) or "turns" in value:
            value = {"file": value}
        self.table.update(value)

    def find(self, name):
        """(scenario, number in the name) of `long-5000` or `hello`, or None."""
        if name in self.table:
            return self.table[name], 0
        match = re.match(r"(.+)-(\d+)$", name)
        if match and match.group(1) in self.table:
            return self.table[match.group(1)], int(match.group(2))
        return None

    def turn(self, found, conversation):
        scenario, n = found
        if isinstance(scenario, list):
            scenario = {"turns": scenario}
        turns = scenario["turns"]
        in_run = scenario.get("count") == "run"
        index = conversation.assistant_count_in_run() if in_run else conversation.assistant_count()
        k = index % len(turns) if scenario.get("after") == "cycle" else min(index, len(turns) - 1)
        spec = turns[k]
        if callable(spec):
            spec = spec(n)
            return Turn(spec["blocks"], spec, index)
        blocks = fill(spec["blocks"], conversation, n)
        return Turn(answers(blocks, conversation), spec, index)
