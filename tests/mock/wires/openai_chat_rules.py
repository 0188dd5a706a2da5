"""What OpenAI Chat Completions refuses, in its own words, and what others of its protocol refuse.

Model names decide: gpt-* and o* get OpenAI's full strictness, mistral* and deepseek* the quirks of
those servers; all others accept the extra fields that compatible servers define.
"""

import json
import re

from .base import Refusal, image_fault, is_int, is_number, media_fault

TOP_FIELDS = {
    "model", "messages", "stream", "stream_options", "max_completion_tokens", "max_tokens",
    "temperature", "top_p", "tools", "tool_choice", "parallel_tool_calls", "reasoning_effort",
    "response_format", "store", "prompt_cache_key", "stop", "seed", "n", "user", "metadata",
    "presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs",
    "service_tier", "safety_identifier", "verbosity", "modalities", "audio", "prediction",
    "prompt_cache_retention", "web_search_options", "functions", "function_call"
}
SERVER_FIELDS = {
    "reasoning", "reasoning_format", "include_reasoning", "thinking", "enable_thinking",
    "thinking_budget", "chat_template_kwargs", "tool_stream", "provider", "prompt_mode",
    "random_seed", "top_k", "min_p", "session_id", "usage", "plugins", "models", "route",
    "transforms", "options", "keep_alive", "safe_prompt"
}
MESSAGE_FIELDS = {
    "system": {"content", "name"}, "developer": {"content", "name"}, "user": {"content", "name"},
    "assistant": {"content", "name", "tool_calls", "refusal", "audio",
                  "function_call"}, "tool": {"content", "tool_call_id"}
}
SERVER_MESSAGE_FIELDS = {
    "assistant": {
        "reasoning_content", "reasoning", "reasoning_text", "reasoning_details", "prefix"
    }, "tool": {"name"}
}
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
NAME = re.compile(r"^[a-zA-Z0-9_-]+$")


def refuse(message, param=None, code=None, status=400):
    raise Refusal(status, "invalid_request_error", message, param, code)


def type_word(value):
    return {
        dict: "an object", list: "an array", str: "a string", bool: "a boolean", int: "an integer",
        float: "a decimal",
        type(None): "null"
    }.get(type(value), "something else")


def expect(ok, value, expected, where):
    if not ok:
        refuse(
            "Invalid type for '%s': expected %s, but got %s instead." %
            (where, expected, type_word(value)), where, "invalid_type")


def extra(value, allowed, where):
    for key in value:
        if key not in allowed:
            name = where + "." + key if where else key
            refuse("Unknown parameter: '%s'." % name, name, "unknown_parameter")


def too_long(value, most, where):
    if len(value) > most:
        refuse(
            "Invalid '%s': string too long. Expected a string with maximum length %d, but got a "
            "string with length %d "
            "instead." % (where, most, len(value)), where, "string_above_max_length")


def named(value, where):
    expect(isinstance(value, str), value, "a string", where)
    if not NAME.match(value):
        refuse(
            "Invalid '%s': string does not match pattern. Expected a string that matches the "
            "pattern "
            "'^[a-zA-Z0-9_-]+$'." % where, where, "invalid_value")
    too_long(value, 64, where)


class Checker:
    def __init__(self, body):
        self.body = body
        model = body.get("model") if isinstance(body, dict) else None
        model = model if isinstance(model, str) else ""
        self.openai = bool(re.match(r"gpt-|o\d|chatgpt", model))
        self.reasoning = bool(re.match(r"gpt-5|o\d", model))
        self.mistral = model.startswith(("mistral", "devstral", "codestral", "magistral"))
        self.deepseek = model.startswith("deepseek")

    def top(self):
        body = self.body
        expect(isinstance(body, dict), body, "an object", "body")
        if not body.get("model"):
            refuse("you must provide a model parameter")
        expect(isinstance(body["model"], str), body["model"], "a string", "model")
        if "messages" not in body:
            refuse("Missing required parameter: 'messages'.", "messages",
                   "missing_required_parameter")
        extra(body, TOP_FIELDS if self.openai else TOP_FIELDS | SERVER_FIELDS, "")
        for field in ("stream", "store", "parallel_tool_calls"):
            expect(isinstance(body.get(field, False), bool), body.get(field), "a boolean", field)
        if self.mistral and ("stream_options" in body or "store" in body):
            refuse("Extra inputs are not permitted", status=422)
        if "stream_options" in body and not body.get("stream"):
            refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.",
                   "stream_options")
        self.numbers()
        too_long(body.get("prompt_cache_key", ""), 64, "prompt_cache_key")
        effort = body.get("reasoning_effort")
        if effort is not None and effort not in EFFORTS and self.openai:
            refuse(
                "Invalid value: '%s'. Supported values are: %s." %
                (effort, ", ".join("'%s'" % e for e in EFFORTS)), "reasoning_effort",
                "invalid_value")
        self.tools()
        self.response_format()
        self.messages()

    def numbers(self):
        body = self.body
        limits = [f for f in ("max_tokens", "max_completion_tokens") if body.get(f) is not None]
        if len(limits) == 2:
            refuse(
                "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not "
                "supported."
            )
        for field in limits:
            expect(is_int(body[field]), body[field], "an integer", field)
            if body[field] < 1:
                refuse(
                    "Invalid '%s': integer below minimum value. Expected a value >= 1, but got %d "
                    "instead."
                    % (field, body[field]), field, "integer_below_min_value")
        if self.reasoning and "max_tokens" in limits:
            refuse(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' "
                "instead.", "max_tokens", "unsupported_parameter")
        temperature = body.get("temperature")
        if temperature is not None:
            expect(is_number(temperature), temperature, "a decimal", "temperature")
            if not 0 <= temperature <= 2:
                refuse("Invalid 'temperature': decimal above maximum value. Expected a value <= 2.",
                       "temperature", "decimal_above_max_value")
            if self.reasoning and temperature != 1:
                refuse(
                    "Unsupported value: 'temperature' does not support %s with this model. Only "
                    "the default (1) value is "
                    "supported." % temperature, "temperature", "unsupported_value")
        for field in ("top_p", "presence_penalty", "frequency_penalty"):
            if self.reasoning and body.get(field) is not None:
                refuse("Unsupported parameter: '%s' is not supported with this model." % field,
                       field, "unsupported_parameter")

    def tools(self):
        body, names = self.body, []
        tools = body.get("tools")
        if tools is None:
            for field in ("tool_choice", "parallel_tool_calls"):
                if body.get(field) not in (None, "none"):
                    refuse("'%s' is only allowed when 'tools' are specified." % field, field)
            return
        expect(isinstance(tools, list), tools, "an array of objects", "tools")
        if not tools and self.openai:
            refuse(
                "Invalid 'tools': empty array. Expected an array with minimum length 1, but got "
                "an empty array instead.",
                "tools", "empty_array")
        if len(tools) > 128:
            refuse(
                "Invalid 'tools': array too long. Expected an array with maximum length 128, but "
                "got an array with length "
                "%d instead." % len(tools), "tools", "array_above_max_length")
        for i, tool in enumerate(tools):
            where = "tools[%d]" % i
            expect(isinstance(tool, dict), tool, "an object", where)
            extra(tool, {"type", "function"} | (set() if self.openai else {"cache_control"}), where)
            if tool.get("type") != "function":
                refuse(
                    "Invalid value: '%s'. Supported values are: 'function' and 'custom'."
                    % tool.get("type"), where + ".type", "invalid_value")
            self.function(tool.get("function"), where + ".function")
            names.append(tool["function"]["name"])
        if len(set(names)) != len(names):
            refuse("Tool names must be unique.", "tools")
        choice = body.get("tool_choice")
        if isinstance(choice, dict):
            name = (choice.get("function") or {}).get("name")
            if choice.get("type") != "function" or name not in names:
                refuse(
                    "Tool choice 'function' with name '%s' not found in 'tools' parameter." % name,
                    "tool_choice")
        elif choice not in (None, "none", "auto",
                            "required") and not (self.mistral and choice == "any"):
            refuse(
                "Invalid value: '%s'. Supported values are: 'none', 'auto', and 'required'."
                % choice, "tool_choice", "invalid_value")

    def function(self, function, where):
        expect(isinstance(function, dict), function, "an object", where)
        extra(function, {"name", "description", "parameters", "strict"}, where)
        if "name" not in function:
            refuse("Missing required parameter: '%s.name'." % where, where + ".name",
                   "missing_required_parameter")
        named(function["name"], where + ".name")
        expect(isinstance(function.get("description", ""), str), function.get("description"),
               "a string", where + ".description")
        if "strict" in function and function["strict"] is not None:
            expect(isinstance(function["strict"], bool), function["strict"], "a boolean",
                   where + ".strict")
        schema = function.get("parameters")
        if schema is None:
            return
        expect(isinstance(schema, dict), schema, "an object", where + ".parameters")
        bad = None
        if schema and schema.get("type") != "object":
            given = json.dumps(schema.get("type"))
            bad = "schema must be a JSON Schema of 'type: \"object\"', got 'type: %s'." % given
        properties = schema.get("properties", {})
        for key, value in (properties.items() if isinstance(properties, dict) else ()):
            if isinstance(value, dict) and value.get("type") == "array" and "items" not in value:
                bad = "In context=('properties', '%s'), array schema missing items." % key
        if function.get("strict") and not bad:
            if schema.get("additionalProperties") is not False:
                bad = ("In context=(), 'additionalProperties' is required to be supplied and to be "
                       "false.")
            elif sorted(schema.get("required", [])) != sorted(properties):
                bad = ("In context=(), 'required' is required to be supplied and to be an array "
                       "including every key in properties.")
        if bad:
            refuse("Invalid schema for function '%s': %s" % (function["name"], bad),
                   where + ".parameters", "invalid_function_parameters")

    def response_format(self):
        wanted = self.body.get("response_format")
        if wanted is None:
            return
        kind = wanted.get("type") if isinstance(wanted, dict) else None
        if kind not in ("text", "json_object", "json_schema"):
            refuse(
                "Invalid value: '%s'. Supported values are: 'json_object', 'json_schema', and "
                "'text'."
                % kind, "response_format.type", "invalid_value")
        if kind == "json_object" and "json" not in json.dumps(self.body["messages"]).lower():
            refuse(
                "'messages' must contain the word 'json' in some form, to use 'response_format' "
                "of type 'json_object'.",
                "messages")
        if kind == "json_schema":
            schema = wanted.get("json_schema") or {}
            extra(schema, {"name", "schema", "strict", "description"},
                  "response_format.json_schema")
            if "name" not in schema:
                refuse("Missing required parameter: 'response_format.json_schema.name'.",
                       "response_format.json_schema.name", "missing_required_parameter")
            named(schema["name"], "response_format.json_schema.name")
            if self.deepseek:
                refuse("This response_format type is unavailable now")
            self.held(schema, "response_format.json_schema")

    def held(self, given, where):
        """The schema that answers are held to."""
        if not isinstance(given.get("schema"), dict):
            refuse("Missing required parameter: '%s.schema'." % where, where + ".schema",
                   "missing_required_parameter")
        strict = {k: given[k] for k in ("name", "strict") if k in given}
        self.function(dict(strict, parameters=given["schema"]), where)

    # ---- messages ----

    def messages(self):
        messages = self.body["messages"]
        expect(isinstance(messages, list), messages, "an array of objects", "messages")
        if not messages:
            refuse(
                "Invalid 'messages': empty array. Expected an array with minimum length 1, but "
                "got an empty array instead.",
                "messages", "empty_array")
        pending, holder, seen, before = [], 0, set(), None
        for i, message in enumerate(messages):
            where = "messages[%d]" % i
            expect(isinstance(message, dict), message, "an object", where)
            role = message.get("role")
            if role not in MESSAGE_FIELDS or (role == "developer" and self.mistral):
                refuse(
                    "Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', "
                    "'function', 'tool', and "
                    "'developer'." % role, where + ".role", "invalid_value")
            allowed = MESSAGE_FIELDS[role] | {"role"}
            extra(message,
                  allowed if self.openai else allowed | SERVER_MESSAGE_FIELDS.get(role, set()),
                  where)
            if role == "tool":
                found = message.get("tool_call_id")
                expect(isinstance(found, str), found, "a string", where + ".tool_call_id")
                self.content(message, role, where)
                if found not in pending:
                    refuse(
                        "Invalid parameter: messages with role 'tool' must be a response to a "
                        "preceeding message with "
                        "'tool_calls'.", where + ".role")
                pending.remove(found)
                before = role
                continue
            self.answered(pending, holder)
            if self.mistral and role == "user" and before == "tool":
                refuse("Unexpected role 'user' after role 'tool'", status=400)
            self.content(message, role, where)
            if role == "assistant":
                pending, holder = self.calls(message, where, seen), i
            before = role
        self.answered(pending, holder)

    def answered(self, pending, holder):
        if pending:
            refuse(
                "An assistant message with 'tool_calls' must be followed by tool messages "
                "responding to each "
                "'tool_call_id'. The following tool_call_ids did not have response messages: %s"
                % ", ".join(pending), "messages.[%d].role" % holder)

    def calls(self, message, where, seen):
        calls, out = message.get("tool_calls"), []
        thinks = (self.body.get("thinking") or {}).get("type") == "enabled"
        lacks = self.body.get("tools") and "reasoning_content" not in message
        if self.deepseek and thinks and lacks:
            refuse("Missing `reasoning_content` field in the assistant message")
        if calls is None:
            return out
        expect(isinstance(calls, list), calls, "an array of objects", where + ".tool_calls")
        if not calls:
            refuse(
                "Invalid '%s.tool_calls': empty array. Expected an array with minimum length 1, "
                "but got an empty array "
                "instead." % where, where + ".tool_calls", "empty_array")
        for j, call in enumerate(calls):
            inner = "%s.tool_calls[%d]" % (where, j)
            expect(isinstance(call, dict), call, "an object", inner)
            extra(call, {"id", "type", "function"} | (set() if self.openai else {"index"}), inner)
            self.call_id(call.get("id"), inner + ".id")
            if call.get("type") != "function":
                refuse("Invalid value: '%s'. Supported values are: 'function'." % call.get("type"),
                       inner + ".type", "invalid_value")
            function = call.get("function")
            expect(isinstance(function, dict), function, "an object", inner + ".function")
            extra(function, {"name", "arguments"}, inner + ".function")
            named(function.get("name"), inner + ".function.name")
            text = function.get("arguments")
            expect(isinstance(text, str), text, "a string", inner + ".function.arguments")
            try:  # OpenAI takes any string, but Ollama and vLLM parse it
                json.loads(text)
            except ValueError:
                refuse("invalid tool call arguments", inner + ".function.arguments")
            if call["id"] in seen or call["id"] in out:
                refuse(
                    "Duplicate value for 'tool_call_id' of '%s' in messages[%s]" %
                    (call["id"], inner), inner + ".id")
            out.append(call["id"])
        seen.update(out)
        return out

    def call_id(self, value, where):
        expect(isinstance(value, str), value, "a string", where)
        if self.mistral and not re.match(r"^[a-zA-Z0-9]{9}$", value):
            refuse("Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9." % value)
        if not value:
            refuse("Invalid '%s': empty string. Expected a string with minimum length 1." % where,
                   where, "string_below_min_length")
        too_long(value, 40, where)

    def content(self, message, role, where):
        content = message.get("content")
        where += ".content"
        if content is None:
            if role == "assistant" and message.get("tool_calls"):
                return
            refuse("Invalid value for 'content': expected a string, got null.", where)
        if isinstance(content, str):
            return
        expect(isinstance(content, list), content, "one of a string or array of objects", where)
        if not content:
            refuse(
                "Invalid '%s': empty array. Expected an array with minimum length 1, but got an "
                "empty array instead."
                % where, where, "empty_array")
        for j, part in enumerate(content):
            inner = "%s[%d]" % (where, j)
            expect(isinstance(part, dict), part, "an object", inner)
            kind = part.get("type")
            known = {
                "user": ("text", "image_url", "input_audio", "file"),
                "assistant": ("text", "refusal")
            }.get(role, ("text", ))
            if self.mistral and role == "assistant":
                known += ("thinking", "reference")
            if kind == "image_url" and role != "user":
                refuse(
                    "Invalid '%s'. Image URLs are only allowed for messages with role 'user', but "
                    "this message with role "
                    "'%s' contains an image URL." % (where.rsplit(".", 1)[0], role),
                    where.rsplit(".", 1)[0], "invalid_value")
            if kind not in known:
                refuse(
                    "Invalid value: '%s'. Supported values are: %s." %
                    (kind, ", ".join("'%s'" % k for k in known)), inner + ".type", "invalid_value")
            if kind == "text":
                extra(part, {"type", "text"} | (set() if self.openai else {"cache_control"}), inner)
                expect(isinstance(part.get("text"), str), part.get("text"), "a string",
                       inner + ".text")
            if kind == "image_url":
                self.image(part.get("image_url"), inner + ".image_url")
            if kind == "file":
                self.file(part, inner)
            if kind == "input_audio":
                self.audio(part, inner)

    def file(self, part, where):
        extra(part, {"type", "file"}, where)
        value = part.get("file")
        expect(isinstance(value, dict), value, "an object", where + ".file")
        extra(value, {"file_data", "file_id", "filename"}, where + ".file")
        if "file_id" in value:
            return
        for name in ("filename", "file_data"):
            expect(isinstance(value.get(name), str), value.get(name), "a string",
                   where + ".file." + name)
        match = re.match(r"data:application/pdf;base64,(.*)$", value["file_data"], re.S)
        fault = media_fault("application/pdf", match.group(1)) if match else "not a data URL"
        if fault:
            refuse(
                "Invalid '%s.file.file_data'. Expected a base64-encoded data URL with the MIME type "
                "application/pdf: %s." % (where, fault), where + ".file.file_data", "invalid_value")

    def audio(self, part, where):
        extra(part, {"type", "input_audio"}, where)
        value = part.get("input_audio")
        expect(isinstance(value, dict), value, "an object", where + ".input_audio")
        extra(value, {"data", "format"}, where + ".input_audio")
        if value.get("format") not in ("wav", "mp3"):
            refuse(
                "Invalid value: '%s'. Supported values are: 'wav' and 'mp3'." % value.get("format"),
                where + ".input_audio.format", "invalid_value")
        fault = media_fault("audio/" + value["format"], value.get("data"))
        if fault:
            refuse("Invalid '%s.input_audio.data': %s." % (where, fault),
                   where + ".input_audio.data", "invalid_value")
        if self.openai and "audio" not in self.body["model"]:
            refuse("Invalid content type. input_audio is only supported by certain models.", where,
                   "invalid_value")

    def image(self, value, where):
        expect(isinstance(value, dict), value, "an object", where)
        extra(value, {"url", "detail"}, where)
        url = value.get("url")
        expect(isinstance(url, str), url, "a string", where + ".url")
        if url.startswith(("http://", "https://")):
            return
        match = re.match(r"data:([^;,]*);base64,(.*)$", url, re.S)
        fault = image_fault(match.group(1), match.group(2)) if match else "not a data URL"
        if fault:
            refuse(
                "Invalid '%s.url'. Expected a base64-encoded data URL with an image MIME type "
                "(e.g. "
                "'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='): %s." % (where, fault),
                where + ".url", "invalid_value")
