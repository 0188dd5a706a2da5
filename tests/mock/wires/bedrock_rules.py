"""What Bedrock's Converse refuses, in its own words.

Models with "claude" or "anthropic" in their name may carry reasoning; its signature must be whole.
Stricter than the API on purpose: unknown members are refused, not ignored.
"""

import json
import re

from .anthropic_rules import fault_of_format, sign
from .base import Refusal, image_fault, is_int, is_number, media_fault

TOP_FIELDS = {
    "messages", "system", "inferenceConfig", "toolConfig", "additionalModelRequestFields",
    "additionalModelResponseFieldPaths", "guardrailConfig", "performanceConfig", "requestMetadata",
    "promptVariables", "outputConfig", "serviceTier"
}
DOCUMENTS = ("csv", "doc", "docx", "html", "md", "pdf", "txt", "xls", "xlsx")
DOCUMENT_NAME = re.compile(r"^[a-zA-Z0-9()\[\]-]+(?: [a-zA-Z0-9()\[\]-]+)*$")
SOUNDS = ("aac", "flac", "m4a", "mka", "mkv", "mp3", "mp4", "mpeg", "mpga", "ogg", "opus", "pcm",
          "wav", "webm", "x-aac")
BLOCKS = ("text", "image", "document", "audio", "toolUse", "toolResult", "reasoningContent",
          "cachePoint", "guardContent")
NAME = re.compile(r"^[a-zA-Z0-9_-]+$")
MOST_MARKS = 4


def refuse(message, *args):
    raise Refusal(400, "ValidationException", message % args if args else message)


def extra(value, allowed, where):
    if not isinstance(value, dict):
        refuse("The format of the value at %s is invalid. Provide a json object for the field and "
               "try again.", where)
    for key in value:
        if key not in allowed:
            refuse("Malformed input request: #%s: extraneous key [%s] is not permitted, please "
                   "reformat your input and try again.", "/" + where.replace(".", "/") if where
                   else "", key)


def constraint(value, where, rule):
    refuse("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s", value,
           where, rule)


def union(value, where, known):
    """The one member of a union."""
    extra(value, known, where)
    if len(value) != 1:
        refuse("The value at %s must have exactly one member set: %s.", where, ", ".join(known))
    return next(iter(value.items()))


def many(value, where):
    if not isinstance(value, list):
        refuse("The format of the value at %s is invalid. Provide a json array for the field and "
               "try again.", where)
    return value


class Checker:
    def __init__(self, body, model):
        self.body, self.marks = body, 0
        self.claude = "claude" in model or "anthropic" in model
        self.other = bool(re.search(r"nova|titan|llama|mistral|gpt-oss", model))
        self.hears = bool(re.search(r"voxtral|omni", model))
        self.uses_tools, self.documents = False, set()

    def top(self):
        body = self.body
        extra(body, TOP_FIELDS, "")
        if body.get("messages") is None:
            constraint("null", "messages", "Member must not be null")
        for i, block in enumerate(many(body.get("system", []), "system")):
            kind, value = union(block, "system.%d" % i, ("text", "cachePoint", "guardContent"))
            if kind == "text" and (not isinstance(value, str) or not value.strip()):
                refuse("The text field in the SystemContentBlock object at system.%d is blank. Add "
                       "text to the text field, and try again.", i)
            if kind == "cachePoint":
                self.mark(value, "system.%d" % i)
        self.numbers()
        self.tools()
        self.output(body.get("outputConfig"))
        extra(body.get("additionalModelRequestFields", {}),
              body.get("additionalModelRequestFields", {}), "additionalModelRequestFields")
        self.messages(many(body["messages"], "messages"))
        if self.uses_tools and not (body.get("toolConfig") or {}).get("tools"):
            refuse("The toolConfig field must be defined when using toolUse and toolResult content "
                   "blocks.")
        if self.marks > MOST_MARKS:
            refuse("You cannot have more than %d cachePoints in a request.", MOST_MARKS)

    def output(self, config):
        if config is None:
            return
        extra(config, {"textFormat"}, "outputConfig")
        wanted = config.get("textFormat")
        extra(wanted, {"type", "structure"}, "outputConfig.textFormat")
        if wanted.get("type") != "json_schema":
            constraint(wanted.get("type"), "outputConfig.textFormat.type",
                       "Member must satisfy enum value set: [json_schema]")
        given = union(wanted.get("structure"), "outputConfig.textFormat.structure",
                      ("jsonSchema", ))[1]
        where = "outputConfig.textFormat.structure.jsonSchema"
        extra(given, {"schema", "name", "description"}, where)
        try:
            schema = json.loads(given.get("schema"))
        except (TypeError, ValueError):
            schema = None
        if not isinstance(schema, dict):
            refuse("The value at %s.schema is not a JSON schema.", where)
        fault = fault_of_format(schema)
        if fault or not self.claude:
            refuse("The model returned the following errors: output_config.format.schema: %s",
                   fault or "not supported")

    def numbers(self):
        config = self.body.get("inferenceConfig", {})
        extra(config, {"maxTokens", "temperature", "topP", "stopSequences"}, "inferenceConfig")
        most = config.get("maxTokens")
        if most is not None and (not is_int(most) or most < 1):
            constraint(most, "inferenceConfig.maxTokens",
                       "Member must have value greater than or equal to 1")
        for field in ("temperature", "topP"):
            value = config.get(field)
            if value is not None and (not is_number(value) or not 0 <= value <= 1):
                constraint(value, "inferenceConfig." + field,
                           "Member must have value less than or equal to 1")
        thinking = (self.body.get("additionalModelRequestFields") or {}).get("thinking")
        if thinking and thinking.get("type") == "enabled":
            budget = thinking.get("budget_tokens", 0)
            if budget < 1024:
                refuse("The model returned the following errors: thinking.enabled.budget_tokens: "
                       "Input should be greater than or equal to 1024")
            if most is not None and budget >= most:
                refuse("The model returned the following errors: `max_tokens` must be greater than "
                       "`thinking.budget_tokens`.")

    def mark(self, value, where):
        extra(value, {"type", "ttl"}, where + ".cachePoint")
        if value.get("type") != "default":
            constraint(value.get("type"), where + ".cachePoint.type",
                       "Member must satisfy enum value set: [default]")
        self.marks += 1

    def tools(self):
        config = self.body.get("toolConfig")
        if config is None:
            return
        extra(config, {"tools", "toolChoice"}, "toolConfig")
        names = []
        tools = config.get("tools")
        if not tools:
            constraint(tools or "[]", "toolConfig.tools",
                       "Member must have length greater than or equal to 1")
        for i, tool in enumerate(many(tools, "toolConfig.tools")):
            where = "toolConfig.tools.%d" % i
            kind, value = union(tool, where, ("toolSpec", "cachePoint", "systemTool"))
            if kind == "cachePoint":
                self.mark(value, where)
            elif kind == "toolSpec":
                self.tool(value, "toolConfig.tools.%d.member.toolSpec" % (i + 1), where)
                if value["name"] in names:
                    refuse("The toolConfig.tools contain duplicate names: %s", value["name"])
                names.append(value["name"])
        if "toolChoice" in config:
            kind, value = union(config["toolChoice"], "toolConfig.toolChoice",
                                ("auto", "any", "tool"))
            if kind == "tool" and value.get("name") not in names:
                refuse("The tool %s of toolConfig.toolChoice is not in toolConfig.tools.",
                       value.get("name"))

    def tool(self, tool, member, where):
        extra(tool, {"name", "description", "inputSchema", "strict"}, where + ".toolSpec")
        name = tool.get("name")
        if not isinstance(name, str) or not NAME.match(name):
            constraint(name, member + ".name",
                       "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+")
        if len(name) > 64:
            constraint(name, member + ".name", "Member must have length less than or equal to 64")
        if tool.get("description") == "":
            constraint("", member + ".description",
                       "Member must have length greater than or equal to 1")
        schema = union(tool.get("inputSchema") or {}, where + ".toolSpec.inputSchema", ("json", ))[1]
        if not isinstance(schema, dict) or schema.get("type") != "object":
            refuse("The value at %s.toolSpec.inputSchema.json.type must be one of the following: "
                   "object.", where)

    # ---- messages ----

    def messages(self, messages):
        if not messages:
            refuse("A conversation must start with a user message. Try again with a conversation "
                   "that starts with a user message.")
        before, waiting = None, []
        for i, message in enumerate(messages):
            where = "messages.%d" % i
            extra(message, {"role", "content"}, where)
            role = message.get("role")
            if role not in ("user", "assistant"):
                constraint(role, "messages.%d.member.role" % (i + 1),
                           "Member must satisfy enum value set: [user, assistant]")
            if i == 0 and role != "user":
                refuse("A conversation must start with a user message. Try again with a "
                       "conversation that starts with a user message.")
            if role == before:
                refuse("A conversation must alternate between user and assistant roles. Make sure "
                       "the conversation alternates between user and assistant roles and try again.")
            if not message.get("content"):
                refuse("The content field in the Message object at %s is empty. Add a ContentBlock "
                       "object to the content field and try again.", where)
            blocks = [self.block(b, "%s.content.%d" % (where, j), i, j, role)
                      for j, b in enumerate(many(message["content"], where + ".content"))]
            if any(k == "document" for k, _ in blocks) and not any(k == "text" for k, _ in blocks):
                refuse("The content field in the Message object at %s must have a text block beside "
                       "its documents.", where)
            self.results([v for k, v in blocks if k == "toolResult"], waiting, where)
            waiting = [v["toolUseId"] for k, v in blocks if k == "toolUse"]
            for name in waiting:
                if waiting.count(name) > 1:
                    refuse("The toolUse blocks at %s.content contain duplicate Ids: %s", where, name)
            before = role
        self.loop(messages)
        if before == "assistant":
            refuse("The model returned the following errors: This model does not support assistant "
                   "message prefill. The conversation must end with a user message.")

    def loop(self, messages):
        """With a budget, the message whose calls are answered begins with its reasoning."""
        thinking = (self.body.get("additionalModelRequestFields") or {}).get("thinking") or {}
        if not self.claude or thinking.get("type") != "enabled" or len(messages) < 2:
            return
        blocks = messages[-2]["content"]
        if any("toolUse" in b for b in blocks) and "reasoningContent" not in blocks[0]:
            refuse("The model returned the following errors: messages.%d.content.0.type: Expected "
                   "`thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a "
                   "final `assistant` message must start with a thinking block.", len(messages) - 2,
                   "tool_use" if "toolUse" in blocks[0] else next(iter(blocks[0])))

    def results(self, results, waiting, where):
        if len(results) > len(waiting):
            refuse("The number of toolResult blocks at %s.content exceeds the number of toolUse "
                   "blocks of previous turn.", where)
        found = [r["toolUseId"] for r in results]
        lost = [name for name in waiting if name not in found]
        if lost:
            refuse("Expected toolResult blocks at %s.content for the following Ids: %s", where,
                   ", ".join(lost))

    def block(self, block, where, i, j, role):
        kind, value = union(block, where, BLOCKS)
        member = "messages.%d.member.content.%d.member" % (i + 1, j + 1)
        if kind == "text":
            self.text(value, where, "ContentBlock")
        elif kind == "cachePoint":
            if j == 0:
                refuse("A cachePoint at %s closes no content.", where)
            self.mark(value, where)
        elif kind == "image":
            self.image(value, where + ".image", role)
        elif kind == "document":
            self.wants_role(role, "user", kind, where)
            self.document(value, where + ".document")
        elif kind == "audio":
            self.wants_role(role, "user", kind, where)
            self.audio(value, where + ".audio")
        elif kind == "toolUse":
            self.wants_role(role, "assistant", kind, where)
            extra(value, {"toolUseId", "name", "input"}, where + ".toolUse")
            self.call_id(value.get("toolUseId"), member + ".toolUse.toolUseId")
            if not isinstance(value.get("name"), str) or not NAME.match(value["name"]):
                constraint(value.get("name"), member + ".toolUse.name",
                           "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+")
            if not isinstance(value.get("input"), dict):
                refuse("The format of the value at %s.toolUse.input is invalid. Provide a json "
                       "object for the field and try again.", where)
        elif kind == "toolResult":
            self.wants_role(role, "user", kind, where)
            self.result(value, where + ".toolResult", member)
        elif kind == "reasoningContent":
            self.wants_role(role, "assistant", kind, where)
            self.reasoning(value, where + ".reasoningContent")
        self.uses_tools |= kind in ("toolUse", "toolResult")
        return kind, value

    def wants_role(self, role, wanted, kind, where):
        if role != wanted:
            refuse("The %s block at %s is not allowed in a message of role %s.", kind, where, role)

    def text(self, value, where, kind):
        if not isinstance(value, str):
            refuse("The format of the value at %s.text is invalid. Provide a string for the field "
                   "and try again.", where)
        if not value.strip():
            refuse("The text field in the %s object at %s is blank. Add text to the text field, and "
                   "try again.", kind, where)

    def call_id(self, value, member):
        if not isinstance(value, str) or not NAME.match(value):
            constraint(value, member,
                       "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+")
        if len(value) > 64:
            constraint(value, member, "Member must have length less than or equal to 64")

    def result(self, value, where, member):
        extra(value, {"toolUseId", "content", "status", "type"}, where)
        self.call_id(value.get("toolUseId"), member + ".toolResult.toolUseId")
        if value.get("status", "success") not in ("success", "error"):
            constraint(value["status"], member + ".toolResult.status",
                       "Member must satisfy enum value set: [success, error]")
        if "content" not in value:
            constraint("null", member + ".toolResult.content", "Member must not be null")
        for j, block in enumerate(many(value["content"], where + ".content")):
            inner = "%s.content.%d" % (where, j)
            kind, part = union(block, inner, ("text", "json", "image", "document", "video"))
            if kind == "text":
                self.text(part, inner, "ToolResultContentBlock")
            if kind == "image":
                self.image(part, inner + ".image", "user")
            if kind == "document":
                self.document(part, inner + ".document")

    def reasoning(self, value, where):
        if self.other:
            refuse("This model doesn't support the reasoningContent field. Remove reasoningContent "
                   "and try again.")
        kind, part = union(value, where, ("reasoningText", "redactedContent"))
        if kind == "redactedContent":
            return
        extra(part, {"text", "signature"}, where + ".reasoningText")
        signature, said = part.get("signature"), part.get("text")
        if not isinstance(said, str):
            refuse("The format of the value at %s.reasoningText.text is invalid. Provide a string "
                   "for the field and try again.", where)
        if self.claude and not signature:
            refuse("The model returned the following errors: %s.thinking.signature: Field required",
                   where)
        if signature and signature.startswith("bW9jay") and said and signature != sign(said):
            refuse("The model returned the following errors: %s: Invalid `signature` in `thinking` "
                   "block", where)

    def document(self, value, where):
        extra(value, {"format", "name", "source", "context", "citations"}, where)
        name, form = value.get("name"), value.get("format", "txt")
        if form not in DOCUMENTS:
            constraint(form, where + ".format",
                       "Member must satisfy enum value set: [%s]" % ", ".join(DOCUMENTS))
        if not isinstance(name, str) or not DOCUMENT_NAME.match(name) or len(name) > 200:
            refuse("The document file name can only contain alphanumeric characters, whitespace "
                   "characters, hyphens, parentheses, and square brackets. The name can't contain "
                   "more than one consecutive whitespace character.")
        if name in self.documents:
            refuse("Duplicate document names not allowed: %s", name)
        self.documents.add(name)
        kind, data = union(value.get("source") or {}, where + ".source",
                           ("bytes", "s3Location", "text", "content"))
        if kind == "text" and (not isinstance(data, str) or not data.strip()):
            refuse("The text field at %s.source is blank. Add text to the text field, and try "
                   "again.", where)
        fault = media_fault("application/" + form, data) if kind == "bytes" else None
        if fault:
            refuse("The model returned the following errors: %s: The document could not be read: "
                   "%s", where, fault)

    def audio(self, value, where):
        extra(value, {"format", "source"}, where)
        if value.get("format") not in SOUNDS:
            constraint(value.get("format"), where + ".format",
                       "Member must satisfy enum value set: [%s]" % ", ".join(SOUNDS))
        if not self.hears:
            refuse("This model doesn't support the audio field. Remove audio and try again.")
        kind, data = union(value.get("source") or {}, where + ".source", ("bytes", "s3Location"))
        fault = media_fault("audio/" + value["format"], data) if kind == "bytes" else None
        if fault:
            refuse("The model returned the following errors: %s: %s", where, fault)

    def image(self, value, where, role):
        if role != "user":
            refuse("The image block at %s is not allowed in a message of role %s.", where, role)
        extra(value, {"format", "source"}, where)
        if value.get("format") not in ("png", "jpeg", "gif", "webp"):
            constraint(value.get("format"), where + ".format",
                       "Member must satisfy enum value set: [jpeg, png, gif, webp]")
        kind, data = union(value.get("source") or {}, where + ".source", ("bytes", "s3Location"))
        fault = image_fault("image/" + value["format"], data) if kind == "bytes" else None
        if fault:
            refuse("The model returned the following errors: %s: Could not process image: %s", where,
                   fault)
