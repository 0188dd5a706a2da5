#!/usr/bin/python3
"""The mock model server: scripted conversations over loopback HTTP, strict and able to misbehave.

See README.md.
"""

import argparse
import asyncio
import base64
import collections
import hashlib
import json
import os
import signal
import ssl
import sys
import threading
import weakref
from urllib.parse import quote, unquote

try:
    from aiohttp import web
except ImportError:
    sys.exit(
        "tests/mock/server.py needs aiohttp (Debian: apt-get install python3-aiohttp, run with "
        "/usr/bin/python3)"
    )

import delivery
import misbehave
import prefix_cache
import queries
import scenario
import wires
from wires.base import GARBAGE, Asked, Refusal

MOST_READ = 80 * 1024 * 1024  # bytes of a request body that are read at all
MOST_LOGGED = 1024 * 1024  # bytes of a body that the log keeps
SECRETS = ("authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie",
           "proxy-authorization")
HARMLESS = ("host", "accept", "content-type", "content-length", "anthropic-version", "x-amz-date",
            "x-amz-content-sha256")
FAMILIES = ("claude", "gpt", "o1", "o3", "o4", "mock", "gemini", "anthropic.", "us.", "amazon.",
            "llama", "qwen", "deepseek", "mistral")


class Server:
    def __init__(self, options):
        self.options = options
        self.scenarios = scenario.Scenarios(options.default)
        for path in options.scenario or []:
            self.scenarios.add_file(path)
        self.wires = wires.load_all()
        self.serial = 0
        self.seen = weakref.WeakKeyDictionary()  # transport -> requests on it
        self.runner = None
        self.reset()

    def reset(self):
        self.log = collections.deque(maxlen=1000)
        self.last_body = b""
        self.total = self.connections = self.gone = self.active = self.peak = 0
        self.thinking_sent = self.thinking_dropped = self.refused = 0
        self.uses = collections.Counter()  # of `times`
        self.cache = prefix_cache.PrefixCache()  # of requests with `cache`

    # ---- one request ----

    async def handle(self, request):
        raw_path = request.rel_url.raw_path
        if raw_path.startswith("/_"):
            return self.control(request, raw_path)
        self.total += 1
        self.serial += 1
        nth = self.seen.get(request.transport, 0) + 1
        self.seen[request.transport] = nth
        self.connections += nth == 1
        entry = {
            "n": self.serial, "method": request.method, "path": raw_path,
            "query": request.query_string, "http": "1.%d" % request.version.minor,
            "nth_on_connection": nth, "headers": redact(request.headers), "body": None,
            "body_bytes": 0, "status": None, "problem": None
        }
        self.log.append(entry)
        self.active += 1
        self.peak = max(self.peak, self.active)
        try:
            return await self.answer(request, raw_path, entry, nth)
        except (delivery.Gone, ConnectionError):
            self.gone += 1
            entry["gone"] = True
            return delivery.Sent(False)
        finally:
            self.active -= 1

    async def answer(self, request, raw_path, entry, nth):
        try:
            behaviour, name, rest = misbehave.split_path(raw_path)
            behaviour.add(request.query.get("m", ""))
            behaviour.add(request.headers.get("x-mock", ""))
            if behaviour.has("echo"):
                behaviour.echo = carried(request, behaviour.arg("echo"))
        except (misbehave.UnknownBehaviour, ValueError) as e:
            entry["status"], entry["problem"] = 501, "unknown behaviour %s" % e
            return web.Response(status=501, text=entry["problem"] + "\n")
        raw = delivery.Raw(request, behaviour)
        if behaviour.has("drop-second") and nth > 1:
            request.transport.abort()
            raise delivery.Gone()
        if behaviour.has("no-read"):
            await raw.silence()
        query = queries.find(self.wires, request.method, rest, request.headers)
        if query is not None:
            return await self.query(request, raw, query, behaviour, rest, entry)
        wire = next((w for w in self.wires if w.owns(rest)), None)
        if wire is None or request.method != "POST":
            entry["status"], entry["problem"] = 404, "no such endpoint"
            return web.json_response(
                {"error": {"type": "not_found_error", "message": "Not found: " + rest}}, status=404)
        if behaviour.has("early"):
            raw.keep = False
            return await self.refuse(raw, wire, wire.refusal_for_status(behaviour.arg("early")),
                                     entry)
        body = await self.read_body(request, behaviour)
        note_body(entry, body)
        self.last_body = body
        asked = Asked(request.method, request.raw_path.partition("?")[0], rest, request.query,
                      request.headers, body)
        return await self.converse(request, raw, wire, behaviour, name, asked, entry)

    async def query(self, request, raw, query, behaviour, rest, entry):
        """A list of models, or a count of tokens."""
        body = await self.read_body(request, behaviour)
        note_body(entry, body)
        self.last_body = body
        asked = Asked(request.method, request.raw_path.partition("?")[0], rest, request.query,
                      request.headers, body)
        if not self.due(behaviour, None, request):
            behaviour.clear()
        if behaviour.has("slow-headers"):
            await raw.silence(behaviour.arg("slow-headers"))
        try:
            out = queries.answer(query, asked, behaviour)
        except Refusal as e:
            return await self.refuse(raw, query[0], e, entry)
        answer = self.troubled(query[0], behaviour, entry)
        if answer is not None:
            return await self.troubled_answer(raw, query[0], behaviour, answer, entry)
        entry["status"] = 200
        return web.json_response(out)

    async def read_body(self, request, behaviour):
        out = bytearray()
        while True:
            slow = behaviour.has("slow-body")
            data = await request.content.read(16384 if slow else 1 << 20)
            if not data:
                return bytes(out)
            if len(out) < MOST_READ:
                out += data
            if slow:
                await asyncio.sleep(len(data) / max(1, behaviour.arg("slow-body")))

    async def converse(self, request, raw, wire, behaviour, name, asked, entry):
        refusal = conversation = None
        try:
            conversation = wire.check(asked, behaviour)
            conversation.digest, conversation.body_bytes = digest(asked.body), len(asked.body)
            self.count_thinking(conversation.binding, entry)
            found = self.find(name, conversation.model)
            if found is None:
                refusal = wire.refusal_for_status(404)
                refusal.message = "model: " + (name or conversation.model)
        except Refusal as e:
            refusal = e
        if not self.due(behaviour, conversation, request):
            behaviour.clear()
        if behaviour.has("slow-headers"):
            await raw.silence(behaviour.arg("slow-headers"))
        if refusal is None or behaviour.has("case"):
            answer = self.troubled(wire, behaviour, entry)
            if answer is not None:
                return await self.troubled_answer(raw, wire, behaviour, answer, entry)
        if refusal is not None:
            return await self.refuse(raw, wire, refusal, entry)
        turn = self.scenarios.turn(found, conversation)
        if behaviour.has("cache"):
            turn.usage = dict(turn.usage, **self.cache.ask(wire.name, conversation.model, asked.body))
            conversation.diagnosis = self.cache.diagnose(
                conversation.new_id("msg_", "m"), conversation.diagnostics, conversation.model)
        return await self.deliver(raw, wire, behaviour, turn, conversation, entry)

    def count_thinking(self, bound, entry):
        if bound is None:
            return
        entry["thinking_sent"], entry["thinking_dropped"] = bound.sent, bound.transformations()
        self.thinking_sent += bound.sent
        self.thinking_dropped += len(bound.dropped)

    def find(self, name, model):
        if name is not None:
            return self.scenarios.find(name)
        return self.scenarios.find(model) or (self.scenarios.find(self.scenarios.default)
                                              if model.startswith(FAMILIES) else None)

    def due(self, behaviour, conversation, request):
        """Whether the misbehaviour applies to this request: `on-turn` and `times` restrict it."""
        if behaviour.has("on-turn") and conversation and conversation.assistant_count(
        ) != behaviour.arg("on-turn"):
            return False
        if behaviour.has("times"):
            key = request.rel_url.raw_path + "?" + request.query_string + request.headers.get(
                "x-mock", "")
            self.uses[key] += 1
            return self.uses[key] <= behaviour.arg("times")
        return True

    # ---- answers that are not a stream of the model ----

    def troubled(self, wire, behaviour, entry):
        """(status, content type, body, headers) if a misbehaviour replaces the answer, or None."""
        request_id = "req_mock_%d" % self.serial

        if behaviour.echo:
            request_id = behaviour.echo

        def refused(status, refusal):
            if behaviour.echo:
                refusal.message += " " + behaviour.echo
            body = json.dumps(wire.error_body(refusal, request_id)).encode()
            return status, "application/json", body, wire.error_headers(refusal)

        html = ("<html><head><title>Bad Gateway %s</title></head><body><h1>nginx</h1></body></html>" %
                behaviour.echo).replace(" <", "<").encode()
        status = behaviour.arg("status") if behaviour.has("status") else None
        if behaviour.has("redirect"):
            return behaviour.arg("redirect"), "text/html", b"moved", {"Location": "/landed"}
        if behaviour.has("case"):
            case = self.fixture_case(behaviour.arg("case"))
            kind = "application/json" if case["body"][:1] in "[{" else "text/html"
            return case["status"], kind, case["body"].encode(), case["headers"]
        if behaviour.has("replay"):
            with open(os.path.join(self.fixtures(), behaviour.arg("replay")), "rb") as f:
                return 200, "text/event-stream", f.read(), {}
        if behaviour.has("empty-body"):
            return status or 400, "application/json", b"", {}
        if behaviour.has("html"):
            return status or 200, "text/html; charset=utf-8", html, {}
        if behaviour.has("overflow"):
            refusal = wire.overflow()
            return refused(refusal.status, refusal)
        if behaviour.has("json-error"):
            return refused(200, wire.refusal_for_status(status or 500))
        if status:
            return refused(status, wire.refusal_for_status(status))
        return None

    async def troubled_answer(self, raw, wire, behaviour, answer, entry):
        status, kind, body, headers = answer
        extra = dict({"Content-Type": kind}, **headers)
        if not behaviour.has("case"):
            extra.update(wire.headers(behaviour.echo or "req_mock_%d" % self.serial))
        for name, header in (("retry-after", "Retry-After"), ("retry-after-ms", "Retry-After-Ms"),
                             ("should-retry", "X-Should-Retry")):
            if behaviour.has(name):
                extra[header] = behaviour.arg(name)
        if behaviour.has("type"):
            extra["Content-Type"] = behaviour.arg("type")
        if behaviour.has("truncated-json"):
            body = body[:len(body) // 2]
        entry["status"] = status
        await raw.document(status, extra, body)
        return delivery.Sent(raw.keep)

    async def refuse(self, raw, wire, refusal, entry):
        entry["status"], entry["problem"] = refusal.status, refusal.message
        self.refused += 1
        request_id = "req_mock_%d" % self.serial
        body = json.dumps(wire.error_body(refusal, request_id)).encode()
        headers = dict(wire.headers(request_id), **{"Content-Type": "application/json"},
                       **wire.error_headers(refusal), **refusal.headers)
        await raw.document(refusal.status, headers, body)
        return delivery.Sent(raw.keep)

    def fixtures(self):
        if not self.options.fixtures:
            raise web.HTTPNotImplemented(text="start the server with --fixtures DIR\n")
        return self.options.fixtures

    def fixture_case(self, name):
        with open(os.path.join(self.fixtures(), "http_errors", "cases.json"),
                  encoding="utf-8") as f:
            for case in json.load(f):
                if case["name"] == name:
                    return case
        raise web.HTTPNotImplemented(text="no case %s\n" % name)

    # ---- the answer of the model ----

    async def deliver(self, raw, wire, behaviour, turn, conversation, entry):
        headers = wire.headers("req_mock_%d" % self.serial)
        entry["status"] = 200
        if behaviour.has("garbage"):
            spoil(turn)
        if behaviour.has("whole") or not conversation.stream:
            body = json.dumps(wire.whole(turn, conversation)).encode()
            if behaviour.has("truncated-json"):
                body = body[:len(body) // 2]
            await raw.document(200, dict(headers, **{"Content-Type": "application/json"}), body)
            return delivery.Sent(raw.keep)
        kind = behaviour.arg("type") if behaviour.has("type") else wire.content_type
        await raw.head(200, dict(headers, **{"Content-Type": kind, "Cache-Control": "no-cache"}))
        stream = delivery.Stream(raw, wire, behaviour, turn.delay_ms)
        try:
            await stream.run(wire.events(turn, conversation, behaviour))
        except delivery.Ended:
            pass
        finally:
            entry["events"] = stream.count
        return delivery.Sent(raw.keep)

    # ---- what tests ask about ----

    def control(self, request, path):
        if path == "/_log":
            last = int(request.query.get("last", 0))
            return web.json_response(list(self.log)[-last:])
        if path == "/_stats":
            transports = len(self.runner.server.connections) if self.runner else 0
            return web.json_response({
                "total": self.total, "connections": self.connections, "active": self.active,
                "peak_active": self.peak, "gone": self.gone, "open": max(0, transports - 1),
                "refused": self.refused, "thinking_sent": self.thinking_sent,
                "thinking_dropped": self.thinking_dropped
            })
        if path == "/_cache":
            return web.json_response(self.cache.figures)
        if path == "/_body":
            return web.Response(body=self.last_body, content_type="application/json")
        if path == "/_reset":
            self.reset()
            return web.json_response({})
        return web.json_response({"error": "no such control path"}, status=404)


def carried(request, form):
    """The values of a request's headers and its query, as one text in a form."""
    said = " ".join(v for k, v in request.headers.items() if k.lower() not in HARMLESS)
    said += " " + request.query_string + " " + unquote(request.query_string)
    if form == "base64":
        return base64.b64encode(said.encode()).decode()
    return quote(said, safe="") if form == "percent" else said


def redact(headers):
    return {
        k.lower(): "redacted (%d)" % len(v) if k.lower() in SECRETS else v
        for k, v in headers.items()
    }


def digest(body):
    return hashlib.sha1(body).hexdigest()


def note_body(entry, body):
    entry["body_bytes"] = len(body)
    if len(body) > MOST_LOGGED:
        return
    try:
        entry["body"] = json.loads(body)
    except ValueError:
        entry["body"] = body.decode("utf-8", "replace")


def spoil(turn):
    """Marks the first text or thinking so that its frame carries bytes that are not UTF-8."""
    for block in turn.blocks:
        for key in ("text", "thinking"):
            if key in block:
                block[key] = GARBAGE + block[key]
                return


# ---- the process ----


def die_with_stdin():
    """A test that is killed closes our stdin: end with it."""
    def wait():
        while os.read(0, 4096):
            pass
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


async def mute(reader, writer):
    """A peer that accepts and never says a word."""
    while await reader.read(65536):
        pass
    writer.close()


async def main(options):
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if options.mute:
        server = await asyncio.start_server(mute, options.host, options.port)
        port = server.sockets[0].getsockname()[1]
    else:
        tls = None
        if options.tls:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(*options.tls)
        mock = Server(options)
        web_server = web.Server(mock.handle, access_log=None, keepalive_timeout=options.keepalive)
        runner = mock.runner = web.ServerRunner(web_server)
        await runner.setup()
        site = web.TCPSite(runner,
                           options.host,
                           options.port,
                           ssl_context=tls,
                           backlog=1024,
                           shutdown_timeout=0.1)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]
    print("listening %s %d" % (options.host, port), flush=True)
    if not options.ignore_stdin:
        die_with_stdin()
    await stop.wait()
    os._exit(0)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    parser.add_argument("--scenario", action="append", metavar="FILE.json")
    parser.add_argument("--default",
                        default="hello",
                        help="scenario for model names of the providers")
    parser.add_argument("--fixtures", metavar="DIR", help="for the behaviours case= and replay=")
    parser.add_argument("--keepalive", type=float, default=75, metavar="SECONDS")
    parser.add_argument("--mute", action="store_true", help="accept connections and never answer")
    parser.add_argument("--ignore-stdin", action="store_true", help="do not end when stdin closes")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main(parse_options()))
