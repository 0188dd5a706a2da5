"""OpenAI Chat Completions and the servers that speak it."""

import json

from scenario import arguments
from .base import Conversation, Message, Refusal, Wire, deltas, parse_json, slices
from .openai_chat_rules import Checker, refuse

MOST_BYTES = 32 * 1024 * 1024
STOPS = {"refusal": "content_filter", "tool_use": "tool_calls", "pause": "stop"}
CREATED = 1763700000
STATUS = {
    400: ("Bad request", "invalid_request_error", None),
    401: ("Incorrect API key provided: bad-key.", "invalid_request_error", "invalid_api_key"),
    402: ("Insufficient Balance", "unknown_error",
          "invalid_request_error"), 403: ("Your account does not have access to this model.",
                                          "invalid_request_error", "permission_denied"),
    404: ("The model does not exist or you do not have access to it.", "invalid_request_error",
          "model_not_found"), 413: ("Request too large.", "invalid_request_error", None),
    429: ("Rate limit reached for requests.", "requests", "rate_limit_exceeded"),
    500: ("The server had an error while processing your request. Sorry about that!",
          "server_error", None),
    503: ("The engine is currently overloaded, please try again later.", "server_error",
          "overloaded"), 529: ("Overloaded", "server_error", "overloaded")
}


def texts(content):
    if isinstance(content, str):
        return content
    return "\n".join(p["text"] for p in content or [] if p.get("type") == "text")


class OpenAIChat(Wire):
    name = "openai-chat"
    suffixes = ("/chat/completions", )

    def check_headers(self, headers, behaviour):
        given = headers.get("authorization", "")
        key = given[7:].strip() if given.lower().startswith("bearer ") else ""
        if not key and not behaviour.has("no-key"):
            raise Refusal(
                401, "invalid_request_error",
                "You didn't provide an API key. You need to provide your API key in "
                "an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).")
        if key == "bad-key":
            raise self.refusal_for_status(401)
        if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            refuse("Invalid Content-Type header. Expected application/json.", status=415)

    def parse(self, raw, headers, behaviour):
        if len(raw) > MOST_BYTES:
            raise self.refusal_for_status(413)
        body = parse_json(
            raw, lambda why: refuse(
                "We could not parse the JSON body of your request. (HINT: this likely means "
                "you aren't using your HTTP library correctly. %s)" % why))
        Checker(body).top()
        out = Conversation(body["model"], body.get("stream", False))
        out.wants_usage = (body.get("stream_options") or {}).get("include_usage", False)
        out.tools = [t["function"]["name"] for t in body.get("tools") or []]
        out.wants_json = "json" in (body.get("response_format") or {}).get("type", "text")
        for given in body["messages"]:
            role, text = given["role"], texts(given.get("content"))
            if role in ("system", "developer"):
                out.system += text
                continue
            if role == "tool":
                if not (out.messages and out.messages[-1].results):
                    out.messages.append(Message("user"))
                out.messages[-1].results.append((given["tool_call_id"], text))
                continue
            message = Message(role)
            message.text = text
            message.calls = [c["id"] for c in given.get("tool_calls") or []]
            out.messages.append(message)
        return out

    def error_body(self, refusal, request_id):
        return {
            "error": {
                "message": refusal.message, "type": refusal.kind, "param": refusal.param,
                "code": refusal.code
            }
        }

    def refusal_for_status(self, status):
        message, kind, code = STATUS.get(status, ("HTTP %d" % status, "server_error", None))
        return Refusal(status, kind, message, None, code)

    def overflow(self):
        return Refusal(
            400, "invalid_request_error",
            "This model's maximum context length is 128000 tokens. However, your "
            "messages resulted in 130011 tokens. Please reduce the length of the messages.",
            "messages", "context_length_exceeded")

    def headers(self, request_id):
        return {
            "x-request-id": request_id, "x-ratelimit-limit-requests": "500",
            "x-ratelimit-remaining-requests": "499", "x-ratelimit-reset-requests": "120ms",
            "x-ratelimit-limit-tokens": "30000", "x-ratelimit-remaining-tokens": "29000",
            "x-ratelimit-reset-tokens": "1.234s"
        }

    # ---- the answer ----

    def call_id(self, block, conversation, index):
        if "id" in block:
            return block["id"]
        if conversation.model.startswith("mistral"):
            return conversation.new_id("", index)[:9]
        return conversation.new_id("call_", index)

    def stop(self, turn):
        return STOPS.get(turn.stop, turn.stop)

    def usage(self, turn, conversation):
        given = turn.usage
        cached, written = given.get("cache_read", 0), given.get("cache_write", 0)
        prompt = given.get("input", conversation.body_bytes // 4) + cached + written
        out = turn.output_tokens()
        return {
            "prompt_tokens": prompt, "completion_tokens": out, "total_tokens": prompt + out,
            "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
            "completion_tokens_details": {"reasoning_tokens": turn.thinking_tokens()}
        }

    def events(self, turn, conversation, behaviour):
        base = {
            "id": conversation.new_id("chatcmpl-", "m"), "object": "chat.completion.chunk",
            "created": CREATED, "model": conversation.model, "system_fingerprint": "fp_mock"
        }

        def chunk(delta, finish=None, **more):
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            return None, dict(base, choices=[choice], **more)

        yield chunk({"role": "assistant", "content": "", "refusal": None})
        index = 0
        for block in turn.blocks:
            if block["type"] == "tool_use":
                for delta in self.call_deltas(block, turn, conversation, index, behaviour):
                    yield chunk({"tool_calls": [delta]})
                index += 1
            elif block["type"] == "thinking":
                field = behaviour.arg("reasoning") if behaviour.has(
                    "reasoning") else "reasoning_content"
                for piece in deltas(block["thinking"], turn.chunk):
                    yield chunk({field: piece})
            elif block["type"] == "text":
                pieces = (block["text"] for _ in range(block["times"])) if "times" in block \
                    else deltas(block["text"], turn.chunk)
                for piece in pieces:
                    yield chunk({"content": piece})
        usage = self.usage(turn, conversation)
        wants = conversation.wants_usage and not behaviour.has("no-usage")
        if behaviour.has("usage-in-finish") and wants:
            yield chunk({}, self.stop(turn), usage=usage)
        else:
            yield chunk({}, self.stop(turn))
            if wants:
                yield None, dict(base, choices=[], usage=usage)
        if not behaviour.has("no-done"):
            yield None, "[DONE]"

    def call_deltas(self, block, turn, conversation, index, behaviour):
        text = arguments(block)
        first = {
            "index": index, "id": self.call_id(block, conversation, index), "type": "function",
            "function": {"name": block["name"], "arguments": ""}
        }
        parts = [{"index": index, "function": {"arguments": t}}
                 for t in slices(text, max(turn.chunk, 1))]
        if behaviour.has("whole-calls") or behaviour.has("args-object"):
            first["function"]["arguments"] = block.get("input",
                                                       {}) if behaviour.has("args-object") else text
            parts = []
        out = [first] + parts
        for delta in out:
            if behaviour.has("no-index"):
                del delta["index"]
            if behaviour.has("no-ids"):
                delta.pop("id", None)
        return out

    def whole(self, turn, conversation):
        message = {"role": "assistant", "content": turn.text() or None, "refusal": None}
        calls = [b for b in turn.blocks if b["type"] == "tool_use"]
        if calls:
            message["tool_calls"] = [{
                "id": self.call_id(b, conversation, i), "type": "function",
                "function": {"name": b["name"], "arguments": arguments(b)}
            } for i, b in enumerate(calls)]
        thinking = "".join(b["thinking"] for b in turn.blocks if b["type"] == "thinking")
        if thinking:
            message["reasoning_content"] = thinking
        return {
            "id": conversation.new_id("chatcmpl-", "m"), "object": "chat.completion",
            "created": CREATED, "model": conversation.model, "choices": [{
                "index": 0, "message": message, "logprobs": None, "finish_reason": self.stop(turn)
            }], "usage": self.usage(turn, conversation)
        }

    def error_event(self, kind):
        kind = kind or "server_error"
        words = "The server had an error while processing your request."
        if "overloaded" in kind:
            words = "Overloaded"
        return None, {"error": {"message": words, "type": kind, "param": None, "code": None}}

    def unknown_event(self):
        return "mystery", {"id": "x", "object": "mystery", "mystery": [1, None, {}], "choices": []}

    def big_event(self, text):
        return None, {
            "id": "x", "object": "chat.completion.chunk", "created": CREATED, "model": "big",
            "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]
        }

    def with_nulls(self, data):
        out = dict(data, system_fingerprint=None, usage=data.get("usage"), service_tier=None)
        if not data["choices"]:
            return dict(out, choices=None)
        choice = data["choices"][0]
        delta = dict({"content": None, "tool_calls": None, "role": None, "reasoning_content": None},
                     **choice["delta"])
        return dict(out, choices=[dict(choice, delta=delta if choice["delta"] else None)])


WIRE = OpenAIChat()
