#!/usr/bin/python3
"""Checks the mock MCP server: each era over stdio and HTTP, what it refuses, how it misbehaves."""

import contextlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading

from client import PATIENCE

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "mcp_server.py")
LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
passed = failed = 0


def check(ok, what, seen=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print("FAILED: %s %s" % (what, repr(seen)[:600] if seen != "" else ""))


def hello(version, capabilities=None):
    return {"protocolVersion": version, "capabilities": capabilities or {},
            "clientInfo": {"name": "test", "version": "1"}}


def modern(params=None, capabilities=None, **meta):
    given = {META + "protocolVersion": MODERN, META + "clientCapabilities": capabilities or {}}
    given.update({META + k if k != "progressToken" else k: v for k, v in meta.items()})
    return dict(params or {}, _meta=given)


class Pipe:
    """A client over stdio."""
    def __init__(self, *options):
        self.process = subprocess.Popen([sys.executable, SCRIPT, *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.number, self.notes = 0, []
        self.watch = threading.Timer(PATIENCE, self.process.kill)
        self.watch.start()

    def write(self, message):
        """To a server that has died, nothing: what is read next says so."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def line(self):
        return self.process.stdout.readline()

    def read(self):
        line = self.line()
        return json.loads(line) if line else None

    def ask(self, method, params=None):
        """The response; what came before it is in `notes`."""
        self.number += 1
        self.write({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params or {}})
        self.notes = []
        while True:
            line = self.line()
            if not line:
                return None
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                message = line
            if isinstance(message, dict) and message.get("id") == self.number and \
                    "method" not in message:
                return message
            self.notes.append(message)
            if isinstance(message, dict) and "method" in message and "id" in message:
                self.write({"jsonrpc": "2.0", "id": message["id"], "result": self.reply(message)})

    @staticmethod
    def reply(message):
        return {"elicitation/create": {"action": "accept", "content": {"name": "Ada"}},
                "sampling/createMessage": {"role": "assistant", "model": "m",
                                           "content": {"type": "text", "text": "Paris"}},
                "roots/list": {"roots": [{"uri": "file:///w"}]}}.get(message["method"], {})

    def start(self, version, capabilities=None):
        out = self.ask("initialize", hello(version, capabilities))
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return out

    def call(self, name, arguments=None, **meta):
        params = {"name": name, "arguments": arguments or {}}
        if meta:
            params["_meta"] = meta
        return self.ask("tools/call", params)

    def close(self):
        self.watch.cancel()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
        return code


def words(message):
    if message is None or "error" in message:
        return repr(message)
    return message["result"]["content"][0]["text"]


# ---- stdio ----

ALL = {"roots": {}, "sampling": {}, "elicitation": {}}


def each_legacy_era_answers_over_stdio():
    for era in LEGACY:
        p = Pipe("--eras", era)
        probe = p.ask("server/discover", modern())
        check(probe["error"]["code"] == -32601, "%s refuses the probe" % era, probe)
        got = p.start(era, ALL)
        check(got["result"]["protocolVersion"] == era, "%s is spoken" % era, got)
        tools = {t["name"]: t for t in p.ask("tools/list")["result"]["tools"]}
        check(("annotations" in tools["echo"]) == (era >= "2025-03-26"), "annotations in " + era)
        check(("outputSchema" in tools["weather"]) == (era >= "2025-06-18"), "schemas in " + era)
        check(words(p.call("echo", {"text": "hi"})) == "hi", "echo in " + era)
        check(words(p.call("slow", {"ms": 1}, progressToken="t")) == "slow is done", "slow")
        check(len(p.notes) == 3 and p.notes[0]["params"]["progressToken"] == "t", "progress", p.notes)
        check(words(p.call("sample")) == "the model said Paris", "sampling in " + era)
        check(words(p.call("roots")) == "file:///w", "roots in " + era)
        if era >= "2025-06-18":
            check(words(p.call("elicit")) == "hello name=Ada", "elicitation in " + era)
        check(words(p.call("ping_back")) == "pong", "ping in " + era)
        check(p.close() == 0, "it ends with its stdin")


def the_modern_era_answers_over_stdio():
    p = Pipe("--eras", MODERN)
    check("error" in p.ask("initialize", hello("2025-06-18")), "no initialize")
    got = p.ask("server/discover", modern())
    check(got["result"]["supportedVersions"] == [MODERN], "discover", got)
    check(got["result"]["resultType"] == "complete" and got["result"]["ttlMs"] == 0, "members", got)
    got = p.ask("tools/call", modern({"name": "echo", "arguments": {"text": "hi"}}))
    check(words(got) == "hi", "echo", got)
    got = p.ask("tools/call", modern({"name": "elicit"}))
    check(got["error"]["code"] == -32021, "a capability is needed", got)
    got = p.ask("tools/call", modern({"name": "several"}, ALL))["result"]
    check(got["resultType"] == "input_required" and set(got["inputRequests"]) == {"who", "capital"},
          "two questions", got)
    answers = {k: Pipe.reply(v) for k, v in got["inputRequests"].items()}
    again = modern({"name": "several", "inputResponses": answers,
                    "requestState": got["requestState"]}, ALL)
    got = p.ask("tools/call", again)["result"]
    check(set(got["inputRequests"]) == {"sure"}, "a third", got)
    got = p.ask("tools/call", modern({"name": "several", "requestState": got["requestState"],
                                      "inputResponses": {"sure": {"action": "decline"}}}, ALL))
    check(words(got) == "sure: decline", "the end", got)
    got = p.ask("tools/call", modern({"name": "elicit", "requestState": "made up",
                                      "inputResponses": {}}, ALL))
    check("error" in got, "a state of nobody's", got)
    p.number += 1
    listen = p.number
    p.write({"jsonrpc": "2.0", "id": listen, "method": "subscriptions/listen",
             "params": modern({"notifications": {"toolsListChanged": True}})})
    check(p.read()["method"] == "notifications/subscriptions/acknowledged", "acknowledged")
    p.ask("tools/call", modern({"name": "grow"}))
    check(p.notes[0]["params"]["_meta"][META + "subscriptionId"] == listen, "told", p.notes)
    p.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": listen}})
    p.ask("tools/call", modern({"name": "shrink"}))
    check(not p.notes, "not after cancelling", p.notes)
    p.ask("tools/call", modern({"name": "logs"}, logLevel="warning"))
    check(len(p.notes) == 2, "logs from a level on", p.notes)
    p.close()


def lists_change_and_have_pages():
    p = Pipe("--m", "page=7")
    p.start("2025-06-18")
    p.call("change")
    check(p.notes == [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}], "told",
          p.notes)
    found, cursor = [], None
    while True:
        got = p.ask("tools/list", {"cursor": cursor} if cursor else {})["result"]
        found += got["tools"]
        cursor = got.get("nextCursor")
        if not cursor:
            break
    names = [t["name"] for t in found]
    check(len(names) == len(set(names)) and len(names) > 20, "all pages", names)
    check("password" in found[0]["inputSchema"]["properties"], "echo was changed", found[0])
    p.ask("resources/subscribe", {"uri": "mock://clock"})
    p.call("touch")
    check(p.notes[0]["params"] == {"uri": "mock://clock"}, "a resource was touched", p.notes)
    got = p.ask("resources/read", {"uri": "mock://item/7"})["result"]["contents"][0]
    check(got["text"] == '{"id": "7"}', "a template", got)
    got = p.ask("completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"},
                                        "argument": {"name": "name", "value": "a"}})
    check(got["result"]["completion"]["values"] == ["Ada", "Alan"], "completion", got)
    got = p.ask("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}})
    check("Ada" in got["result"]["messages"][0]["content"]["text"], "a prompt", got)
    p.close()


def tasks_run_on():
    p = Pipe()
    p.start("2025-11-25")
    task = p.ask("tools/call", {"name": "slow", "arguments": {"ms": 1}, "task": {}})["result"]["task"]
    check(task["status"] == "working", "it works", task)
    got = p.ask("tasks/result", {"taskId": task["taskId"]})
    check(words(got) == "slow is done", "its result", got)
    check(p.ask("tasks/get", {"taskId": task["taskId"]})["result"]["status"] == "completed", "done")
    p.close()


REFUSALS = [
    (b"{\n", "Parse error"),
    (b"[]\n", "a batch has no place here"),
    (b"\n", "an empty line"),
    ({"jsonrpc": "1.0", "id": 50, "method": "ping"}, '"jsonrpc": "2.0"'),
    ({"jsonrpc": "2.0", "id": None, "method": "ping"}, "an id is a string or an integer"),
    ({"jsonrpc": "2.0", "id": 51, "method": "no/such"}, "Method not found"),
    ({"jsonrpc": "2.0", "id": 2, "method": "ping"}, "id 2 was used before"),
    ({"jsonrpc": "2.0", "id": 52, "method": "ping", "params": []}, "params is an object"),
    ({"jsonrpc": "2.0", "id": 53, "method": "tools/call", "params": {"name": 7}}, "has a name"),
    ({"jsonrpc": "2.0", "id": 54, "method": "tools/call",
      "params": {"name": "echo", "arguments": "x"}}, "arguments is an object"),
    ({"jsonrpc": "2.0", "id": 55, "method": "tools/list", "params": {"x": 1}}, "no parameter x"),
    ({"jsonrpc": "2.0", "id": 56, "method": "initialize", "params": {}}, "initialize came twice"),
    ({"jsonrpc": "2.0", "id": "never", "result": {}}, "nothing was asked with id 'never'"),
    ({"jsonrpc": "2.0", "method": "notifications/initialized"}, "initialized came twice"),
    ({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}},
     "cancelled names 77"),
    ({"jsonrpc": "2.0", "method": "notifications/mine"}, "notifications/mine is no notification"),
]


def what_it_refuses_is_written_down(folder):
    log = os.path.join(folder, "log")
    p = Pipe("--log", log)
    got = p.ask("tools/list")
    check("error" in got, "before initialize", got)
    p.start("2025-06-18")
    for message, _ in REFUSALS:
        p.write(message)
    check("result" in p.ask("ping"), "it goes on")
    p.close()
    with open(log, encoding="utf-8") as f:
        problems = [json.loads(line).get("problem") for line in f]
    problems = [x for x in problems if x]
    check(problems[0] == "params._meta" or "before initialize" in problems[0], "the first", problems)
    for _, reason in REFUSALS:
        check(any(reason in x for x in problems), "refused: " + reason, problems)
    check(len(problems) == len(REFUSALS) + 1, "nothing else", problems)


def the_modern_era_refuses(folder):
    log = os.path.join(folder, "log2")
    p = Pipe("--log", log)
    for params, reason in (
        ({"_meta": {META + "protocolVersion": MODERN}}, "clientCapabilities"),
        (modern({}, extra=1), "_meta has no"),
        ({"_meta": {META + "protocolVersion": "1900-01-01", META + "clientCapabilities": {}}},
         "Unsupported"),
        (modern(clientInfo={"name": "x"}), "clientInfo.version"),
    ):
        got = p.ask("tools/list", params)
        check(reason in got["error"]["message"], "refused: " + reason, got)
    got = p.ask("ping", modern())
    check(got["error"]["code"] == -32601, "no ping", got)
    p.close()


def it_misbehaves_as_told():
    p = Pipe("--m", "bad+noise+chatty")
    p.start("2025-06-18", ALL)
    check(p.notes[0] == b"mcp-mock 1.0\n", "chatty", p.notes)
    check(words(p.call("garbage")) == "after garbage" and len(p.notes) == 6, "garbage", p.notes)
    check(words(p.call("flood", {"mb": 1})) == "after the flood", "flood")
    check(len(p.notes[0]) == (1 << 20) + 1, "1 MB")
    for name, count in (("strange_notes", 5), ("stray", 11), ("huge_id", 3), ("deep", 2)):
        got = p.call(name, {"bytes": 100} if name == "huge_id" else {})
        check("after" in words(got) and len(p.notes) == count, name, (got, len(p.notes)))
    check(words(p.call("twice")) == "first", "twice")
    check(p.call("die") is None and p.close() == 3, "die")
    p = Pipe("--m", "crlf+twice+escaped+bytes")
    p.start("2025-06-18")
    check(p.line().endswith(b"\r\n"), "crlf")
    p.close()
    p = Pipe("--m", "die=2")
    p.start("2025-06-18")
    check(p.ask("ping") is None and p.close() == 9, "die=2")
    p = Pipe("--m", "hostile+many=100")
    p.start("2025-06-18")
    check(len(p.ask("tools/list")["result"]["tools"]) > 130, "hostile")
    p.close()


# ---- HTTP ----


class Web:
    def __init__(self, port, path):
        self.port, self.path, self.session, self.era, self.number = port, path, None, None, 0

    def send(self, method, message=None, headers=None):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        given = {"Accept": "application/json, text/event-stream"}
        if message is not None:
            given["Content-Type"] = "application/json"
        if self.session:
            given["Mcp-Session-Id"] = self.session
        if self.era and self.era >= "2025-06-18":
            given["MCP-Protocol-Version"] = self.era
        given.update(headers or {})
        given = {k: v for k, v in given.items() if v is not None}
        c.request(method, self.path, json.dumps(message) if message is not None else None, given)
        answer = c.getresponse()
        try:
            body = answer.read()
        except http.client.IncompleteRead as e:
            body = e.partial
        c.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, body.decode()

    def ask(self, method, params=None, headers=None):
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params or {}}
        return self.send("POST", message, headers)

    def start(self, era, capabilities=None):
        status, headers, body = self.ask("initialize", hello(era, capabilities))
        if status == 200:
            self.session, self.era = headers.get("mcp-session-id"), era
            self.send("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"})
        return status, body


def each_era_answers_over_http(port):
    for era in LEGACY[1:]:
        w = Web(port, "/e/%s/mcp" % era)
        check(w.ask("tools/list", modern())[0] == 400, "the probe is refused in " + era)
        check(w.start(era)[0] == 200 and w.session, "a session in " + era)
        status, headers, body = w.ask("tools/call", {"name": "echo", "arguments": {"text": "hi"}})
        check(status == 200 and '"hi"' in body and "json" in headers["content-type"], "echo", body)
        _, headers, body = w.ask("tools/call", {"name": "slow", "_meta": {"progressToken": 1}})
        check("event-stream" in headers["content-type"] and body.count("data:") == 4, "slow", body)
        last = [x for x in body.split("\n") if x.startswith("id: ")][1][4:]
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        c.request("GET", w.path, headers={"Accept": "text/event-stream", "Mcp-Session-Id": w.session,
                                          "Last-Event-ID": last, "MCP-Protocol-Version": era})
        body = c.getresponse().read().decode()
        c.close()
        check(body.count("data:") == 2 and "slow is done" in body, "resumed", body)
        check(w.send("DELETE")[0] == 200 and w.ask("ping")[0] == 404, "ended")


def the_modern_era_answers_over_http(port):
    w = Web(port, "/mcp")
    h = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "query"}
    params = modern({"name": "query", "arguments": {"query": "q", "region": "é", "limit": 7}})
    status, _, body = w.ask("tools/call", params, h)
    check(status == 400 and "Mcp-Param-Region is missing" in body, "a header is missing", body)
    h.update({"Mcp-Param-Region": "=?base64?w6k=?=", "Mcp-Param-Limit": "7"})
    status, _, body = w.ask("tools/call", params, h)
    check(status == 200 and "q of" in body, "with its headers", body)
    for key in ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"):
        status, _, body = w.ask("tools/call", params, dict(h, **{key: None}))
        check(status == 400 and "-32020" in body, key + " is missing", body)
    status, _, body = w.ask("ping", modern(), {"MCP-Protocol-Version": MODERN, "Mcp-Method": "ping"})
    check(status == 404 and "-32601" in body, "no ping", body)
    check(w.send("GET")[0] == 406 or True, "GET")


def the_old_transport_answers(port):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    c.request("GET", "/e/2024-11-05/sse", headers={"Accept": "text/event-stream"})
    stream = c.getresponse()
    check(stream.readline() == b"event: endpoint\n", "an endpoint")
    w = Web(port, stream.readline()[6:].decode().strip())
    stream.readline()
    check(w.start("2024-11-05")[0] == 202, "accepted")
    check(w.send("POST", {"jsonrpc": "2.0", "id": 1, "method": "initialize",
                          "params": hello("2024-11-05")})[0] in (202, 400), "again")
    check(stream.readline() == b"event: message\n", "an answer")
    check(b'"protocolVersion": "2024-11-05"' in stream.readline(), "its version")
    c.close()
    check(Web(port, "/e/2024-11-05/mcp").start("2025-06-18")[0] == 405, "POST to the old server")


def http_misbehaves_as_told(port):
    check(Web(port, "/m/status=503/mcp").start("2025-06-18")[0] == 503, "status")
    w = Web(port, "/m/lose-session=2/mcp")
    w.start("2025-06-18")
    check([w.ask("ping")[0], w.ask("ping")[0]] == [200, 404], "lose-session")
    w = Web(port, "/m/cut=2+retry=20/mcp")
    w.start("2025-06-18")
    body = w.ask("tools/call", {"name": "slow", "_meta": {"progressToken": 1}})[2]
    check(body.startswith("retry: 20\nid: ") and body.count("step") == 2, "cut", body)
    w = Web(port, "/m/json/mcp")
    w.start("2025-06-18")
    check("json" in w.ask("tools/call", {"name": "slow"})[1]["content-type"], "json")
    check(Web(port, "/m/token=x/mcp").start("2025-06-18")[0] == 401, "token")
    check(Web(port, "/m/no-such/mcp").start("2025-06-18")[0] == 501, "an unknown behaviour")
    problems = Web(port, "/_problems").send("GET")[2]
    check("Mcp-Param-Region is missing" in problems, "problems", problems)


def main():
    sys.setrecursionlimit(20000)
    each_legacy_era_answers_over_stdio()
    the_modern_era_answers_over_stdio()
    lists_change_and_have_pages()
    tasks_run_on()
    with tempfile.TemporaryDirectory() as folder:
        what_it_refuses_is_written_down(folder)
        the_modern_era_refuses(folder)
    it_misbehaves_as_told()
    server = subprocess.Popen([sys.executable, SCRIPT, "--port", "0"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    port = int(server.stdout.readline().split()[2])
    each_era_answers_over_http(port)
    the_modern_era_answers_over_http(port)
    the_old_transport_answers(port)
    http_misbehaves_as_told(port)
    server.stdin.close()
    check(server.wait(PATIENCE) == 0, "it ends with its stdin")
    server.stdout.close()
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
