"""Preserved thinking and messages of role "system" in Converse: what goes through to Claude, in the words
of AWS's page on thinking block binding and of Anthropic's.

The field is `mismatch_behavior` here: not every region takes the name that Anthropic has for it.
"""

import binding
from .base import Refusal

FIELD = "mismatch_behavior"
WRAP = "The model returned the following errors: "


def refuse(message, *args):
    raise Refusal(400, "ValidationException", message % args if args else message)


def thinking(fields, model):
    """The members of additionalModelRequestFields that are about thinking."""
    given = fields.get("thinking")
    betas = fields.get("anthropic_beta", [])
    if not isinstance(betas, list):
        refuse(WRAP + "anthropic_beta: Input should be a valid list")
    if not isinstance(given, dict):
        return
    kind = given.get("type")
    where = "thinking.%s.block_binding" % kind
    found = binding.model_of(model)
    if found and (kind == "enabled" and found[1] >= (4, 7) or kind == "disabled" and (
            binding.since(binding.ALWAYS, model) or found == ("sonnet", (5, 5)))):
        refuse(WRAP + "\"thinking.type.%s\" is not supported for this model.", kind)
    if "block_binding" not in given:
        return
    if binding.BETA not in betas or kind not in ("adaptive", "enabled"):
        refuse(WRAP + where + ": Extra inputs are not permitted")
    for key, value in (given["block_binding"] or {}).items():
        if key != FIELD:
            refuse(WRAP + "%s.%s: Extra inputs are not permitted", where, key)
        if value not in ("error", "drop_block"):
            refuse(WRAP + "%s.%s: Input should be 'error' or 'drop_block'", where, key)


def role(model, messages, i):
    """Whether message i may be one of role "system"."""
    if not binding.takes_system(model):
        refuse(WRAP + "role 'system' is not supported on this model")
    if i == 0 or messages[i - 1].get("role") not in ("user", "system"):
        refuse(WRAP + "messages.%d: role 'system' must follow a 'user' message", i)
    if i + 1 < len(messages) and messages[i + 1].get("role") not in ("assistant", "system"):
        refuse(WRAP + "messages.%d: role 'system' must precede an 'assistant' message or end the "
               "array", i)


def change(value, kind, where, names):
    """A toolAddition or toolRemoval: a reference to a tool of toolConfig."""
    tool = value.get("tool") if isinstance(value, dict) else None
    if not isinstance(tool, dict) or set(tool) - {"type", "name", "serverName"}:
        refuse("The format of the value at %s.%s.tool is invalid. Provide a json object for the field "
               "and try again.", where, kind)
    if tool.get("name") not in names:
        refuse(WRAP + "%s: Tool reference '%s' not found in available tools", where, tool.get("name"))


def available(names, messages):
    """Names of the tools that the model may call after the last message."""
    out = list(names)
    for message in messages:
        for block in message["content"]:
            for key in ("toolAddition", "toolRemoval"):
                name = block[key]["tool"]["name"] if key in block else None
                if name in out and key == "toolRemoval":
                    out.remove(name)
                elif name and name not in out and key == "toolAddition":
                    out.append(name)
    return out


def bound(body, model, behaviour):
    """The Binding of a request that was checked; Refusal raised where its thinking is not valid."""
    fields = body.get("additionalModelRequestFields") or {}
    tools = (body.get("toolConfig") or {}).get("tools", [])
    state = binding.State(body.get("system", []), tools, {})
    out = binding.Binding(model, state, first_party=False, field=FIELD)
    for i, message in enumerate(body["messages"]):
        for j, block in enumerate(message["content"]):
            path = "messages.%d.content.%d" % (i, j)
            reasoning = block.get("reasoningContent")
            if reasoning is None and "cachePoint" not in block:
                out.block(message["role"], block)
            elif reasoning and "redactedContent" in reasoning:
                out.thinking(path, "", reasoning["redactedContent"], "redacted_thinking")
            elif reasoning:
                text = reasoning["reasoningText"]
                out.thinking(path, text["text"], text.get("signature"))
    wanted = ((fields.get("thinking") or {}).get("block_binding") or {}).get(FIELD)
    has_beta = binding.BETA in fields.get("anthropic_beta", [])
    words = out.settle(wanted, behaviour.has("bind-silent"), has_beta)
    if words:
        refuse("%s", WRAP + words)
    return out
