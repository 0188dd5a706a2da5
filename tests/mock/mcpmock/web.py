"""The server over HTTP: streamable HTTP of each revision, and HTTP with SSE of 2024-11-05.
Paths: [/m/BEHAVIOUR]...[/e/ERA,ERA]/mcp, the same with /sse, and /_log /_problems /_forget /_reset."""

import http.server
import json
import select
import socket
import threading
import time
from urllib.parse import parse_qs, unquote, urlsplit

from . import eras, things
from .options import Options, decoded
from .rules import Refused, need
from .session import Session
from .streams import Log, Stream


class Site:
    """One address with its behaviour: its sessions and what it has counted."""
    def __init__(self, options):
        self.options, self.sessions, self.count, self.made = options, {}, {}, 0
        self.lock = threading.Lock()
        self.modern = Session(options, None)
        self.modern.era, self.modern.modern = eras.MODERN, True

    def first(self, what, n):
        """True for the first n times; n == 0: always."""
        with self.lock:
            self.count[what] = self.count.get(what, 0) + 1
            return n == 0 or self.count[what] <= n

    def open(self):
        with self.lock:
            self.made += 1
            name = "session-%d" % self.made
        session = Session(self.options, None)
        session.name, session.listening = name, Log("get")
        session.transport = Announcer(session.listening, self.options)
        session.streams = {"get": session.listening}
        self.sessions[name] = session
        return session


class Announcer:
    def __init__(self, log, options):
        self.log, self.options = log, options

    def send(self, message):
        self.options.wrote(message)
        self.log.add(json.dumps(message))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, port, versions, log):
        super().__init__(("127.0.0.1", port), Handler)
        self.versions, self.file = versions, log
        self.sites, self.seen, self.problems, self.open = {}, [], [], 0
        self.lock = threading.Lock()

    def site(self, path):
        """'/m/json/e/2025-06-18/mcp' -> (its Site, '/m/json/e/2025-06-18', '/mcp')."""
        parts, behaviour, versions = path.split("/")[1:], [], self.versions
        while len(parts) > 2 and parts[0] in ("m", "e"):
            word = unquote(parts[1])
            if parts[0] == "m":
                behaviour.append(word)
            else:
                versions = word.split(",")
            parts = parts[2:]
        rest = "/" + "/".join(parts)
        prefix = path[:len(path) - len(rest)]
        with self.lock:
            if prefix not in self.sites:
                options = Options(versions, "+".join(behaviour), self.file)
                options.http, options.problems = True, self.problems
                self.sites[prefix] = Site(options)
            return self.sites[prefix], prefix, rest

    def handle_error(self, request, address):
        """A client that went away is nothing to print."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        """The log is /_log."""

    # ---- what is sent ----

    def plain(self, status, body=b"", kind="application/json", headers=()):
        self.noted["status"] = status
        self.send_response(status)
        if body:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.put(body)

    def put(self, data):
        options = self.options
        if options is not None and options.has("bytes"):
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for i in range(len(data)):
                self.wfile.write(data[i:i + 1])
                time.sleep(options.arg("bytes") / 1e6)
        else:
            self.wfile.write(data)
        self.wfile.flush()

    def chunk(self, text):
        data = text.encode("utf-8", "surrogatepass")
        if self.options.has("crlf"):
            data = data.replace(b"\n", b"\r\n")
        size = 7 if self.options.has("chunks") else len(data)
        for i in range(0, len(data), size):
            piece = data[i:i + size]
            self.put(b"%x\r\n%s\r\n" % (len(piece), piece))

    def refuse(self, refused, number=None):
        if not refused.probe:
            self.options.problem(refused.message)
        self.noted["problem"] = refused.message
        body = json.dumps(things.error(number, refused)).encode()
        if self.options.has("plain-errors"):
            return self.plain(refused.status, refused.message.encode(), "text/plain")
        return self.plain(refused.status, body)

    # ---- requests ----

    def do_POST(self):
        self.begin(self.post)

    def do_GET(self):
        self.begin(self.get)

    def do_DELETE(self):
        self.begin(self.delete)

    def begin(self, handle):
        self.options = None
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        self.noted = {"method": self.command, "path": self.path, "headers": self.shown_headers()}
        if url.path.startswith("/_"):
            return self.control(url)
        self.noted["body"] = self.body[:100000].decode("utf-8", "replace")
        with self.server.lock:
            self.server.seen.append(self.noted)
            del self.server.seen[:-2000]
        try:
            self.site, self.prefix, rest = self.server.site(url.path)
        except ValueError as e:
            return self.plain(501, str(e).encode(), "text/plain")
        self.options = self.site.options
        try:
            if rest == "/landed" or not self.misbehave():
                if rest not in ("/mcp", "/sse", "/messages"):
                    return self.plain(404, b"nothing here", "text/plain")
                handle(rest, url)
        except Refused as e:
            self.refuse(e)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def shown_headers(self):
        out = {k.lower(): v for k, v in self.headers.items()}
        return out

    def control(self, url):
        server = self.server
        if url.path == "/_log":
            last = int(parse_qs(url.query).get("last", ["2000"])[0])
            out = server.seen[-last:]
        elif url.path == "/_problems":
            out = server.problems
        else:
            out = {}
        body = json.dumps(out).encode()
        if url.path == "/_reset":
            server.seen, server.sites = [], {}
        if url.path in ("/_reset", "/_forget"):
            del server.problems[:]
        self.plain(200, body)

    def misbehave(self):
        """True: this request was dealt with."""
        options, site = self.options, self.site
        only = options.arg("method").replace("|", "/")
        if only and ('"%s"' % only).encode() not in self.body:
            return False
        if options.has("slow-headers"):
            time.sleep(options.arg("slow-headers") / 1000 or 3600)
        if options.has("token") and self.headers.get("Authorization") != "Bearer " + options.arg("token"):
            self.plain(401, b"", headers=[("WWW-Authenticate", 'Bearer error="invalid_token"')])
        elif options.has("drop") and site.first("drop", options.arg("drop")):
            self.close_connection = True
        elif options.has("status") and site.first("status", options.arg("status", 1)):
            self.plain(options.arg("status"), b"as asked", "text/plain")
        elif options.has("redirect"):
            where = options.arg("redirect").replace("|", "/") or "/landed"
            self.plain(options.arg("redirect", 1), b"", headers=[("Location", where)])
        elif options.has("type"):
            self.plain(200, b"<html>not MCP</html>", options.arg("type").replace("|", "/"))
        else:
            return False
        return True

    # ---- POST ----

    def post(self, rest, url):
        options, old = self.options, rest == "/messages"
        if options.versions == ["2024-11-05"] and not old or rest == "/sse":
            return self.plain(405, b"", headers=[("Allow", "GET")])
        kind = self.headers.get("Content-Type", "").split(";")[0].strip()
        need(kind == "application/json", "Content-Type is %r" % kind, -32600, 415)
        accept = self.headers.get("Accept", "")
        need(old or "application/json" in accept and "text/event-stream" in accept,
             "Accept is %r" % accept, -32600, 406)
        number = None
        try:
            try:
                message = json.loads(self.body)
            except (ValueError, RecursionError) as e:
                raise Refused("Parse error: %s" % e, -32700)
            options.read(message)
            need(isinstance(message, dict), "a batch has no place here", -32600)
            if "method" in message:
                number = message.get("id")
            session = self.old_session(url) if old else self.session(message)
            self.received(session, message, old)
        except Refused as e:
            self.refuse(e, number)

    def session(self, message):
        """The session that a message belongs to; a new one for initialize."""
        params = message.get("params", {})
        meta = params.get("_meta", {}) if isinstance(params, dict) else {}
        method, name = message.get("method"), self.headers.get("Mcp-Session-Id")
        version = self.headers.get("MCP-Protocol-Version")
        versions = self.options.versions
        if isinstance(meta, dict) and eras.META + "protocolVersion" in meta:
            if eras.MODERN not in versions:
                raise Refused("Bad Request: no session", -32000, probe=True)
            need(name is None, "Mcp-Session-Id in %s" % eras.MODERN)
            self.check_modern_headers(message, params, meta, version)
            return self.site.modern
        if method == "initialize":
            need(name is None, "initialize with Mcp-Session-Id")
            need(versions != [eras.MODERN], "initialize is not known; supported: %s" % versions,
                 -32601, 404)
            return self.site.open()
        if self.options.has("no-session"):
            session = next(reversed(self.site.sessions.values()), None)
            need(session is not None, "%s before initialize" % method)
        else:
            need(name is not None, "Mcp-Session-Id is missing")
            session = self.known_session(name)
        self.check_version(session, version)
        return session

    def known_session(self, name):
        session = self.site.sessions.get(name)
        if session is not None and self.options.has("lose-session"):
            if not self.site.first("kept", self.options.arg("lose-session")):
                del self.site.sessions[name]
                self.options.args.pop("lose-session")
                raise Refused("Session not found", -32001, 404, probe=True)
        need(session is not None, "Session not found", -32001, 404, probe=name.startswith("session-"))
        return session

    def check_version(self, session, version):
        if session.era is not None and session.era >= "2025-06-18":
            need(version == session.era, "MCP-Protocol-Version is %r, not %s" % (version, session.era))

    def check_modern_headers(self, message, params, meta, version):
        need(version == meta[eras.META + "protocolVersion"],
             "Header mismatch: MCP-Protocol-Version is %r" % version, -32020)
        if version in self.options.versions:
            method = self.headers.get("Mcp-Method")
            need(method == message.get("method"), "Header mismatch: Mcp-Method is %r" % method, -32020)
            key = eras.NAMED.get(method)
            if key:
                name = self.headers.get("Mcp-Name")
                need(name is not None and decoded(name) == params.get(key),
                     "Header mismatch: Mcp-Name is %r" % name, -32020)

    def received(self, session, message, old):
        listening = getattr(session, "listening", None)
        stream = Stream(self.options, "p%d" % len(self.server.seen), self.headers, listening)
        if old:
            stream.log = listening  # everything goes to the one stream
            stream.ready.set()
            stream.end = lambda: None
        need(not session.modern or "id" in message, "no notification comes over HTTP")
        call = session.receive(message, stream)
        if call is None:
            return self.plain(202)
        if not session.modern and not old:
            session.streams[stream.log.name] = stream.log
        threading.Thread(target=session.run, args=(call, ), daemon=True).start()
        if old:
            return self.plain(202, b"Accepted", "text/plain")
        headers = []
        if call.method == "initialize" and not self.options.has("no-session"):
            headers = [("Mcp-Session-Id", session.name)]
        while not stream.ready.wait(0.05):
            self.watch(session, call)
        if stream.whole is not None:
            status = self.status_of(session, json.loads(stream.whole))
            return self.plain(status, stream.whole.encode(), headers=headers)
        if not stream.log.events and stream.log.closed:
            self.close_connection = True
            return None
        return self.events(stream.log, 0, headers, lambda: self.watch(session, call), session)

    def status_of(self, session, message):
        if not session.modern or not isinstance(message, dict) or "error" not in message:
            return 200
        return {-32020: 400, -32021: 400, -32022: 400, -32601: 404}.get(message["error"]["code"], 200)

    def watch(self, session, call):
        """Cancels a modern call whose client has gone."""
        if self.left():
            if session.modern:
                call.gone.set()
            raise BrokenPipeError()

    def left(self):
        ready, _, _ = select.select([self.connection], [], [], 0)
        try:
            return bool(ready) and self.connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def events(self, log, at, headers, watch, session=None):
        """Writes a log's events, from one on, until it is closed."""
        options = self.options
        self.noted["status"] = 200
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.flush()
        ids = session is not None and not session.modern and (session.era or "") >= "2025-03-26"
        ids = ids and not options.has("no-ids")
        if options.has("retry"):
            self.chunk("retry: %d\n" % options.arg("retry") +
                       ("id: %s/%d\n" % (log.name, at) if ids else "") + "data: \n\n")
        sent = 0
        while True:
            events, closed = log.wait(at, 0.05)
            for data in events:
                if options.has("stall") and sent >= options.arg("stall"):
                    self.idle(watch)
                if options.has("cut") and sent >= options.arg("cut") and self.site.first("cut", 1):
                    self.chunk("event: message\nid: x\ndata: {\"json")
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                at, sent = at + 1, sent + 1
                self.event(log, at, data, ids)
            if closed and not events:
                self.put(b"0\r\n\r\n")
                return
            if options.has("pings"):
                self.chunk(": ping\n\n")
            watch()

    def event(self, log, at, data, ids):
        lines = "".join("data: %s\n" % line for line in data.split("\n"))
        self.chunk("event: message\n" + ("id: %s/%d\n" % (log.name, at) if ids else "") + lines + "\n")

    def idle(self, watch):
        while True:
            time.sleep(0.05)
            watch()

    # ---- GET and DELETE ----

    def get(self, rest, url):
        options = self.options
        accept = self.headers.get("Accept", "")
        if rest == "/sse" or options.versions == ["2024-11-05"]:
            return self.old_stream()
        if options.versions == [eras.MODERN] or options.has("no-get"):
            return self.plain(405, b"", headers=[("Allow", "POST")])
        need("text/event-stream" in accept, "Accept is %r" % accept, -32600, 406)
        if options.has("no-session"):
            session = next(reversed(self.site.sessions.values()), None)
            need(session is not None, "GET before initialize")
        else:
            name = self.headers.get("Mcp-Session-Id")
            need(name is not None, "Mcp-Session-Id is missing")
            session = self.known_session(name)
        self.check_version(session, self.headers.get("MCP-Protocol-Version"))
        log, at = session.listening, len(session.listening.events)
        last = self.headers.get("Last-Event-ID")
        if last is not None:
            stream, _, number = last.rpartition("/")
            need(stream in session.streams and number.isdigit(), "Last-Event-ID %r is none of ours" % last)
            log, at = session.streams[stream], int(number)
        elif not session.things.hits and log.events and not hasattr(session, "listened"):
            at = 0  # what came before the stream was opened
        session.listened = True
        return self.events(log, at, [], self.gone, session)

    def gone(self):
        if self.left() or self.site.sessions.get(self.headers.get("Mcp-Session-Id"), self) is None:
            raise BrokenPipeError()

    def delete(self, rest, url):
        if self.options.has("no-delete") or self.options.versions == [eras.MODERN]:
            return self.plain(405)
        name = self.headers.get("Mcp-Session-Id")
        need(name is not None, "Mcp-Session-Id is missing")
        session = self.known_session(name)
        self.check_version(session, self.headers.get("MCP-Protocol-Version"))
        del self.site.sessions[name]
        for log in session.streams.values():
            log.close()
        return self.plain(200)

    # ---- HTTP with SSE, 2024-11-05 ----

    def old_stream(self):
        need("text/event-stream" in self.headers.get("Accept", ""), "Accept is missing", -32600, 406)
        session = self.site.open()
        session.versions = ["2024-11-05"]
        self.noted["status"] = 200
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        where = "%s/messages?session=%s" % (self.prefix, session.name)
        if self.options.has("far-endpoint"):
            where = "http://127.0.0.2:9/messages"
        self.chunk("event: endpoint\ndata: %s\n\n" % where)
        at = 0
        while True:
            events, _ = session.listening.wait(at, 0.05)
            for data in events:
                at += 1
                self.event(session.listening, at, data, False)
            if self.left():
                self.site.sessions.pop(session.name, None)
                raise BrokenPipeError()

    def old_session(self, url):
        name = parse_qs(url.query).get("session", [""])[0]
        return self.known_session(name)


def serve(port, versions, log, watch_stdin):
    server = Server(port, versions, log)
    print("listening 127.0.0.1 %d" % server.server_address[1], flush=True)
    if watch_stdin:
        threading.Thread(target=until_eof, args=(server, ), daemon=True).start()
    server.serve_forever(0.1)


def until_eof(server):
    import os
    while os.read(0, 4096):
        pass
    os._exit(0)
