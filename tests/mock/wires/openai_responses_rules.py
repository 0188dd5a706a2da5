"""What OpenAI Responses refuses, in its own words.

Models named gpt-5* and o* are reasoning models, gpt-4* are not; of all others nothing is assumed.
Items of the mock's own making know each other: those that a reasoning item produced are refused
without it.
"""

import json
import re

from .anthropic_rules import sign
from .base import Refusal, image_fault, is_int, is_number, media_fault
from .openai_chat_rules import EFFORTS, Checker as ChatChecker
from .openai_chat_rules import expect, extra, named, refuse, too_long

HOSTED_TOOLS = {
    "web_search", "file_search", "code_interpreter", "image_generation", "mcp", "tool_search"
}
TOP_FIELDS = {
    "model", "input", "instructions", "stream", "store", "include", "reasoning",
    "max_output_tokens", "temperature", "top_p", "tools", "tool_choice", "parallel_tool_calls",
    "text", "prompt_cache_key", "prompt_cache_retention", "truncation", "metadata", "user",
    "safety_identifier", "service_tier", "previous_response_id", "conversation", "background",
    "max_tool_calls", "top_logprobs", "stream_options", "prompt"
}
INCLUDES = ("reasoning.encrypted_content", "message.input_image.image_url",
            "message.output_text.logprobs", "file_search_call.results",
            "web_search_call.action.sources", "computer_call_output.output.image_url",
            "code_interpreter_call.outputs")
ITEM_FIELDS = {
    "message": {"type", "id", "role", "status", "content", "phase"},
    "reasoning": {"type", "id", "summary", "encrypted_content", "content", "status"},
    "function_call": {"type", "id", "call_id", "name", "arguments", "status"},
    "function_call_output": {"type", "id", "call_id", "output", "status"},
    "web_search_call": {"type", "id", "status", "action", "results"},
    "tool_search_call": {"type", "id", "call_id", "execution", "arguments", "status"},
    "tool_search_output": {"type", "id", "call_id", "execution", "tools", "status"}
}
PREFIXES = {"message": "msg", "reasoning": "rs", "function_call": "fc", "web_search_call": "ws"}
ACTIONS = {"search": {"type", "query", "queries", "sources"}, "open_page": {"type", "url"},
           "find_in_page": {"type", "pattern", "url"}}
STATUSES = ("in_progress", "searching", "completed", "failed", "incomplete")
PART_TYPES = "'input_text', 'input_image', 'output_text', 'refusal', 'input_file', " \
    "'computer_screenshot', and 'summary_text'"
OURS = re.compile(r"^(?:fc|msg|ws)_mock([0-9a-f]{16})r\d+$")


def found_id(tools):
    """The mock's id of a tool_search_output: it knows its own again and sees changed tools."""
    return "tso_mock" + sign(json.dumps(tools, sort_keys=True))[6:30]


def missing(where):
    refuse("Missing required parameter: '%s'." % where, where, "missing_required_parameter")


def not_one_of(value, supported, where):
    refuse("Invalid value: '%s'. Supported values are: %s." % (value, supported), where,
           "invalid_value")


class Checker:
    def __init__(self, body):
        self.body = body
        model = body.get("model") if isinstance(body, dict) else ""
        model = model if isinstance(model, str) else ""
        self.thinks = bool(re.match(r"gpt-5|o\d", model))
        self.plain = model.startswith("gpt-4")

    def top(self):
        body = self.body
        expect(isinstance(body, dict), body, "an object", "body")
        if not body.get("model"):
            missing("model")
        expect(isinstance(body["model"], str), body["model"], "a string", "model")
        extra(body, TOP_FIELDS, "")
        if not body.get("input") and body.get("input") != "":
            refuse(
                "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' "
                "must be provided.", "input", "missing_required_parameter")
        for field in ("stream", "store", "parallel_tool_calls"):
            expect(isinstance(body.get(field, False), bool), body.get(field), "a boolean", field)
        for field in ("instructions", "prompt_cache_key"):
            expect(isinstance(body.get(field, ""), str), body.get(field), "a string", field)
        too_long(body.get("prompt_cache_key", ""), 64, "prompt_cache_key")
        for i, word in enumerate(body.get("include") or []):
            if word not in INCLUDES:
                not_one_of(word, ", ".join("'%s'" % w for w in INCLUDES), "include[%d]" % i)
        self.numbers()
        self.reasoning()
        self.tools()
        self.text()
        expect(isinstance(body["input"], (str, list)), body["input"],
               "one of a string or array of input items", "input")
        if isinstance(body["input"], list):
            self.items(body["input"])

    def numbers(self):
        most, temperature = self.body.get("max_output_tokens"), self.body.get("temperature")
        if most is not None:
            expect(is_int(most), most, "an integer", "max_output_tokens")
            if most < 16:
                refuse(
                    "Invalid 'max_output_tokens': integer below minimum value. Expected a value "
                    ">= 16, but got %d instead." % most, "max_output_tokens",
                    "integer_below_min_value")
        if temperature is not None:
            expect(is_number(temperature), temperature, "a decimal", "temperature")
            if not 0 <= temperature <= 2:
                refuse("Invalid 'temperature': decimal above maximum value. Expected a value <= 2.",
                       "temperature", "decimal_above_max_value")
        for field in ("temperature", "top_p"):
            if self.thinks and self.body.get(field) is not None:
                refuse("Unsupported parameter: '%s' is not supported with this model." % field,
                       field)

    def reasoning(self):
        given = self.body.get("reasoning")
        if given is None:
            return
        expect(isinstance(given, dict), given, "an object", "reasoning")
        extra(given, {"effort", "summary", "generate_summary"}, "reasoning")
        effort, summary = given.get("effort"), given.get("summary")
        if effort is not None and effort not in EFFORTS:
            not_one_of(effort, ", ".join("'%s'" % e for e in EFFORTS), "reasoning.effort")
        if summary not in (None, "auto", "concise", "detailed"):
            not_one_of(summary, "'concise', 'detailed', and 'auto'", "reasoning.summary")
        if self.plain and (effort or summary):
            field = "reasoning.effort" if effort else "reasoning.summary"
            refuse("Unsupported parameter: '%s' is not supported with this model." % field, field)

    def tools(self):
        body, names = self.body, []
        tools = body.get("tools") or []
        expect(isinstance(tools, list), tools, "an array of objects", "tools")
        for i, tool in enumerate(tools):
            where = "tools[%d]" % i
            expect(isinstance(tool, dict), tool, "an object", where)
            if "type" not in tool:
                missing(where + ".type")
            if tool["type"] in HOSTED_TOOLS:
                continue
            if tool["type"] != "function":
                not_one_of(tool["type"], "'function', 'custom', and others", where + ".type")
            flat = {k: v for k, v in tool.items() if k not in ("type", "defer_loading")}
            expect(isinstance(tool.get("defer_loading", False), bool), tool.get("defer_loading"),
                   "a boolean", where + ".defer_loading")
            if tool.get("defer_loading") and not any(
                    isinstance(t, dict) and t.get("type") == "tool_search" for t in tools):
                refuse("%s: 'defer_loading' needs the tool 'tool_search'." % where, where)
            if tool.get("parameters") and tool.get("strict") is None:
                flat["strict"] = True  # what is not said here is strict
            ChatChecker(body).function(flat, where)
            names.append(tool["name"])
        if len(set(names)) != len(names):
            refuse("Tool names must be unique.", "tools")
        choice = body.get("tool_choice")
        if isinstance(choice, dict):
            if choice.get("type") != "function" or choice.get("name") not in names:
                refuse("Tool choice 'function' not found in 'tools' parameter.", "tool_choice")
        elif choice not in (None, "none", "auto", "required"):
            not_one_of(choice, "'none', 'auto', and 'required'", "tool_choice")
        elif choice == "required" and not names:
            refuse("Tool choice 'required' must be specified with 'tools' parameter.",
                   "tool_choice")

    def text(self):
        given = self.body.get("text")
        if given is None:
            return
        expect(isinstance(given, dict), given, "an object", "text")
        extra(given, {"format", "verbosity"}, "text")
        wanted = given.get("format") or {"type": "text"}
        if wanted.get("type") not in ("text", "json_object", "json_schema"):
            not_one_of(wanted.get("type"), "'json_object', 'json_schema', and 'text'",
                       "text.format.type")
        if wanted["type"] == "json_schema":
            extra(wanted, {"type", "name", "schema", "strict", "description"}, "text.format")
            for field in ("name", "schema"):
                if field not in wanted:
                    missing("text.format." + field)
            named(wanted["name"], "text.format.name")
            ChatChecker(self.body).held(dict(wanted, strict=wanted.get("strict", False)),
                                        "text.format")
        if wanted["type"] == "json_object" and "json" not in json.dumps(
                self.body.get("input", "")).lower():
            refuse("Response input messages must contain the word 'json' in some form to use "
                   "'text.format' of type 'json_object'.", "input")

    # ---- items ----

    def items(self, items):
        calls, answered, ids, before = [], set(), set(), None
        for i, item in enumerate(items):
            where = "input[%d]" % i
            expect(isinstance(item, dict), item, "an object", where)
            kind = item.get("type", "message" if "role" in item else None)
            if kind not in ITEM_FIELDS:
                not_one_of(kind, "'message', 'reasoning', 'function_call', "
                           "'function_call_output', and others", where + ".type")
            extra(item, ITEM_FIELDS[kind], where)
            self.item_id(item, kind, where, ids)
            if before and kind in ("function_call_output", "tool_search_output"):
                self.alone(before)
            if kind == "message":
                self.message(item, where)
                if before and item["role"] != "assistant":
                    self.alone(before)
            elif kind == "reasoning":
                self.thought(item, where)
            elif kind == "function_call":
                self.call(item, where, calls)
            elif kind == "web_search_call":
                self.web_search(item, where)
            elif kind == "tool_search_call":
                self.search(item, where, items[i + 1:i + 2])
            elif kind == "tool_search_output":
                self.found(item, where, items[max(i - 1, 0):i])
            else:
                self.output(item, where, calls, answered)
            before = item.get("id") if kind == "reasoning" else None
        if before:
            self.alone(before)
        for call in calls:
            if call not in answered:
                refuse("No tool output found for function call %s." % call, "input")

    def alone(self, name):
        refuse(
            "Item '%s' of type 'reasoning' was provided without its required following item."
            % name, "input")

    def item_id(self, item, kind, where, ids):
        name = item.get("id")
        if name is None:
            return
        expect(isinstance(name, str), name, "a string", where + ".id")
        prefix = PREFIXES.get(kind, "")
        if not name.startswith(prefix):
            refuse(
                "Invalid '%s.id': '%s'. Expected an ID that begins with '%s'." %
                (where, name, prefix), where + ".id", "invalid_value")
        too_long(name, 64, where + ".id")
        if name in ids:
            refuse(
                "Duplicate item found with id %s. Remove duplicate items from your input and try "
                "again." % name, "input")
        ours = OURS.match(name)
        if ours and "rs_mock" + ours.group(1) not in ids:
            refuse(
                "Item '%s' of type '%s' was provided without its required 'reasoning' item: "
                "'rs_mock%s'." % (name, kind, ours.group(1)), "input")
        ids.add(name)

    def message(self, item, where):
        role = item.get("role")
        if role not in ("user", "system", "developer", "assistant"):
            not_one_of(role, "'assistant', 'system', 'developer', and 'user'", where + ".role")
        content = item.get("content")
        if content is None:
            missing(where + ".content")
        if isinstance(content, str):
            return
        expect(isinstance(content, list), content, "one of an array of objects or string",
               where + ".content")
        known = ("output_text", "refusal") if role == "assistant" else ("input_text",
                                                                        "input_image", "input_file")
        self.parts(content, known, where + ".content")

    def parts(self, parts, known, where):
        for j, part in enumerate(parts):
            inner = "%s[%d]" % (where, j)
            expect(isinstance(part, dict), part, "an object", inner)
            kind = part.get("type")
            if kind not in known:
                not_one_of(kind, PART_TYPES if kind is None or "put_" not in str(kind) else
                           ", ".join("'%s'" % k for k in known), inner + ".type")
            if kind.endswith("_text"):
                extra(part, {"type", "text"} | ({"annotations", "logprobs"}
                                                if kind == "output_text" else set()), inner)
                expect(isinstance(part.get("text"), str), part.get("text"), "a string",
                       inner + ".text")
                for k, note in enumerate(part.get("annotations") or []):
                    self.annotation(note, part["text"], "%s.annotations[%d]" % (inner, k))
            elif kind == "refusal":
                extra(part, {"type", "refusal"}, inner)
            elif kind == "input_image":
                extra(part, {"type", "image_url", "detail", "file_id"}, inner)
                self.image(part.get("image_url"), inner + ".image_url")
            elif kind == "input_file":
                self.file(part, inner)

    def annotation(self, note, text, where):
        if note.get("type") != "url_citation":
            not_one_of(note.get("type"), "'url_citation' and others", where + ".type")
        fields = ("type", "url", "title", "start_index", "end_index")
        extra(note, set(fields), where)
        for field in fields:
            if field not in note:
                missing("%s.%s" % (where, field))
        if not 0 <= note["start_index"] <= note["end_index"] <= len(text):
            refuse("Invalid '%s': the range is not in the text." % where, where, "invalid_value")

    def web_search(self, item, where):
        for field in ("id", "status", "action"):
            if field not in item:
                missing("%s.%s" % (where, field))
        if item["status"] not in STATUSES:
            not_one_of(item["status"], ", ".join("'%s'" % s for s in STATUSES), where + ".status")
        action = item["action"]
        expect(isinstance(action, dict), action, "an object", where + ".action")
        if action.get("type") not in ACTIONS:
            not_one_of(action.get("type"), ", ".join("'%s'" % a for a in ACTIONS),
                       where + ".action.type")
        extra(action, ACTIONS[action["type"]], where + ".action")

    def file(self, part, where):
        extra(part, {"type", "file_data", "file_url", "file_id", "filename", "detail"}, where)
        given = [k for k in ("file_data", "file_url", "file_id") if part.get(k) is not None]
        if len(given) != 1:
            refuse("Invalid '%s': expected one of file_data, file_url and file_id." % where, where,
                   "invalid_value")
        value = part[given[0]]
        expect(isinstance(value, str), value, "a string", "%s.%s" % (where, given[0]))
        if given[0] == "file_url" and not value.startswith(("http://", "https://")):
            refuse("Invalid '%s.file_url'. Expected a valid URL." % where, where + ".file_url",
                   "invalid_value")
        if given[0] != "file_data":
            return
        expect(isinstance(part.get("filename"), str), part.get("filename"), "a string",
               where + ".filename")
        match = re.match(r"data:([^;,]*);base64,(.*)$", value, re.S)
        fault = media_fault(match.group(1), match.group(2)) if match else "not a data URL"
        if fault:
            refuse("Invalid '%s.file_data'. Expected a base64-encoded data URL: %s." %
                   (where, fault), where + ".file_data", "invalid_value")

    def image(self, url, where):
        expect(isinstance(url, str), url, "a string", where)
        if url.startswith(("http://", "https://")):
            return
        match = re.match(r"data:([^;,]*);base64,(.*)$", url, re.S)
        fault = image_fault(match.group(1), match.group(2)) if match else "not a data URL"
        if fault:
            refuse(
                "Invalid '%s'. Expected a base64-encoded data URL with an image MIME type (e.g. "
                "'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='): %s." % (where, fault), where,
                "invalid_value")

    def thought(self, item, where):
        for field in ("id", "summary"):
            if field not in item:
                missing("%s.%s" % (where, field))
        expect(isinstance(item["summary"], list), item["summary"], "an array of objects",
               where + ".summary")
        self.parts(item["summary"], ("summary_text", ), where + ".summary")
        secret = item.get("encrypted_content")
        if not secret and not self.body.get("store", True):
            raise Refusal(
                404, "invalid_request_error",
                "Item with id '%s' not found. Items are not persisted when `store` is set to "
                "false. Try again with `store` set to true, or remove this item from your input."
                % item["id"], "input")
        said = "".join(p["text"] for p in item["summary"])
        if secret and secret.startswith("bW9jay") and said and secret != sign(said):
            refuse(
                "The encrypted content for item %s could not be verified. Reason: Encrypted "
                "content could not be decrypted or parsed." % item["id"], None,
                "invalid_encrypted_content")

    def call_id(self, item, where):
        where += ".call_id"
        if "call_id" not in item:
            missing(where)
        value = item["call_id"]
        expect(isinstance(value, str), value, "a string", where)
        if not value:
            refuse("Invalid '%s': empty string. Expected a string with minimum length 1." % where,
                   where, "empty_string")
        too_long(value, 64, where)
        return value

    def call(self, item, where, calls):
        name = self.call_id(item, where)
        for field in ("name", "arguments"):
            if field not in item:
                missing("%s.%s" % (where, field))
        named(item["name"], where + ".name")
        text = item["arguments"]
        expect(isinstance(text, str), text, "a string", where + ".arguments")
        try:  # OpenAI takes any string, but other servers of this protocol parse it
            json.loads(text)
        except ValueError:
            refuse("invalid tool call arguments", where + ".arguments")
        if name in calls:
            refuse("Duplicate function call with call_id %s." % name, "input")
        calls.append(name)

    def search(self, item, where, after):
        """One that the server has made: its output follows."""
        expect(isinstance(item.get("arguments"), dict), item.get("arguments"), "an object",
               where + ".arguments")
        if not after or after[0].get("type") != "tool_search_output":
            refuse("No tool search output found for tool search call %s." % item.get("id"), "input")

    def found(self, item, where, before):
        tools = item.get("tools")
        expect(isinstance(tools, list), tools, "an array of objects", where + ".tools")
        if not before or before[0].get("type") != "tool_search_call":
            refuse("No tool search call found for tool search output %s." % item.get("id"), "input")
        if str(item.get("id")).startswith("tso_mock") and item["id"] != found_id(tools):
            refuse("The tools of tool search output %s were changed." % item["id"], "input")

    def output(self, item, where, calls, answered):
        name = self.call_id(item, where)
        if name not in calls or name in answered:
            refuse("No tool call found for function call output with call_id %s." % name, "input")
        answered.add(name)
        if "output" not in item:
            missing(where + ".output")
        output = item["output"]
        expect(isinstance(output, (str, list)), output, "one of a string or array of objects",
               where + ".output")
        if isinstance(output, list):
            self.parts(output, ("input_text", "input_image", "input_file"), where + ".output")
