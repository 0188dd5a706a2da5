"""Google's Interactions: its errors and its stream. What it refuses is in interactions_rules.py."""

import json

from scenario import arguments
from .anthropic_rules import sign
from .base import Conversation, Message, Refusal, Wire, deltas, parse_json, slices
from .interactions_rules import Checker, refuse

MOST_BYTES = 20 * 1024 * 1024
REVISION = "2026-05-20"
STATUSES = {"stop": "completed", "tool_use": "requires_action", "length": "incomplete",
            "refusal": "failed", "pause": "completed"}
CODES = {
    400: ("invalid_request", "Request contains an invalid argument."),
    401: ("authentication", "API key not valid. Please pass a valid API key."),
    402: ("payment_required", "Billing is not enabled for this project."),
    403: ("permission_denied", "The caller does not have permission"),
    404: ("model_not_found", "Model 'none' not found."),
    413: ("invalid_request", "Request payload size exceeds the limit: 20971520 bytes."),
    429: ("rate_limit_exceeded", "Resource has been exhausted. Please retry in 0.2s."),
    500: ("api_error", "An internal error has occurred."),
    503: ("service_unavailable", "The model is overloaded. Please try again later."),
    504: ("gateway_timeout", "Deadline expired before operation could complete.")
}
EVENTS = {"": "service_unavailable", "overloaded_error": "service_unavailable",
          "server_error": "api_error"}
BLOCKED = [{"code": "invalid_request", "message": "The answer was blocked: PROHIBITED_CONTENT."}]


def texts(content):
    if isinstance(content, list):
        return "\n".join(c["text"] for c in content if c["type"] == "text")
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


class Interactions(Wire):
    name = "gemini-interactions"
    content_type = "text/event-stream"
    suffixes = ("/interactions", )

    def check(self, asked, behaviour):
        self.authenticate(asked, behaviour)
        if asked.headers.get("content-type", "").split(";")[0].strip() != "application/json":
            refuse("Invalid content type: expected application/json")
        if asked.headers.get("api-revision", REVISION) != REVISION:
            refuse("Unknown revision of the API.")
        if len(asked.body) > MOST_BYTES:
            raise self.refusal_for_status(413)
        body = parse_json(asked.body, lambda why: refuse("Invalid JSON payload received. %s", why))
        steps = Checker(body).top()
        out = Conversation(body["model"], body.get("stream", False))
        out.system = body.get("system_instruction", "")
        out.stored = body.get("store", True)
        formats = body.get("response_format") or []
        out.wants_json = any(f.get("mime_type") == "application/json"
                             for f in (formats if isinstance(formats, list) else [formats]))
        out.tools = [t["name"] for t in body.get("tools", []) if t["type"] == "function"]
        for step in steps:
            self.add(out, step)
        return out

    def authenticate(self, asked, behaviour):
        """A key, or at Vertex AI, where the address has a project, a token."""
        bearer = asked.headers.get("authorization", "")
        key = asked.headers.get("x-goog-api-key") or asked.query.get("key")
        if "/projects/" in asked.path:
            key = bearer[7:].strip() if bearer.startswith("Bearer ") else ""
        if not key and not behaviour.has("no-key"):
            raise Refusal(403, "permission_denied",
                          "Method doesn't allow unregistered callers (callers without established "
                          "identity). Please use API Key or other form of API consumer identity "
                          "to call this API.")
        if key == "bad-key":
            raise self.refusal_for_status(401)

    def add(self, out, step):
        last = out.messages[-1] if out.messages else None
        if step["type"] == "user_input":
            out.messages.append(Message("user"))
            out.messages[-1].text = texts(step["content"])
        elif step["type"] == "function_result":
            if not last or not last.results:
                last = Message("user")
                out.messages.append(last)
            last.results.append((step["call_id"], texts(step["result"])))
        else:
            if not last or last.role != "assistant":
                last = Message("assistant")
                out.messages.append(last)
            if step["type"] == "model_output":
                last.text += texts(step["content"])
            elif step["type"] == "function_call":
                last.calls.append(step["id"])

    # ---- errors ----

    def error_body(self, refusal, request_id):
        return {"error": {"message": refusal.message, "code": refusal.kind}}

    def refusal_for_status(self, status):
        code, message = CODES.get(status, ("api_error", "HTTP %d" % status))
        return Refusal(status, code, message)

    def overflow(self):
        return Refusal(400, "invalid_request", "The input token count (1196265) exceeds the maximum "
                       "number of tokens allowed (1048575).")

    def headers(self, request_id):
        return {"Vary": "Origin", "Server-Timing": "gfet4t7; dur=1"}

    # ---- the answer ----

    def usage(self, turn, conversation):
        given = turn.usage
        cached = given.get("cache_read", 0)
        prompt = given.get("input", conversation.body_bytes // 4) + cached
        out, thoughts = turn.output_tokens(), turn.thinking_tokens()
        return {
            "total_tokens": prompt + out + thoughts, "total_input_tokens": prompt,
            "input_tokens_by_modality": [{"modality": "text", "tokens": prompt}],
            "total_cached_tokens": cached, "total_output_tokens": out, "total_tool_use_tokens": 0,
            "total_thought_tokens": thoughts
        }

    def steps(self, turn, conversation):
        """(block, step): the steps as a whole answer has them. Calls stand behind a thought."""
        thought = False
        for i, block in enumerate(turn.blocks):
            if block["type"] == "thinking":
                words = block["thinking"]
                yield block, {"type": "thought", "signature": block.get("signature") or sign(words),
                              "summary": [{"type": "text", "text": words}]}
                thought = True
            elif block["type"] == "text":
                words = block["text"] * block.get("times", 1)
                yield block, {"type": "model_output", "content": [{"type": "text", "text": words}]}
            elif block["type"] == "tool_use":
                if not thought:
                    yield None, {"type": "thought", "signature": block.get("signature") or sign("")}
                thought = True
                yield block, {"type": "function_call",
                              "id": block.get("id") or conversation.new_id("", i)[:8],
                              "name": block["name"], "arguments": self.given(block)}
            elif block["type"] == "raw":
                yield None, block["step"]

    def given(self, block):
        try:
            return json.loads(arguments(block))
        except ValueError:
            return {}

    def interaction(self, turn, conversation, status, **more):
        out = {"id": conversation.new_id("v1_", "m") if conversation.stored else "",
               "status": status, "object": "interaction", "model": conversation.model}
        if status == "failed":
            out["errors"] = BLOCKED
        if status != "in_progress":
            out.update(created="2026-11-20T10:00:21Z", updated="2026-11-20T10:00:22Z",
                       service_tier="standard")
        return dict(out, **more)

    def status(self, turn):
        return STATUSES.get(turn.stop, turn.stop)

    def events(self, turn, conversation, behaviour):
        for name, data in self.plain(turn, conversation, behaviour):
            yield name, dict(data, event_type=name)
        if not behaviour.has("no-done"):
            yield "done", "[DONE]"

    def plain(self, turn, conversation, behaviour):
        begun = self.interaction(turn, conversation, "in_progress")
        yield "interaction.created", {"interaction": begun}
        yield "interaction.status_update", {"interaction_id": begun["id"], "status": "in_progress"}
        for index, (block, step) in enumerate(self.steps(turn, conversation)):
            for name, data in self.step_events(block, step, turn.chunk):
                yield name, dict(index=index, **data)
        if not behaviour.has("no-done"):
            more = {} if behaviour.has("no-usage") else {"usage": self.usage(turn, conversation)}
            yield "interaction.completed", {
                "interaction": self.interaction(turn, conversation, self.status(turn), **more)
            }

    def step_events(self, block, step, chunk):
        kind = step["type"]
        if kind == "function_call":
            yield "step.start", {"step": dict(step, signature="", arguments={})}
            for piece in slices(arguments(block), max(chunk, 1)):
                yield "step.delta", {"delta": {"type": "arguments_delta", "arguments": piece}}
        elif kind == "thought":
            yield "step.start", {"step": {"type": "thought"}}
            for one in step.get("summary", []):
                for piece in deltas(one["text"], chunk):
                    yield "step.delta", {"delta": {"type": "thought_summary",
                                                   "content": {"type": "text", "text": piece}}}
            yield "step.delta", {"delta": {"type": "thought_signature",
                                           "signature": step["signature"]}}
        elif kind == "model_output" and block:
            yield "step.start", {"step": {"type": "model_output"}}
            pieces = (block["text"] for _ in range(block["times"])) \
                if "times" in block else deltas(block["text"], chunk)
            for piece in pieces:
                yield "step.delta", {"delta": {"type": "text", "text": piece}}
        else:
            yield "step.start", {"step": step}
        yield "step.stop", {}

    def whole(self, turn, conversation):
        out = self.interaction(turn, conversation, self.status(turn),
                               steps=[s for _, s in self.steps(turn, conversation)],
                               usage=self.usage(turn, conversation))
        if not out["id"]:
            del out["id"]
        return out

    def error_event(self, kind):
        code = EVENTS.get(kind or "", kind)
        words = [m for c, m in CODES.values() if c == code] or ["An internal error has occurred."]
        return "error", {"event_type": "error", "error": {"message": words[0], "code": code}}

    def unknown_event(self):
        return "interaction.mystery", {"event_type": "interaction.mystery",
                                       "interaction": {"mystery": [1, None, {}]}}

    def big_event(self, text):
        return "step.delta", {"event_type": "step.delta", "index": 0,
                              "delta": {"type": "text", "text": text}}

    def with_nulls(self, data):
        out = dict(data, event_id=None, metadata=None, usage=None, error=None)
        for key in ("step", "delta"):
            if key in data:
                out[key] = dict(data[key], annotations=None)
        return out


WIRE = Interactions()
