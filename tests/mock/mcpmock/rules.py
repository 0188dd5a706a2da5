"""What a client must not send. Each check raises Refused with the reason."""

from . import eras

LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class Refused(Exception):
    """`probe`: a dual-era client may send this, so that nobody writes it down."""
    def __init__(self, message, code=-32602, status=400, data=None, probe=False):
        super().__init__(message)
        self.message, self.code, self.status, self.data = message, code, status, data
        self.probe = probe


def need(ok, message, code=-32602, status=400, data=None, probe=False):
    if not ok:
        raise Refused(message, code, status, data, probe)


def kind(message):
    """'request', 'notification' or 'response', of one that is well-formed."""
    need(isinstance(message, dict), "a message is a JSON object", -32600)
    need(message.get("jsonrpc") == "2.0", 'a message has "jsonrpc": "2.0"', -32600)
    known = {"jsonrpc", "id", "method", "params", "result", "error"}
    odd = sorted(set(message) - known)
    need(not odd, "a message has no member %s" % ", ".join(odd), -32600)
    if "method" in message:
        need(isinstance(message["method"], str), "method is a string", -32600)
        need("result" not in message and "error" not in message,
             "a message with a method has neither result nor error", -32600)
        need(isinstance(message.get("params", {}), dict), "params is an object")
        meta = message.get("params", {}).get("_meta", {})
        need(isinstance(meta, dict), "_meta is an object")
        if "id" not in message:
            return "notification"
        number = message["id"]
        need(isinstance(number, (str, int)) and not isinstance(number, bool),
             "an id is a string or an integer", -32600)
        return "request"
    need("id" in message, "a response has an id", -32600)
    need(("result" in message) != ("error" in message), "a response has a result or an error",
         -32600)
    if "error" in message:
        error = message["error"]
        need(isinstance(error, dict) and isinstance(error.get("code"), int) and
             isinstance(error.get("message"), str), "an error has a code and a message", -32600)
    else:
        need(isinstance(message["result"], dict), "a result is an object", -32600)
    return "response"


def implementation(value, what):
    need(isinstance(value, dict), "%s is an object" % what)
    for key in ("name", "version"):
        need(isinstance(value.get(key), str) and value[key], "%s.%s is a string" % (what, key))


def capabilities(value, what):
    need(isinstance(value, dict), "%s is an object" % what)
    for key in ("roots", "sampling", "elicitation", "experimental", "tasks", "extensions"):
        need(isinstance(value.get(key, {}), dict), "%s.%s is an object" % (what, key))


def initialize(params):
    need(isinstance(params.get("protocolVersion"), str), "initialize has a protocolVersion")
    capabilities(params.get("capabilities"), "capabilities")
    implementation(params.get("clientInfo"), "clientInfo")


def modern_meta(params, supported):
    """The request's capabilities."""
    meta = params.get("_meta")
    need(isinstance(meta, dict), "a request has params._meta")
    version = meta.get(eras.META + "protocolVersion")
    need(isinstance(version, str), "_meta has %sprotocolVersion" % eras.META)
    need(version in supported, "Unsupported protocol version", -32022,
         data={"supported": supported, "requested": version})
    given = meta.get(eras.META + "clientCapabilities")
    capabilities(given, "clientCapabilities")
    if eras.META + "clientInfo" in meta:
        implementation(meta[eras.META + "clientInfo"], "clientInfo")
    level = meta.get(eras.META + "logLevel", "debug")
    need(level in LEVELS, "logLevel %r is no level" % level)
    known = {"protocolVersion", "clientCapabilities", "clientInfo", "logLevel"}
    for key in meta:
        if key.startswith(eras.META):
            need(key[len(eras.META):] in known, "_meta has no %s" % key)
    return given


def params_of(method, params, era):
    """The members that a method needs, and none that nobody knows."""
    known = {"_meta"}
    if method in ("tools/call", "prompts/get"):
        need(isinstance(params.get("name"), str), "%s has a name" % method)
        need(isinstance(params.get("arguments", {}), dict), "arguments is an object")
        known |= {"name", "arguments"}
        if method == "prompts/get":
            need(all(isinstance(v, str) for v in params.get("arguments", {}).values()),
                 "a prompt's arguments are strings")
        if method == "tools/call" and era == "2025-11-25":
            known |= {"task"}
    elif method in ("resources/read", "resources/subscribe", "resources/unsubscribe"):
        need(isinstance(params.get("uri"), str), "%s has a uri" % method)
        known |= {"uri"}
    elif method.endswith("/list"):
        need(isinstance(params.get("cursor", ""), str), "a cursor is a string")
        known |= {"cursor"}
    elif method == "logging/setLevel":
        need(params.get("level") in LEVELS, "logging/setLevel has a level")
        known |= {"level"}
    elif method == "completion/complete":
        complete(params)
        known |= {"ref", "argument"} | ({"context"} if era >= "2025-06-18" else set())
    elif method == "subscriptions/listen":
        need(isinstance(params.get("notifications"), dict), "listen has notifications")
        known |= {"notifications"}
    elif method == "initialize":
        known |= {"protocolVersion", "capabilities", "clientInfo"}
    elif method.startswith("tasks/"):
        need(isinstance(params.get("taskId"), str), "%s has a taskId" % method)
        known |= {"taskId", "inputResponses"}
    if era == eras.MODERN and method in eras.MAY_ASK:
        known |= {"inputResponses", "requestState"}
    odd = sorted(set(params) - known)
    need(not odd, "%s has no parameter %s" % (method, ", ".join(odd)))


def complete(params):
    ref, argument = params.get("ref"), params.get("argument")
    need(isinstance(ref, dict) and ref.get("type") in ("ref/prompt", "ref/resource"),
         "completion/complete has a ref")
    key = "name" if ref["type"] == "ref/prompt" else "uri"
    need(isinstance(ref.get(key), str), "%s has a %s" % (ref["type"], key))
    need(isinstance(argument, dict) and isinstance(argument.get("name"), str) and
         isinstance(argument.get("value"), str), "completion/complete has an argument")


def answer(method, result, era):
    """What a client answers to a request of ours."""
    if method == "ping":
        need(not set(result) - {"_meta"}, "the result of ping is empty")
    elif method == "roots/list":
        roots = result.get("roots")
        need(isinstance(roots, list), "roots/list answers with roots")
        for root in roots:
            need(isinstance(root, dict) and str(root.get("uri", "")).startswith("file://"),
                 "a root has a uri that begins with file://")
    elif method == "sampling/createMessage":
        need(result.get("role") in ("assistant", "user"), "a sampled message has a role")
        need(isinstance(result.get("model"), str), "a sampled message has a model")
        content = result.get("content")
        blocks = content if isinstance(content, list) and era >= "2025-11-25" else [content]
        for block in blocks:
            need(isinstance(block, dict) and isinstance(block.get("type"), str),
                 "a sampled message has content")
    elif method == "elicitation/create":
        action = result.get("action")
        need(action in ("accept", "decline", "cancel"), "an elicitation has an action")
        if action == "accept":
            need(isinstance(result.get("content", {}), dict), "an elicitation's content")
        else:
            need("content" not in result, "only an accepted elicitation has content")
