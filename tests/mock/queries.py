"""The endpoints beside answers: lists of models, and counts of a request's tokens.

A count's body must be a model call's without what the endpoint refuses: it is checked by the rules
of the protocol's model calls. Pages of lists hold two models, so that three are two pages.
"""

import json
from urllib.parse import unquote

from wires.base import Asked, Refusal

PAGE = 2
MODELS = ("mock-small", "mock-large", "mock-thinker")
# path of a count, path of a model call, members, and what is around them
COUNTS = {
    "anthropic": ("/v1/messages/count_tokens", "/v1/messages",
                  "model messages system tools tool_choice thinking output_config cache_control "
                  "mcp_servers context_management speed".split()),
    "openai-responses": ("/responses/input_tokens", "/responses",
                         "model input instructions tools tool_choice text reasoning truncation "
                         "parallel_tool_calls previous_response_id conversation "
                         "personality".split()),
    "gemini": (":countTokens", ":streamGenerateContent",
               "contents systemInstruction tools toolConfig generationConfig safetySettings "
               "cachedContent".split()),
    "vertex": (":countTokens", ":streamGenerateContent",
               "contents systemInstruction tools generationConfig".split()),
    "bedrock": ("/count-tokens", "/converse-stream",
                "messages system toolConfig additionalModelRequestFields".split())
}
# path of a list, path of a model call
LISTS = {
    "anthropic": ("/v1/models", "/v1/messages"),
    "gemini": ("/v1beta/models", "/v1beta/models/m:streamGenerateContent"),
    "azure-responses": ("/models", "/responses"),
    "openai-chat": ("/models", "/chat/completions"),
    "bedrock": ("/foundation-models", "/model/m/converse-stream")
}


def find(wires, method, path, headers):
    """(wire, path of a model call, whether it is a count) of a request; None: it is no query."""
    table = COUNTS if method == "POST" else LISTS if method == "GET" else {}
    for name, (mine, call, *_) in table.items():
        wire = next((w for w in wires if w.name == name), None)
        if wire is None or not path.endswith(mine):
            continue
        if name == "anthropic" and method == "GET" and "anthropic-version" not in headers:
            continue  # OpenAI's list has the same path
        there = path[:len(path) - len(mine)] + call
        if wire.owns(there):
            return wire, there, method == "POST"
    return None


def allow(wire, asked, behaviour):
    """Raises Refusal unless the key is good."""
    if hasattr(wire, "authenticate"):
        wire.authenticate(asked, behaviour)
    else:
        wire.check_headers(asked.headers, behaviour)


def unwrap(wire, body, path):
    """The members of a count's body, without what is around them."""
    if wire.name == "bedrock":
        if set(body) != {"input"} or set(body["input"]) != {"converse"}:
            raise Refusal(400, "ValidationException", "input: expected one member, converse")
        return body["input"]["converse"]
    if wire.name == "gemini" and "generateContentRequest" in body:
        inner = dict(body["generateContentRequest"])
        model = "models/" + path.rpartition("/")[2].partition(":")[0]
        if len(body) != 1 or inner.pop("model", None) != unquote(model):
            raise Refusal(400, "INVALID_ARGUMENT", "generateContentRequest.model: expected " + model)
        return inner
    return body


def count(wire, call, asked, behaviour):
    """The answer to a count."""
    allow(wire, asked, behaviour)
    try:
        body = json.loads(asked.body)
        members = dict(unwrap(wire, body, asked.path))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Refusal(400, "invalid_request_error", "the body is no count") from None
    for name in members:
        if name not in COUNTS[wire.name][2]:
            raise Refusal(400, "invalid_request_error", name + ": Extra inputs are not permitted")
    if wire.name == "anthropic":
        members["max_tokens"] = 64000
    headers = dict(asked.headers)
    if headers.get("Authorization", "").startswith("AWS4"):
        headers["Authorization"] = "Bearer a-key"  # the signature was for the count's path
    headers = {k.lower(): v for k, v in headers.items()}
    wire.check(Asked("POST", call, call, {"alt": "sse"}, headers, json.dumps(members).encode()),
               behaviour)
    tokens = max(1, len(asked.body) // 4)
    if wire.name in ("gemini", "vertex"):
        return {"totalTokens": tokens}
    return {"inputTokens" if wire.name == "bedrock" else "input_tokens": tokens}


def models(wire, asked, behaviour):
    """A page of a list."""
    allow(wire, asked, behaviour)
    name = wire.name
    if name == "bedrock":
        return {"modelSummaries": [{"modelId": m, "modelName": m.upper()} for m in MODELS]}
    if name not in ("anthropic", "gemini"):
        return {"object": "list", "data": [{"id": m, "object": "model"} for m in MODELS]}
    given = asked.query.get("after_id" if name == "anthropic" else "pageToken")
    if given is not None and given not in MODELS:
        raise Refusal(400, "invalid_request_error", "no such page: " + given)
    at = MODELS.index(given) + 1 if given else 0
    page, more = MODELS[at:at + PAGE], at + PAGE < len(MODELS)
    if name == "anthropic":
        return {
            "data": [{
                "type": "model", "id": m, "display_name": m.upper(), "max_input_tokens": 200000,
                "max_tokens": 64000, "capabilities": {"thinking": {"supported": "thinker" in m}}
            } for m in page], "has_more": more, "first_id": page[0], "last_id": page[-1]
        }
    out = {
        "models": [{
            "name": "models/" + m, "displayName": m.upper(), "inputTokenLimit": 1048576,
            "outputTokenLimit": 65536, "thinking": "thinker" in m
        } for m in page]
    }
    return dict(out, nextPageToken=page[-1]) if more else out


def answer(found, asked, behaviour):
    wire, call, counts = found
    return count(wire, call, asked, behaviour) if counts else models(wire, asked, behaviour)
