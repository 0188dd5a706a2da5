"""Messages of role "system" in a conversation, and the changes of tools in them: what Anthropic refuses
("Mid-conversation system messages and tool changes", read 2026-11-26)."""

import binding
from .base import Refusal

INLINE = "inline-tools-2026-09-15"
CHANGES = "mid-conversation-tool-changes-2026-07-01"
CLEAR = "mid-conversation-system-clear-at-2026-08-21"
EFFORT = "mid-conversation-output-config-2026-07-01"
KINDS = ("text", "tool_addition", "tool_removal")


def refuse(message, *args, code=None):
    raise Refusal(400, "invalid_request_error", message % args if args else message, code=code)


def message(checker, given, where):
    """One system message. The checker looks at its texts and definitions."""
    if not binding.takes_system(checker.body["model"]):
        refuse("role 'system' is not supported on this model")
    if CLEAR not in checker.betas and "clear_at" in given:
        refuse("%s.clear_at: Extra inputs are not permitted", where)
    if EFFORT not in checker.betas and "output_config" in given:
        refuse("%s.output_config: Extra inputs are not permitted", where)
    checker.extra(given, {"role", "content", "clear_at", "output_config"}, where)
    content = given.get("content")
    if not content and "output_config" not in given:
        refuse("%s: system messages must have non-empty content", where)
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    if not isinstance(blocks, list):
        refuse("%s.content: Input should be a valid list", where)
    for j, block in enumerate(blocks):
        one(checker, block, "%s.content.%d" % (where, j))
    clears(given, blocks, where)


def clears(given, blocks, where):
    when = given.get("clear_at")
    if when not in (None, "next_user_message", "never"):
        refuse("%s.clear_at: Input should be 'next_user_message' or 'never'", where)
    if when != "next_user_message":
        return
    about = "a turn-scoped system message (clear_at: 'next_user_message')"
    if "output_config" in given:
        refuse("%s: output_config is not permitted on %s", where, about)
    for j, block in enumerate(blocks):
        if block["type"] != "text":
            refuse("%s: a turn-scoped system message supports text blocks only (clear_at: "
                   "'next_user_message')", where)
        if "cache_control" in block:
            refuse("%s.content.%d: cache_control is not permitted on %s", where, j, about)


def one(checker, block, where):
    kind = block.get("type") if isinstance(block, dict) else None
    known = KINDS if INLINE in checker.betas or CHANGES in checker.betas else KINDS[:1]
    if kind not in known:
        refuse("%s: Input tag %r found using 'type' does not match any of the expected tags: %s",
               where, kind, ", ".join("'%s'" % k for k in known))
    if kind == "text":
        checker.block(block, where)
        return
    where += "." + kind
    checker.extra(block, {"type", "tool", "cache_control"}, where)
    checker.mark(block, where)
    tool = block.get("tool")
    known = ["tool_reference"]
    if kind == "tool_addition" and INLINE in checker.betas:
        known.append("tool_definition")
    wanted = tool.get("type") if isinstance(tool, dict) else None
    if wanted not in known:
        refuse("%s.tool: Input tag %r found using 'type' does not match any of the expected tags: %s",
               where, wanted, ", ".join("'%s'" % k for k in known))
    if wanted == "tool_definition":
        checker.extra(tool, {"type", "definition"}, where + ".tool")
        checker.tool(tool.get("definition"), where + ".tool.definition")
        checker.known_tools.add(tool["definition"]["name"])
        return
    checker.extra(tool, {"type", "name"}, where + ".tool")
    if tool.get("name") not in checker.known_tools:
        refuse("%s: Tool reference '%s' not found in available tools", where, tool.get("name"),
               code="tool_reference_unresolved")


def placement(messages, merged):
    """A group of system messages follows a user's and precedes an answer, or ends the array."""
    for i, (role, blocks, index) in enumerate(merged):
        if role != "system" or not blocks:
            continue
        if i == 0 or merged[i - 1][0] != "user":
            refuse("messages.%d: role 'system' must follow a 'user' message", index)
        if i + 1 < len(merged) and merged[i + 1][0] != "assistant":
            refuse("messages.%d: role 'system' must precede an 'assistant' message or end the array",
                   index)


def available(tools, messages):
    """Names of the tools that the model may call after the last message."""
    names = [t["name"] for t in tools if not t.get("defer_loading")]

    def change(name, comes):
        if name in names and not comes:
            names.remove(name)
        elif name not in names and comes:
            names.append(name)

    for given in messages:
        content = given.get("content")
        for block in content if isinstance(content, list) else []:
            kind = block.get("type")
            if kind in ("tool_addition", "tool_removal"):
                tool = block["tool"]
                name = tool["definition"]["name"] if "definition" in tool else tool["name"]
                change(name, kind == "tool_addition")
            else:  # of a search for tools
                for name in binding.references(block):
                    change(name, True)
    return names


def bound(body, betas, behaviour):
    """The Binding of a request that was checked; Refusal raised where its thinking is not valid."""
    tools = body.get("tools") or []
    system = body.get("system") or []
    state = binding.State([{"type": "text", "text": system}] if isinstance(system, str) else system,
                          [t for t in tools if not t.get("defer_loading")],
                          {t["name"]: t for t in tools if t.get("defer_loading")})
    out = binding.Binding(body["model"], state)
    for i, given in enumerate(body["messages"]):
        content = given.get("content") or []
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for j, block in enumerate(content):
            path = "messages.%d.content.%d" % (i, j)
            if block["type"] == "thinking":
                out.thinking(path, block["thinking"], block["signature"])
            elif block["type"] == "redacted_thinking":
                out.thinking(path, "", block["data"], block["type"])
            else:
                out.block(given["role"], block)
    wanted = ((body.get("thinking") or {}).get("block_binding") or {}).get(out.field)
    words = out.settle(wanted, behaviour.has("bind-silent"), binding.BETA in betas)
    if words:
        refuse("%s", words)
    return out
