"""Where the messages of a call over HTTP go: one JSON document, or events that can be resumed."""

import json
import threading

from . import things


class Log:
    """The events of one stream, kept so that a client can come back for the rest."""
    def __init__(self, name):
        self.name, self.events, self.closed = name, [], False
        self.changed = threading.Condition()

    def add(self, data):
        with self.changed:
            self.events.append(data)
            self.changed.notify_all()

    def close(self):
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def wait(self, at, seconds):
        """The events from `at` on, and whether no more will come."""
        with self.changed:
            if len(self.events) <= at and not self.closed:
                self.changed.wait(seconds)
            return self.events[at:], self.closed


class Stream:
    """What a Call writes to. `ready` is set when it is known which form the reply has."""
    def __init__(self, options, name, headers, elsewhere=None):
        self.options, self.headers, self.elsewhere = options, headers, elsewhere
        self.log, self.ready = Log(name), threading.Event()
        self.whole, self.status, self.held = None, 200, False
        if options.has("sse") and not options.has("json"):
            self.ready.set()

    def send(self, message):
        self.options.wrote(message)
        self.data(json.dumps(message, ensure_ascii=self.options.has("escaped")))

    def data(self, text):
        if self.options.has("json"):
            if self.elsewhere is not None:
                self.elsewhere.add(text)
            return
        self.log.add(text)
        self.ready.set()

    def reply(self, message):
        if self.options.has("batch"):
            message = [things.notification("notifications/odd"), message]
        for _ in range(2 if self.options.has("twice") and not self.options.has("json") else 1):
            if self.ready.is_set() or self.options.has("twice") and not self.options.has("json"):
                self.send(message)
            else:
                self.options.wrote(message)
                self.whole = json.dumps(message, ensure_ascii=self.options.has("escaped"))
        self.ready.set()

    def raw(self, data):
        """Lines of a misbehaving tool: each is an event."""
        for line in data.decode("utf-8", "replace").splitlines():
            self.data(line)

    def end(self):
        self.log.close()
        self.ready.set()
