"""OpenAI Responses: its errors and its stream. What it refuses is in openai_responses_rules.py."""

from scenario import arguments
from .anthropic_rules import sign
from .base import Conversation, Message, Refusal, deltas, parse_json, slices
from .openai_chat import CREATED, MOST_BYTES, OpenAIChat
from .openai_chat_rules import refuse
from .openai_responses_rules import Checker, found_id

REASONS = {"length": "max_output_tokens", "refusal": "content_filter"}


def texts(content):
    if isinstance(content, str):
        return content
    return "\n".join(p["text"] for p in content or [] if p.get("type", "").endswith("_text"))


class OpenAIResponses(OpenAIChat):
    """Keys, error answers and rate limits are those of Chat."""
    name = "openai-responses"

    def owns(self, path):
        return path.endswith("/responses") and "/openai/" not in path

    def parse(self, raw, headers, behaviour):
        if len(raw) > MOST_BYTES:
            raise self.refusal_for_status(413)
        body = parse_json(
            raw, lambda why: refuse(
                "We could not parse the JSON body of your request. (HINT: this likely means "
                "you aren't using your HTTP library correctly. %s)" % why))
        Checker(body).top()
        out = Conversation(body["model"], body.get("stream", False))
        out.system = body.get("instructions") or ""
        late = {t["name"]: t for t in body.get("tools") or [] if t.get("defer_loading")}
        out.deferred = list(late)
        if any(t["type"] == "tool_search" for t in body.get("tools") or []):
            out.finds = lambda names: self.finds(out, [late[n] for n in names if n in late])
        out.tools = [t["name"] for t in body.get("tools") or [] if "name" in t and t["name"] not in late]
        wanted = (body.get("text") or {}).get("format") or {}
        out.wants_json = "json" in wanted.get("type", "text")
        items = body["input"]
        if isinstance(items, str):
            items = [{"role": "user", "content": items}]
        for item in items:
            self.add(out, item)
        return out

    def add(self, out, item):
        kind = item.get("type", "message")
        if kind == "tool_search_output":  # what was found stays there
            out.tools += [t["name"] for t in item["tools"] if t["name"] in out.deferred
                          and t["name"] not in out.tools]
        if item.get("role") in ("system", "developer"):
            out.system += texts(item["content"])
            return
        last = out.messages[-1] if out.messages else None
        if item.get("role") == "user":
            last = Message("user")
            out.messages.append(last)
            last.text = texts(item["content"])
        elif kind == "function_call_output":
            if not last or not last.results:
                last = Message("user")
                out.messages.append(last)
            last.results.append((item["call_id"], texts(item["output"])))
        else:
            if not last or last.role != "assistant":
                last = Message("assistant")
                out.messages.append(last)
            if kind == "message":
                last.text += texts(item["content"])
            elif kind == "function_call":
                last.calls.append(item["call_id"])

    def overflow(self):
        return Refusal(
            400, "invalid_request_error",
            "Your input exceeds the context window of this model. Please adjust your input and "
            "try again.", "input", "context_length_exceeded")

    # ---- the answer ----

    def finds(self, conversation, tools):
        state = {"call_id": None, "execution": "server", "status": "completed"}
        return [{
            "type": "item", "item": dict(state, type="tool_search_call",
                                         id=conversation.new_id("tsc_", "s"),
                                         arguments={"paths": [t["name"] for t in tools]})
        }, {
            "type": "item",
            "item": dict(state, type="tool_search_output", id=found_id(tools), tools=tools)
        }]

    def items(self, turn, conversation):
        """The output items, as they are when they are done."""
        mark = conversation.new_id("mock", "m")[:20]
        thinks = any(b["type"] == "thinking" for b in turn.blocks)
        out = []
        for i, block in enumerate(turn.blocks):
            tail = mark + ("r%d" if thinks else "n%d") % i
            if block["type"] == "thinking":
                name = "rs_" + mark + (str(i) if i else "")
                out.append({
                    "id": name, "type": "reasoning",
                    "summary": [{"type": "summary_text", "text": block["thinking"]}],
                    "encrypted_content": block.get("signature") or sign(block["thinking"])
                })
            elif block["type"] == "text":
                out.append({
                    "id": "msg_" + tail, "type": "message", "status": "completed",
                    "role": "assistant", "content": [{
                        "type": "output_text", "text": block["text"] * block.get("times", 1),
                        "annotations": block.get("annotations", []), "logprobs": []
                    }]
                })
            elif block["type"] == "item":
                out.append(block["item"])
            elif block["type"] == "tool_use":
                out.append({
                    "id": "fc_" + tail, "type": "function_call", "status": "completed",
                    "arguments": arguments(block), "name": block["name"],
                    "call_id": block.get("id") or conversation.new_id("call_", i)
                })
            elif block["type"] == "web_search_call":
                out.append({
                    "id": block.get("id") or "ws_" + tail, "type": "web_search_call",
                    "status": "completed", "action": block["action"]
                })
        return out

    def usage(self, turn, conversation):
        given = turn.usage
        cached, written = given.get("cache_read", 0), given.get("cache_write", 0)
        prompt = given.get("input", conversation.body_bytes // 4) + cached + written
        out = turn.output_tokens()
        return {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
            "output_tokens": out,
            "output_tokens_details": {"reasoning_tokens": turn.thinking_tokens()},
            "total_tokens": prompt + out
        }

    def response(self, turn, conversation, status, items, usage):
        reason = REASONS.get(turn.stop) if status == "incomplete" else None
        return {
            "id": conversation.new_id("resp_", "m"), "object": "response", "created_at": CREATED,
            "status": status, "background": False, "error": None,
            "incomplete_details": {"reason": reason} if reason else None,
            "instructions": None, "max_output_tokens": None, "model": conversation.model,
            "output": items, "parallel_tool_calls": True, "store": False, "tool_choice": "auto",
            "usage": usage
        }

    def ended(self, turn):
        return "incomplete" if turn.stop in REASONS else "completed"

    def events(self, turn, conversation, behaviour):
        for number, (name, data) in enumerate(self.plain(turn, conversation, behaviour)):
            yield name, dict({"type": name, "sequence_number": number}, **data)

    def plain(self, turn, conversation, behaviour):
        begun = self.response(turn, conversation, "in_progress", [], None)
        yield "response.created", {"response": begun}
        yield "response.in_progress", {"response": begun}
        items = self.items(turn, conversation)
        for index, (block, item) in enumerate(zip(turn.blocks, items)):
            where = {"output_index": index, "item_id": item["id"]}
            if item["type"] == "message":
                empty, parts = dict(item, status="in_progress", content=[]), self.text_parts
            elif item["type"] == "reasoning":
                empty, parts = dict(item, summary=[]), self.thinking_parts
                empty["encrypted_content"] = ""
            elif item["type"] == "web_search_call":
                empty, parts = {k: item[k] for k in ("id", "type")}, self.search_parts
                empty["status"] = "in_progress"
            elif block["type"] == "item":
                empty, parts = dict(item, status="in_progress"), self.no_parts
            else:
                empty, parts = dict(item, status="in_progress", arguments=""), self.call_parts
            yield "response.output_item.added", {"output_index": index, "item": empty}
            for name, data in parts(block, item, turn.chunk):
                yield name, dict(where, **data)
            yield "response.output_item.done", {"output_index": index, "item": item}
        if not behaviour.has("no-done"):
            status = self.ended(turn)
            usage = None if behaviour.has("no-usage") else self.usage(turn, conversation)
            yield "response." + status, {
                "response": self.response(turn, conversation, status, items, usage)
            }

    def text_parts(self, block, item, chunk):
        part, at = item["content"][0], {"content_index": 0}
        yield "response.content_part.added", dict(at, part=dict(part, text="", annotations=[]))
        pieces = (block["text"] for _ in range(block["times"])) if "times" in block else deltas(
            block["text"], chunk)
        for piece in pieces:
            yield "response.output_text.delta", dict(at, delta=piece, logprobs=[])
        for k, note in enumerate(part["annotations"]):
            yield "response.output_text.annotation.added", dict(at, annotation_index=k, annotation=note)
        yield "response.output_text.done", dict(at, text=part["text"], logprobs=[])
        yield "response.content_part.done", dict(at, part=part)

    def no_parts(self, block, item, chunk):
        return ()

    def thinking_parts(self, block, item, chunk):
        part, at = item["summary"][0], {"summary_index": 0}
        yield "response.reasoning_summary_part.added", dict(at, part=dict(part, text=""))
        for piece in deltas(block["thinking"], chunk):
            yield "response.reasoning_summary_text.delta", dict(at, delta=piece)
        yield "response.reasoning_summary_text.done", dict(at, text=part["text"])
        yield "response.reasoning_summary_part.done", dict(at, part=part)

    def search_parts(self, block, item, chunk):
        for word in ("in_progress", "searching", "completed"):
            yield "response.web_search_call." + word, {}

    def call_parts(self, block, item, chunk):
        for piece in slices(item["arguments"], max(chunk, 1)):
            yield "response.function_call_arguments.delta", {"delta": piece}
        yield "response.function_call_arguments.done", {"arguments": item["arguments"]}

    def whole(self, turn, conversation):
        return self.response(turn, conversation, self.ended(turn), self.items(turn, conversation),
                             self.usage(turn, conversation))

    def error_event(self, kind):
        kind = kind or "server_error"
        code = {"overloaded_error": "server_is_overloaded"}.get(kind, kind)
        words = "Our servers are currently overloaded. Please try again later." \
            if "overloaded" in kind else \
            "The server had an error while processing your request. Sorry about that!"
        return "error", {
            "type": "error", "sequence_number": 99,
            "error": {"type": kind, "code": code, "message": words, "param": None}
        }

    def unknown_event(self):
        return "response.mystery.delta", {
            "type": "response.mystery.delta", "sequence_number": 99, "output_index": 99,
            "delta": [1, None, {}]
        }

    def big_event(self, text):
        return "response.output_text.delta", {
            "type": "response.output_text.delta", "sequence_number": 99, "output_index": 0,
            "content_index": 0, "item_id": "msg_big", "delta": text
        }

    def with_nulls(self, data):
        return dict(data, obfuscation=None, logprobs=None, item=data.get("item"))

    def keepalive(self, behaviour):
        return self.frame("keepalive", {"type": "keepalive", "sequence_number": 3}, behaviour)


WIRE = OpenAIResponses()
