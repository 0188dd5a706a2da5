"""Puts an answer on the wire, byte by byte under our control.

aiohttp parses the requests; answers of the model are written here to its transport, because the
misbehaviours need what a well-behaved library does not allow: half a chunk, a reset, one byte at
a time.
"""

import asyncio
import random
import socket
import struct
from email.utils import formatdate

from aiohttp import web

REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    413: "Payload Too Large", 429: "Too Many Requests", 500: "Internal Server Error",
    503: "Service Unavailable", 529: "Overloaded"
}
MOST_QUEUED = 256 * 1024  # bytes handed to the transport before we wait for the client


class Gone(Exception):
    """The client closed, or we did: nothing more can be written."""


class Sent(web.StreamResponse):
    """Tells aiohttp that the answer has been written already, and whether the connection stays."""
    def __init__(self, keep):
        super().__init__()
        self.keep = keep

    keep_alive = property(lambda self: self.keep)

    async def prepare(self, request):
        return None

    async def write_eof(self, data=b""):
        return None


class Raw:
    def __init__(self, request, behaviour):
        self.transport = request.transport
        self.behaviour = behaviour
        self.old = behaviour.has("http10") or request.version < (1, 1)
        self.keep = not (self.old or behaviour.has("close") or behaviour.has("close-early"))
        self.chunked = False
        self.random = random.Random(behaviour.arg("split")) if behaviour.has("split") else None

    async def put(self, data):
        """Writes bytes as they are, cut as the behaviour says."""
        if self.behaviour.has("bytes"):
            for i in range(len(data)):
                await self.piece(data[i:i + 1])
                await asyncio.sleep(self.behaviour.arg("bytes") / 1e6)
        elif self.random:
            at = 0
            while at < len(data):
                size = self.random.randint(1, max(1, self.behaviour.arg("split", 1)))
                await self.piece(data[at:at + size])
                await asyncio.sleep(0)
                at += size
        else:
            for at in range(0, len(data), MOST_QUEUED):
                await self.piece(data[at:at + MOST_QUEUED])

    async def piece(self, data):
        if self.transport is None or self.transport.is_closing():
            raise Gone()
        self.transport.write(data)
        while self.transport.get_write_buffer_size() > MOST_QUEUED:
            if self.transport.is_closing():
                raise Gone()
            await asyncio.sleep(0.001)

    async def head(self, status, headers, length=None):
        """Status line and headers. Without a length the body is chunked, or ends by closing."""
        lines = ["HTTP/1.%d %d %s" % (0 if self.old else 1, status, REASONS.get(status, "Status"))]
        given = {name.lower() for name in headers}
        headers = dict({} if "date" in given else {"Date": formatdate(usegmt=True)}, **headers)
        if length is not None:
            headers["Content-Length"] = str(length)
        elif not self.old:
            headers["Transfer-Encoding"] = "chunked"
            self.chunked = True
        if not self.keep and not self.behaviour.has("close-early"):
            headers["Connection"] = "close"
        if self.behaviour.has("big-header"):
            headers["X-Big"] = "x" * (1024 * self.behaviour.arg("big-header"))
        lines += ["%s: %s" % item for item in headers.items()]
        await self.put(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    async def send(self, data):
        """One piece of the body, one chunk."""
        if data:
            await self.put(b"%x\r\n%s\r\n" % (len(data), data) if self.chunked else data)

    async def finish(self):
        if self.chunked:
            await self.put(b"0\r\n\r\n")

    async def document(self, status, headers, body):
        await self.head(status, headers, len(body))
        await self.put(body)

    async def flushed(self):
        while self.transport.get_write_buffer_size() and not self.transport.is_closing():
            await asyncio.sleep(0.001)

    async def reset(self):
        await self.flushed()
        await asyncio.sleep(0.02)  # the client reads what came before the reset
        raw = self.transport.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()
        raise Gone()

    async def hang_up(self):
        await self.flushed()
        self.transport.close()
        raise Gone()

    async def silence(self, ms=0):
        """Waits; for ever when ms is 0, until the client goes away."""
        now = asyncio.get_running_loop().time
        end = now() + ms / 1000
        while not ms or now() < end:
            if self.transport is None or self.transport.is_closing():
                raise Gone()
            await asyncio.sleep(min(0.05, end - now()) if ms else 0.05)


class Stream:
    """The events of one answer, bent as the behaviour says."""
    def __init__(self, raw, wire, behaviour, delay_ms=0):
        self.raw, self.wire, self.behaviour = raw, wire, behaviour
        self.delay_ms = behaviour.arg("delay") if behaviour.has("delay") else delay_ms
        self.count = 0
        self.held = None  # a frame is held back until it is known not to be the last

    async def run(self, events):
        b = self.behaviour
        if b.has("first-delay"):
            await self.raw.silence(b.arg("first-delay"))
        if b.has("bom") and self.wire.lines:
            await self.raw.send(b"\xef\xbb\xbf")
        await self.stop_points(None)
        for name, data in events:
            if b.has("nulls") and isinstance(data, dict):
                data = self.wire.with_nulls(data)
            await self.one(self.wire.frame(name, data, b))
        if self.held is not None:
            await self.raw.send(self.held[:-len(self.wire.newline(b))])
        if b.has("hold"):
            await self.raw.silence(b.arg("hold"))
        await self.raw.finish()

    async def one(self, frame):
        b = self.behaviour
        if b.has("unknown"):
            newline = self.wire.newline(b)
            odd = b"id: %d%sretry: 10%sodd-field%s" % (self.count, newline, newline, newline * 2)
            await self.raw.send((odd if self.wire.lines else b"")
                                + self.wire.frame(*self.wire.unknown_event(), b))
        if b.has("pings"):
            await self.raw.send(self.wire.keepalive(b))
        await self.stop_points(frame)
        if b.has("no-blank-end") and self.wire.lines:
            frame, self.held = self.held or b"", frame
        await self.raw.send(frame)
        self.count += 1
        if b.has("big-event") and self.count == 3:
            await self.raw.send(
                self.wire.frame(*self.wire.big_event("x" * (b.arg("big-event") << 20)), b))
        await self.stop_points(None)
        if self.delay_ms:
            await self.raw.silence(self.delay_ms)

    def due(self, name):
        return self.behaviour.has(name) and self.behaviour.arg(name) == self.count

    async def stop_points(self, frame):
        """Before an event is sent (`frame`) and after: where a stream may break after N events."""
        b = self.behaviour
        if frame is not None:
            half = frame[:len(frame) // 2]
            if self.due("cut"):
                await self.raw.put((b"%x\r\n" % len(frame) if self.raw.chunked else b"") + half)
                await self.raw.hang_up()
            if self.due("end-mid"):
                await self.raw.send(half)
                await self.end()
            return
        if self.due("stall"):
            await self.raw.silence()
        if self.due("rst"):
            await self.raw.reset()
        if self.due("eof"):
            await self.raw.hang_up()
        if self.due("end"):
            await self.end()
        for name in ("ping-forever", "comment-forever"):
            if self.due(name):
                comment = b": still here" + self.wire.newline(b) * 2
                pings = name == "ping-forever" or not self.wire.lines
                data = self.wire.keepalive(b) if pings else comment
                while True:
                    await self.raw.send(data)
                    await self.raw.silence(b.arg(name, 1))
        for name in ("error-event", "overloaded"):
            if self.due(name):
                kind = b.arg(name, 1) if name == "error-event" else ""
                kind, data = self.wire.error_event(kind)
                if b.echo:
                    say(data, b.echo)
                await self.raw.send(self.wire.frame(kind, data, b))
                await self.end()

    async def end(self):
        await self.raw.finish()
        raise Ended()


def say(data, words):
    """Puts words behind every message of an error, and in the place of its request id."""
    for key, value in data.items():
        if isinstance(value, dict):
            say(value, words)
        elif key == "message":
            data[key] = value + " " + words
        elif key == "request_id":
            data[key] = words


class Ended(Exception):
    """The stream was ended early, but the HTTP answer is whole: the connection may stay."""
