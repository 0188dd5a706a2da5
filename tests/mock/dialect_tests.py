"""Checks of the six dialects beside Anthropic and Chat; test_mock.py runs them."""

import copy
import json
import os

import dialects
from client import PATIENCE
from dialects import NAMES, events, path, says, text_of
from wires import aws

UNICODE = "Grüße, 世界 😀 👩\u200d👩\u200d👧 \u2028 \"quoted\" \\ back\tslash\n✓"
ODD = ("bytes", "split=7", "unknown", "no-names", "crlf", "cr", "bom", "tight", "multiline",
       "no-blank-end", "nulls", "no-done", "no-usage", "pings", "close", "http10", "delay=2",
       "slow-headers=20", "first-delay=20", "big-header=16", "on-turn=3+status=500", "slow-body")


def send(client, name, prefix="", model="hello", body=None, timeout=PATIENCE):
    return client.post(prefix + path(name, model), says(name, model) if body is None else body,
                       dialects.KEYS[name], timeout)


def shape_of(name, got):
    error = json.loads(got.body)
    if name.endswith("responses"):
        keys = set(error["error"])
        return keys == {"message", "type", "param", "code"} or keys == {"code", "message"}
    if name == "bedrock":
        return set(error) == {"message"} and "Exception:http" in got.headers["x-amzn-errortype"]
    if name == "gemini-interactions":
        return set(error["error"]) == {"message", "code"} and error["error"]["code"].islower()
    return error["error"]["code"] == got.status and error["error"]["status"].isupper()


def words_of(name, got):
    value = json.loads(got.body)
    return value["message"] if name == "bedrock" else value["error"]["message"]


def refusals_in_dialects(check, client):
    for name, words, edit, status in dialects.ALL:
        body = copy.deepcopy(dialects.BODIES[name])
        headers = dict(dialects.KEYS[name])
        raw = edit(body, headers)
        where = "/s/hello" + path(name, dialects.MODELS[name])
        got = client.post(where, raw if isinstance(raw, bytes) else body, headers)
        ok = got.status == status and words in words_of(name, got) and shape_of(name, got)
        check(ok, "%s refuses: %d %r" % (name, status, words), (got.status, got.body[:400]))
    for name, edit in dialects.ACCEPTED:
        body, headers = copy.deepcopy(dialects.BODIES[name]), dict(dialects.KEYS[name])
        edit(body, headers)
        got = client.post("/s/hello" + path(name, dialects.MODELS[name]), body, headers)
        check(got.status == 200, "%s accepts a document or a sound" % name, got.body[:400])
    for name in NAMES:
        got = send(client, name, "/s/hello", dialects.MODELS[name], dialects.BODIES[name])
        check(got.status == 200, "%s: the body that refusals start from" % name, got.body)


def fixtures_in_dialects(check, client, fixtures):
    for name in NAMES:
        with open(os.path.join(fixtures, "requests", name + ".json"), encoding="utf-8") as f:
            given = json.load(f)
        where = given["request_line"].split(" ")[1]
        where = where[where.index("/", 8):] if where.startswith("https:") else where
        headers = dict(given["headers"])
        if name == "bedrock":
            headers["authorization"] = "Bearer key"
        got = client.post("/s/hello" + where, given["body"], headers)
        check(got.status == 200 and text_of(name, got.body).startswith("Hello!"),
              "fixture %s is accepted" % name, got.body)
    with open(os.path.join(fixtures, "bedrock", "text.bin"), "rb") as f:
        found = aws.read_frames(f.read())
    check(found and found[0][0][":event-type"] == "messageStart", "frames of a fixture", found)
    with open(os.path.join(fixtures, "bedrock", "sigv4_vectors.json"), encoding="utf-8") as f:
        for vector in json.load(f):
            signed = sorted(vector["headers"])
            canonical = aws.canonical_request("POST", vector["wire_path"], "", vector["headers"],
                                              signed, vector["headers"]["x-amz-content-sha256"])
            check(canonical == vector["canonical_request"], "canonical: " + vector["name"],
                  canonical)
            got = aws.signature(vector["secret_access_key"], vector["time"], vector["region"],
                                "bedrock", canonical)
            check(got == vector["signature"], "signature: " + vector["name"], got)


def signatures(check, client):
    where = "/m/delay=1/s/hello/model/us.anthropic.claude-v1%3A0/converse-stream"
    body = json.dumps(says("bedrock")).encode()
    make = lambda **more: dialects.signed(where, body, client.port, **more)
    for what, headers, data, status in (
        ("signed", make(), body, 200), ("with a session", make(session=aws.SESSION), body, 200),
        ("other body", make(), body + b" ", 403), ("late", make(skew=-400), body, 403),
        ("early", make(skew=400), body, 403), ("expired", make(session="expired"), body, 403),
        ("unknown key", make(key_id="AKIDOTHER"), body, 403),
        ("unsigned header", dict(make(), **{"x-amz-meta": "x"}), body, 403),
        ("other type", dict(make(), **{"content-type": "application/json; x"}), body, 403)):
        got = client.post(where, data, headers)
        check(got.status == status, "SigV4: " + what, (got.status, got.body[:600]))
    unescaped = where.replace("%3A", ":")
    got = client.post(unescaped, body, make())
    check(got.status == 403, "SigV4: another path", got.body)


def conversations_in_dialects(check, client):
    def result(name, given):
        if name == "list_files":
            return "Makefile\nREADME.md\n\n(2 files)"
        return "# phi" if given == {"path": "README.md"} else "wrong path %s" % given

    for name in NAMES:
        model = {"gemini": "gemini-3-pro", "vertex": "gemini-3-pro",
                 "gemini-interactions": "gemini-3-pro"}.get(name, "hello")
        for scenario, wants in (("demo", ("(2 files)", "# phi")), ("parallel", ("First: Makefile",
                                                                                "Second: # phi")),
                                ("thinking", ("Seen: Makefile", ))):
            body = dict(says(name, model, "What is here?"), **dialects.tools(name))
            text, got = "", None
            for _ in range(4):
                got = send(client, name, "/s/" + scenario, model, body)
                if got.status != 200:
                    break
                text = text_of(name, got.body)
                if not dialects.reply(name, body, got.body, result):
                    break
            check(got.status == 200 and all(w in text for w in wants),
                  "%s in %s" % (scenario, name), (text, got.body[:500]))
        for scenario in ("empty", "length", "refusal", "noargs", "badargs", "long-50", "echo",
                         "tools"):
            got = send(client, name, "/s/" + scenario)
            check(got.status == 200 and events(name, got.body), "%s in %s" % (scenario, name),
                  got.body)
        got = send(client, name, "/m/whole/s/hello")
        check(b"scripted model" in got.body and isinstance(json.loads(got.body), dict),
              "whole in " + name, got.body)


def streams_in_dialects(check, client):
    for name in NAMES:
        for odd in ODD:
            got = send(client, name, "/m/%s/s/unicode" % odd)
            check(got.status == 200 and text_of(name, got.body) == UNICODE,
                  "%s %s: same text" % (odd, name), got.body[:300])
        whole = len(events(name, send(client, name).body))
        for n in range(0, 6):
            for stop in ("eof", "cut", "rst", "end", "end-mid"):
                got = send(client, name, "/m/%s=%d" % (stop, n))
                count = len(events(name, got.body))
                half = stop in ("cut", "end-mid")
                check(got.status == 200 and count in ((n, n + 1) if half else (n, )) and n < whole,
                      "%s=%d %s: N events" % (stop, n, name), (count, got.fault))
                check((got.fault is None) == stop.startswith("end"),
                      "%s=%d %s: whole only with end" % (stop, n, name), got.fault)
        found = events(name, send(client, name, "/m/error-event=3").body)
        last = found[-1]
        check(len(found) == 4 and ("error" in last[1] or last[0] == "!throttlingException"),
              "error-event in " + name, found)
        check(len(events(name, send(client, name, "/m/overloaded=2").body)) == 3,
              "overloaded in " + name)
        for stop in ("stall=3", "ping-forever=3,10", "comment-forever=3,10", "slow-headers"):
            got = send(client, name, "/m/" + stop, timeout=0.3)
            check(got.fault == "timed out", "%s does not end in %s" % (stop, name), got.fault)
        check(b"\xff\xfe" in send(client, name, "/m/garbage").body, "garbage in " + name)
        check(len(send(client, name, "/m/big-event=1").body) > 1 << 20, "big-event in " + name)


def errors_in_dialects(check, client):
    for name in NAMES:
        for status in (400, 401, 403, 404, 413, 429, 500, 503, 504, 529):
            got = send(client, name, "/m/status=%d+retry-after=7+retry-after-ms=1500" % status)
            check(got.status == status and got.headers["retry-after"] == "7"
                  and shape_of(name, got), "status %d in %s" % (status, name), got.body)
        check([send(client, name, "/m/status=429+times=2,%s" % name).status for _ in range(3)]
              == [429, 429, 200], "times=2 in " + name)
        words = words_of(name, send(client, name, "/m/overflow"))
        check("context window" in words or "exceeds the maximum" in words or "too long" in words,
              "overflow in " + name, words)
        check(send(client, name, "/s/nonsense").status == 404, "not found in " + name)
        got = send(client, name, "/m/json-error")
        check(got.status == 200 and b"essage" in got.body, "json-error in " + name, got.body)
    check(client.post("/s/hello/openai/deployments/d/responses?api-version=2025-04-01-preview",
                      says("azure-responses"), dialects.KEYS["azure-responses"]).status == 404,
          "Azure has no Responses below a deployment")
    got = client.post("/s/hello/v1beta/models/x:streamGenerateContent", says("gemini"),
                      dialects.KEYS["gemini"])
    check(isinstance(json.loads(got.body), list), "Gemini without alt=sse is an array", got.body)
    got = client.post("/s/hello/model/arn:aws:x/y/converse-stream", says("bedrock"),
                      dialects.KEYS["bedrock"])
    check(got.status == 404, "an unencoded slash in a Bedrock id", got.body)


def all_of_it(check, client, fixtures):
    fixtures_in_dialects(check, client, fixtures)
    for part in (refusals_in_dialects, signatures, conversations_in_dialects, streams_in_dialects,
                 errors_in_dialects):
        part(check, client)
