"""What Anthropic Messages refuses, in its own words."""

import hashlib
import re

import binding
from . import anthropic_system
from .base import Refusal, image_fault, is_int, is_number, media_fault

TOP_FIELDS = {
    "model", "max_tokens", "messages", "stream", "system", "tools", "tool_choice", "thinking",
    "output_config", "stop_sequences", "metadata", "temperature", "top_p", "top_k", "service_tier",
    "cache_control", "container", "context_management", "mcp_servers", "inference_geo", "speed",
    "diagnostics"
}
BLOCK_FIELDS = {
    "text": {"type", "text", "cache_control", "citations"},
    "image": {"type", "source", "cache_control"},
    "document": {"type", "source", "cache_control", "citations", "context", "title"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "cache_control", "caller"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
}
ROLE_BLOCKS = {
    "user": {"text", "image", "document", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"}
}
TOOL_FIELDS = {
    "type", "name", "description", "input_schema", "strict", "eager_input_streaming",
    "cache_control", "defer_loading", "input_examples", "allowed_callers"
}
ID = re.compile(r"^[a-zA-Z0-9_-]+$")
TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")


def is_hosted(kind):
    """Blocks of the provider's own tools."""
    return isinstance(kind, str) and (kind in ("server_tool_use", "mcp_tool_use", "compaction",
                                               "container_upload", "fallback", "mcp_tool_listing")
                                      or kind.endswith("_tool_result"))


def seal_of(url):
    return "E" + hashlib.sha256(url.encode()).hexdigest()[:24] + "=="


def seal(block):
    """The block with the contents of a search as only the server reads them."""
    if not isinstance(block.get("content"), list) or not is_hosted(block["type"]):
        return block
    return dict(block, content=[dict(c, encrypted_content=seal_of(c["url"])) if "url" in c else c
                                for c in block["content"]])


def refuse(message, *args):
    raise Refusal(400, "invalid_request_error", message % args if args else message)


def version_of(model):
    """(major, minor) of a claude model name, or None for the mock's own names."""
    match = re.match(r"claude-[a-z]+-(\d+)(?:[-.](\d{1,2}))?(?:-|$)", model)
    return (int(match.group(1)), int(match.group(2) or 0)) if match else None


def sign(thinking):
    """The mock's signature of a thinking block: it knows its own again and sees a changed text."""
    return "bW9jay" + hashlib.sha1(thinking.encode()).hexdigest() + "=="


def is_whole(thinking, signature):
    """Whether a signature of the mock's belongs to a text; one of others is let be."""
    if binding.is_bound(signature):
        return binding.authentic(thinking, signature)
    return not signature.startswith("bW9jay") or not thinking or signature == sign(thinking)


LOOSE = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
         "maxLength", "maxItems", "uniqueItems", "minProperties", "maxProperties", "oneOf", "not",
         "if", "patternProperties")


def fault_of_format(schema):
    """What is wrong with a schema that answers are to be held to; None: nothing."""
    if not isinstance(schema, dict):
        return None
    kind = schema.get("type")
    for key in LOOSE:
        if key in schema:
            return "For '%s' type, property '%s' is not supported" % (kind, key)
    if kind == "object" and schema.get("additionalProperties") is not False:
        return "For 'object' type, 'additionalProperties' must be explicitly set to false"
    below = list((schema.get("properties") or {}).values())
    below += list((schema.get("$defs") or {}).values()) + list(schema.get("anyOf") or [])
    below += [schema["items"]] if "items" in schema else []
    return next((f for f in map(fault_of_format, below) if f), None)


class Checker:
    """Walks one request body. `where` is the path in the words of the API: messages.1.content.0"""
    def __init__(self, body, betas=()):
        self.body, self.betas = body, betas
        self.known_tools = set()  # names, also of definitions in messages
        self.marks = []  # (where, ttl) of the cache marks: tools, system, messages

    def extra(self, value, allowed, where):
        for key in value:
            if key not in allowed:
                refuse("%s: Extra inputs are not permitted", where + "." + key if where else key)

    def mark(self, value, where):
        control = value.get("cache_control")
        if control is None:
            return
        if not isinstance(control, dict) or control.get("type") != "ephemeral":
            refuse("%s.cache_control.type: Input should be 'ephemeral'", where)
        self.extra(control, {"type", "ttl", "scope"}, where + ".cache_control")
        if control.get("ttl", "5m") not in ("5m", "1h"):
            refuse("%s.cache_control.ttl: Input should be '5m' or '1h'", where)
        if value.get("type") == "text" and not value.get("text"):
            refuse("%s.text: cache_control cannot be set for empty text blocks", where)
        self.marks.append((where, control.get("ttl", "5m")))

    def diagnostics(self, given):
        if given is None:
            return
        if not isinstance(given, dict):
            refuse("diagnostics: Input should be an object")
        self.extra(given, {"previous_message_id"}, "diagnostics")
        name = given.get("previous_message_id")
        if name is not None and not isinstance(name, str):
            refuse("diagnostics.previous_message_id: Input should be a valid string")

    def top(self):
        body = self.body
        if not isinstance(body, dict):
            refuse("The request body is not a JSON object")
        for field in ("model", "max_tokens", "messages"):
            if field not in body:
                refuse("%s: Field required", field)
        self.extra(body, TOP_FIELDS, "")
        if not isinstance(body["model"], str) or not body["model"]:
            refuse("model: String should have at least 1 character")
        if not is_int(body["max_tokens"]):
            refuse("max_tokens: Input should be a valid integer")
        if body["max_tokens"] < 1:
            refuse("max_tokens: Input should be greater than or equal to 1")
        if not isinstance(body.get("stream", False), bool):
            refuse("stream: Input should be a valid boolean")
        stops = body.get("stop_sequences", [])
        if not isinstance(stops, list) or any(not isinstance(s, str) or not s.strip()
                                              for s in stops):
            refuse("stop_sequences: each stop sequence must contain non-whitespace")
        self.extra(body.get("metadata", {}), {"user_id"}, "metadata")
        self.diagnostics(body.get("diagnostics"))
        self.tools()
        self.system()
        self.thinking()
        self.messages()
        self.caches()

    def caches(self):
        if "cache_control" in self.body:
            self.mark({"cache_control": self.body["cache_control"]}, "")
        if len(self.marks) > 4:
            refuse("A maximum of 4 blocks with cache_control may be provided. Found %d.",
                   len(self.marks))
        ttls = [ttl for where, ttl in self.marks if where]
        if "1h" in ttls and "5m" in ttls and ttls.index(
                "5m") < len(ttls) - 1 - ttls[::-1].index("1h"):
            refuse(
                "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control "
                "block. Note that blocks "
                "are processed in the following order: `tools`, `system`, `messages`.")

    def tools(self):
        tools, names = self.body.get("tools"), []
        if tools is not None and not isinstance(tools, list):
            refuse("tools: Input should be a valid list")
        for i, tool in enumerate(tools or []):
            if isinstance(tool, dict) and tool.get("type", "custom") != "custom":
                self.own_tool(tool, "tools.%d.%s" % (i, tool["type"]))
            else:
                self.tool(tool, "tools.%d.custom" % i)
            names.append(tool["name"])
        if len(set(names)) != len(names):
            refuse("tools: Tool names must be unique.")
        if names and all(t.get("defer_loading") for t in tools):
            refuse("At least one tool must have defer_loading=false. All tools cannot be deferred.")
        self.known_tools.update(names)
        self.tool_choice(names)

    def own_tool(self, tool, where):
        """One of Anthropic's own: its type says what it is."""
        if not isinstance(tool.get("name"), str):
            refuse("%s.name: Field required", where)
        self.mark(tool, where)

    def tool(self, tool, where):
        if not isinstance(tool, dict):
            refuse("%s: Input should be an object", where)
        self.extra(tool, TOOL_FIELDS, where)
        if "name" not in tool:
            refuse("%s.name: Field required", where)
        if not isinstance(tool["name"], str) or not TOOL_NAME.match(tool["name"]):
            refuse("%s.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", where)
        if not isinstance(tool.get("description", ""), str):
            refuse("%s.description: Input should be a valid string", where)
        schema = tool.get("input_schema")
        if not isinstance(schema, dict):
            refuse("%s.input_schema: Field required", where)
        if "type" not in schema:
            refuse("%s.input_schema.type: Field required", where)
        if schema["type"] != "object":
            refuse("%s.input_schema.type: Input should be 'object'", where)
        if any(k in schema for k in ("anyOf", "oneOf", "allOf")):
            refuse(
                "%s.input_schema: input_schema does not support oneOf, allOf, or anyOf at the "
                "top level",
                where)
        if not isinstance(schema.get("properties", {}), dict):
            refuse(
                "%s.input_schema: JSON schema is invalid. It must match JSON Schema draft "
                "2020-12",
                where)
        self.mark(tool, where)
        if tool.get("defer_loading") and "cache_control" in tool:
            refuse("%s: cache_control cannot be set on a tool with defer_loading", where)

    def tool_choice(self, names):
        choice = self.body.get("tool_choice")
        if choice is None:
            return
        kind = choice.get("type") if isinstance(choice, dict) else None
        if kind not in ("auto", "any", "tool", "none"):
            refuse(
                "tool_choice: Input tag %r found using 'type' does not match any of the expected "
                "tags: "
                "'any', 'auto', 'none', 'tool'", kind)
        self.extra(choice, {"type", "name", "disable_parallel_tool_use"}, "tool_choice")
        if not names and kind != "none":
            refuse("tool_choice may only be specified while providing tools.")
        if kind in ("any", "tool") and binding.since(binding.UNFORCED, self.body["model"]):
            refuse("tool_choice: type \"tool\" and \"any\" are not supported for this model.")
        if kind == "tool" and choice.get("name") not in names:
            refuse("Tool '%s' not found in provided tools", choice.get("name"))

    def system(self):
        system = self.body.get("system", "")
        if isinstance(system, str):
            return
        if not isinstance(system, list):
            refuse("system: Input should be a valid string or list")
        for i, block in enumerate(system):
            where = "system.%d" % i
            if not isinstance(block, dict) or block.get("type") != "text":
                refuse("%s.type: Input should be 'text'", where)
            self.block(block, where)

    def thinking(self):
        body, thinking = self.body, self.body.get("thinking")
        version = version_of(body["model"])
        temperature = body.get("temperature")
        if temperature is not None:
            if not is_number(temperature) or not 0 <= temperature <= 1:
                refuse("temperature: range: 0..1")
            if version and version >= (4, 7) and temperature != 1:
                refuse("`temperature` is deprecated for this model.")
        self.extra(body.get("output_config", {}), {"effort", "format", "task_budget"},
                   "output_config")
        self.format(body.get("output_config", {}).get("format"), version)
        effort = body.get("output_config", {}).get("effort", "high")
        if effort not in ("low", "medium", "high", "xhigh", "max"):
            refuse(
                "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
        if thinking is None:
            return
        kind = thinking.get("type") if isinstance(thinking, dict) else None
        if kind not in ("enabled", "disabled", "adaptive", "between_tools"):
            refuse(
                "thinking: Input tag %r found using 'type' does not match any of the expected "
                "tags: 'adaptive', "
                "'disabled', 'enabled'", kind)
        refused = self.unsupported(kind, version)
        if refused is not None:
            refuse("\"thinking.type.%s\" is not supported for this model.%s", kind, refused)
        self.block_binding(thinking, kind)
        if kind in ("disabled", "between_tools"):
            self.extra(thinking, {"type"}, "thinking." + kind)
        if kind == "disabled":
            return
        if kind == "enabled":
            self.extra(thinking, {"type", "budget_tokens", "display", "block_binding"},
                       "thinking.enabled")
            budget = thinking.get("budget_tokens")
            if budget is None:
                refuse("thinking.enabled.budget_tokens: Field required")
            if not is_int(budget) or budget < 1024:
                refuse(
                    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
            if budget >= body["max_tokens"]:
                refuse("`max_tokens` must be greater than `thinking.budget_tokens`.")
        else:
            self.extra(thinking, {"type", "display", "block_binding"}, "thinking." + kind)
            if thinking.get("display", "omitted") not in ("summarized", "omitted"):
                refuse("thinking.%s.display: Input should be 'summarized' or 'omitted'", kind)
            if version and version < (4, 6):
                refuse("adaptive thinking is not supported on this model")
        if temperature is not None and temperature != 1:
            refuse("`temperature` may only be set to 1 when thinking is enabled.")
        if body.get("top_k") is not None:
            refuse("`top_k` must be unset when thinking is enabled.")
        if (body.get("tool_choice") or {}).get("type") in ("any", "tool"):
            refuse("Thinking may not be enabled when tool_choice forces tool use.")

    def unsupported(self, kind, version):
        """What follows the words that a model does not take this `thinking.type`; None: it does."""
        model = binding.model_of(self.body["model"])
        instead = (" Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking "
                   "behavior.")
        if kind == "enabled":
            return instead if version and version >= (4, 7) else None
        if kind == "disabled" and model:
            always = binding.since(binding.ALWAYS, self.body["model"])
            return instead if always or model == ("sonnet", (5, 5)) else None
        return "" if kind == "between_tools" and model and model != ("sonnet", (5, 5)) else None

    def block_binding(self, thinking, kind):
        """`block_binding`: with its beta, where thinking is on; models without the check take it, too."""
        given = thinking.get("block_binding")
        where = "thinking.%s.block_binding" % kind
        if "block_binding" in thinking and binding.BETA not in self.betas:
            refuse("%s: Extra inputs are not permitted", where)
        if given is None:
            return
        self.extra(given, {"prefix_mismatch_behavior"}, where)
        if given.get("prefix_mismatch_behavior", "error") not in ("error", "drop_block"):
            refuse("%s.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'", where)

    def format(self, wanted, version):
        if wanted is None:
            return
        if not isinstance(wanted, dict) or wanted.get("type") != "json_schema":
            refuse("output_config.format.type: Input should be 'json_schema'")
        self.extra(wanted, {"type", "schema"}, "output_config.format")
        if not isinstance(wanted.get("schema"), dict):
            refuse("output_config.format.schema: Field required")
        if (version and version < (4, 5)) or re.match(r"claude-[123]", self.body["model"]):
            refuse("output_config.format: This model does not support structured outputs.")
        fault = fault_of_format(wanted["schema"])
        if fault:
            refuse("output_config.format.schema: %s", fault)

    def block(self, block, where):
        kind = block.get("type")
        self.extra(block, BLOCK_FIELDS[kind], where + "." + kind)
        if kind == "text":
            if not isinstance(block.get("text"), str):
                refuse("%s.text.text: Field required", where)
            self.mark(block, where)
            if not block["text"]:
                refuse("messages: text content blocks must be non-empty")
            if not block["text"].strip():
                refuse("messages: text content blocks must contain non-whitespace text")
        elif kind == "image":
            self.image(block.get("source"), where)
            self.mark(block, where)
        elif kind == "document":
            self.document(block, where + ".document")
            self.mark(block, where)
        elif kind == "thinking":
            if not isinstance(block.get("thinking"), str):
                refuse("%s.thinking.thinking: Field required", where)
            signature = block.get("signature")
            if not isinstance(signature, str):
                refuse("%s.thinking.signature: Field required", where)
            if not signature or not is_whole(block["thinking"], signature):
                refuse("%s: Invalid `signature` in `thinking` block", where)
        elif kind == "redacted_thinking":
            if not isinstance(block.get("data"), str) or not block["data"]:
                refuse("%s.redacted_thinking.data: Field required", where)
        elif kind == "tool_use":
            self.call_id(block.get("id"), where + ".tool_use.id")
            if not isinstance(block.get("name"), str) or not TOOL_NAME.match(block["name"]):
                refuse("%s.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
                       where)
            if not isinstance(block.get("input"), dict):
                refuse("%s.tool_use.input: Input should be a valid dictionary", where)
            self.mark(block, where)
        elif kind == "tool_result":
            self.call_id(block.get("tool_use_id"), where + ".tool_result.tool_use_id")
            self.result_content(block, where)
            self.mark(block, where)

    def call_id(self, value, where):
        if not isinstance(value, str):
            refuse("%s: Field required", where)
        if not ID.match(value):
            refuse("%s: String should match pattern '^[a-zA-Z0-9_-]+$'", where)
        if len(value) > 64:
            refuse("%s: String should have at most 64 characters", where)

    def image(self, source, where):
        kind = source.get("type") if isinstance(source, dict) else None
        if kind not in ("base64", "url", "file"):
            refuse("%s.image.source: Input tag %r does not match 'base64', 'url', 'file'", where,
                   kind)
        if kind == "base64":
            fault = image_fault(source.get("media_type"), source.get("data"))
            if fault:
                refuse("%s.image.source.base64: %s", where, fault)
        elif kind == "url" and not str(source.get("url", "")).startswith("https://"):
            refuse("%s.image.source.url.url: Only HTTPS URLs are supported.", where)

    def document(self, block, where):
        source = block.get("source")
        kind = source.get("type") if isinstance(source, dict) else None
        if kind not in ("base64", "content", "file", "text", "url"):
            refuse("%s.source: Input tag %r does not match 'base64', 'content', 'file', 'text', "
                   "'url'", where, kind)
        if not isinstance(block.get("title", ""), str):
            refuse("%s.title: Input should be a valid string", where)
        if kind == "base64":
            if source.get("media_type") != "application/pdf":
                refuse("%s.source.base64.media_type: Input should be 'application/pdf'", where)
            fault = media_fault("application/pdf", source.get("data"))
            if fault:
                refuse("%s.source.base64: The PDF specified was not valid: %s", where, fault)
        elif kind == "text":
            if source.get("media_type") != "text/plain":
                refuse("%s.source.text.media_type: Input should be 'text/plain'", where)
            if not isinstance(source.get("data"), str) or not source["data"]:
                refuse("%s.source.text.data: Field required", where)
        elif kind == "url" and not str(source.get("url", "")).startswith("https://"):
            refuse("%s.source.url.url: Only HTTPS URLs are supported.", where)

    def result_content(self, block, where):
        is_error, content = block.get("is_error", False), block.get("content", "")
        if not isinstance(is_error, bool):
            refuse("%s.tool_result.is_error: Input should be a valid boolean", where)
        if isinstance(content, str):
            return
        if not isinstance(content, list):
            refuse("%s.tool_result.content: Input should be a valid string or list", where)
        for j, part in enumerate(content):
            inner = "%s.tool_result.content.%d" % (where, j)
            kind = part.get("type") if isinstance(part, dict) else None
            if kind == "tool_reference":
                self.extra(part, {"type", "tool_name"}, inner)
                if part.get("tool_name") not in self.known_tools:
                    refuse("Tool reference '%s' not found in available tools", part.get("tool_name"))
                continue
            if kind not in ("text", "image", "document"):
                refuse("%s: Input tag %r does not match 'text', 'image'", inner, kind)
            if is_error and kind != "text":
                refuse("%s.tool_result: all content must be type `text` if `is_error` is true",
                       where)
            self.block(part, inner)

    def messages(self):
        messages = self.body["messages"]
        if not isinstance(messages, list):
            refuse("messages: Input should be a valid list")
        if not messages:
            refuse("messages: at least one message is required")
        for i, message in enumerate(messages):
            self.message(message, "messages.%d" % i, i == len(messages) - 1)
        merged = merge(messages)
        anthropic_system.placement(messages, merged)
        if messages[0]["role"] != "user":
            refuse("messages: first message must use the \"user\" role")
        self.pairing(messages)
        self.hosted_pairs(merge(messages))
        last = messages[-1]
        paused = isinstance(last["content"], list) and any(
            is_hosted(b["type"]) for b in last["content"])
        if last["role"] == "assistant" and not paused:
            version = version_of(self.body["model"])
            if not version or version >= (4, 6):
                refuse(
                    "This model does not support assistant message prefill. The conversation must "
                    "end with a user message."
                )
            text = last["content"] if isinstance(
                last["content"], str) else (last["content"] or [{}])[-1].get("text", "")
            if text != text.rstrip():
                refuse("messages: final assistant content cannot end with trailing whitespace")

    def message(self, message, where, is_last):
        if not isinstance(message, dict):
            refuse("%s: Input should be an object", where)
        role = message.get("role")
        if role == "system":
            anthropic_system.message(self, message, where)
            return
        if message.get("clear_at") is not None and anthropic_system.CLEAR in self.betas:
            refuse("%s.clear_at: clear_at is only permitted on role 'system' messages", where)
        self.extra(message, {"role", "content"}, where)
        if role not in ROLE_BLOCKS:
            refuse("%s.role: Input should be 'user' or 'assistant'", where)
        content = message.get("content")
        if content is None:
            refuse("%s.content: Field required", where)
        if not isinstance(content, (str, list)):
            refuse("%s.content: Input should be a valid list", where)
        if not content and not (is_last and role == "assistant"):
            refuse("%s: %s messages must have non-empty content", where, role)
        if isinstance(content, str):
            if content and not content.strip():
                refuse("messages: text content blocks must contain non-whitespace text")
            return
        for j, block in enumerate(content):
            kind = block.get("type") if isinstance(block, dict) else None
            if role == "assistant" and is_hosted(kind):
                self.hosted(block, "%s.content.%d" % (where, j))
                continue
            if kind not in BLOCK_FIELDS:
                refuse(
                    "%s.content.%d: Input tag %r found using 'type' does not match any of the "
                    "expected tags",
                    where, j, kind)
            if kind not in ROLE_BLOCKS[role]:
                refuse("%s.content.%d: `%s` blocks are not allowed in `%s` messages", where, j,
                       kind, role)
            self.block(block, "%s.content.%d" % (where, j))
        if role == "assistant" and content[-1:] and content[-1]["type"] in ("thinking",
                                                                            "redacted_thinking"):
            refuse("%s: The final block in an assistant message cannot be `thinking`.", where)

    def hosted(self, block, where):
        """What the server's own tools said comes back as it was."""
        if block["type"] == "server_tool_use" and not isinstance(block.get("input"), dict):
            refuse("%s.server_tool_use.input: Input should be a valid dictionary", where)
        for name in binding.references(block):
            if name not in self.known_tools:
                refuse("Tool reference '%s' not found in available tools", name)
        content = block.get("content")
        for item in content if isinstance(content, list) else []:
            if "url" in item and item.get("encrypted_content") != seal_of(item["url"]):
                refuse("%s: Invalid `encrypted_content` in `%s` block", where, item.get("type"))

    def hosted_pairs(self, merged):
        """A hosted call has its result before the user speaks, and a result its call."""
        open_calls = {}
        for i, (role, blocks, index) in enumerate(merged):
            if role != "assistant":
                if any(b["type"] != "tool_result" for b in blocks):
                    for call_id, name in open_calls.items():
                        refuse(
                            "messages.%d: `%s` tool use with id `%s` was found without a "
                            "corresponding `%s_tool_result` block", merged[i - 1][2], name, call_id,
                            name)
                continue
            for block in blocks:
                kind = block["type"]
                if kind in ("server_tool_use", "mcp_tool_use"):
                    open_calls[block["id"]] = block["name"]
                elif kind.endswith("_tool_result") and open_calls.pop(
                        block.get("tool_use_id"), None) is None:
                    refuse(
                        "messages.%d: unexpected `tool_use_id` found in `%s` block: %s", index,
                        kind, block.get("tool_use_id"))

    def pairing(self, messages):
        """Each call has its result in the next message, results come first, no id comes twice."""
        thinks = (self.body.get("thinking") or {}).get("type") == "enabled"
        merged = merge(messages)
        seen, open_calls = set(), []
        for i, (role, blocks, index) in enumerate(merged):
            results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
            for j, found in enumerate(results):
                if found not in open_calls:
                    refuse(
                        "messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` "
                        "blocks: %s. Each `tool_result` "
                        "block must have a corresponding `tool_use` block in the previous message.",
                        index, j, found)
            if len(set(results)) != len(results):
                refuse(
                    "messages.%d: each tool_use must have a single result. Found multiple "
                    "`tool_result` blocks with the "
                    "same id", index)
            leading = [
                b["tool_use_id"] for b in blocks[:len(results)] if b["type"] == "tool_result"
            ]
            missing = [c for c in open_calls if c not in leading]
            if missing:
                refuse(
                    "messages.%d: `tool_use` ids were found without `tool_result` blocks "
                    "immediately after: %s. Each `tool_use` "
                    "block must have a corresponding `tool_result` block in the next message.",
                    merged[i - 1][2], ", ".join(missing))
            open_calls = [b["id"] for b in blocks if b["type"] == "tool_use"]
            for found in open_calls:
                if found in seen or open_calls.count(found) > 1:
                    refuse("messages.%d: `tool_use` ids must be unique", index)
            seen.update(open_calls)
            in_tool_loop = open_calls and i == len(merged) - 2
            if thinks and in_tool_loop and blocks[0]["type"] not in ("thinking",
                                                                     "redacted_thinking"):
                refuse(
                    "messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but "
                    "found `%s`. When `thinking` is "
                    "enabled, a final `assistant` message must start with a thinking block.", index,
                    blocks[0]["type"])
        if open_calls:
            refuse(
                "messages.%d: `tool_use` ids were found without `tool_result` blocks immediately "
                "after: %s",
                merged[-1][2], ", ".join(open_calls))


def merge(messages):
    """[role, blocks, index of the first]: the server joins consecutive messages of one role."""
    out = []
    for i, message in enumerate(messages):
        content = message.get("content") or []
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if out and out[-1][0] == message["role"]:
            out[-1][1] = out[-1][1] + blocks
        else:
            out.append([message["role"], blocks, i])
    return out


def texts(content):
    if isinstance(content, str):
        return content
    return "\n".join(b["text"] for b in content or [] if b["type"] == "text")
