#!/usr/bin/python3
"""Checks the mock: it accepts the canonical requests, refuses what it must, misbehaves as told."""

import copy
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile

import binding_tests
import refusals
import dialect_tests
import prefix_cache_tests
from client import PATIENCE, Client, Server, chat_text, claude_text, sse_events

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "fixtures")
CLAUDE, CHAT = "/v1/messages", "/v1/chat/completions"
passed = failed = 0


def check(ok, what, seen=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print("FAILED: %s %s" % (what, repr(seen)[:600] if seen != "" else ""))


def says(model, text="hi", path=CLAUDE):
    body = {"model": model, "stream": True, "messages": [{"role": "user", "content": text}]}
    if path == CLAUDE:
        body["max_tokens"] = 100
    else:
        body["stream_options"] = {"include_usage": True}
    return body


# ---- what is accepted ----


def fixtures_are_accepted(client):
    for name, path in (("anthropic", CLAUDE), ("openai-chat", CHAT)):
        with open(os.path.join(FIXTURES, "requests", name + ".json"), encoding="utf-8") as f:
            given = json.load(f)
        got = client.post("/s/hello" + path, given["body"], given["headers"])
        check(got.status == 200, "fixture %s is accepted" % name, got.body)
        check(b" a scripted" in got.body, "fixture %s is answered" % name, got.body)
    case = client.post("/m/case=openai_429_ms/s/hello" + CHAT, says("hello", path=CHAT))
    check(case.status == 429 and case.headers["retry-after-ms"] == "1234",
          "case= gives status and headers", case.headers)
    with open(os.path.join(FIXTURES, "anthropic", "unicode_escapes.sse"), "rb") as f:
        same = f.read()
    got = client.post("/m/replay=anthropic%2Funicode_escapes.sse/s/hello" + CLAUDE, says("hello"))
    check(got.body == same, "replay= gives the bytes of a fixture", got.body)


def refusals_have_the_words(client):
    for name, path, base, edit, status, words in refusals.ALL:
        body, headers = copy.deepcopy(base), dict(refusals.HEADERS[path])
        raw = edit(body, headers)
        got = client.post("/s/hello" + path, raw if isinstance(raw, bytes) else body, headers)
        ok = got.status == status and words in got.text()
        check(ok, "refused: %s (%d %r)" % (name, status, words), (got.status, got.text()[:300]))
        if ok and path == CLAUDE:
            error = json.loads(got.body)
            check(error["type"] == "error" and error["request_id"] == got.headers["request-id"],
                  "shape: " + name, error)
        elif ok:
            check(
                set(json.loads(got.body)["error"]) == {"message", "type", "param", "code"},
                "shape: " + name, got.body)
    for path, base, edit in refusals.ACCEPTED:
        body, headers = copy.deepcopy(base), dict(refusals.HEADERS[path])
        edit(body, headers)
        got = client.post("/s/hello" + path, body, headers)
        check(got.status == 200, "a document or a sound is accepted", got.body[:300])
    for path, base in ((CLAUDE, refusals.CLAUDE_BODY), (CHAT, refusals.CHAT_BODY)):
        got = client.post("/s/hello" + path, base, refusals.HEADERS[path])
        check(got.status == 200, "the body that the refusals start from is accepted", got.body)


def the_old_name_of_a_format_is_good_with_its_header(client):
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    body = dict(says("hello"), output_format={"type": "json_schema", "schema": schema},
                model="claude-sonnet-4-5")
    headers = dict(client.headers(CLAUDE), **{"anthropic-beta": "structured-outputs-2025-11-13"})
    got = client.post(CLAUDE, body, headers)
    check(got.status == 200, "output_format with the header of its beta", got.text())


# ---- lists and counts ----


def lists_and_counts(client):
    counts, headers = CLAUDE + "/count_tokens", client.headers(CLAUDE)
    body = {"model": "hello", "messages": [{"role": "user", "content": "hi"}]}
    got = client.post(counts, body, headers)
    check(got.status == 200 and json.loads(got.body)["input_tokens"] > 0, "a count", got.text())
    for name, extra in (("max_tokens", 5), ("stream", True), ("temperature", 1)):
        got = client.post(counts, dict(body, **{name: extra}), headers)
        check(got.status == 400 and name in got.text(), "a count with " + name, got.text())
    got = client.post(counts, {"model": "hello", "messages": []}, headers)
    check(got.status == 400, "a count by the rules of model calls", got.text())
    got = client.post(counts, body, dict(headers, **{"x-api-key": "bad-key"}))
    check(got.status == 401, "a count with a bad key", got.text())
    got = client.post("/m/status=529" + counts, body, headers)
    check(got.status == 529, "a count in trouble", got.text())


# ---- conversations ----


def scenarios_stream(client):
    for name in ("hello", "echo", "long-50", "unicode", "length", "refusal", "chat", "empty",
                 "tools", "loop"):
        a = client.post(CLAUDE, says(name, "Grüße 😀"))
        b = client.post(CHAT, says(name, "Grüße 😀", CHAT))
        check(a.status == 200 and b.status == 200, "%s answers" % name, (a.body, b.body))
        check(claude_text(a.body) == chat_text(b.body), "%s says the same in both protocols" % name)
    check(
        claude_text(client.post(CLAUDE, says("echo", "Grüße 😀")).body) == "Grüße 😀", "echo echoes")
    check(
        claude_text(client.post(CLAUDE, says("long-50")).body) == "word " * 50,
        "long-N has N deltas")
    check(client.post(CLAUDE, says("nonsense")).status == 404, "an unknown model is not found")
    check(
        client.post("/s/nonsense" + CLAUDE, says("hello")).status == 404,
        "an unknown scenario is not found")
    check(
        client.post(CLAUDE, says("claude-sonnet-4-5")).status == 200,
        "a provider's model has the default scenario")
    check(
        len(sse_events(client.post(CLAUDE, says("hello")).body)) == 12,
        "hello has 12 Anthropic events")
    check(
        len(sse_events(client.post(CHAT, says("hello", path=CHAT)).body)) == 10,
        "hello has 10 Chat events")
    for path in (CLAUDE, CHAT):
        whole = client.post(
            path,
            dict({k: v
                  for k, v in says("hello", path=path).items() if k != "stream_options"},
                 stream=False))
        check(
            whole.headers["content-type"] == "application/json" and b"scripted model" in whole.body,
            "stream: false", whole.body)


def claude_tools(client, scenario, results):
    """Plays a conversation: `results` answers the calls. Returns the last text and the ids seen."""
    body = dict(says(scenario, "What is here?"), tools=[refusals.CLAUDE_TOOL])
    ids = []
    for turn in range(5):
        got = client.post(CLAUDE, body)
        blocks = claude_blocks(got.body)
        calls = [b for b in blocks if b["type"] == "tool_use"]
        ids += [b["id"] for b in calls]
        if not calls:
            return claude_text(got.body), ids
        body["messages"] += [{"role": "assistant", "content": blocks}, {
            "role": "user", "content": [{
                "type": "tool_result", "tool_use_id": b["id"], "content": results(turn, b)
            } for b in calls]
        }]
    return None, ids


def claude_blocks(raw):
    blocks = []
    for _, data in sse_events(raw):
        event = json.loads(data)
        if event["type"] == "content_block_start":
            blocks.append(dict(event["content_block"]))
        elif event["type"] == "content_block_delta":
            delta = event["delta"]
            key = {
                "text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature",
                "input_json_delta": "partial"
            }[delta["type"]]
            value = delta.get("partial_json", delta.get(key))
            blocks[event["index"]][key] = blocks[event["index"]].get(key, "") + value
    for block in blocks:
        if block["type"] == "tool_use":
            block["input"] = json.loads(block.pop("partial", "") or "{}")
    return blocks


def conversations(client):
    def answer(turn, block):
        if block["name"] == "list_files":
            return "Makefile\nREADME.md\nsrc/a.c\n\n(3 files)"
        return "[1 lines]\n   1 | # phi" if block["input"] == {
            "path": "README.md"
        } else "wrong path %s" % block["input"]

    text, ids = claude_tools(client, "demo", answer)
    check(text and "(3 files)" in text and "# phi" in text and len(set(ids)) == 2,
          "demo quotes what it read", (text, ids))
    text, ids = claude_tools(client, "parallel", answer)
    check(text and "First: Makefile" in text and "Second: [1 lines]" in text and len(set(ids)) == 2,
          "parallel", (text, ids))
    text, ids = claude_tools(client, "thinking", answer)
    check(text and text.startswith("Seen: Makefile"), "thinking comes back signed", text)
    sizes = []
    text, ids = claude_tools(client, "bigargs",
                             lambda turn, b: sizes.append(len(b["input"]["content"])) or "ok")
    check(sizes == [100000], "bigargs carries 100000 bytes", sizes)
    text, ids = claude_tools(client, "loop", answer)
    check(text is None and len(set(ids)) == 5, "loop never ends, ids never repeat", ids)
    body = dict(says("mock", "Think."),
                max_tokens=4096,
                thinking={"type": "enabled", "budget_tokens": 1024})
    blocks = claude_blocks(client.post(CLAUDE, body).body)
    check(blocks[0]["type"] == "thinking", "enabled thinking thinks", blocks)
    body["messages"] += [{
        "role": "assistant", "content": [dict(blocks[0], thinking="other")] + blocks[1:]
    }, {"role": "user", "content": "On."}]
    got = client.post(CLAUDE, body)
    check(got.status == 400 and "Invalid `signature`" in got.text(),
          "a changed thinking text is seen", got.body)

    body = dict(says("demo", "What is here?", CHAT), tools=[refusals.CHAT_TOOL])
    for turn in range(2):
        events = [
            json.loads(d) for _, d in sse_events(client.post(CHAT, body).body) if d != "[DONE]"
        ]
        deltas = [
            d for e in events if e["choices"]
            for d in e["choices"][0]["delta"].get("tool_calls", [])
        ]
        call = dict(deltas[0],
                    function={
                        "name": deltas[0]["function"]["name"],
                        "arguments": "".join(d["function"]["arguments"] for d in deltas)
                    })
        result = answer(turn, {
            "name": call["function"]["name"], "input": json.loads(call["function"]["arguments"])
        })
        body["messages"] += [{"role": "assistant", "content": None, "tool_calls": [call]},
                             {"role": "tool", "tool_call_id": call["id"], "content": result}]
    text = chat_text(client.post(CHAT, body).body)
    check("(3 files)" in text and "# phi" in text, "demo in Chat", text)


# ---- misbehaviour ----


def odd_streams_say_the_same(client):
    for path, text_of in ((CLAUDE, claude_text), (CHAT, chat_text)):
        for name in ("bytes", "split=7", "split=3,2", "unknown", "no-names", "crlf", "cr", "bom",
                     "tight", "multiline", "no-blank-end", "nulls", "no-done", "no-usage", "pings",
                     "close", "close-early", "http10", "delay=2", "slow-headers=50",
                     "first-delay=50", "type", "big-header=16", "on-turn=3+status=500", "slow-body",
                     "reasoning=reasoning", "whole-calls", "bytes+crlf+bom+pings+http10"):
            got = client.post("/m/%s/s/unicode%s" % (name, path), says("x", path=path))
            check(
                got.status == 200 and text_of(
                    got.body) == "Grüße, 世界 😀 👩\u200d👩\u200d👧 \u2028 \"quoted\" \\ back\tslash\n✓",
                "%s %s: same text" % (name, path), got.body[:300])
    for name, sign in (("crlf", b"\r\n\r\n"), ("bom", b"\xef\xbb\xbfevent"), ("tight", b"\ndata:{"),
                       ("pings", b"event: ping"), ("unknown", b"mystery"), ("nulls", b":null"),
                       ("garbage", b"\xff\xfe")):
        got = client.post("/m/%s%s" % (name, CLAUDE), says("hello"))
        check(sign in got.body, "%s shows" % name, got.body[:200])
    check(not client.post("/m/no-blank-end" + CLAUDE, says("hello")).body.endswith(b"\n\n"),
          "no-blank-end")
    check(b"event:" not in client.post("/m/no-names" + CLAUDE, says("hello")).body, "no-names")
    check(b"message_stop" not in client.post("/m/no-done" + CLAUDE, says("hello")).body,
          "no-done, Anthropic")
    check(b"[DONE]" not in client.post("/m/no-done" + CHAT, says("hello", path=CHAT)).body,
          "no-done, Chat")
    got = client.post("/m/big-event=2" + CLAUDE, says("hello"))
    check(len(got.body) > 2 << 20, "big-event", len(got.body))


def streams_stop(client):
    for path in (CLAUDE, CHAT):
        for n in range(0, 10):
            for name in ("eof", "cut", "rst", "end", "end-mid"):
                got = client.post("/m/%s=%d%s" % (name, n, path), says("hello", path=path))
                count = len(sse_events(got.body))
                half = name in ("cut", "end-mid")
                check(got.status == 200 and count in ((n, n + 1) if half else (n, )),
                      "%s=%d %s: N events" % (name, n, path), (count, got.fault))
                check((got.fault is None) == name.startswith("end"),
                      "%s=%d %s: the HTTP answer is whole only with end" % (name, n, path),
                      got.fault)
        events = sse_events(client.post("/m/error-event=4" + path, says("hello", path=path)).body)
        check(
            len(events) == 5 and "error" in json.loads(events[-1][1]), "error-event after 4",
            events)
        for name in ("stall=3", "ping-forever=3,10", "comment-forever=3,10", "slow-headers",
                     "no-read"):
            got = client.post("/m/%s%s" % (name, path), says("hello", path=path), timeout=0.4)
            check(got.fault == "timed out", "%s does not end" % name, got.fault)


def errors_come(client):
    for status in (400, 401, 402, 403, 404, 413, 429, 500, 503, 504, 529):
        for path in (CLAUDE, CHAT):
            got = client.post(
                "/m/status=%d+retry-after=7+retry-after-ms=1500+should-retry=false%s" %
                (status, path), says("hello", path=path))
            ok = (got.headers["retry-after"], got.headers["retry-after-ms"],
                  got.headers["x-should-retry"]) == ("7", "1500", "false")
            check(got.status == status and ok and "message" in json.loads(got.body)["error"],
                  "status %d" % status, got.body)
    post = lambda m, path=CLAUDE: client.post("/m/%s%s" % (m, path), says("hello", path=path))
    check(post("status=502+html").text().startswith("<html>"), "502 with HTML")
    check(
        post("html").status == 200 and "text/html" in post("html").headers["content-type"],
        "200 with HTML")
    check(
        post("json-error").status == 200 and "error" in json.loads(post("json-error").body),
        "200 with an error")
    check("content" in json.loads(post("whole").body), "whole answer, Anthropic")
    check("choices" in json.loads(post("whole", CHAT).body), "whole answer, Chat")
    check("prompt is too long" in post("overflow").text(), "overflow, Anthropic")
    check("maximum context length" in post("overflow", CHAT).text(), "overflow, Chat")
    check(post("empty-body+status=413").body == b"", "empty body")
    got = post("redirect=307")
    check(got.status == 307 and got.headers["location"] == "/landed", "redirect", got.headers)
    check(post("whatever").status == 501, "an unknown behaviour is said so")
    check(post("early=413").status == 413, "an early answer")
    check([post("status=529+times=2,t").status for _ in range(3)] == [529, 529, 200],
          "times=2 fails twice")
    check(
        client.post("/m/no-key" + CHAT, says("hello", path=CHAT),
                    {"content-type": "application/json"}).status == 200, "no-key needs no key")
    huge = dict(says("hello"), messages=[{"role": "user", "content": "x" * (33 << 20)}])
    check(client.post(CLAUDE, huge).status == 413, "33 MB is too large")
    first, second = client.twice("/m/drop-second" + CLAUDE, says("hello"))
    check(first == 200 and second is None, "drop-second", (first, second))
    check(client.twice(CLAUDE, says("hello")) == (200, 200), "connections are kept")
    check(client.twice("/m/close-early" + CLAUDE, says("hello"))[1] is None, "close-early")


def log_and_stats(client):
    client.post("/_reset", {})
    client.post(CLAUDE, says("hello"))
    client.post(CLAUDE, dict(says("hello"), top=1))
    log = client.get("/_log")
    check(
        len(log) == 2 and log[0]["body"]["model"] == "hello"
        and log[1]["problem"] == "top: Extra inputs are not permitted", "the log tells", log)
    check(
        "key" not in log[0]["headers"]["x-api-key"]
        and "redacted" in log[0]["headers"]["x-api-key"], "keys are redacted")
    stats = client.get("/_stats")
    check(stats["total"] == 2 and stats["active"] == 0 and stats["open"] == 0, "the stats count",
          stats)


def tls_and_process():
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([sys.executable, os.path.join(HERE, "certs.py"), directory], check=True)
        for name, good in (("good", True), ("expired", False), ("wronghost", False), ("selfsigned",
                                                                                      False)):
            pair = [os.path.join(directory, name + end) for end in (".pem", ".key")]
            with Server("--tls", *pair) as server:
                context = ssl.create_default_context(cafile=os.path.join(directory, "ca.pem"))
                got = Client(server.port, context).post(CLAUDE, says("hello"))
                check((got.status == 200) == good
                      and (good or "CERTIFICATE_VERIFY_FAILED" in got.fault), "TLS " + name,
                      got.fault)
    server = Server()
    server.process.stdin.close()
    check(server.process.wait(PATIENCE) == 0, "the server ends when its stdin closes")
    with Server("--mute") as server:
        got = Client(server.port).post(CLAUDE, says("hello"), timeout=0.3)
        check(got.fault == "timed out", "mute", got.fault)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump([{"blocks": [{"type": "text", "text": "${last_user:3}"}]}], f)
        f.flush()
        with Server("--scenario", f.name) as server:
            check(
                claude_text(Client(server.port).post(CLAUDE, says("file", "abcdef")).body) == "abc",
                "a scenario file")


def main():
    with Server("--fixtures", FIXTURES) as server:
        client = Client(server.port)
        for part in (fixtures_are_accepted, refusals_have_the_words,
                     the_old_name_of_a_format_is_good_with_its_header, scenarios_stream,
                     lists_and_counts, conversations, odd_streams_say_the_same, streams_stop, errors_come,
                     log_and_stats):
            part(client)
        dialect_tests.all_of_it(check, client, FIXTURES)
        binding_tests.all_of_it(check, client)
        prefix_cache_tests.all_of_it(check, client)
    tls_and_process()
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
