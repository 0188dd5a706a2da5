"""Gemini: its errors and its stream. What it refuses is in google_rules.py."""

import json
import re

from scenario import arguments
from .anthropic_rules import sign
from .base import Conversation, Message, Refusal, Wire, deltas, parse_json
from .google_rules import Checker, refuse

MOST_BYTES = 20 * 1024 * 1024
STOPS = {"stop": "STOP", "tool_use": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY",
         "pause": "STOP"}
STATUS = {
    400: ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    401: ("UNAUTHENTICATED", "Request had invalid authentication credentials. Expected OAuth 2 "
          "access token, login cookie or other valid authentication credential."),
    402: ("FAILED_PRECONDITION", "Billing is not enabled for this project."),
    403: ("PERMISSION_DENIED", "The caller does not have permission"),
    404: ("NOT_FOUND", "models/none is not found for API version v1beta, or is not supported for "
          "generateContent. Call ListModels to see the list of available models and their "
          "supported methods."), 409: ("ABORTED", "The operation was aborted."),
    413: ("INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."),
    429: ("RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and "
          "billing details. Please retry in 0.2s."),
    500: ("INTERNAL", "An internal error has occurred. Please retry or report in "
          "https://developers.generativeai.google/guide/troubleshooting"),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    504: ("DEADLINE_EXCEEDED", "Deadline expired before operation could complete.")
}
KINDS = {status: number for number, (status, _) in STATUS.items()}


def texts(parts):
    return "\n".join(p["text"] for p in parts if p.get("text") and not p.get("thought"))


def result_text(response):
    for key in ("output", "error", "result"):
        if isinstance(response.get(key), str):
            return response[key]
    return json.dumps(response, ensure_ascii=False)


class Google(Wire):
    name = "gemini"
    content_type = "text/event-stream"
    vertex = False
    path = re.compile(r".*/v1(?:beta|alpha)?/models/([^/:]+):(streamGenerateContent|"
                      r"generateContent)$")

    def owns(self, path):
        return bool(self.path.match(path))

    def check(self, asked, behaviour):
        self.authenticate(asked, behaviour)
        if asked.headers.get("content-type", "").split(";")[0].strip() != "application/json":
            refuse("Invalid content type: expected application/json")
        if len(asked.body) > MOST_BYTES:
            raise self.refusal_for_status(413)
        body = parse_json(asked.body,
                          lambda why: refuse("Invalid JSON payload received. %s", why))
        model, method = self.path.match(asked.path).groups()
        alt = asked.query.get("alt", "json")
        if alt not in ("sse", "json"):
            refuse("Invalid value at 'alt', \"%s\"", alt)
        Checker(body, model, self.vertex).top()
        out = Conversation(model, alt == "sse" and method.startswith("stream"))
        out.wants_array = method.startswith("stream")
        out.system = texts(body.get("systemInstruction", {}).get("parts", []))
        out.wants_json = "responseMimeType" in body.get("generationConfig", {})
        out.tools = [d["name"] for t in body.get("tools", [])
                     for d in t.get("functionDeclarations", [])]
        for content in body["contents"]:
            parts = content["parts"]
            message = Message("assistant" if content.get("role") == "model" else "user")
            message.text = texts(parts)
            message.calls = [p["functionCall"].get("id", p["functionCall"]["name"])
                             for p in parts if "functionCall" in p]
            results = [p["functionResponse"] for p in parts if "functionResponse" in p]
            message.results = [(r.get("id", r["name"]), result_text(r["response"]))
                               for r in results]
            out.messages.append(message)
        return out

    def authenticate(self, asked, behaviour):
        key = asked.headers.get("x-goog-api-key") or asked.query.get("key")
        if not key and not behaviour.has("no-key"):
            raise Refusal(403, "PERMISSION_DENIED",
                          "Method doesn't allow unregistered callers (callers without established "
                          "identity). Please use API Key or other form of API consumer identity "
                          "to call this API.")
        if key == "bad-key":
            raise Refusal(400, "INVALID_ARGUMENT",
                          "API key not valid. Please pass a valid API key.", None,
                          "API_KEY_INVALID")

    def error_body(self, refusal, request_id):
        error = {"code": refusal.status, "message": refusal.message, "status": refusal.kind}
        if refusal.code:
            error["details"] = [{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": refusal.code,
                "domain": "googleapis.com"
            }]
        if refusal.status == 429:
            error["details"] = [{
                "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.2s"
            }]
        return {"error": error}

    def refusal_for_status(self, status):
        kind, message = STATUS.get(status, ("INTERNAL", "HTTP %d" % status))
        return Refusal(status, kind, message)

    def overflow(self):
        return Refusal(400, "INVALID_ARGUMENT", "The input token count (1196265) exceeds the "
                       "maximum number of tokens allowed (1048575).")

    def headers(self, request_id):
        return {"Vary": "Origin", "Server-Timing": "gfet4t7; dur=1"}

    # ---- the answer ----

    def usage(self, turn, conversation, out):
        given = turn.usage
        cached = given.get("cache_read", 0)
        prompt = given.get("input", conversation.body_bytes // 4) + cached
        thoughts = turn.thinking_tokens()
        return {
            "promptTokenCount": prompt, "cachedContentTokenCount": cached,
            "candidatesTokenCount": out, "thoughtsTokenCount": thoughts,
            "totalTokenCount": prompt + out + thoughts
        }

    def newer(self, conversation):
        return not re.match(r"gemini-[12]", conversation.model)

    def parts(self, turn, conversation):
        """The parts of the answer as they are streamed; None for a call that is not JSON."""
        signed = not self.newer(conversation)
        for i, block in enumerate(turn.blocks):
            if block["type"] == "thinking":
                for piece in deltas(block["thinking"], turn.chunk):
                    yield {"text": piece, "thought": True}
            elif block["type"] == "text":
                pieces = (block["text"] for _ in range(block["times"])) \
                    if "times" in block else deltas(block["text"], turn.chunk)
                for piece in pieces:
                    yield {"text": piece}
            elif block["type"] == "tool_use":
                try:
                    call = {"name": block["name"], "args": json.loads(arguments(block))}
                except ValueError:
                    yield None
                    return
                if self.newer(conversation):
                    call = dict(call, id=block.get("id") or conversation.new_id("", i)[:8])
                part = {"functionCall": call}
                if not signed:
                    part["thoughtSignature"] = block.get("signature") or sign("call "
                                                                              + block["name"])
                signed = True
                yield part
        thinking = [b for b in turn.blocks if b["type"] == "thinking"]
        if not signed and thinking:
            yield {"text": "", "thoughtSignature": thinking[0].get("signature") or sign("text")}

    def shell(self, candidate, conversation):
        return {
            "candidates": [candidate], "modelVersion": conversation.model,
            "responseId": conversation.new_id("", "m")
        }

    def events(self, turn, conversation, behaviour):
        finish, message, count = STOPS.get(turn.stop, turn.stop), None, 0
        for part in self.parts(turn, conversation):
            if part is None:
                finish, message = "MALFORMED_FUNCTION_CALL", "Malformed function call: print(x"
                break
            count += 1
            chunk = self.shell({"content": {"parts": [part], "role": "model"}, "index": 0},
                               conversation)
            if not self.vertex and not behaviour.has("no-usage"):
                chunk["usageMetadata"] = self.usage(turn, conversation, count)
            yield None, chunk
        if behaviour.has("no-done"):
            return
        last = {"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": finish,
                "index": 0}
        if finish not in ("STOP", "MAX_TOKENS"):
            del last["content"]
        if message:
            last["finishMessage"] = message
        chunk = self.shell(last, conversation)
        if not behaviour.has("no-usage"):
            chunk["usageMetadata"] = self.usage(turn, conversation, turn.output_tokens())
        yield None, chunk

    def whole(self, turn, conversation):
        parts = []
        for part in self.parts(turn, conversation):
            if parts and part and part.get("text") and "text" in parts[-1] \
                    and part.get("thought") == parts[-1].get("thought"):
                parts[-1]["text"] += part["text"]
            elif part is not None:
                parts.append(part)
        out = self.shell({"content": {"parts": parts, "role": "model"},
                          "finishReason": STOPS.get(turn.stop, turn.stop), "index": 0},
                         conversation)
        out["usageMetadata"] = self.usage(turn, conversation, turn.output_tokens())
        return [out] if conversation.wants_array and not conversation.stream else out

    def error_event(self, kind):
        kind = {"": "UNAVAILABLE", "overloaded_error": "UNAVAILABLE",
                "server_error": "INTERNAL"}.get(kind, kind)
        refusal = self.refusal_for_status(KINDS.get(kind, 500))
        refusal.kind = kind
        return None, self.error_body(refusal, "")

    def unknown_event(self):
        return None, {"mystery": [1, None, {}]}

    def big_event(self, text):
        return None, {"candidates": [{"content": {"parts": [{"text": text}], "role": "model"},
                                      "index": 0}]}

    def with_nulls(self, data):
        out = dict(data, promptFeedback=None, createTime=None, error=None)
        if data.get("candidates"):
            one = dict(data["candidates"][0], safetyRatings=None, citationMetadata=None)
            out["candidates"] = [dict(one, finishReason=one.get("finishReason"))]
        return out

    def newline(self, behaviour):
        return b"\r" if behaviour.has("cr") else b"\r\n"


WIRE = Google()
