"""The server on its own stdin and stdout."""

import json
import os
import signal
import sys
import threading
import time

from . import things
from .rules import Refused
from .session import Session


class Out:
    """stdout, which all calls share: one line a message."""
    def __init__(self, options):
        self.options, self.lock, self.held = options, threading.Lock(), False

    def send(self, message):
        end = b"\r\n" if self.options.has("crlf") else b"\n"
        text = json.dumps(message, ensure_ascii=self.options.has("escaped"))
        self.options.wrote(message)
        self.raw(text.encode("utf-8", "surrogatepass") + end)

    def reply(self, message):
        if self.options.has("noise"):
            self.raw(b"noise before each answer\n")
        if self.options.has("batch"):
            message = [things.notification("notifications/odd"), message]
        for _ in range(2 if self.options.has("twice") else 1):
            self.send(message)

    def raw(self, data):
        with self.lock:
            try:
                if self.options.has("bytes"):
                    for i in range(len(data)):
                        os.write(1, data[i:i + 1])
                        time.sleep(self.options.arg("bytes") / 1e6)
                else:
                    while data:
                        data = data[os.write(1, data):]
            except OSError:
                os._exit(0)  # nobody reads

    def end(self):
        """Nothing: stdout stays."""


def lines(options):
    data = b""
    while True:
        with options.reading:
            pass
        piece = os.read(0, 65536)
        if not piece:
            if data:
                options.problem("stdin ended in the middle of a line")
            return
        data += piece
        *whole, data = data.split(b"\n")
        yield from whole


def answer(session, out, line, options):
    """False: the line was refused."""
    number = None
    try:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as e:
            raise Refused("Parse error: %s" % e, -32700)
        options.read(message)
        if isinstance(message, list):
            raise Refused("a batch has no place here", -32600)
        if isinstance(message, dict) and "method" in message:
            number = message.get("id")
        if options.has("deaf") and message.get("method") == options.word("deaf"):
            return
        call = session.receive(message, out)
        if call is None:
            return
        if call.method in ("initialize", "server/discover"):
            session.run(call)
        else:
            threading.Thread(target=session.run, args=(call, ), daemon=True).start()
    except Refused as e:
        if not e.probe:
            options.problem(e.message)
        if number is not None:
            out.send(things.error(number, e))


def serve(options):
    out = Out(options)
    session = Session(options, out)
    if options.has("stay"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options.has("start-delay"):
        time.sleep(options.arg("start-delay") / 1000)
    if options.has("no-start"):
        sys.stderr.write("cannot start: no configuration\n")
        sys.exit(options.arg("no-start"))
    if options.has("chatty"):
        sys.stderr.write("mcp-mock is ready\n")
        out.raw(b"mcp-mock 1.0\n\n")
    count = 0
    for line in lines(options):
        count += 1
        if options.has("die") and count >= options.arg("die"):
            os._exit(9)
        if options.has("close-out") and count >= options.arg("close-out"):
            os.close(1)
        if options.has("hang") and count >= options.arg("hang"):
            time.sleep(3600)
        if not line.strip():
            options.problem("an empty line")
            continue
        answer(session, out, line, options)
    if options.has("stay"):
        while True:
            time.sleep(3600)
    if options.has("linger"):
        time.sleep(options.arg("linger") / 1000)
    sys.stdout.flush()
    os._exit(0)


