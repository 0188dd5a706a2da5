"""Anthropic Messages: its errors and its stream. What it refuses is in anthropic_rules.py."""

import json

import binding
from scenario import arguments
from . import anthropic_system
from .anthropic_rules import Checker, is_hosted, merge, refuse, seal, sign, texts, version_of
from .base import Conversation, Message, Refusal, Wire, deltas, parse_json, slices

MOST_BYTES = 32 * 1024 * 1024
VERSIONS = ("2023-06-01", "2026-10-21")
BETA_OF_FORMATS = "structured-outputs-2025-11-13"
STOPS = {
    "stop": "end_turn", "length": "max_tokens", "refusal": "refusal", "pause": "pause_turn",
    "tool_use": "tool_use"
}
STATUS_KINDS = {
    400: ("invalid_request_error", "Bad request"), 401: ("authentication_error",
                                                         "invalid x-api-key"),
    402: ("billing_error", "Your credit balance is too low to access the Anthropic API."),
    403: ("permission_error",
          "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "Not found"), 409: ("conflict_error", "Conflict"),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed the rate limit for your organization."),
    500: ("api_error", "Internal server error"), 503: ("api_error", "Service unavailable"),
    504: ("timeout_error", "Request timed out"), 529: ("overloaded_error", "Overloaded")
}


def parsed(block):
    """A call's arguments as a client reads them."""
    try:
        return json.loads(arguments(block))
    except ValueError:
        return {}


class Anthropic(Wire):
    name = "anthropic"
    suffixes = ("/v1/messages", )

    def check_headers(self, headers, behaviour):
        bearer = headers.get("authorization", "")
        key = headers.get("x-api-key") or (bearer[7:] if bearer.startswith("Bearer ") else "")
        if not key and not behaviour.has("no-key"):
            raise Refusal(401, "authentication_error", "x-api-key header is required")
        if key == "bad-key":
            raise Refusal(401, "authentication_error", "invalid x-api-key")
        version = headers.get("anthropic-version")
        if not version:
            refuse("anthropic-version: header is required")
        if version not in VERSIONS:
            refuse("anthropic-version: \"%s\" is not a valid version", version)
        if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            refuse("Content-Type must be application/json")

    def parse(self, raw, headers, behaviour):
        if len(raw) > MOST_BYTES:
            raise self.refusal_for_status(413)
        body = parse_json(raw, lambda why: refuse("The request body is not valid JSON: %s", why))
        # The name of the beta, which stays good with its header; gateways send it.
        if "output_format" in body and BETA_OF_FORMATS in headers.get("anthropic-beta", ""):
            body.setdefault("output_config", {})["format"] = body.pop("output_format")
        betas = [b.strip() for b in headers.get("anthropic-beta", "").split(",")]
        Checker(body, betas).top()
        if headers.get("anthropic-version") == "2026-10-21":
            for field in ("temperature", "top_p", "top_k"):
                if field in body:
                    refuse("%s: Extra inputs are not permitted", field)
        version = version_of(body["model"])
        if version and version >= (4, 7) and "interleaved-thinking-2025-05-14" in headers.get(
                "anthropic-beta", ""):
            refuse(
                "Unexpected value(s) `interleaved-thinking-2025-05-14` for the `anthropic-beta` "
                "header."
            )
        out = Conversation(body["model"], body.get("stream", False))
        out.system = texts(body.get("system", ""))
        out.tools = anthropic_system.available(body.get("tools") or [], body["messages"])
        out.deferred = [t["name"] for t in body.get("tools") or [] if t.get("defer_loading")]
        if any(t.get("type", "").startswith("tool_search_tool_") for t in body.get("tools") or []):
            out.finds = lambda names: self.finds(out, names)
        out.wants_json = "format" in body.get("output_config", {})
        thinking = body.get("thinking") or {}
        out.wants_thinking = thinking.get("type") == "enabled" or (
            binding.thinks(body["model"], thinking)
            and (body.get("tool_choice") or {}).get("type") not in ("any", "tool"))
        out.binding = anthropic_system.bound(body, betas, behaviour)
        out.tells_drops = binding.BETA in betas
        out.diagnostics = body.get("diagnostics")
        for role, blocks, _ in merge(body["messages"]):
            message = Message(role)
            message.text = texts(blocks)
            message.calls = [b["id"] for b in blocks if b["type"] == "tool_use"]
            message.results = [(b["tool_use_id"], texts(b.get("content", ""))) for b in blocks
                               if b["type"] == "tool_result"]
            out.messages.append(message)
        return out

    def error_body(self, refusal, request_id):
        error = {"type": refusal.kind, "message": refusal.message}
        if refusal.code:
            error["details"] = {"error_code": refusal.code}
        return {"type": "error", "error": error, "request_id": request_id}

    def refusal_for_status(self, status):
        kind, message = STATUS_KINDS.get(status, ("api_error", "HTTP %d" % status))
        return Refusal(status, kind, message)

    def overflow(self):
        return Refusal(400, "invalid_request_error",
                       "prompt is too long: 208310 tokens > 200000 maximum")

    def headers(self, request_id):
        return {
            "request-id": request_id, "anthropic-ratelimit-requests-limit": "1000",
            "anthropic-ratelimit-requests-remaining": "999",
            "anthropic-ratelimit-requests-reset": "2026-11-20T10:00:21Z"
        }

    # ---- the answer ----

    def finds(self, conversation, names):
        name = conversation.new_id("srvtoolu_", "s")
        references = [{"type": "tool_reference", "tool_name": n} for n in names]
        return [{
            "type": "server_tool_use", "id": name, "name": "tool_search_tool_bm25",
            "input": {"query": " ".join(names)}
        }, {
            "type": "tool_search_tool_result", "tool_use_id": name, "content": {
                "type": "tool_search_tool_search_result", "tool_references": references
            }
        }]

    def blocks(self, turn, conversation):
        blocks = turn.blocks
        if conversation.wants_thinking and not any("thinking" in b["type"] for b in blocks):
            blocks = [{"type": "thinking", "thinking": "Let me see."}] + blocks
        if not conversation.binding.checks:
            return blocks
        return conversation.binding.sealed(blocks, lambda b, i: self.as_sent(b, conversation, i))

    def as_sent(self, block, conversation, i):
        """An answer's block as it comes back; blank texts are refused, and do not."""
        if block["type"] == "text":
            text = block["text"] * block.get("times", 1)
            more = {"citations": block["citations"]} if block.get("citations") else {}
            return dict(more, type="text", text=text) if text.strip() else None
        if is_hosted(block["type"]) and "input" not in block:
            return seal(block)
        return {
            "type": block["type"], "id": block.get("id") or conversation.new_id("toolu_", i),
            "name": block["name"], "input": parsed(block)
        }

    def usage(self, turn, conversation):
        given = turn.usage
        return {
            "input_tokens": given.get("input", conversation.body_bytes // 4),
            "cache_creation_input_tokens": given.get("cache_write", 0),
            "cache_read_input_tokens": given.get("cache_read", 0), "cache_creation": {
                "ephemeral_5m_input_tokens": given.get("cache_write", 0),
                "ephemeral_1h_input_tokens": 0
            }, "output_tokens": 1, "service_tier": "standard"
        }

    def shell(self, turn, conversation):
        out = {
            "id": conversation.new_id("msg_", "m"), "type": "message", "role": "assistant",
            "model": conversation.model, "content": [], "stop_reason": None, "stop_sequence": None,
            "usage": self.usage(turn, conversation)
        }
        if conversation.diagnostics is not None:
            out["diagnostics"] = conversation.diagnosis
        if conversation.tells_drops:
            out["input_transformations"] = conversation.binding.transformations()
        return out

    def events(self, turn, conversation, behaviour):
        yield "message_start", {"type": "message_start", "message": self.shell(turn, conversation)}
        for i, block in enumerate(self.blocks(turn, conversation)):
            start, parts = self.block_parts(block, turn, conversation, i)
            yield "content_block_start", {
                "type": "content_block_start", "index": i, "content_block": start
            }
            if i == 0:
                yield "ping", {"type": "ping"}
            for part in parts:
                yield "content_block_delta", {
                    "type": "content_block_delta", "index": i, "delta": part
                }
            yield "content_block_stop", {"type": "content_block_stop", "index": i}
        delta = {"stop_reason": STOPS.get(turn.stop, turn.stop), "stop_sequence": None}
        if turn.stop == "refusal":
            delta["stop_details"] = {
                "type": "refusal", "category": "cyber", "explanation": "Declined by policy."
            }
        usage = {"output_tokens": turn.output_tokens()}
        if turn.thinking_tokens():
            usage["output_tokens_details"] = {"thinking_tokens": turn.thinking_tokens()}
        yield "message_delta", {
            "type": "message_delta", "delta": delta,
            "usage": {} if behaviour.has("no-usage") else usage
        }
        if not behaviour.has("no-done"):
            yield "message_stop", {"type": "message_stop"}

    def block_parts(self, block, turn, conversation, i):
        kind = block["type"]
        if kind == "text":
            if "times" in block:
                part = {"type": "text_delta", "text": block["text"]}
                return {"type": "text", "text": ""}, (part for _ in range(block["times"]))
            parts = [{"type": "citations_delta", "citation": c}
                     for c in block.get("citations", [])]
            return ({"type": "text", "text": ""},
                    parts + [{"type": "text_delta", "text": t}
                             for t in deltas(block["text"], turn.chunk)])
        if kind == "thinking":
            parts = [{"type": "thinking_delta", "thinking": t}
                     for t in deltas(block["thinking"], turn.chunk)]
            signature = block.get("signature") or sign(block["thinking"])
            return ({"type": "thinking", "thinking": "", "signature": ""},
                    parts + [{"type": "signature_delta", "signature": signature}])
        if kind == "redacted_thinking":
            return {"type": kind, "data": block["data"]}, []
        if is_hosted(kind) and "input" not in block:
            return seal(block), []
        text = arguments(block)
        parts = [{"type": "input_json_delta", "partial_json": t}
                 for t in [""] + (slices(text, max(turn.chunk, 1)) if text != "{}" else [])]
        return {
            "type": kind, "id": block.get("id") or conversation.new_id("toolu_", i),
            "name": block["name"], "input": {}
        }, parts

    def whole(self, turn, conversation):
        out = self.shell(turn, conversation)
        for i, block in enumerate(self.blocks(turn, conversation)):
            if block["type"] == "text":
                more = {k: block[k] for k in ("citations", ) if k in block}
                out["content"].append(
                    dict(more, type="text", text=block["text"] * block.get("times", 1)))
            elif block["type"] == "tool_use":
                out["content"].append({
                    "type": "tool_use", "id": block.get("id") or conversation.new_id("toolu_", i),
                    "name": block["name"], "input": json.loads(arguments(block))
                })
            else:
                signature = block.get("signature") or sign(block.get("thinking", ""))
                out["content"].append(
                    dict(seal(block), **({"signature": signature} if "thinking" in block else {})))
        out["stop_reason"] = STOPS.get(turn.stop, turn.stop)
        out["usage"]["output_tokens"] = turn.output_tokens()
        return out

    def error_event(self, kind):
        kind = kind or "overloaded_error"
        words = {"overloaded_error": "Overloaded",
                 "api_error": "Internal server error"}.get(kind, kind)
        return "error", {
            "type": "error", "error": {"type": kind, "message": words}, "request_id": "req_mock"
        }

    def unknown_event(self):
        return "mystery", {
            "type": "mystery", "index": 99, "delta": {"type": "mystery_delta", "x": [1, None, {}]}
        }

    def big_event(self, text):
        return "content_block_delta", {
            "type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": text}
        }

    def with_nulls(self, data):
        if data["type"] == "message_start":
            message = dict(data["message"], content=None, stop_details=None, container=None)
            message["usage"] = dict(message["usage"],
                                    cache_creation=None,
                                    cache_creation_input_tokens=None)
            return dict(data, message=message)
        if data["type"] == "message_delta":
            return dict(data,
                        usage=dict(data["usage"],
                                   input_tokens=None,
                                   cache_read_input_tokens=None,
                                   cache_creation_input_tokens=None,
                                   output_tokens_details=None))
        return dict(data, extra=None)

    def keepalive(self, behaviour):
        return self.frame("ping", {"type": "ping"}, behaviour)


WIRE = Anthropic()
