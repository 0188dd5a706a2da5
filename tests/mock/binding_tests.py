"""Checks of preserved thinking and of system messages in a conversation; test_mock.py runs them."""

import copy
import json

import binding
import dialects
from client import sse_events
from refusals import CLAUDE_TOOL, SCHEMA
from wires.anthropic_system import CHANGES, CLEAR, INLINE

CLAUDE = "/v1/messages"
KEYS = {"content-type": "application/json", "x-api-key": "key", "anthropic-version": "2023-06-01"}
OPUS, SONNET, HAIKU = "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"
OTHER = dict(CLAUDE_TOOL, name="other")
WORDS = ("Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
         "Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "
         "\"drop_block\".")
TAIL = (" That setting requires the `thinking-binding-controls-2026-08-01` value in the "
        "`anthropic-beta` header.")
DROP = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}


def beta(*values):
    return dict(KEYS, **{"anthropic-beta": ", ".join(values)})


def user(text):
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def system(*blocks, **more):
    return dict({"role": "system", "content": list(blocks)}, **more)


def said(text):
    return {"type": "text", "text": text}


def change(kind, name=None, definition=None):
    tool = {"type": "tool_reference", "name": name} if name else {
        "type": "tool_definition", "definition": definition}
    return {"type": kind, "tool": tool}


class Talk:
    """A client of the Messages API that is append-only by hand, and what it can be made to do."""
    def __init__(self, check, client, model=OPUS, path="/s/hello"):
        self.check, self.client, self.path = check, client, path + CLAUDE
        self.headers = KEYS
        self.body = {"model": model, "max_tokens": 2000, "stream": True, "system": "Be brief.",
                     "tools": [CLAUDE_TOOL], "messages": []}

    def ask(self, text="Well?", *more):
        """Asks, and keeps the answer."""
        self.body["messages"] += [user(text)] + list(more)
        got = self.send()
        self.check(got.status == 200, "an append-only conversation is answered", got.body[:600])
        content = blocks_of(got.body)
        self.check(content and content[0]["type"] == "thinking", "it thinks", content)
        self.body["messages"].append({"role": "assistant", "content": content})
        return content

    def send(self, path=None, **more):
        return self.client.post(path or self.path, dict(self.body, **more), self.headers)

    def refused(self, words, what):
        """That the next prompt is refused, after `what` was done to a copy of the talk."""
        got = self.fork().sent()
        self.check(got.status == 400 and words in got.text(), what, (got.status, got.text()))

    def taken(self, what):
        got = self.fork().sent()
        self.check(got.status == 200, what, (got.status, got.text()[:600]))
        return got

    def sent(self):
        self.body["messages"].append(user("And now?"))
        return self.send()

    def fork(self):
        out = copy.copy(self)
        out.body = copy.deepcopy(self.body)
        return out

    def content(self, i):
        return self.body["messages"][i]["content"]


def blocks_of(raw):
    blocks = []
    for _, data in sse_events(raw):
        event = json.loads(data)
        if event["type"] == "content_block_start":
            blocks.append(dict(event["content_block"]))
        elif event["type"] == "content_block_delta":
            key = event["delta"]["type"].replace("_delta", "").replace("input_json", "partial_json")
            block = blocks[event["index"]]
            block[key] = block.get(key, "") + event["delta"][key]
    for block in blocks:
        if block["type"] == "tool_use":
            block["input"] = json.loads(block.pop("partial_json", "") or "{}")
    return blocks


def told(got):
    """input_transformations of a streamed answer; None: it has none."""
    start = json.loads(sse_events(got.body)[0][1])
    return start["message"].get("input_transformations")


def dropped(*paths, reason="prefix_binding_mismatch"):
    return [{"type": "thinking_dropped", "path": p, "reason": reason} for p in paths]


def talked(check, client, rounds=3, **more):
    talk = Talk(check, client, **more)
    for i in range(rounds):
        talk.ask("Question %d" % i)
    return talk


# ---- what changes the prefix, and what does not ----


def prefixes(check, client):
    for model in (OPUS, SONNET, HAIKU, "claude-fable-5-1", "claude-mythos-5-2",
                  "claude-opus-5-5-20260901"):
        talked(check, client, model=model).taken("%s: unchanged" % model)
    talk = talked(check, client)

    def same(what, edit):
        one = talk.fork()
        edit(one)
        one.taken("no change: " + what)

    def other(what, path, edit, words=""):
        one = talk.fork()
        edit(one)
        one.refused("%s: %s%s" % (path, WORDS, TAIL) + words, "a change: " + what)
        old = one.fork()
        old.body["model"] = "claude-opus-5"
        old.taken("a model without the check takes it: " + what)

    same("cache marks", lambda t: t.content(2)[0].update(cache_control={"type": "ephemeral"}))
    same("a marked system", lambda t: t.body.update(
        system=[dict(said("Be brief."), cache_control={"type": "ephemeral"})]))
    same("effort", lambda t: t.body.update(output_config={"effort": "low"}))
    same("tool_choice", lambda t: t.body.update(tool_choice={"type": "none"}))
    same("order of keys", lambda t: t.body.update(
        tools=[dict(reversed(list(CLAUDE_TOOL.items())))]))
    same("content as text", lambda t: t.body["messages"][0].update(content="Question 0"))
    same("a deferred tool", lambda t: t.body["tools"].append(dict(OTHER, defer_loading=True)))
    same("the oldest left out", lambda t: t.content(1).pop(0))
    same("the newest left out", lambda t: t.content(5).pop(0))
    same("all left out", lambda t: [t.content(i).pop(0) for i in (1, 3, 5)])
    other("system", "messages.1.content.0", lambda t: t.body.update(system="Be long."),
          " The system prompt differs.")
    other("no system", "messages.1.content.0", lambda t: t.body.pop("system"))
    other("a tool more", "messages.1.content.0", lambda t: t.body["tools"].append(OTHER),
          " The tools differ.")
    other("a tool edited", "messages.1.content.0",
          lambda t: t.body["tools"][0].update(description="x"))
    other("no tools", "messages.1.content.0", lambda t: t.body.pop("tools"))
    other("the first message", "messages.1.content.0",
          lambda t: t.content(0)[0].update(text="x"), " The messages before the block differ.")
    other("a later message", "messages.3.content.0", lambda t: t.content(2)[0].update(text="x"))
    other("an answer", "messages.3.content.0", lambda t: t.content(1)[1].update(text="x"))
    other("a block more", "messages.5.content.0", lambda t: t.content(4).append(said("x")))
    other("messages less", "messages.1.content.0", lambda t: t.body["messages"].__delitem__(
        slice(0, 2)))
    other("one of the middle left out", "messages.5.content.0", lambda t: t.content(3).pop(0),
          " An earlier thinking block is missing or out of order.")
    gone = talk.fork()
    first = gone.content(1).pop(0)
    [gone.content(i).pop(0) for i in (3, 5)]
    gone.ask("Anew.")
    gone.taken("what was made after all was left out is valid")
    gone.content(1).insert(0, first)
    gone.refused("messages.7.content.0: " + WORDS, "one that was left out is put back")


def signatures(check, client):
    talk = talked(check, client, 2)
    plain = "messages.1.content.0: Invalid `signature` in `thinking` block"

    def bad(what, edit):
        one = talk.fork()
        edit(one.content(1)[0])
        got = one.sent()
        check(got.status == 400 and got.text() == plain, "refused: " + what, got.text())
        one.headers, one.body["thinking"] = beta(binding.BETA), DROP
        check(one.send().text() == plain, "and drop_block is not about it: " + what)
        check(one.send("/m/bind-silent/s/hello" + CLAUDE).text() == plain, "nor is silence: " + what)

    mark = talk.content(1)[0]["signature"]
    check(len(mark) % 4 == 0, "a signature is base64", mark)
    bad("another text", lambda b: b.update(thinking="Hm."))
    bad("a digit altered", lambda b: b.update(signature=mark[:50] + "x" + mark[51:]))
    bad("cut", lambda b: b.update(signature=mark[:-4]))
    bad("unknown", lambda b: b.update(signature="EqQBCkYIBxgC"))
    bad("empty", lambda b: b.update(signature=""))
    empty = talk.fork()
    empty.content(1)[0]["thinking"] = ""
    empty.taken("an empty text is good: the signature has all")


def drops(check, client):
    talk = talked(check, client)
    talk.content(2)[0]["text"] = "x"
    talk.headers = beta("a-1", binding.BETA)
    got = talk.fork().sent()
    check(got.status == 400 and "messages.3.content.0: " + WORDS in got.text()
          and TAIL not in got.text(), "with the beta, the tail is not said", got.text())
    talk.body["thinking"] = DROP
    client.post("/_reset", {})
    got = talk.taken("drop_block drops")
    check(told(got) == dropped("messages.3.content.0", "messages.5.content.0"),
          "the failing block and all later ones are told", told(got))
    stats = client.get("/_stats")
    check((stats["thinking_sent"], stats["thinking_dropped"], stats["refused"]) == (3, 2, 0),
          "and counted", stats)
    check(client.get("/_log")[-1]["thinking_dropped"] == told(got), "and in the log")
    talk.content(3).pop(0)
    talk.content(5).pop(0)
    check(told(talk.taken("without them")) == [], "none is told where none was dropped")
    talk.ask("On.")
    talk.taken("and what comes after is valid")
    silent = talked(check, client)
    silent.body["system"] = "Be long."
    client.post("/_reset", {})
    got = silent.send("/m/bind-silent/s/hello" + CLAUDE, messages=silent.body["messages"] + [
        user("And now?")])
    check(got.status == 200 and told(got) is None and
          client.get("/_stats")["thinking_dropped"] == 3, "bind-silent drops, and counts",
          (got.status, client.get("/_stats")))
    got = silent.send("/m/bind-silent+status=529+times=1,b/s/hello" + CLAUDE,
                      messages=silent.body["messages"] + [user("And now?")])
    again = silent.send("/m/bind-silent+status=529+times=1,b/s/hello" + CLAUDE,
                        messages=silent.body["messages"] + [user("And now?")])
    check((got.status, again.status) == (529, 200), "it stays where others end", again.text())


def controls(check, client):
    extra = "thinking.adaptive.block_binding: Extra inputs are not permitted"
    for model in (OPUS, "claude-opus-5"):
        talk = Talk(check, client, model)
        talk.body["thinking"] = DROP
        talk.refused(extra, "%s: block_binding without its beta" % model)
        talk.headers = beta(binding.BETA)
        check(told(talk.taken("%s: block_binding with its beta" % model)) == [], "[] is told")
        talk.body["thinking"] = {"type": "adaptive", "block_binding": {
            "prefix_mismatch_behavior": "drop"}}
        talk.refused("Input should be 'error' or 'drop_block'", "an unknown behaviour")
        talk.body["thinking"]["block_binding"] = {"mismatch_behavior": "drop_block"}
        talk.refused("block_binding.mismatch_behavior: Extra inputs", "the name of Bedrock")
        talk.body["thinking"]["block_binding"] = None
        talk.taken("null is the default")
    for model, kind in ((HAIKU, "disabled"), (SONNET, "between_tools")):
        talk = Talk(check, client, model)
        talk.headers = beta(binding.BETA)
        talk.body["thinking"] = dict(DROP, type=kind)
        talk.refused("block_binding: Extra inputs are not permitted", "block_binding of " + kind)
        talk.body["thinking"].pop("block_binding")
        talk.taken("%s takes %s" % (model, kind))
    for model, kind in ((OPUS, "disabled"), (SONNET, "disabled"), (OPUS, "enabled"),
                        (HAIKU, "between_tools"), ("claude-mythos-5-1", "disabled")):
        talk = Talk(check, client, model)
        talk.body["thinking"] = {"type": kind, "budget_tokens": 1024} if kind == "enabled" else {
            "type": kind}
        talk.refused("\"thinking.type.%s\" is not supported for this model." % kind, kind)
    talk = Talk(check, client)
    talk.body["tool_choice"] = {"type": "any"}
    talk.refused("tool_choice: type \"tool\" and \"any\" are not supported for this model.", "any")


def models(check, client):
    """Blocks of another model are dropped, without an error, and are read again by their own."""
    talk = talked(check, client)
    talk.headers = beta(binding.BETA)
    talk.body["model"] = HAIKU
    got = talk.taken("another model")
    paths = ["messages.%d.content.0" % i for i in (1, 3, 5)]
    check(told(got) == dropped(*paths, reason="model_binding_mismatch"), "Haiku reads its own alone",
          told(got))
    talk.ask("You?")
    talk.body["model"] = OPUS
    check(told(talk.taken("and back")) == [], "Opus reads its own, and Haiku's")
    talk.body["model"] = "claude-opus-5"
    check(len(told(talk.taken("an older one"))) == 4, "an older one reads none")
    talk.body["model"] = "claude-fable-5-2"
    check(len(told(talk.taken("a newer one"))) == 4, "5.2 reads none of them")
    talk.body["model"] = "claude-mythos-5-1"
    check(told(talk.taken("Mythos")) == dropped("messages.7.content.0",
                                                 reason="model_binding_mismatch"), "5.1 reads Opus")
    body = dict(talk.body, model="claude-sonnet-4-5", thinking={
        "type": "enabled", "budget_tokens": 1024}, messages=[user("Well?")])
    old = blocks_of(client.post(talk.path, body, KEYS).body)
    talk.body.update(model=OPUS, messages=[user("Well?"), {"role": "assistant", "content": old}])
    check(told(talk.taken("of an older one")) == [], "it is read, without a check of its prefix")


# ---- messages of role "system" ----


def placements(check, client):
    note = system(said("It is noon."))

    def talk(*messages, model=OPUS, headers=KEYS):
        one = Talk(check, client, model)
        one.headers, one.body["messages"] = headers, list(messages)
        return one.send()

    def refused(words, what, *messages, **more):
        got = talk(*messages, **more)
        check(got.status == 400 and words in got.text(), "refused: " + what, got.text())

    for model in (OPUS, "claude-opus-4-8", "claude-opus-5", "claude-fable-5", SONNET):
        check(talk(user("a"), note, model=model).status == 200, model + " takes system messages")
    for model in ("claude-sonnet-5", "claude-opus-4-7", "claude-haiku-4-5", "mock"):
        refused("role 'system' is not supported on this model", model, user("a"), note, model=model)
    check(talk(user("a"), note, note).status == 200, "two in a row")
    check(talk(user("a"), system(), note).status == 400, "an empty one")
    check(talk(user("a"), {"role": "system", "content": "Noon."}).status == 200, "as text")
    refused("messages.0: role 'system' must follow a 'user' message", "first", note, user("a"))
    refused("messages.1: role 'system' must precede an 'assistant' message or end the array",
            "before the user's", user("a"), note, user("b"))
    call = {"role": "assistant", "content": [
        {"type": "tool_use", "id": "t1", "name": "read_file", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1"}]}
    check(talk(user("a"), call, result, note).status == 200, "after results")
    refused("messages.2: role 'system' must follow a 'user' message", "between call and result",
            user("a"), call, note, result)
    refused("messages.1.content.0: Input tag 'image'", "an image", user("a"),
            system({"type": "image"}))
    refused("messages.1.clear_at: Extra inputs are not permitted", "clear_at without its beta",
            user("a"), dict(note, clear_at="never"))
    more = {"headers": beta(CLEAR, CHANGES)}
    once = dict(note, clear_at="next_user_message")
    check(talk(user("a"), once, **more).status == 200, "clear_at with its beta")
    refused("Input should be 'next_user_message' or 'never'", "clear_at of another kind", user("a"),
            dict(note, clear_at="soon"), **more)
    refused("clear_at is only permitted on role 'system' messages", "clear_at of a user's",
            dict(user("a"), clear_at="never"), **more)
    refused("a turn-scoped system message supports text blocks only", "tools that clear", user("a"),
            system(change("tool_removal", "read_file"), clear_at="next_user_message"), **more)
    refused("cache_control is not permitted on a turn-scoped", "a mark that clears", user("a"),
            system(dict(said("x"), cache_control={"type": "ephemeral"}),
                   clear_at="next_user_message"), **more)


def tool_changes(check, client):
    def names(*blocks, headers=beta(INLINE), **more):
        """What the mock believes its tools are, behind a system message of such blocks."""
        one = Talk(check, client, path="/s/tools")
        one.headers = headers
        one.body.update(more, messages=[user("a"), system(*blocks)] if blocks else [user("a")])
        got = one.send()
        if got.status != 200:
            return got.text()
        return "".join(b.get("text", "") for b in blocks_of(got.body))

    gone, added = change("tool_removal", "read_file"), change("tool_addition", definition=OTHER)
    late = [CLAUDE_TOOL, dict(OTHER, defer_loading=True)]
    check(names().startswith("Tools: read_file. "), "one tool", names())
    check(names(gone).startswith("Tools: . "), "none", names(gone))
    check(names(gone, added).startswith("Tools: other. "), "another", names(gone, added))
    check(names(gone, change("tool_addition", "read_file")).startswith("Tools: read_file."), "back")
    check(names(tools=late).startswith("Tools: read_file."), "a deferred one is not there")
    check(names(change("tool_addition", "other"), headers=beta(CHANGES),
                tools=late).startswith("Tools: read_file, other."), "until it is added")
    check("Input tag 'tool_removal'" in names(gone, headers=KEYS), "without a beta", names(gone))
    check("Input tag 'tool_definition'" in names(added, headers=beta(CHANGES)),
          "definitions want the newer beta")
    check("Tool reference 'x' not found in available tools" in names(change("tool_removal", "x")),
          "a reference to nothing")
    check("input_schema.type: Input should be 'object'" in names(
        change("tool_addition", definition=dict(OTHER, input_schema={"type": "array"}))), "a schema")
    check("All tools cannot be deferred" in names(tools=late[1:]), "none but deferred")
    talk = Talk(check, client)
    talk.headers = beta(INLINE)
    talk.ask("One.")
    talk.ask("Two.", system(added, said("It is noon.")))
    talk.ask("Three.")
    talk.taken("changes that were appended keep the prefix")
    talk.content(3)[1]["text"] = "It is one."
    talk.refused("messages.4.content.0: Invalid", "and are part of it")
    late = Talk(check, client)
    late.headers = beta(CHANGES)
    late.ask("One.")
    late.body["tools"].append(dict(OTHER, defer_loading=True))
    late.ask("Two.", system(change("tool_addition", "other")))
    late.taken("a deferred tool is appended")
    late.body["tools"][1]["description"] = "x"
    late.refused("messages.4.content.0: Invalid", "from its addition on it is part of the prefix")


# ---- Bedrock ----

US = "us.anthropic.claude-opus-5-5-v1:0"
TOOL = {"toolSpec": {"name": "look", "inputSchema": {"json": SCHEMA}}}


def converse(check, client):
    def send(body, model=US, prefix="/s/hello"):
        return client.post(prefix + dialects.path("bedrock", model.replace(":", "%3A")), body,
                           dialects.KEYS["bedrock"])

    def words(body, **more):
        got = send(body, **more)
        return json.loads(got.body)["message"] if got.status == 400 else got.status

    body = {"messages": [], "system": [{"text": "Be brief."}], "toolConfig": {"tools": [TOOL]}}
    for text in ("One.", "Two.", "Three."):
        body["messages"].append({"role": "user", "content": [{"text": text}]})
        got = send(body)
        check(got.status == 200, "Converse: append-only", got.body)
        blocks = dialects.bedrock_blocks(dialects.events("bedrock", got.body))
        check("reasoningContent" in blocks[0], "it thinks", blocks)
        body["messages"].append({"role": "assistant", "content": blocks})
    body["messages"].append({"role": "user", "content": [{"text": "And now?"}]})
    marked = copy.deepcopy(body)
    marked["system"].append({"cachePoint": {"type": "default"}})
    marked["toolConfig"]["tools"].append({"cachePoint": {"type": "default"}})
    marked["messages"][2]["content"].append({"cachePoint": {"type": "default"}})
    check(words(marked) == 200, "cache points do not count", words(marked))
    changed = copy.deepcopy(body)
    changed["messages"][2]["content"][0]["text"] = "x"
    base = ("The model returned the following errors: messages.3.content.0: " + WORDS).replace(
        "prefix_mismatch", "mismatch")
    check(words(changed).startswith(base + TAIL), "Converse refuses", words(changed))
    check(words(changed, prefix="/m/bind-silent/s/hello") == 200, "silence")
    check(words(changed, model="us.anthropic.claude-opus-5-v1:0") == 200, "no check")
    fields = changed["additionalModelRequestFields"] = {"thinking": {
        "type": "adaptive", "block_binding": {"mismatch_behavior": "drop_block"}}}
    check("block_binding: Extra inputs" in words(changed), "no beta", words(changed))
    fields["anthropic_beta"] = [binding.BETA]
    changed["additionalModelResponseFieldPaths"] = ["/input_transformations"]
    got = send(changed)
    stop = [e for n, e in dialects.events("bedrock", got.body) if n == "messageStop"]
    check(got.status == 200 and stop[0]["additionalModelResponseFields"] == {
        "input_transformations": dropped("messages.3.content.0", "messages.5.content.0")},
          "Converse drops and tells", (got.status, stop))
    fields["thinking"]["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
    check("prefix_mismatch_behavior: Extra inputs" in words(changed), "the name of Anthropic")
    fields["thinking"] = {"type": "disabled"}
    check("thinking.type.disabled" in words(changed), "Opus cannot but think", words(changed))
    bad = copy.deepcopy(body)
    bad["messages"][1]["content"][0]["reasoningContent"]["reasoningText"]["signature"] = "EqQB"
    check(words(bad).endswith("messages.1.content.0: Invalid `signature` in `thinking` block"),
          "an unknown signature", words(bad))
    note = {"role": "system", "content": [{"text": "It is noon."}]}
    told_of = dict(body, messages=body["messages"] + [note])
    check(words(told_of) == 200, "a system message", words(told_of))
    check("role 'system' is not supported on this model" in words(
        told_of, model="us.anthropic.claude-sonnet-5-v1:0"), "not of Sonnet 5")
    early = dict(body, messages=[body["messages"][0], note, body["messages"][0]])
    check("must precede an 'assistant' message" in words(early), "placement", words(early))
    early["messages"] = body["messages"][:2] + [note]
    check("must follow a 'user' message" in words(early), "placement", words(early))
    gone = {"role": "system", "content": [{"toolRemoval": {"tool": {"name": "look"}}}]}
    got = send(dict(body, messages=body["messages"] + [gone]), prefix="/s/tools")
    check(dialects.text_of("bedrock", got.body).startswith("Tools: . "), "a tool is removed", got.body)
    gone["content"][0]["toolRemoval"]["tool"]["name"] = "x"
    check("Tool reference 'x' not found" in words(dict(body, messages=body["messages"] + [gone])),
          "a reference to nothing")


def all_of_it(check, client):
    for part in (prefixes, signatures, drops, controls, models, placements, tool_changes, converse):
        part(check, client)
