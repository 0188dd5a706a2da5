"""The six dialects beside Anthropic and Chat: how test_mock.py speaks and reads each of them, and
what each must refuse."""

import base64
import datetime
import hashlib
import json

from client import sse_events
from refusals import PDF, PNG, SCHEMA, WAV, add, both, bytes_of, drop, header, put
from wires import aws

JSON = {"content-type": "application/json"}
BEARER = dict(JSON, authorization="Bearer key")
KEYS = {
    "openai-responses": BEARER, "azure-responses": dict(JSON, **{"api-key": "key"}),
    "gemini": dict(JSON, **{"x-goog-api-key": "key"}), "vertex": BEARER,
    "gemini-interactions": dict(JSON, **{"x-goog-api-key": "key"}), "bedrock": BEARER
}
NAMES = tuple(KEYS)


def path(name, model="hello"):
    return {
        "openai-responses": "/v1/responses", "azure-responses": "/openai/v1/responses",
        "gemini": "/v1beta/models/%s:streamGenerateContent?alt=sse" % model,
        "vertex": "/v1/projects/p/locations/global/publishers/google/models/"
        "%s:streamGenerateContent?alt=sse" % model, "gemini-interactions": "/v1beta/interactions",
        "bedrock": "/model/%s/converse-stream" % model
    }[name]


def says(name, model="hello", text="hi"):
    if name.endswith(("responses", "interactions")):
        return {"model": model, "stream": True, "store": False, "input": text}
    if name == "bedrock":
        return {"messages": [{"role": "user", "content": [{"text": text}]}]}
    return {"contents": [{"role": "user", "parts": [{"text": text}]}]}


def events(name, raw):
    """[(name, dict)] of a body."""
    if name != "bedrock":
        return [(n, json.loads(d)) for n, d in sse_events(raw) if d != "[DONE]"]
    return [(h.get(":event-type") or "!" + h[":exception-type"], json.loads(p))
            for h, p in aws.read_frames(raw)]


def text_of(name, raw):
    out = ""
    for _, event in events(name, raw):
        if name.endswith("responses"):
            if event["type"] == "response.output_text.delta":
                out += event["delta"]
        elif name == "gemini-interactions":
            if event.get("delta", {}).get("type") == "text":
                out += event["delta"]["text"]
        elif name == "bedrock":
            out += (event.get("delta") or {}).get("text", "")
        else:
            for one in event.get("candidates", []):
                out += "".join(p.get("text", "") for p in one.get("content", {}).get("parts", [])
                               if not p.get("thought"))
    return out


def reply(name, body, raw, result):
    """Adds the answer and the results of its calls to the body. The number of calls."""
    found = events(name, raw)
    if name.endswith("responses"):
        items = [e["item"] for _, e in found if e["type"] == "response.output_item.done"]
        calls = [i for i in items if i["type"] == "function_call"]
        if isinstance(body["input"], str):
            body["input"] = [{"role": "user", "content": body["input"]}]
        for item in items:
            for part in item.get("content", []):
                part.pop("logprobs", None)
        body["input"] += items + [{
            "type": "function_call_output", "call_id": c["call_id"],
            "output": result(c["name"], json.loads(c["arguments"]))
        } for c in calls]
    elif name == "gemini-interactions":
        steps = interactions_steps(found)
        calls = [s for s in steps if s["type"] == "function_call"]
        if isinstance(body["input"], str):
            body["input"] = [{"type": "user_input",
                              "content": [{"type": "text", "text": body["input"]}]}]
        body["input"] += steps + [{
            "type": "function_result", "call_id": c["id"], "name": c["name"],
            "result": result(c["name"], c["arguments"])
        } for c in calls]
    elif name == "bedrock":
        blocks = bedrock_blocks(found)
        calls = [b["toolUse"] for b in blocks if "toolUse" in b]
        body["messages"] += [{"role": "assistant", "content": blocks}, {
            "role": "user", "content": [{"toolResult": {
                "toolUseId": c["toolUseId"], "content": [{"text": result(c["name"], c["input"])}]
            }} for c in calls]
        }]
    else:
        parts = [p for _, e in found for p in e["candidates"][0]["content"]["parts"]
                 if p.get("text") != "" or "thoughtSignature" in p]
        calls = [p["functionCall"] for p in parts if "functionCall" in p]
        body["contents"] += [{"role": "model", "parts": parts}, {
            "role": "user", "parts": [{"functionResponse": dict({
                "name": c["name"], "response": {"output": result(c["name"], c["args"])}
            }, **({"id": c["id"]} if "id" in c else {}))} for c in calls]
        }]
    return len(calls)


def interactions_steps(found):
    steps = {}
    for _, event in found:
        i, delta = event.get("index"), event.get("delta", {})
        if "step" in event:
            steps[i] = dict(event["step"])
            if steps[i]["type"] == "function_call":
                steps[i].update(arguments="")
                del steps[i]["signature"]
        elif delta.get("type") == "text":
            content = steps[i].setdefault("content", [{"type": "text", "text": ""}])
            content[0]["text"] += delta["text"]
        elif delta.get("type") == "thought_summary":
            summary = steps[i].setdefault("summary", [{"type": "text", "text": ""}])
            summary[0]["text"] += delta["content"]["text"]
        elif delta.get("type") == "thought_signature":
            steps[i]["signature"] = delta["signature"]
        elif delta.get("type") == "arguments_delta":
            steps[i]["arguments"] += delta["arguments"]
    for step in steps.values():
        if step["type"] == "function_call":
            step["arguments"] = json.loads(step["arguments"] or "{}")
    return [steps[i] for i in sorted(steps)]


def bedrock_blocks(found):
    blocks = {}
    for _, event in found:
        i = event.get("contentBlockIndex")
        if "start" in event:
            blocks[i] = {"toolUse": dict(event["start"]["toolUse"], input="")}
        for key, value in (event.get("delta") or {}).items():
            if key == "text":
                blocks.setdefault(i, {"text": ""})["text"] += value
            elif key == "toolUse":
                blocks[i]["toolUse"]["input"] += value["input"]
            else:
                block = blocks.setdefault(i, {"reasoningContent": {"reasoningText": {"text": ""}}})
                text = block["reasoningContent"]["reasoningText"]
                for word, piece in value.items():
                    text[word] = text.get(word, "") + piece
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"] or "{}")
    return [blocks[i] for i in sorted(blocks)]


def tools(name):
    if name.endswith("responses"):
        return {"tools": [{"type": "function", "name": "read_file", "parameters": SCHEMA,
                           "strict": False}]}
    if name == "gemini-interactions":
        return {"tools": [{"type": "function", "name": "read_file", "parameters": SCHEMA}]}
    if name == "bedrock":
        return {"toolConfig": {"tools": [{"toolSpec": {"name": "read_file",
                                                       "inputSchema": {"json": SCHEMA}}}]}}
    return {"tools": [{"functionDeclarations": [{"name": "read_file",
                                                 "parametersJsonSchema": SCHEMA}]}]}


def signed(raw_path, body, port, key_id="AKIDEXAMPLE", session=None, skew=0):
    """The headers of a request that is signed with the known secret."""
    now = datetime.datetime.utcnow() + datetime.timedelta(seconds=skew)
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    headers = dict(JSON, host="127.0.0.1:%d" % port)
    headers["x-amz-date"] = stamp
    if session:
        headers["x-amz-security-token"] = session
    names = sorted(headers)
    canonical = aws.canonical_request("POST", raw_path, "", headers, names,
                                      hashlib.sha256(body).hexdigest())
    proof = aws.signature(aws.SECRETS["AKIDEXAMPLE"], stamp, "us-east-1", "bedrock", canonical)
    headers["authorization"] = (
        "AWS4-HMAC-SHA256 Credential=%s/%s/us-east-1/bedrock/aws4_request, SignedHeaders=%s, "
        "Signature=%s" % (key_id, stamp[:8], ";".join(names), proof))
    return headers


# ---- what each refuses: (dialect, name, model, body, edit, status, words) ----

BODIES = {
    "openai-responses": dict(tools("openai-responses"), model="gpt-5-mini", stream=True,
                             store=False, input=[
        {"role": "user", "content": [{"type": "input_text", "text": "Read both."}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read_file",
         "arguments": "{\"path\":\"a\"}"},
        {"type": "function_call", "call_id": "call_2", "name": "read_file", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "A"},
        {"type": "function_call_output", "call_id": "call_2", "output": "B"}]),
    "gemini": dict(tools("gemini"), contents=[
        {"role": "user", "parts": [{"text": "Read both."}]},
        {"role": "model", "parts": [
            {"functionCall": {"name": "read_file", "id": "a", "args": {}},
             "thoughtSignature": base64.b64encode(b"abc").decode()},
            {"functionCall": {"name": "read_file", "id": "b", "args": {}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "read_file", "id": "a", "response": {"output": "A"}}},
            {"functionResponse": {"name": "read_file", "id": "b", "response": {"error": "B"}}}]}]),
    "gemini-interactions": dict(tools("gemini-interactions"), model="gemini-3-pro", stream=True,
                                store=False, input=[
        {"type": "user_input", "content": [{"type": "text", "text": "Read both."}]},
        {"type": "thought", "signature": "EqQ="},
        {"type": "google_search_call", "id": "s", "arguments": {}, "signature": "EqQ=",
         "search_type": "web_search"},
        {"type": "google_search_result", "call_id": "s", "result": [], "signature": "EqQ="},
        {"type": "function_call", "id": "a", "name": "read_file", "arguments": {}},
        {"type": "function_call", "id": "b", "name": "read_file", "arguments": {}},
        {"type": "function_result", "call_id": "a", "name": "read_file", "result": "A"},
        {"type": "function_result", "call_id": "b", "name": "read_file", "is_error": True,
         "result": [{"type": "text", "text": "B"}]}]),
    "bedrock": dict(tools("bedrock"), messages=[
        {"role": "user", "content": [{"text": "Read both."}]},
        {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "EqQ="}}},
            {"toolUse": {"toolUseId": "a", "name": "read_file", "input": {}}},
            {"toolUse": {"toolUseId": "b", "name": "read_file", "input": {}}}]},
        {"role": "user", "content": [
            {"toolResult": {"toolUseId": "a", "content": [{"text": "A"}]}},
            {"toolResult": {"toolUseId": "b", "content": [{"text": "B"}], "status": "error"}}]}])
}
BODIES["azure-responses"], BODIES["vertex"] = BODIES["openai-responses"], BODIES["gemini"]
MODELS = {"openai-responses": "gpt-5-mini", "azure-responses": "gpt-5-mini",
          "gemini": "gemini-3-pro", "vertex": "gemini-3-pro",
          "gemini-interactions": "gemini-3-pro",
          "bedrock": "us.anthropic.claude-sonnet-4-5-v1%3A0"}
ALL = []


def refused(name, words, edit, status=400):
    ALL.append((name, words, edit, status))


R, G, V, B = "openai-responses", "gemini", "vertex", "bedrock"
I = "gemini-interactions"
refused(R, "didn't provide an API key", header("authorization"), 401)
refused(R, "Incorrect API key", header("authorization", "Bearer bad-key"), 401)
refused(R, "could not parse the JSON", bytes_of(lambda b: b[:-3]))
refused(R, "Unknown parameter: 'foo'", put("foo", 1))
refused(R, "One of \"input\"", drop("input"))
refused(R, "Expected a value >= 16, but got 5", put("max_output_tokens", 5))
refused(R, "'temperature' is not supported with this model", put("temperature", 0.5))
refused(R, "'reasoning.effort' is not supported",
        both(put("model", "gpt-4.1"), put("reasoning", {"effort": "low"})))
refused(R, "Invalid value: 'much'", put("reasoning", {"effort": "much"}))
refused(R, "Invalid value: 'robot'", put("input", 0, "role", "robot"))
refused(R, "Invalid value: 'text'", put("input", 0, "content", 0, "type", "text"))
refused(R, "No tool output found for function call call_2.", drop("input", 5))
refused(R, "No tool call found for function call output with call_id call_9.",
        put("input", 4, "call_id", "call_9"))
refused(R, "without its required following item", drop("input", slice(2, 6)))
refused(R, "Items are not persisted", put("input", 1, "encrypted_content", ""), 404)
refused(R, "begins with 'fc'", put("input", 2, "id", "call_1"))
refused(R, "maximum length 64", put("input", 2, "call_id", "c" * 65))
refused(R, "without its required 'reasoning' item: 'rs_mock0123456789abcdef'",
        put("input", 2, "id", "fc_mock0123456789abcdefr0"))
refused(R, "'additionalProperties' is required", drop("tools", 0, "strict"))
refused(R, "Unknown parameter: 'tools[0].function'", put("tools", 0, "function", {}))
refused(R, "but got an object", put("input", 2, "arguments", {}))
refused(R, "Unknown parameter: 'input[4].is_error'", put("input", 4, "is_error", True))
refused(R, "must contain the word 'json'", put("text", {"format": {"type": "json_object"}}))
refused(R, "'additionalProperties' is required", put("text", {"format": {
    "type": "json_schema", "name": "a", "strict": True, "schema": {
        "type": "object", "properties": {}}}}))
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed",
          "action": {"type": "search", "query": "q"}}
CITATION = {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 4}


def cited(**more):
    return put("input", 0, {"role": "assistant", "content": [{
        "type": "output_text", "text": "Sun.", "annotations": [dict(CITATION, **more)]}]})


refused(R, "Missing required parameter: 'input[0].id'",
        put("input", 0, {k: v for k, v in SEARCH.items() if k != "id"}))
refused(R, "begins with 'ws'", put("input", 0, dict(SEARCH, id="fc_1")))
refused(R, "Invalid value: 'done'", put("input", 0, dict(SEARCH, status="done")))
refused(R, "Invalid value: 'look'", put("input", 0, dict(SEARCH, action={"type": "look"})))
refused(R, "Unknown parameter: 'input[0].action.pattern'",
        put("input", 0, dict(SEARCH, action={"type": "search", "pattern": "p"})))
refused(R, "Unknown parameter: 'input[0].result'", put("input", 0, dict(SEARCH, result=[])))
refused(R, "Invalid value: 'note'", cited(type="note"))
refused(R, "Unknown parameter: 'input[0].content[0].annotations[0].text'", cited(text="t"))
refused(R, "the range is not in the text", cited(end_index=5))
refused(R, "'defer_loading' needs the tool 'tool_search'", put("tools", 0, "defer_loading", True))
refused(R, "expected a boolean", put("tools", 0, "defer_loading", "yes"))
LOOKS = {"type": "tool_search_call", "id": "tsc_1", "call_id": None, "execution": "server",
         "status": "completed", "arguments": {"paths": ["a"]}}
SEES = {"type": "tool_search_output", "id": "tso_1", "call_id": None, "execution": "server",
        "status": "completed", "tools": []}
refused(R, "No tool search output found for tool search call tsc_1", add("input", LOOKS))
refused(R, "No tool search call found for tool search output tso_1", add("input", SEES))
refused(R, "The tools of tool search output tso_mock1 were changed",
        both(add("input", LOOKS), add("input", dict(SEES, id="tso_mock1"))))
refused(R, "but got a string", both(add("input", dict(LOOKS, arguments="{}")), add("input", SEES)))
refused("azure-responses", "invalid subscription key", header("api-key"), 401)
refused("azure-responses", "invalid subscription key", header("api-key", "bad-key"), 401)
refused("azure-responses", "No tool output found", drop("input", 5))
refused(G, "unregistered callers", header("x-goog-api-key"), 403)
refused(G, "API key not valid", header("x-goog-api-key", "bad-key"))
refused(G, "Unknown name \"foo\"", put("foo", 1))
refused(G, "contents is not specified", put("contents", []))
refused(G, "contents.parts must not be empty", put("contents", 0, "parts", []))
refused(G, "empty text parameter", put("contents", 0, "parts", 0, "text", ""))
refused(G, "valid role: user, model", put("contents", 0, "role", "assistant"))
refused(G, "number of function response parts is equal", drop("contents", 2, "parts", 1))
refused(G, "answers no function call", put("contents", 2, "parts", 1, "functionResponse", "id", "c"))
refused(G, "immediately after a user turn", drop("contents", 0))
refused(G, "immediately after a function call turn", drop("contents", 1))
refused(G, "must", put("contents", 1, "parts", []))
refused(G, "missing a thought_signature", drop("contents", 1, "parts", 0, "thoughtSignature"))
refused(G, "Base64 decoding failed", put("contents", 1, "parts", 0, "thoughtSignature", "a*b"))
refused(G, "Corrupted thought signature",
        put("contents", 1, "parts", 0, "thoughtSignature", "bW9jay" + "0" * 40 + "=="))
refused(G, "Invalid function name",
        put("tools", 0, "functionDeclarations", 0, "name", "1 a"))
refused(G, "Unknown name \"additionalProperties\"",
        put("tools", 0, "functionDeclarations", [{"name": "a", "parameters": {
            "type": "object", "properties": {"x": {"type": "string"}},
            "additionalProperties": False}}]))
refused(G, "non-empty for OBJECT", put("tools", 0, "functionDeclarations", [
    {"name": "a", "parameters": {"type": "object", "properties": {}}}]))
refused(G, "one of thinking budget and thinking level", put("generationConfig", {
    "thinkingConfig": {"thinkingBudget": 200, "thinkingLevel": "LOW"}}))
refused(G, "has a maxOutputTokens value of 0", put("generationConfig", {"maxOutputTokens": 0}))
refused(G, "FunctionCallingConfig.Mode", put("toolConfig", {
    "functionCallingConfig": {"mode": "any"}}))
refused(G, "with the response mime type", put("generationConfig", {
    "responseJsonSchema": {"type": "object"}}))
refused(V, "missing required authentication", header("authorization"), 401)
refused(V, "invalid authentication credentials", header("authorization", "Bearer bad-key"), 401)
refused(V, "valid role: user, model", drop("contents", 0, "role"))
refused(I, "unregistered callers", header("x-goog-api-key"), 403)
refused(I, "API key not valid", header("x-goog-api-key", "bad-key"), 401)
refused(I, "Unknown revision", header("api-revision", "2025-12-01"))
refused(I, "Invalid JSON payload", bytes_of(lambda b: b[:-3]))
refused(I, "Unknown parameter: 'foo'", put("foo", 1))
refused(I, "Unknown parameter: 'response_mime_type'", put("response_mime_type", "text/plain"))
refused(I, "one of 'model' and 'agent'", drop("model"))
refused(I, "parameter: 'input'", drop("input"))
refused(I, "at 'input'", put("input", []))
refused(I, "store is false", put("previous_interaction_id", "v1_x"))
refused(I, "Unknown parameter: 'generation_config.thinking_budget'",
        put("generation_config", {"thinking_budget": 100}))
refused(I, "level MINIMAL", put("generation_config", {"thinking_level": "minimal"}))
refused(I, "'generation_config.thinking_level'", put("generation_config", {"thinking_level": "LOW"}))
refused(I, "'generation_config.max_output_tokens'",
        put("generation_config", {"max_output_tokens": 0}))
refused(I, "'generation_config.tool_choice'", put("generation_config", {"tool_choice": "ANY"}))
refused(I, "'other' is not in tools", put("generation_config", {"tool_choice": {
    "allowed_tools": {"mode": "any", "tools": ["other"]}}}))
refused(I, "at 'tools[0].type'", put("tools", 0, "type", "functionDeclarations"))
refused(I, "at 'tools[0].name'", put("tools", 0, "name", "1 a"))
refused(I, "at 'tools[0].parameters'", put("tools", 0, "parameters", {"type": "string"}))
refused(I, "at 'response_format.schema'", put("response_format", {
    "type": "text", "schema": {"type": "object"}}))
refused(I, "at 'input[0].type'", put("input", 0, {"role": "user", "content": "hi"}))
refused(I, "at 'input[0].content'", put("input", 0, "content", []))
refused(I, "at 'input[0].content[0].text'", put("input", 0, "content", 0, "text", ""))
refused(I, "at 'input[1].signature'", put("input", 1, "signature", ""))
refused(I, "at 'input[1].signature'", put("input", 1, "signature", "a*b"))
refused(I, "Corrupted thought signature", put("input", 1, "signature", "bW9jay" + "0" * 40 + "=="))
refused(I, "missing a thought_signature", drop("input", 1))
refused(I, "at 'input[2].signature'", put("input", 2, "signature", ""))
refused(I, "at 'input[2].search_type'", drop("input", 2, "search_type"))
refused(I, "at 'input[3].call_id'", put("input", 3, "call_id", "t"))
refused(I, "at 'input[4].arguments'", put("input", 4, "arguments", "{}"))
refused(I, "is taken", put("input", 5, "id", "a"))
refused(I, "at 'input[6].name'", drop("input", 6, "name"))
refused(I, "at 'input[6].name'", put("input", 6, "name", "write_file"))
refused(I, "answers no function call", put("input", 6, "call_id", "c"))
refused(I, "at 'input[6].result'", drop("input", 6, "result"))
refused(I, "number of function response parts is equal", drop("input", 7))
refused(I, "Multimodal function responses", both(put("model", "gemini-2.5-flash"), drop("input", 1)))
refused(I, "end with a user role", drop("input", slice(4, 8)))
refused(I, "immediately after a user turn", drop("input", slice(0, 4)))
refused(B, "Missing Authentication Token", header("authorization"), 403)
refused(B, "API Key is valid", header("authorization", "Bearer bad-key"), 403)
refused(B, "API Key is valid", header("authorization", "Bearer AKIDEXAMPLE:secret"), 403)
refused(B, "requires 'Credential'", header("authorization", "AWS4-HMAC-SHA256 x"), 403)
refused(B, "extraneous key [stream]", put("stream", True))
refused(B, "Member must not be null", drop("messages"))
refused(B, "must start with a user message", drop("messages", 0))
refused(B, "must alternate", add("messages", {"role": "user", "content": [{"text": "x"}]}))
refused(B, "is blank", put("messages", 0, "content", 0, "text", " \n"))
refused(B, "content field in the Message object at messages.0 is empty",
        put("messages", 0, "content", []))
refused(B, "for the following Ids: b", drop("messages", 2, "content", 1))
refused(B, "exceeds the number of toolUse", drop("messages", 1, "content", 2))
refused(B, "duplicate Ids: a", put("messages", 1, "content", 2, "toolUse", "toolUseId", "a"))
refused(B, "regular expression pattern", put("messages", 1, "content", 1, "toolUse", "toolUseId",
                                             "a b"))
refused(B, "Provide a json object", put("messages", 1, "content", 1, "toolUse", "input", "{}"))
refused(B, "enum value set: [json_schema]", put("outputConfig", {"textFormat": {
    "type": "json_object", "structure": {"jsonSchema": {"schema": "{}"}}}}))
refused(B, "is not a JSON schema", put("outputConfig", {"textFormat": {
    "type": "json_schema", "structure": {"jsonSchema": {"schema": {}}}}}))
refused(B, "must be explicitly set to false", put("outputConfig", {"textFormat": {
    "type": "json_schema", "structure": {"jsonSchema": {
        "schema": "{\"type\":\"object\"}"}}}}))
refused(B, "toolConfig field must be defined", drop("toolConfig"))
refused(B, "signature: Field required",
        drop("messages", 1, "content", 0, "reasoningContent", "reasoningText", "signature"))
refused(B, "one of the following: object", put("toolConfig", "tools", 0, "toolSpec", "inputSchema",
                                               {"json": {"type": "array"}}))
refused(B, "enum value set: [success, error]",
        put("messages", 2, "content", 0, "toolResult", "status", "bad"))
refused(B, "value greater than or equal to 1", put("inferenceConfig", {"maxTokens": 0}))
refused(B, "Could not process image", add("messages", 2, "content", {
    "image": {"format": "jpeg", "source": {"bytes": PNG}}}))

# ---- documents and audio ----

FILE = {"type": "input_file", "filename": "a.pdf",
        "file_data": "data:application/pdf;base64," + PDF}
PAPER = {"document": {"format": "pdf", "name": "a (b) 1-c", "source": {"bytes": PDF}}}
WORDS = {"document": {"format": "txt", "name": "words", "source": {"text": "words"}}}
INLINE = {"inlineData": {"mimeType": "application/pdf", "data": PDF}}
HEARD = {"inlineData": {"mimeType": "audio/wav", "data": WAV}}


def user(*parts):
    return add("input", {"role": "user", "content": list(parts)})


def named(name):
    return {"document": dict(PAPER["document"], name=name)}


refused(R, "Supported values are", user({"type": "input_audio", "data": WAV}))
refused(R, "expected one of file_data", user({"type": "input_file", "filename": "a.pdf"}))
refused(R, "filename",
        user({"type": "input_file", "file_data": FILE["file_data"]}))
refused(R, "the bytes are not application/pdf",
        user(dict(FILE, file_data="data:application/pdf;base64," + WAV)))
refused(R, "Expected a valid URL", user({"type": "input_file", "file_url": "file:///a"}))
refused(G, "no pages", add("contents", 2, "parts", {
    "inlineData": {"mimeType": "application/pdf", "data": WAV}}))
refused(G, "displayName", add("contents", 2, "parts", {
    "inlineData": dict(INLINE["inlineData"], displayName="a")}))
refused(G, "Unsupported MIME type: audio/wav",
        put("contents", 2, "parts", 0, "functionResponse", "parts", [HEARD]))
refused(G, "unsupported file uri", add("contents", 2, "parts", {
    "fileData": {"mimeType": "application/pdf", "fileUri": "http://a/b"}}))
refused(B, "must have a text block", add("messages", 2, "content", PAPER))
refused(B, "Duplicate document names", both(add("messages", 2, "content", {"text": "x"}),
                                            add("messages", 2, "content", PAPER),
                                            add("messages", 2, "content", PAPER)))
for bad in ("a.pdf", "a  b", "a_b", " a", ""):
    refused(B, "document file name can only contain", add("messages", 2, "content", named(bad)))
refused(B, "enum value set: [csv", add("messages", 2, "content", {
    "document": dict(PAPER["document"], format="gif")}))
refused(B, "could not be read", add("messages", 2, "content", {
    "document": dict(PAPER["document"], source={"bytes": WAV})}))
refused(B, "not allowed in a message of role assistant", add("messages", 1, "content", PAPER))
refused(B, "doesn't support the audio field", add("messages", 2, "content", {
    "audio": {"format": "wav", "source": {"bytes": WAV}}}))

# What each must accept: (name, edit).
ACCEPTED = [
    (R, user(FILE)), (R, user({"type": "input_file", "file_url": "https://a.example/b.pdf"})),
    (R, put("input", 4, "output", [FILE])),
    (G, add("contents", {"role": "user", "parts": [INLINE, HEARD]})),
    (G, add("contents", {"role": "user", "parts": [
        {"fileData": {"mimeType": "application/pdf", "fileUri": "https://a.example/b.pdf"}}]})),
    (G, put("contents", 2, "parts", 0, "functionResponse", "parts", [INLINE])),
    (V, add("contents", {"role": "user", "parts": [
        {"inlineData": dict(INLINE["inlineData"], displayName="a")}]})),
    (B, both(add("messages", 2, "content", {"text": "x"}), add("messages", 2, "content", PAPER),
             add("messages", 2, "content", WORDS))),
    (B, put("messages", 2, "content", 0, "toolResult", "content", [PAPER])),
]
