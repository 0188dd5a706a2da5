"""What the mock must refuse: (name, path, body to start from, edit, status, words of the answer).

An edit changes the body or the headers in place, or returns the raw bytes to send instead.
"""

import json

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
CLAUDE, CHAT = "/v1/messages", "/v1/chat/completions"
HEADERS = {
    CLAUDE: {
        "content-type": "application/json", "x-api-key": "key", "anthropic-version": "2023-06-01"
    }, CHAT: {"content-type": "application/json", "authorization": "Bearer key"}
}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
CLAUDE_TOOL = {"name": "read_file", "description": "Reads", "input_schema": SCHEMA}
CHAT_TOOL = {
    "type": "function",
    "function": {"name": "read_file", "description": "Reads", "parameters": SCHEMA}
}
CLAUDE_IMAGE = {
    "type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}
}
CHAT_IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + PNG}}
CLAUDE_BODY = {
    "model": "claude-sonnet-4-5", "max_tokens": 4096, "stream": True, "tools": [CLAUDE_TOOL],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Read both."}]}, {
        "role": "assistant", "content": [{"type": "text", "text": "Yes."}, {
            "type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}
        }, {"type": "tool_use", "id": "toolu_2", "name": "read_file", "input": {"path": "b"}}]
    }, {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "A"}, {
            "type": "tool_result", "tool_use_id": "toolu_2",
            "content": [{"type": "text", "text": "B"}]
        }, {"type": "text", "text": "Go on."}]
    }]
}
CHAT_BODY = {
    "model": "gpt-4.1", "stream": True, "tools": [CHAT_TOOL],
    "messages": [{"role": "system",
                  "content": "Be terse."}, {"role": "user", "content": "Read both."}, {
                      "role": "assistant", "content": None, "tool_calls": [{
                          "id": "call_1", "type": "function",
                          "function": {"name": "read_file", "arguments": "{\"path\":\"a\"}"}
                      }, {
                          "id": "call_2", "type": "function",
                          "function": {"name": "read_file", "arguments": "{\"path\":\"b\"}"}
                      }]
                  }, {"role": "tool", "tool_call_id": "call_1",
                      "content": "A"}, {"role": "tool", "tool_call_id": "call_2", "content": "B"},
                 {"role": "user", "content": [{"type": "text", "text": "Go on."}]}]
}
PDF, WAV = "JVBERi0xLjc=", "UklGRg=="
CLAUDE_PDF = {
    "type": "document", "title": "a.pdf",
    "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}
}
CHAT_PDF = {
    "type": "file",
    "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64," + PDF}
}
CHAT_WAV = {"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}}
ALL = []


def claude(name, words, edit, status=400):
    ALL.append((name, CLAUDE, CLAUDE_BODY, edit, status, words))


def chat(name, words, edit, status=400):
    ALL.append((name, CHAT, CHAT_BODY, edit, status, words))


def put(*path_and_value):
    """An edit that sets body[...][...] = value."""
    *path, last, value = path_and_value

    def edit(body, headers):
        for key in path:
            body = body[key]
        body[last] = value

    return edit


def drop(*path):
    def edit(body, headers):
        for key in path[:-1]:
            body = body[key]
        del body[path[-1]]

    return edit


def header(name, value=None):
    def edit(body, headers):
        headers.pop(name, None)
        if value is not None:
            headers[name] = value

    return edit


def both(*edits):
    def edit(body, headers):
        for one in edits:
            one(body, headers)

    return edit


def bytes_of(change):
    return lambda body, headers: change(json.dumps(body).encode())


def add(*path_and_value):
    *path, value = path_and_value

    def edit(body, headers):
        for key in path:
            body = body[key]
        body.append(value)

    return edit


MARK = {"cache_control": {"type": "ephemeral"}}
M = "messages"

claude("no key", "x-api-key header is required", header("x-api-key"), 401)
claude("bad key", "invalid x-api-key", header("x-api-key", "bad-key"), 401)
claude("bad bearer", "invalid x-api-key",
       both(header("x-api-key"), header("authorization", "Bearer bad-key")), 401)
claude("no version", "anthropic-version: header is required", header("anthropic-version"))
claude("bad version", "is not a valid version", header("anthropic-version", "2020-01-01"))
claude("content type", "Content-Type must be", header("content-type", "text/plain"))
claude("cut JSON", "not valid JSON", bytes_of(lambda b: b[:-5]))
claude("NaN", "NaN is not JSON", bytes_of(lambda b: b.replace(b"4096", b"NaN")))
claude("not UTF-8", "invalid UTF-8 at byte", bytes_of(lambda b: b.replace(b"Go on", b"\xff\xfe")))
claude("lone surrogate", "no low surrogate", bytes_of(lambda b: b.replace(b"Go on", b"\\ud83d")))
claude("an array", "not a JSON object", bytes_of(lambda b: b"[]"))
for field in ("model", "max_tokens", "messages"):
    claude("no " + field, field + ": Field required", drop(field))
claude("unknown field", "foo: Extra inputs are not permitted", put("foo", 1))
claude("max_tokens 0", "greater than or equal to 1", put("max_tokens", 0))
claude("max_tokens text", "valid integer", put("max_tokens", "5"))
claude("stream text", "stream: Input should be a valid boolean", put("stream", "yes"))
claude("no message", "at least one message", put(M, []))
claude("empty text", "text content blocks must be non-empty", put(M, 0, "content", 0, "text", ""))
claude("blank text", "must contain non-whitespace", put(M, 0, "content", 0, "text", " \n"))
claude("blank string", "must contain non-whitespace", put(M, 0, "content", "  "))
claude("empty content", "must have non-empty content", put(M, 0, "content", []))
claude("null content", "messages.0.content: Field required", put(M, 0, "content", None))
claude("system role", "role 'system' is not supported on this model", put(M, 0, "role", "system"))
claude("assistant first", "first message must use the \"user\" role",
       lambda b, h: b[M].insert(0, {"role": "assistant", "content": "x"}))
claude("prefill on new models", "does not support assistant message prefill",
       both(put("model", "claude-opus-4-8"), add(M, {"role": "assistant", "content": "I"})))
claude("trailing space", "cannot end with trailing whitespace",
       add(M, {"role": "assistant", "content": "I "}))
claude("unknown block", "does not match any", put(M, 0, "content", 0, "type", "audio"))
claude("unknown block field", "Extra inputs are not permitted", put(M, 0, "content", 0, "id", 1))
claude("unknown message field", "messages.0.id: Extra inputs", put(M, 0, "id", "x"))
claude("result without call", "unexpected `tool_use_id`",
       put(M, 2, "content", 0, "tool_use_id", "toolu_9"))
claude("call without result", "without `tool_result` blocks immediately after: toolu_2",
       drop(M, 2, "content", 1))
claude("call at the end", "without `tool_result` blocks immediately after", drop(M, 2))
claude("result after text", "without `tool_result` blocks immediately after: toolu_2",
       lambda b, h: b[M][2]["content"].insert(1, b[M][2]["content"].pop()))
claude("result twice", "must have a single result",
       lambda b, h: b[M][2]["content"].insert(1, b[M][2]["content"][0]))
claude("same id twice", "ids must be unique", put(M, 1, "content", 2, "id", "toolu_1"))
claude("id charset", "should match pattern '^[a-zA-Z0-9_-]+$'", put(M, 1, "content", 1, "id",
                                                                    "a.b"))
claude("id length", "at most 64 characters", put(M, 1, "content", 1, "id", "a" * 65))
claude("input not an object", "valid dictionary", put(M, 1, "content", 1, "input", "{}"))
claude("tool_result of assistant", "not allowed in `assistant`",
       put(M, 1, "content", 0, {"type": "tool_result", "tool_use_id": "x"}))
claude(
    "image in an error", "must be type `text` if `is_error`",
    both(put(M, 2, "content", 0, "is_error", True),
         put(M, 2, "content", 0, "content", [CLAUDE_IMAGE])))
claude(
    "image type", "Input should be 'image/jpeg'",
    add(M, 2, "content",
        {"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": PNG}}))
claude(
    "image data", "invalid base64",
    add(M, 2, "content",
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "?!"}}))
claude(
    "image lies", "does not match the provided media type",
    add(M, 2, "content",
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": PNG}}))
claude(
    "document type", "Input should be 'application/pdf'",
    add(M, 2, "content", {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/msword", "data": PDF}}))
claude(
    "document lies", "The PDF specified was not valid",
    add(M, 2, "content", {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": WAV}}))
claude(
    "document by http", "Only HTTPS URLs are supported",
    add(M, 2, "content", {"type": "document", "source": {"type": "url", "url": "http://a/b.pdf"}}))
claude(
    "document without text", "source.text.data: Field required",
    add(M, 2, "content",
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": ""}}))
claude("document in an assistant's message", "not allowed in `assistant`",
       add(M, 1, "content", CLAUDE_PDF))
claude(
    "document in an error", "must be type `text` if `is_error`",
    both(put(M, 2, "content", 0, "is_error", True),
         put(M, 2, "content", 0, "content", [CLAUDE_PDF])))
claude("audio", "does not match any of the expected tags",
       add(M, 2, "content", {"type": "audio", "data": WAV}))
claude("thinking unsigned", "thinking.signature: Field required",
       lambda b, h: b[M][1]["content"].insert(0, {"type": "thinking", "thinking": "x"}))
claude(
    "thinking signed empty", "Invalid `signature`", lambda b, h: b[M][1]["content"].insert(
        0, {"type": "thinking", "thinking": "x", "signature": ""}))
claude(
    "thinking marked", "cache_control: Extra inputs", lambda b, h: b[M][1]["content"].insert(
        0, dict(MARK, type="thinking", thinking="x", signature="s")))
claude("budget too small", "greater than or equal to 1024",
       put("thinking", {"type": "enabled", "budget_tokens": 1023}))
claude("budget too large", "must be greater than `thinking.budget_tokens`",
       put("thinking", {"type": "enabled", "budget_tokens": 4096}))
claude("thinking dropped in a loop", "must start with a thinking block",
       put("thinking", {"type": "enabled", "budget_tokens": 1024}))
claude("temperature with thinking", "may only be set to 1",
       both(put("thinking", {"type": "enabled", "budget_tokens": 1024}), put("temperature", 0.5)))
claude(
    "enabled on 4.7", "is not supported for this model",
    both(put("model", "claude-opus-4-7"), put("thinking",
                                              {"type": "enabled", "budget_tokens": 1024})))
claude("adaptive on 4.5", "adaptive thinking is not supported", put("thinking",
                                                                    {"type": "adaptive"}))
claude(
    "forced tool with thinking", "tool_choice forces tool use",
    both(put("thinking", {"type": "enabled", "budget_tokens": 1024}),
         put("tool_choice", {"type": "any"})))
claude("temperature on 4.7", "deprecated for this model",
       both(put("model", "claude-opus-4-7"), put("temperature", 0.5)))
claude("temperature range", "range: 0..1", put("temperature", 1.5))
claude("temperature, new version", "temperature: Extra inputs",
       both(put("temperature", 1), header("anthropic-version", "2026-10-21")))
claude("same tool twice", "Tool names must be unique", add("tools", CLAUDE_TOOL))
claude("tool name", "'^[a-zA-Z0-9_-]{1,128}$'", put("tools", 0, "name", "read file"))
claude("tool name length", "'^[a-zA-Z0-9_-]{1,128}$'", put("tools", 0, "name", "a" * 129))
claude("schema root", "input_schema.type: Input should be 'object'",
       put("tools", 0, "input_schema", {"type": "array"}))
claude("schema without type", "input_schema.type: Field required",
       put("tools", 0, "input_schema", {}))
claude("schema anyOf", "does not support oneOf, allOf, or anyOf",
       put("tools", 0, "input_schema", {"type": "object", "anyOf": []}))
claude("tool_choice unknown", "does not match any of the expected tags",
       put("tool_choice", {"type": "required"}))
claude("tool_choice without tools", "only be specified while providing tools",
       both(put("tool_choice", {"type": "auto"}), drop("tools")))
claude("tool_choice of nothing", "not found in provided tools",
       put("tool_choice", {"type": "tool", "name": "x"}))
claude(
    "five marks", "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    both(put("system", [dict(MARK, type="text", text="s%d" % i) for i in range(4)]),
         put("tools", 0, "cache_control", MARK["cache_control"])))
claude("mark on empty text", "cache_control cannot be set for empty text blocks",
       put(M, 0, "content", 0, dict(MARK, type="text", text="")))
claude(
    "1h after 5m", "must not come after a ttl='5m'",
    both(
        put("tools", 0, "cache_control", {"type": "ephemeral"}),
        put("system",
            [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}])))
claude("mark unknown", "Input should be 'ephemeral'",
       put("tools", 0, "cache_control", {"type": "for ever"}))
claude("format by its old name", "output_format: Extra inputs are not permitted",
       put("output_format", {"type": "json_schema", "schema": {"type": "object"}}))
claude("format unknown", "Input should be 'json_schema'",
       put("output_config", {"format": {"type": "json_object"}}))
claude("format open", "'additionalProperties' must be explicitly set to false",
       put("output_config", {"format": {"type": "json_schema", "schema": {"type": "object"}}}))
claude(
    "format of an old model", "does not support structured outputs",
    both(put("model", "claude-3-5-haiku-20241022"),
         put("output_config", {"format": {"type": "json_schema", "schema": {"type": "object"}}})))
claude("effort", "output_config.effort", put("output_config", {"effort": "extreme"}))

SEARCHED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {
    "type": "web_search_tool_result", "tool_use_id": "srvtoolu_1",
    "content": [{"type": "web_search_result", "url": "https://e.x", "encrypted_content": "E"}]
}
claude("hosted call without its result", "was found without a corresponding `web_search_tool_result`",
       add(M, 1, "content", SEARCHED))
claude("hosted result without its call", "unexpected `tool_use_id` found in `web_search_tool_result`",
       lambda b, h: b[M][1]["content"].insert(0, dict(FOUND, content=[])))
claude("hosted result that was changed", "Invalid `encrypted_content`",
       lambda b, h: b[M][1]["content"].__setitem__(slice(0, 0), [SEARCHED, FOUND]))
claude("a search that found no tool of the request", "Tool reference 'nothing' not found",
       lambda b, h: b[M][1]["content"].__setitem__(slice(0, 0), [SEARCHED, {
           "type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": {
               "type": "tool_search_tool_search_result", "tool_references": [
                   {"type": "tool_reference", "tool_name": "nothing"}]}}]))
claude("hosted input that is none", "server_tool_use.input: Input should be a valid dictionary",
       add(M, 1, "content", dict(SEARCHED, input=None)))

chat("no key", "You didn't provide an API key", header("authorization"), 401)
chat("bad key", "Incorrect API key provided", header("authorization", "Bearer bad-key"), 401)
chat("content type", "Invalid Content-Type", header("content-type", "text/plain"), 415)
chat("cut JSON", "could not parse the JSON body", bytes_of(lambda b: b[:-5]))
chat("not UTF-8", "could not parse the JSON body",
     bytes_of(lambda b: b.replace(b"Go on", b"\xff\xfe")))
chat("lone surrogate", "no low surrogate", bytes_of(lambda b: b.replace(b"Go on", b"\\ude00")))
chat("no model", "you must provide a model parameter", drop("model"))
chat("no messages", "Missing required parameter: 'messages'", drop(M))
chat("empty messages", "Invalid 'messages': empty array", put(M, []))
chat("unknown field", "Unknown parameter: 'foo'", put("foo", 1))
chat("two limits", "at the same time is not supported",
     both(put("max_tokens", 5), put("max_completion_tokens", 5)))
chat("limit 0", "integer below minimum value", put("max_tokens", 0))
chat("max_tokens of reasoning models", "Use 'max_completion_tokens' instead",
     both(put("model", "gpt-5-mini"), put("max_tokens", 5)))
chat("temperature of reasoning models", "does not support 0.5 with this model",
     both(put("model", "o4-mini"), put("temperature", 0.5)))
chat("temperature range", "decimal above maximum value", put("temperature", 3))
chat("stream_options without stream", "only allowed when 'stream' is enabled",
     both(put("stream", False), put("stream_options", {"include_usage": True})))
chat("cache key", "maximum length 64", put("prompt_cache_key", "k" * 65))
chat("effort", "Invalid value: 'extreme'", put("reasoning_effort", "extreme"))
chat("empty tools", "Invalid 'tools': empty array", put("tools", []))
chat("tool_choice without tools", "only allowed when 'tools' are specified",
     both(drop("tools"), put("tool_choice", "auto")))
chat("tool_choice unknown", "Invalid value: 'any'", put("tool_choice", "any"))
chat("same tool twice", "Tool names must be unique", add("tools", CHAT_TOOL))
chat("tool name", "string does not match pattern", put("tools", 0, "function", {"name": "a b"}))
chat("tool name length", "maximum length 64", put("tools", 0, "function", {"name": "a" * 65}))
chat("schema root", "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'",
     put("tools", 0, "function", {"name": "a", "parameters": {"type": "array"}}))
chat(
    "schema array", "array schema missing items",
    put("tools", 0, "function",
        {"name": "a", "parameters": {"type": "object", "properties": {"x": {"type": "array"}}}}))
chat("strict", "'additionalProperties' is required",
     put("tools", 0, "function", {"name": "a", "parameters": SCHEMA, "strict": True}))
chat("role", "Invalid value: 'robot'", put(M, 0, "role", "robot"))
chat("null content", "expected a string, got null", put(M, 1, "content", None))
chat("assistant says nothing", "expected a string, got null",
     add(M, {"role": "assistant", "content": None}))
chat("result without call", "must be a response to a preceeding message with 'tool_calls'",
     add(M, {"role": "tool", "tool_call_id": "call_1", "content": "A"}))
chat("result of another", "must be a response to a preceeding message",
     put(M, 3, "tool_call_id", "call_9"))
chat("result twice", "must be a response to a preceeding message",
     put(M, 4, "tool_call_id", "call_1"))
chat("call without result", "did not have response messages: call_2", drop(M, 4))
chat("call at the end", "did not have response messages: call_1, call_2",
     lambda b, h: b.update(messages=b[M][:3]))
chat("id length", "maximum length 40, but got a string with length 41",
     put(M, 2, "tool_calls", 0, "id", "a" * 41))
chat("id not a string", "expected a string, but got null", put(M, 2, "tool_calls", 0, "id", None))
chat("same id twice", "Duplicate value", put(M, 2, "tool_calls", 1, "id", "call_1"))
chat("arguments an object", "expected a string, but got an object",
     put(M, 2, "tool_calls", 0, "function", "arguments", {}))
chat("arguments not JSON", "invalid tool call arguments",
     put(M, 2, "tool_calls", 0, "function", "arguments", "{\"a"))
chat("no calls", "Invalid 'messages[2].tool_calls': empty array",
     both(put(M, 2, "tool_calls", []), put(M, 2, "content", "x")))
chat("image from a tool", "Image URLs are only allowed for messages with role 'user'",
     put(M, 3, "content", [CHAT_IMAGE]))
chat(
    "image that is none", "Invalid 'messages[5].content[0].image_url.url'",
    put(M, 5, "content",
        [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]))
chat("file from a tool", "Invalid value: 'file'", put(M, 3, "content", [CHAT_PDF]))
chat(
    "file without a name", "expected a string, but got null",
    put(M, 5, "content", [{
        "type": "file", "file": {"file_data": CHAT_PDF["file"]["file_data"]}
    }]))
chat(
    "file of another type", "MIME type application/pdf",
    put(M, 5, "content", [{
        "type": "file", "file": {"filename": "a.csv", "file_data": "data:text/csv;base64,YSxi"}
    }]))
chat("audio for a model that is deaf", "input_audio is only supported by certain models",
     put(M, 5, "content", [CHAT_WAV]))
chat(
    "audio of another format", "Supported values are: 'wav' and 'mp3'",
    put(M, 5, "content", [{"type": "input_audio", "input_audio": {"data": WAV, "format": "ogg"}}]))
chat("is_error", "Unknown parameter: 'messages[3].is_error'", put(M, 3, "is_error", True))
chat("reasoning to OpenAI", "Unknown parameter: 'messages[2].reasoning_content'",
     put(M, 2, "reasoning_content", "x"))
chat("json_object", "must contain the word 'json'", put("response_format", {"type": "json_object"}))
chat(
    "strict format", "'additionalProperties' is required",
    put("response_format", {
        "type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA, "strict": True}}))
chat("format without schema", "json_schema.schema",
     put("response_format", {"type": "json_schema", "json_schema": {"name": "a"}}))
chat("Mistral ids", "with a length of 9", put("model", "mistral-large"))
chat("Mistral stream_options", "Extra inputs",
     both(put("model", "mistral-large"), put("stream_options", {"include_usage": True})), 422)
chat("DeepSeek wants reasoning", "Missing `reasoning_content`",
     both(put("model", "deepseek-chat"), put("thinking", {"type": "enabled"})))

# What it must accept: (path, body to start from, edit).
ACCEPTED = [
    (CLAUDE, CLAUDE_BODY, add(M, 2, "content", CLAUDE_PDF)),
    (CLAUDE, CLAUDE_BODY, put(M, 2, "content", 0, "content", [CLAUDE_PDF])),
    (CLAUDE, CLAUDE_BODY,
     add(M, 2, "content",
         {"type": "document", "source": {"type": "url", "url": "https://a.example/b.pdf"}})),
    (CLAUDE, CLAUDE_BODY,
     add(M, 2, "content", {
         "type": "document",
         "source": {"type": "text", "media_type": "text/plain", "data": "words"}})),
    (CHAT, CHAT_BODY, put(M, 5, "content", [CHAT_PDF])),
    (CHAT, CHAT_BODY, both(put("model", "gpt-audio"), put(M, 5, "content", [CHAT_WAV]))),
]
