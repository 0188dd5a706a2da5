"""The protocol of one client's connection, whatever carries it. Requests run on threads of their
own; a transport gives each Call a stream to write to."""

import base64
import hashlib
import json
import threading

from . import eras, rules, things
from .rules import Refused, need

SERVER = {"name": "mcp-mock", "version": "1.0"}
SECRET = b"of this process"


class Cancelled(Exception):
    """The client wants no answer any more."""


class InputRequired(Exception):
    """The modern way to ask the client: the request ends, and comes again with the answers."""
    def __init__(self, requests, state):
        super().__init__()
        self.requests, self.state = requests, state


class Call:
    """A request of the client that is being answered."""
    def __init__(self, session, message, stream):
        self.session, self.stream = session, stream
        self.id, self.method = message["id"], message["method"]
        self.params = message.get("params", {})
        self.meta = self.params.get("_meta", {})
        self.token = self.meta.get("progressToken")
        self.gone = threading.Event()
        self.silent = False  # no answer will be written
        self.capabilities = session.capabilities

    def notify(self, method, params=None):
        self.stream.send(things.notification(method, params))

    def progress(self, done, total=None, text=None):
        if self.token is None:
            return
        params = {"progressToken": self.token, "progress": done}
        if total is not None:
            params["total"] = total
        if text is not None and self.session.era >= "2025-03-26":
            params["message"] = text
        self.notify("notifications/progress", params)

    def log(self, level, data, logger="mock"):
        if self.session.modern:
            least = self.meta.get(eras.META + "logLevel")
            if least is None:
                return
        else:
            least = self.session.log_level
        if rules.LEVELS.index(level) >= rules.LEVELS.index(least):
            self.notify("notifications/message", {"level": level, "logger": logger, "data": data})

    def sleep(self, seconds):
        if self.gone.wait(seconds):
            raise Cancelled()

    def ask(self, method, params, key="input"):
        return self.ask_all({key: (method, params)})[key]

    def ask_all(self, questions, round=0):
        for method, _ in questions.values():
            name = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling",
                    "roots/list": "roots"}.get(method)
            need(name is None or name in self.capabilities,
                 "the client did not declare %s" % name, -32021,
                 data={"requiredCapabilities": {name: {}}}, probe=True)
        if not self.session.modern:
            return {k: self.session.ask(self, m, p) for k, (m, p) in questions.items()}
        return self.session.asked_before(self, questions, round)


class Session:
    def __init__(self, options, transport):
        self.options, self.transport = options, transport
        self.versions = options.versions
        self.era, self.modern = None, False
        self.initialized = False
        self.capabilities, self.client = {}, None
        self.used, self.calls = set(), {}
        self.asked, self.next_id = {}, 0
        self.log_level = "debug"
        self.subscribed = set()
        self.listeners = {}  # id of subscriptions/listen: (Call, filter)
        self.things = things.Things()
        self.lock = threading.RLock()
        self.states = {}

    # ---- what comes in ----

    def receive(self, message, stream):
        """One message; the Call it opened, or None. Refused has the reason."""
        kind = rules.kind(message)
        if kind == "response":
            return self.response(message)
        if kind == "notification":
            return self.notified(message)
        modern = eras.META + "protocolVersion" in message.get("params", {}).get("_meta", {})
        return self.request(message, stream, modern)

    def request(self, message, stream, modern):
        method, params = message["method"], message.get("params", {})
        with self.lock:
            if method == "initialize":
                need(not modern, "initialize has no place in %s" % eras.MODERN)
                self.check_id(message["id"])
                self.initialize(params)
            elif modern or self.era is None and method == "server/discover":
                self.check_modern(message, params)
            else:
                self.check_legacy(message, params)
            call = Call(self, message, stream)
            if self.modern:
                call.capabilities = params["_meta"][eras.META + "clientCapabilities"]
            shared = self.modern and self.options.http
            tokens = [] if shared else [c.token for c in self.calls.values()]
            need(call.token is None or call.token not in tokens, "progressToken %r is in use" % (call.token, ))
            need(call.token is None or isinstance(call.token, (str, int)), "a progressToken")
            self.calls[id(call) if shared else call.id] = call
            call.key = id(call) if shared else call.id
        return call

    def check_id(self, number):
        used = self.calls if self.modern else self.used
        if self.modern and self.options.http:
            used = ()  # several clients share the address
        need(number not in used, "id %r was used before" % (number, ), -32600)
        self.used.add(number)

    def check_modern(self, message, params):
        method = message["method"]
        if eras.MODERN not in self.versions:
            raise Refused("Method not found: %s" % method, -32601, 400, probe=True)
        rules.modern_meta(params, self.versions)
        need(params["_meta"][eras.META + "protocolVersion"] == eras.MODERN,
             "this version has initialize")
        need(self.era in (None, eras.MODERN), "the session speaks %s" % self.era)
        need(eras.has(eras.REQUESTS, method, eras.MODERN), "Method not found: %s" % method,
             -32601, 404)
        self.era, self.modern = eras.MODERN, True
        self.check_id(message["id"])
        rules.params_of(method, params, eras.MODERN)

    def check_legacy(self, message, params):
        method = message["method"]
        if self.era is None and not any(v in self.versions for v in eras.LEGACY):
            rules.modern_meta(params, self.versions)
        need(self.era is not None and not self.modern or method == "ping",
             "%s before initialize" % method)
        need(self.initialized or method == "ping",
             "%s before notifications/initialized" % method)
        need(eras.has(eras.REQUESTS, method, self.era or "2024-11-05"),
             "Method not found: %s" % method, -32601, 200)
        self.check_id(message["id"])
        rules.params_of(method, params, self.era)

    def initialize(self, params):
        legacy = [v for v in self.versions if v in eras.LEGACY]
        need(legacy, "initialize is not known here; supported: %s" % ", ".join(self.versions),
             -32601)
        need(self.era is None or self.modern, "initialize came twice", -32600)
        rules.initialize(params)
        asked = params["protocolVersion"]
        self.era, self.modern = asked if asked in legacy else legacy[-1], False
        rules.params_of("initialize", params, self.era)
        self.capabilities, self.client = params["capabilities"], params["clientInfo"]

    def notified(self, message):
        method, params = message["method"], message.get("params", {})
        era = self.era or eras.MODERN
        need(eras.has(eras.NOTIFICATIONS, method, era), "%s is no notification of %s" %
             (method, era), -32601)
        if method == "notifications/initialized":
            need(self.era is not None, "initialized before initialize")
            need(not self.initialized, "initialized came twice")
            self.initialized = True
        elif method == "notifications/cancelled":
            need(isinstance(params.get("requestId"), (str, int)), "cancelled has a requestId")
            number = params["requestId"]
            need(number in self.used, "cancelled names %r, which never was" % (number, ))
            self.cancel(number)
        elif method == "notifications/roots/list_changed":
            need("roots" in self.capabilities, "the client did not declare roots")

    def cancel(self, number):
        with self.lock:
            call = self.calls.get(number)
            if call is not None:
                need(call.method != "initialize", "initialize cannot be cancelled")
                call.gone.set()
                self.calls.pop(number, None)
                self.listeners.pop(number, None)

    # ---- our questions ----

    def ask(self, call, method, params, number=None):
        """The client's result. Its error is raised as Refused."""
        with self.lock:
            if number is None:
                self.next_id += 1
                number = self.next_id if self.next_id % 2 else "ask-%d" % self.next_id
            slot = {"event": threading.Event(), "method": method}
            self.asked[number] = slot
        message = {"jsonrpc": "2.0", "id": number, "method": method}
        if params is not None:
            message["params"] = params
        call.stream.send(message)
        while not slot["event"].wait(0.05):
            if call.gone.is_set():
                self.asked.pop(number, None)
                raise Cancelled()
        answer = slot["answer"]
        if "error" in answer:
            raise Refused("the client says: %s" % answer["error"]["message"], -32603, 200)
        return answer["result"]

    def response(self, message):
        need(not self.modern, "a client sends no responses in %s" % eras.MODERN, -32600)
        with self.lock:
            slot = self.asked.pop(message["id"], None)
        need(slot is not None, "nothing was asked with id %r" % (message["id"], ), -32600)
        slot["answer"] = message
        try:
            if "result" in message:
                rules.answer(slot["method"], message["result"], self.era)
        finally:
            slot["event"].set()

    def asked_before(self, call, questions, round):
        given, state = call.params.get("inputResponses", {}), call.params.get("requestState")
        need(isinstance(given, dict), "inputResponses is an object")
        shape = json.dumps([call.method, call.params.get("name", call.params.get("uri"))])
        known, done = {}, 0
        if state is not None:
            need(state in self.states, "requestState is none of ours")
            was, known, done = self.states[state]
            need(was == shape, "requestState belongs to another request")
        else:
            need(not given, "inputResponses without requestState")
        known = dict(known)
        for key, (method, _) in questions.items():
            if key in given and key not in known:
                need(isinstance(given[key], dict), "an input response is an object")
                need("method" not in given[key], "an input response is a result")
                rules.answer(method, given[key], eras.MODERN)
                known[key] = given[key]
        open_ones = {k: {"method": m, "params": p} if p is not None else {"method": m}
                     for k, (m, p) in questions.items() if k not in known}
        if not open_ones:
            return known
        digest = hashlib.sha256(SECRET + json.dumps([shape, known, done, len(self.states)],
                                                    sort_keys=True).encode()).digest()
        name = base64.b64encode(digest).decode()
        self.states[name] = (shape, known, done + 1)
        raise InputRequired(open_ones, name)

    # ---- what goes out ----

    def run(self, call):
        """Answers a call; its stream gets the response, unless the client has cancelled it."""
        try:
            result = self.answer(call)
            reply = {"jsonrpc": "2.0", "id": call.id, "result": result}
        except Cancelled:
            reply = None
        except InputRequired as e:
            result = {"resultType": "input_required", "inputRequests": e.requests,
                      "requestState": e.state}
            reply = {"jsonrpc": "2.0", "id": call.id, "result": result}
        except Refused as e:
            if not e.probe:
                self.options.problem(e.message)
            reply = things.error(call.id, e)
        with self.lock:
            known = self.calls.pop(call.key, None) is call
        if known and reply is not None and not call.silent and not call.gone.is_set():
            call.stream.reply(reply)
        call.stream.end()

    def answer(self, call):
        result = getattr(things, call.method.replace("/", "_"))(self, call)
        if self.modern and call.method in eras.CACHEABLE:
            result.setdefault("ttlMs", 0)
            result.setdefault("cacheScope", "private")
        return self.finish(result)

    def finish(self, result):
        if self.modern:
            result.setdefault("resultType", "complete")
            result.setdefault("_meta", {})[eras.META + "serverInfo"] = SERVER
        return result

    def announce(self, what, uri=None):
        """A change, to whoever wants to hear of it."""
        method = "notifications/resources/updated" if uri else "notifications/%s/list_changed" % what
        params = {"uri": uri} if uri else None
        if not self.modern:
            if uri is None or uri in self.subscribed:
                self.transport.send(things.notification(method, params))
            return
        with self.lock:
            listeners = list(self.listeners.values())
        for call, wanted in listeners:
            if uri in wanted.get("resourceSubscriptions", []) if uri else \
                    wanted.get(what + "ListChanged"):
                meta = {"_meta": {eras.META + "subscriptionId": call.id}}
                call.notify(method, dict(params or {}, **meta))
