"""What Google's Interactions API refuses: requests that store nothing and have their history as steps.

Models named gemini-3* and later want a signed thought before the calls of each turn of theirs, and
take images in results; gemini-1* and gemini-2* do neither.
"""

import base64
import binascii
import re

from .anthropic_rules import sign
from .base import Refusal, image_fault, is_int, is_number, media_fault

TOP_FIELDS = {
    "model", "input", "system_instruction", "tools", "generation_config", "response_format",
    "stream", "store", "previous_interaction_id", "background", "service_tier", "safety_settings",
    "labels", "continuation_token", "cached_content"
}
CONFIG_FIELDS = {
    "max_output_tokens", "seed", "stop_sequences", "thinking_level", "thinking_summaries",
    "tool_choice", "temperature", "top_p", "speech_config", "transcription_config", "video_config",
    "image_config"
}
LEVELS = ("minimal", "low", "medium", "high", "xhigh")
MODES = ("auto", "any", "none", "validated")
HOSTED_TOOLS = ("google_search", "code_execution", "url_context", "file_search", "google_maps",
                "computer_use", "mcp_server", "retrieval", "tool_search")
SKIP = "skip_thought_signature_validator"
IMAGE_FIELDS = {"type", "data", "uri", "mime_type", "resolution"}
HOSTED = {
    "google_search_call": {"id", "arguments", "search_type"},
    "google_search_result": {"call_id", "result", "is_error"},
    "code_execution_call": {"id", "arguments"},
    "code_execution_result": {"call_id", "result", "is_error"},
    "url_context_call": {"id", "arguments"},
    "url_context_result": {"call_id", "result", "is_error"},
    "file_search_call": {"id", "arguments"},
    "file_search_result": {"call_id", "result"},
    "google_maps_call": {"id", "arguments"},
    "google_maps_result": {"call_id", "result"},
    "mcp_server_tool_call": {"id", "name", "server_name", "arguments"},
    "mcp_server_tool_result": {"call_id", "result", "name", "server_name"}
}
UNSIGNED = ("mcp_server_tool_call", "mcp_server_tool_result")


def refuse(message, *args, code="invalid_request"):
    raise Refusal(400, code, message % args if args else message)


def invalid(where):
    refuse("Invalid input at '%s'.", where)


def extra(value, allowed, where):
    if not isinstance(value, dict):
        invalid(where)
    for key in value:
        if key not in allowed:
            refuse("Unknown parameter: '%s'.", where + "." + key if where else key,
                   code="parameter_unknown")


def many(value, where):
    if not isinstance(value, list):
        invalid(where)
    return value


def text_at(value, where):
    if not isinstance(value, str) or not value:
        invalid(where)
    return value


class Checker:
    def __init__(self, body):
        self.body = body
        self.model = body.get("model") if isinstance(body, dict) else ""

    def top(self):
        body = self.body
        extra(body, TOP_FIELDS, "")
        if not isinstance(self.model, str) or not self.model:
            refuse("Exactly one of 'model' and 'agent' must be set.")
        if "input" not in body:
            refuse("Missing required parameter: 'input'.")
        for field in ("stream", "store", "background"):
            if not isinstance(body.get(field, False), bool):
                invalid(field)
        if body.get("store", True) is False:
            for field in ("previous_interaction_id", "background"):
                if body.get(field):
                    refuse("'%s' needs a stored interaction: store is false.", field)
        if not isinstance(body.get("system_instruction", ""), str):
            invalid("system_instruction")
        self.older = bool(re.match(r"gemini-[12]", self.model))
        self.signed = bool(re.match(r"gemini-[3-9]", self.model))
        names = self.tools()
        self.config(names)
        self.format()
        return self.input()

    # ---- tools and settings ----

    def tools(self):
        names = []
        for i, tool in enumerate(many(self.body.get("tools", []), "tools")):
            where = "tools[%d]" % i
            kind = tool.get("type") if isinstance(tool, dict) else None
            if kind in HOSTED_TOOLS:
                continue
            if kind != "function":
                invalid(where + ".type")
            extra(tool, {"type", "name", "description", "parameters", "defer_loading",
                         "short_description"}, where)
            name = tool.get("name")
            if not isinstance(name, str) or not re.match(r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$", name):
                invalid(where + ".name")
            if name in names:
                refuse("Duplicate function declaration found: %s", name)
            schema = tool.get("parameters", {"type": "object"})
            if not isinstance(schema, dict) or schema.get("type") != "object":
                invalid(where + ".parameters")
            names.append(name)
        return names

    def config(self, names):
        given = self.body.get("generation_config", {})
        extra(given, CONFIG_FIELDS, "generation_config")
        where = "generation_config."
        for field, low, high in (("max_output_tokens", 1, 65536), ("temperature", 0, 2), ("top_p", 0,
                                                                                          1)):
            value = given.get(field)
            if value is None:
                continue
            if not is_number(value) or (field == "max_output_tokens" and not is_int(value)) \
                    or not low <= value <= high:
                invalid(where + field)
        level = given.get("thinking_level")
        if level is not None:
            if level not in LEVELS:
                invalid(where + "thinking_level")
            pro = "pro" in self.model
            new = re.match(r"gemini-(?:3\.[7-9]|[4-9]|flash)", self.model)
            if level == "minimal" and (pro or new or self.older):
                refuse("Thinking level MINIMAL is not supported for this model.")
            if level == "medium" and re.match(r"gemini-3-pro", self.model):
                refuse("Thinking level MEDIUM is not supported for this model.")
        if given.get("thinking_summaries", "none") not in ("auto", "none"):
            invalid(where + "thinking_summaries")
        choice = given.get("tool_choice")
        if isinstance(choice, dict):
            extra(choice, {"allowed_tools"}, where + "tool_choice")
            allowed = choice.get("allowed_tools")
            extra(allowed, {"mode", "tools"}, where + "tool_choice.allowed_tools")
            for name in many(allowed.get("tools"), where + "tool_choice.allowed_tools.tools"):
                if name not in names:
                    refuse("'%s' is not in tools.", name)
            choice = allowed.get("mode")
        if choice is not None and choice not in MODES:
            invalid(where + "tool_choice")
        if choice == "any" and not names:
            refuse("Function calling config is set without function_declarations.")

    def format(self):
        given = self.body.get("response_format")
        if given is None:
            return
        for one in given if isinstance(given, list) else [given]:
            extra(one, {"type", "mime_type", "schema"}, "response_format")
            if one.get("type") != "text":
                invalid("response_format.type")
            if one.get("mime_type", "text/plain") not in ("text/plain", "application/json"):
                invalid("response_format.mime_type")
            if "schema" in one and (not isinstance(one["schema"], dict)
                                    or one.get("mime_type") != "application/json"):
                invalid("response_format.schema")
            if one.get("mime_type") == "application/json" and self.body.get("tools") and self.older:
                refuse("Function calling with a response mime type: 'application/json' is "
                       "unsupported")

    # ---- the history ----

    def input(self):
        """The steps of the input, checked."""
        given = self.body["input"]
        if isinstance(given, str):
            given = [{"type": "user_input", "content": [{"type": "text", "text": given}]}]
        if not many(given, "input"):
            invalid("input")
        self.calls, self.answered, self.hosted = {}, set(), set()
        self.signed_turn = False
        before = None
        for i, step in enumerate(given):
            where = "input[%d]" % i
            kind = step.get("type") if isinstance(step, dict) else None
            if not isinstance(kind, str):
                invalid(where + ".type")
            side = "user" if kind in ("user_input", "function_result") else "model"
            if side == "model" and before == "user":
                self.close_calls()
                self.calls, self.answered, self.signed_turn = {}, set(), False
            self.step(kind, step, where, before)
            before = side
        self.close_calls()
        if before != "user":
            refuse("Please ensure that multiturn requests end with a user role or a function "
                   "response.")
        return given

    def close_calls(self):
        if len(self.answered) != len(self.calls):
            refuse("Please ensure that the number of function response parts is equal to the number "
                   "of function call parts of the function call turn.")

    def step(self, kind, step, where, before):
        if kind == "user_input":
            self.close_calls()
            extra(step, {"type", "content"}, where)
            self.content(step.get("content"), where + ".content", ("text", "image", "document", "audio"))
        elif kind == "model_output":
            extra(step, {"type", "content"}, where)
            self.content(step.get("content"), where + ".content", ("text", "image", "document", "audio"))
        elif kind == "thought":
            self.thought(step, where)
        elif kind == "function_call":
            self.call(step, where, before)
        elif kind == "function_result":
            self.result(step, where)
        elif kind in HOSTED:
            self.hosted_step(kind, step, where)
        else:
            invalid(where + ".type")

    def thought(self, step, where):
        extra(step, {"type", "signature", "summary"}, where)
        signature = text_at(step.get("signature"), where + ".signature")
        words = ""
        for j, one in enumerate(many(step.get("summary", []), where + ".summary")):
            extra(one, {"type", "text"}, "%s.summary[%d]" % (where, j))
            words += text_at(one.get("text"), "%s.summary[%d].text" % (where, j))
        self.signature(signature, words, where)
        self.signed_turn = True

    def signature(self, signature, words, where):
        if signature == SKIP:
            return
        try:
            base64.b64decode(signature, validate=True)
        except (binascii.Error, ValueError):
            invalid(where + ".signature")
        if signature.startswith("bW9jay") and signature != sign(words):
            refuse("Corrupted thought signature.")

    def call(self, step, where, before):
        extra(step, {"type", "id", "name", "arguments", "signature"}, where)
        text_at(step.get("id"), where + ".id")
        text_at(step.get("name"), where + ".name")
        if not isinstance(step.get("arguments"), dict):
            invalid(where + ".arguments")
        if before is None:
            refuse("Please ensure that function call turn comes immediately after a user turn or "
                   "after a function response turn.")
        if step["id"] in self.calls:
            refuse("%s: the id '%s' is taken.", where, step["id"])
        if self.signed and not self.signed_turn and not step.get("signature"):
            refuse("Function call is missing a thought_signature in functionCall parts. This is "
                   "required for tools to work correctly, and missing thought_signature may lead "
                   "to degraded model performance. Additional data, function call `default_api:%s` "
                   ".", step["name"])
        self.calls[step["id"]] = step["name"]

    def result(self, step, where):
        extra(step, {"type", "call_id", "name", "result", "is_error"}, where)
        call = text_at(step.get("call_id"), where + ".call_id")
        if call not in self.calls or call in self.answered:
            refuse("%s: function response (id %s) answers no function call of the turn before.",
                   where, call)
        if step.get("name") != self.calls[call]:
            invalid(where + ".name")
        if not isinstance(step.get("is_error", False), bool):
            invalid(where + ".is_error")
        if isinstance(step.get("result"), list):
            if self.older:
                refuse("Multimodal function responses are not supported for this model.")
            self.content(step["result"], where + ".result", ("text", "image", "document", "audio"))
        elif not isinstance(step.get("result"), (str, dict)):
            invalid(where + ".result")
        self.answered.add(call)

    def hosted_step(self, kind, step, where):
        extra(step, HOSTED[kind] | {"type", "signature"}, where)
        if kind not in UNSIGNED:
            text_at(step.get("signature"), where + ".signature")
        if kind == "google_search_call":
            text_at(step.get("search_type"), where + ".search_type")
        if kind.endswith("_call"):
            self.hosted.add(text_at(step.get("id"), where + ".id"))
        elif step.get("call_id") not in self.hosted:
            invalid(where + ".call_id")

    def media(self, item, at):
        """A document or audio, by its bytes or its address."""
        extra(item, {"type", "mime_type", "data", "uri", "resolution", "sample_rate", "channels"}, at)
        kind = str(item.get("mime_type"))
        good = kind.startswith("audio/") if item["type"] == "audio" else \
            kind.startswith("application/") or kind == "text/csv"
        if not good:
            refuse("Unsupported MIME type: %s", kind)
        if ("uri" in item) == ("data" in item):
            invalid(at)
        if "uri" in item and not str(item["uri"]).startswith(("https://", "gs://")):
            invalid(at + ".uri")
        if "data" in item and media_fault(kind, item["data"]):
            invalid(at + ".data")

    def content(self, items, where, kinds):
        if not many(items, where):
            invalid(where)
        for j, item in enumerate(items):
            at = "%s[%d]" % (where, j)
            kind = item.get("type") if isinstance(item, dict) else None
            if kind not in kinds:
                invalid(at + ".type")
            if kind == "text":
                extra(item, {"type", "text", "annotations"}, at)
                if item.get("text") != "" or ".result[" not in at:
                    text_at(item.get("text"), at + ".text")
                many(item.get("annotations", []), at + ".annotations")
            elif kind in ("document", "audio"):
                self.media(item, at)
            elif kind == "image":
                extra(item, IMAGE_FIELDS, at)
                fault = image_fault(item.get("mime_type"), item.get("data"))
                if fault and fault.startswith("Input should be"):
                    refuse("Unsupported MIME type: %s", item.get("mime_type"))
                if fault:
                    refuse("Unable to process input image. Please retry or report in "
                           "https://developers.generativeai.google/guide/troubleshooting")
