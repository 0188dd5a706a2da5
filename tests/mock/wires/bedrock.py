"""Bedrock ConverseStream: its errors and its stream of frames. Rules in bedrock_rules.py."""

import json
import re
from urllib.parse import unquote

import binding
from scenario import arguments
from . import aws, bedrock_system
from .anthropic_rules import sign
from .base import Conversation, Message, Refusal, Wire, deltas, parse_json, slices, spoilt
from .bedrock_rules import Checker, refuse

MOST_BYTES = 25 * 1024 * 1024
STOPS = {"stop": "end_turn", "length": "max_tokens", "refusal": "guardrail_intervened",
         "pause": "end_turn"}
PATH = re.compile(r"^/model/([^/]+)/(converse-stream|converse)$")
PADDING = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
ORIGIN = ":http://internal.amazon.com/coral/com.amazon.bedrock/"
STATUS = {
    400: ("ValidationException", "The provided request is not valid."),
    401: ("UnrecognizedClientException", "The security token included in the request is invalid."),
    402: ("ServiceQuotaExceededException", "Your request exceeds the service quota."),
    403: ("AccessDeniedException", "You don't have access to the model with the specified model "
          "ID."), 404: ("ResourceNotFoundException", "Could not resolve the foundation model from "
                        "the provided model identifier."),
    408: ("ModelTimeoutException", "Model has timed out in processing the request. Try your request "
          "again."), 413: ("RequestEntityTooLargeException", "Request body too large."),
    424: ("ModelErrorException", "The model had an error"),
    429: ("ThrottlingException", "Too many requests, please wait before trying again."),
    500: ("InternalServerException", "The system encountered an unexpected error during processing. "
          "Try your request again."),
    503: ("ServiceUnavailableException", "Bedrock is unable to process your request.")
}
EVENT_KINDS = {"": "throttlingException", "overloaded_error": "serviceUnavailableException",
               "server_error": "internalServerException", "api_error": "internalServerException"}


def result_text(content):
    return "\n".join(b["text"] if "text" in b else json.dumps(b["json"], ensure_ascii=False)
                     for b in content if "text" in b or "json" in b)


class Bedrock(Wire):
    name = "bedrock"
    suffixes = ("/converse-stream", "/converse")
    content_type = "application/vnd.amazon.eventstream"
    lines = False

    def check(self, asked, behaviour):
        found = PATH.match(asked.path)
        if not found:
            raise Refusal(404, "UnknownOperationException", "Unknown operation")
        self.authenticate(asked, behaviour)
        if asked.headers.get("content-type", "").split(";")[0].strip() != "application/json":
            raise Refusal(415, "UnsupportedMediaTypeException",
                          "Content-Type must be application/json")
        if len(asked.body) > MOST_BYTES:
            raise self.refusal_for_status(413)
        body = parse_json(asked.body, lambda why: refuse("Malformed input request: %s", why))
        model = unquote(found.group(1))
        Checker(body, model).top()
        out = Conversation(model, found.group(2) == "converse-stream")
        out.system = "\n".join(b["text"] for b in body.get("system", []) if "text" in b)
        tools = body.get("toolConfig", {})
        out.tools = bedrock_system.available(
            [t["toolSpec"]["name"] for t in tools.get("tools", []) if "toolSpec" in t],
            body["messages"])
        extra = body.get("additionalModelRequestFields", {})
        thinking = extra.get("thinking") or {}
        out.wants_json = "outputConfig" in body
        out.wants_thinking = thinking.get("type") == "enabled" or (
            binding.thinks(model, thinking) and not {"any", "tool"} & set(tools.get("toolChoice", {})))
        out.binding = bedrock_system.bound(body, model, behaviour)
        out.tells_drops = binding.BETA in extra.get("anthropic_beta", []) and (
            "/input_transformations" in body.get("additionalModelResponseFieldPaths", []))
        for given in body["messages"]:
            message, blocks = Message(given["role"]), given["content"]
            message.text = "\n".join(b["text"] for b in blocks if "text" in b)
            message.calls = [b["toolUse"]["toolUseId"] for b in blocks if "toolUse" in b]
            message.results = [(b["toolResult"]["toolUseId"],
                                result_text(b["toolResult"]["content"]))
                               for b in blocks if "toolResult" in b]
            out.messages.append(message)
        return out

    def authenticate(self, asked, behaviour):
        given = asked.headers.get("authorization", "")
        if given.startswith("AWS4-HMAC-SHA256"):
            aws.verify(asked.method, asked.raw_path, "", asked.headers, asked.body)
            return
        key = given[7:].strip() if given.startswith("Bearer ") else ""
        if not key and not behaviour.has("no-key"):
            aws.denied("MissingAuthenticationTokenException", "Missing Authentication Token")
        if key == "bad-key" or re.match(r"AKI[A-Z0-9]+:", key):
            aws.denied("AccessDeniedException",
                       "Authentication failed: Please make sure your API Key is valid.")

    def error_body(self, refusal, request_id):
        return {"message": refusal.message}

    def error_headers(self, refusal):
        return {"x-amzn-errortype": refusal.kind + ORIGIN}

    def refusal_for_status(self, status):
        kind, message = STATUS.get(status, ("InternalServerException", "HTTP %d" % status))
        return Refusal(status, kind, message)

    def overflow(self):
        return Refusal(400, "ValidationException", "The model returned the following errors: Input "
                       "is too long for requested model.")

    def headers(self, request_id):
        return {"x-amzn-requestid": request_id}

    # ---- the answer ----

    def usage(self, turn, conversation):
        given, out = turn.usage, turn.output_tokens()
        prompt = given.get("input", conversation.body_bytes // 4)
        read, written = given.get("cache_read", 0), given.get("cache_write", 0)
        return {
            "inputTokens": prompt, "outputTokens": out,
            "totalTokens": prompt + out + read + written, "cacheReadInputTokens": read,
            "cacheWriteInputTokens": written
        }

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
            return {"text": text} if text.strip() else None
        try:
            given = json.loads(arguments(block))
        except ValueError:
            given = {}
        return {"toolUse": {"toolUseId": block.get("id") or conversation.new_id("tooluse_", i),
                            "name": block["name"], "input": given}}

    def told(self, conversation):
        """What the answer says of thinking that was dropped, where it was asked."""
        if not conversation.tells_drops:
            return {}
        return {"additionalModelResponseFields": {
            "input_transformations": conversation.binding.transformations()}}

    def events(self, turn, conversation, behaviour):
        yield "messageStart", {"role": "assistant"}
        for i, block in enumerate(self.blocks(turn, conversation)):
            at = {"contentBlockIndex": i}
            if block["type"] == "tool_use":
                use = {"toolUseId": block.get("id") or conversation.new_id("tooluse_", i),
                       "name": block["name"]}
                yield "contentBlockStart", dict(at, start={"toolUse": use})
            for delta in self.deltas(block, turn):
                yield "contentBlockDelta", dict(at, delta=delta)
            yield "contentBlockStop", at
        if behaviour.has("no-done"):
            return
        yield "messageStop", dict({"stopReason": STOPS.get(turn.stop, turn.stop)},
                                  **self.told(conversation))
        if not behaviour.has("no-usage"):
            yield "metadata", {
                "usage": self.usage(turn, conversation), "metrics": {"latencyMs": 100}
            }

    def deltas(self, block, turn):
        if block["type"] == "text":
            pieces = (block["text"] for _ in range(block["times"])) if "times" in block else deltas(
                block["text"], turn.chunk)
            return ({"text": t} for t in pieces)
        if block["type"] == "thinking":
            signature = block.get("signature") or sign(block["thinking"])
            return [{"reasoningContent": {"text": t}}
                    for t in deltas(block["thinking"], turn.chunk)] + [{
                        "reasoningContent": {"signature": signature}
                    }]
        if block["type"] == "redacted_thinking":
            return [{"reasoningContent": {"redactedContent": block["data"]}}]
        text = arguments(block)
        return [{"toolUse": {"input": t}}
                for t in [""] + (slices(text, max(turn.chunk, 1)) if text != "{}" else [])]

    def whole(self, turn, conversation):
        content = []
        for i, block in enumerate(self.blocks(turn, conversation)):
            if block["type"] == "text":
                content.append({"text": block["text"] * block.get("times", 1)})
            elif block["type"] == "thinking":
                content.append({"reasoningContent": {"reasoningText": {
                    "text": block["thinking"],
                    "signature": block.get("signature") or sign(block["thinking"])
                }}})
            elif block["type"] == "tool_use":
                content.append({"toolUse": {
                    "toolUseId": block.get("id") or conversation.new_id("tooluse_", i),
                    "name": block["name"], "input": json.loads(arguments(block))
                }})
        return dict({
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": STOPS.get(turn.stop, turn.stop),
            "usage": self.usage(turn, conversation), "metrics": {"latencyMs": 100}
        }, **self.told(conversation))

    def error_event(self, kind):
        kind = EVENT_KINDS.get(kind, kind)
        words = {"throttlingException": "Too many requests, please wait before trying again.",
                 "modelStreamErrorException": "The model had an error."}.get(
                     kind, "The server is unable to process your request.")
        return "!" + kind, {"message": words}

    def unknown_event(self):
        return "mystery", {"contentBlockIndex": 99, "mystery": [1, None, {}]}

    def big_event(self, text):
        return "contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text}}

    def with_nulls(self, data):
        return dict({"additionalModelResponseFields": None, "trace": None}, **data)

    def keepalive(self, behaviour):
        """AWS has none: an event that nobody knows."""
        return self.frame("ping", {}, behaviour)

    def frame(self, name, data, behaviour):
        """An event, padded as Bedrock pads; `!name` is an exception."""
        if name.startswith("!"):
            kind = {":exception-type": name[1:], ":content-type": "application/json",
                    ":message-type": "exception"}
        else:
            kind = {":event-type": name, ":content-type": "application/json",
                    ":message-type": "event"}
            data = dict(data, p=PADDING[:len(str(data)) % len(PADDING)])
        return aws.frame(kind, spoilt(json.dumps(data, ensure_ascii=False, separators=(",", ":"))))


WIRE = Bedrock()
