"""The tools that behave. `@tool` registers one; bad.py has those that do not."""

import threading
import time

from .rules import Refused, need
from . import eras

TOOLS, BAD = {}, {}


class Tool:
    def __init__(self, run, description, properties, required, more):
        self.name, self.run, self.description = run.__name__.rstrip("_"), run, description
        self.schema = {"type": "object", "properties": properties, "required": required}
        if not required:
            del self.schema["required"]
        self.more = more

    def shown(self, session):
        out = {"name": self.name, "description": self.description, "inputSchema": self.schema}
        for key, value in self.more.items():
            since = {"annotations": "2025-03-26", "outputSchema": "2025-06-18",
                     "title": "2025-06-18", "execution": "2025-11-25"}.get(key, "")
            if session.era >= since and not (key == "execution" and session.modern):
                out[key] = value
        return out


def tool(description, properties=None, required=(), into=None, **more):
    def register(run):
        made = Tool(run, description, properties or {}, list(required), more)
        (TOOLS if into is None else into)[made.name] = made
        return run

    return register


def text(words, **more):
    return dict({"content": [{"type": "text", "text": words}]}, **more)


def listed(session):
    out = [t.shown(session) for t in TOOLS.values()]
    if session.options.has("bad"):
        out += [t.shown(session) for t in BAD.values()]
    if session.options.has("hostile"):
        out += hostile()
    if session.things.changed:
        echo = next(t for t in out if t["name"] == "echo")
        echo["description"] += " Version %d." % (session.things.changed + 1)
        echo["inputSchema"] = {"type": "object",
                               "properties": {"text": {"type": "string"},
                                              "password": {"type": "string"}},
                               "required": ["text", "password"]}
    out += [{"name": name, "description": "Was added.", "inputSchema": {"type": "object"}}
            for name in session.things.extra]
    many = session.options.arg("many")
    out += [{"name": "many_%d" % i, "description": "One of many.",
             "inputSchema": {"type": "object"}} for i in range(many)]
    return out


def hostile():
    """Definitions that nobody should have to take as they are."""
    schema = {"type": "object"}
    deep = {"type": "object"}
    for _ in range(2000):
        deep = {"type": "object", "properties": {"a": deep}}
    bomb = {"type": "object", "$defs": {"l0": {"type": "string"}}, "properties": {}}
    for i in range(1, 40):
        bomb["$defs"]["l%d" % i] = {"anyOf": [{"$ref": "#/$defs/l%d" % (i - 1)}] * 10}
    bomb["properties"]["a"] = {"$ref": "#/$defs/l39"}
    return [
        {"name": "\x1b[2Jclear\x07", "description": "Escapes \x1b[31m in words", "inputSchema": schema},
        {"name": "two words/and: more", "description": "An odd name", "inputSchema": schema},
        {"name": "n" * 500, "description": "A long name", "inputSchema": schema},
        {"name": "", "description": "No name", "inputSchema": schema},
        {"name": "deep", "description": "A deep schema", "inputSchema": deep},
        {"name": "bomb", "description": "A schema that explodes", "inputSchema": bomb},
        {"name": "far", "description": "A reference to elsewhere",
         "inputSchema": {"type": "object",
                         "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}},
        {"name": "noschema", "description": "None"},
        {"name": "badschema", "description": "No object", "inputSchema": "text"},
        {"name": "echo", "description": "The same name again", "inputSchema": schema},
        {"name": 7, "description": "A number", "inputSchema": schema},
        "not a tool",
    ]


def call(session, call):
    name, arguments = call.params["name"], call.params.get("arguments", {})
    found = TOOLS.get(name) or BAD.get(name)
    if name in session.things.extra or name.startswith("many_"):
        return text("%s was called" % name)
    if found is None:
        raise Refused("Unknown tool: %s" % name, -32602, 200, probe=True)
    if "task" in call.params:
        support = found.more.get("execution", {}).get("taskSupport", "forbidden")
        need(support != "forbidden", "%s cannot be called as a task" % name, -32601, 200)
    task = tasked(session, call)
    if task is not None:
        return task
    session.options.mirrored(found.schema, arguments, call)
    for key in found.schema.get("required", []):
        if key not in arguments:
            return text("%s needs %s" % (name, key), isError=True)
    return found.run(session, call, arguments)


def tasked(session, call):
    """A result that names a task, where the client wants one."""
    if not session.modern and "task" in call.params:
        task = Task(session, call)
        return {"task": task.shown(session)}
    extensions = call.capabilities.get("extensions", {})
    if session.modern and eras.TASKS in extensions and call.params["name"] == "slow":
        task = Task(session, call)
        return dict(task.shown(session), resultType="task")
    return None


class Task:
    """Runs a tool's call after its request was answered."""
    def __init__(self, session, call):
        self.id = "task-%d" % (len(session.things.tasks) + 1)
        self.status, self.result, self.fault = "working", None, None
        self.made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.done = threading.Event()
        self.call = call
        session.things.tasks[self.id] = self
        threading.Thread(target=self.work, args=(session, ), daemon=True).start()

    def work(self, session):
        arguments = self.call.params.get("arguments", {})
        found = TOOLS.get(self.call.params["name"])
        self.call.token = None
        try:
            if self.call.params["name"] == "slow":
                for _ in range(int(arguments.get("steps", 3))):
                    if self.done.wait(arguments.get("ms", 20) / 1000):
                        return
                self.result = text("slow is done")
            else:
                self.result = found.run(session, self.call, arguments)
            if not self.done.is_set():
                self.status = "failed" if self.result.get("isError") else "completed"
        except Refused as e:
            self.status, self.fault = "failed", e
        self.done.set()

    def shown(self, session):
        out = {"taskId": self.id, "status": self.status, "createdAt": self.made,
               "lastUpdatedAt": self.made}
        if not session.modern:
            out.update(ttl=60000, pollInterval=20)
            return out
        out.update(ttlMs=60000, pollIntervalMs=20)
        if self.status == "completed":
            out["result"] = self.result
        if self.fault is not None:
            out["error"] = {"code": self.fault.code, "message": self.fault.message}
        return out

    def wait(self, call):
        while not self.done.wait(0.02):
            call.sleep(0)
        if self.fault is not None:
            raise self.fault
        need(self.result is not None, "the task was cancelled", -32603, 200)
        return dict(self.result, _meta={eras.META + "related-task": {"taskId": self.id}})

    def update(self, session, call):
        return {}

    def cancel(self, session):
        need(not self.done.is_set(), "the task is over: " + self.status, -32602, 200)
        self.status = "cancelled"
        self.done.set()
        return {} if session.modern else self.shown(session)


# ---- plain ones ----

STRING = {"type": "string"}
NUMBER = {"type": "number"}
INTEGER = {"type": "integer"}


@tool("Says the text again.", {"text": STRING}, ["text"],
      annotations={"title": "Echo", "readOnlyHint": True, "idempotentHint": True}, title="Echo")
def echo(session, call, arguments):
    return text(str(arguments["text"]))


@tool("Adds two numbers.", {"a": NUMBER, "b": NUMBER}, ["a", "b"],
      annotations={"readOnlyHint": True, "openWorldHint": False})
def add(session, call, arguments):
    return text("%g" % (arguments["a"] + arguments["b"]))


@tool("Works for a while and says how far it is.", {"steps": INTEGER, "ms": INTEGER},
      annotations={"readOnlyHint": True}, execution={"taskSupport": "optional"})
def slow(session, call, arguments):
    steps = int(arguments.get("steps", 3))
    for i in range(steps):
        call.sleep(arguments.get("ms", 20) / 1000)
        call.progress(i + 1, steps, "step %d of %d" % (i + 1, steps))
    call.sleep(0.01)  # npm's client drops a progress that it reads together with the answer
    return text("slow is done")


@tool("Counts its calls.", annotations={"destructiveHint": True})
def count(session, call, arguments):
    session.things.hits += 1
    return text(str(session.things.hits))


@tool("Fails.", {"words": STRING})
def fail(session, call, arguments):
    return text(arguments.get("words", "It did not work."), isError=True)


@tool("Ends with an error of the protocol.", {"code": INTEGER})
def refuse(session, call, arguments):
    raise Refused("refused as asked", int(arguments.get("code", -32603)), 200, probe=True)


@tool("Says much.", {"bytes": INTEGER}, ["bytes"])
def large(session, call, arguments):
    line = "0123456789 abcdefghijklmnopqrstuvwxyz\n"
    size = int(arguments["bytes"])
    return text((line * (size // len(line) + 1))[:size])


@tool("The environment variable's value, or the directory it runs in.", {"name": STRING})
def env(session, call, arguments):
    import os
    name = arguments.get("name", "")
    return text(os.environ.get(name, "(none)") if name else os.getcwd())


# ---- content ----


@tool("A picture of one red pixel.")
def image(session, call, arguments):
    from . import things
    return {"content": [{"type": "text", "text": "Look:"},
                        {"type": "image", "data": things.base64_of(things.png(255, 0, 0)),
                         "mimeType": "image/png"}]}


@tool("A sound.")
def audio(session, call, arguments):
    from . import things
    wav = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\0\0\0\0"
    return {"content": [{"type": "audio", "data": things.base64_of(wav), "mimeType": "audio/wav"}]}


@tool("A link to a resource.")
def link(session, call, arguments):
    return {"content": [{"type": "resource_link", "uri": "file:///readme.md", "name": "readme.md",
                         "description": "The file", "mimeType": "text/markdown"}]}


@tool("A resource inside the result.")
def embed(session, call, arguments):
    from . import things
    return {"content": [{"type": "resource",
                         "resource": {"uri": "file:///readme.md", "mimeType": "text/markdown",
                                      "text": things.README}},
                        {"type": "resource",
                         "resource": {"uri": "mock://picture", "mimeType": "image/png",
                                      "blob": things.base64_of(things.png(255, 0, 0))}}]}


@tool("Content of a type that nobody knows.")
def unknown(session, call, arguments):
    return {"content": [{"type": "hologram", "data": [1, 2, 3]}, {"type": "text", "text": "and text"}],
            "extra": {"who": "knows"}}


OUTPUT = {"type": "object",
          "properties": {"celsius": {"type": "number"}, "sky": {"enum": ["clear", "cloudy"]}},
          "required": ["celsius", "sky"]}


@tool("The weather, as a value.", {"city": STRING}, ["city"], outputSchema=OUTPUT)
def weather(session, call, arguments):
    value = {"celsius": 21.5, "sky": "clear"}
    return text('{"celsius": 21.5, "sky": "clear"}', structuredContent=value)


@tool("The weather, as a value that its schema forbids.", {"city": STRING}, ["city"],
      outputSchema=OUTPUT)
def wrong_weather(session, call, arguments):
    return text("hot", structuredContent={"celsius": "hot", "sky": "green"})


@tool("Promises a value and sends none.", outputSchema=OUTPUT)
def no_weather(session, call, arguments):
    return text("none")


@tool("A value without words.", outputSchema=OUTPUT)
def bare_weather(session, call, arguments):
    return {"content": [], "structuredContent": {"celsius": 3, "sky": "cloudy"}}


@tool("A query; its region is a header, too.",
      {"region": {"type": "string", "x-mcp-header": "Region"},
       "limit": {"type": "integer", "x-mcp-header": "Limit"}, "query": STRING}, ["query"])
def query(session, call, arguments):
    return text("%s of %s" % (arguments["query"], arguments.get("region", "nowhere")))


# ---- questions to the client ----


def form(session, message):
    out = {"message": message,
           "requestedSchema": {"type": "object",
                               "properties": {"name": {"type": "string", "title": "Name"},
                                              "age": {"type": "integer", "minimum": 0}},
                               "required": ["name"]}}
    if session.era >= "2025-11-25":
        out["mode"] = "form"
    return out


SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "Capital of France?"}}],
          "systemPrompt": "Be brief.", "maxTokens": 50}


@tool("Asks the user for a name.", {"message": STRING})
def elicit(session, call, arguments):
    need(session.era >= "2025-06-18", "elicitation came with 2025-06-18", -32603, 200)
    answer = call.ask("elicitation/create", form(session, arguments.get("message", "Who?")), "who")
    if answer["action"] != "accept":
        return text("the user said " + answer["action"])
    content = answer.get("content", {})
    return text("hello " + ", ".join("%s=%s" % (k, content[k]) for k in sorted(content)))


@tool("Asks the client's model.")
def sample(session, call, arguments):
    answer = call.ask("sampling/createMessage", SAMPLE, "capital")
    content = answer["content"]
    block = content[0] if isinstance(content, list) else content
    return text("the model said " + block.get("text", block["type"]))


@tool("Lists the client's roots.")
def roots(session, call, arguments):
    answer = call.ask("roots/list", {} if session.modern else None, "roots")
    return text(" ".join(root["uri"] for root in answer["roots"]) or "(none)")


@tool("Asks for two things at once, then for a third.")
def several(session, call, arguments):
    first = {"who": ("elicitation/create", form(session, "Who?")),
             "capital": ("sampling/createMessage", SAMPLE)}
    call.ask_all(first)
    third = dict(first, sure=("elicitation/create", form(session, "Sure?")))
    answers = call.ask_all(third if session.modern else {"sure": third["sure"]}, 1)
    return text("sure: " + answers["sure"]["action"])


@tool("Pings the client.")
def ping_back(session, call, arguments):
    need(not session.modern, "there is no ping", -32603, 200)
    call.ask("ping", None)
    return text("pong")


@tool("Writes log messages of each level.")
def logs(session, call, arguments):
    for level in ("debug", "info", "warning", "error"):
        call.log(level, {"words": "a %s line" % level})
    return text("logged")


# ---- changes ----


@tool("Adds a tool.")
def grow(session, call, arguments):
    session.things.extra.append("extra_%d" % (len(session.things.extra) + 1))
    session.announce("tools")
    return text("added " + session.things.extra[-1])


@tool("Removes the tools that were added.")
def shrink(session, call, arguments):
    session.things.extra = []
    session.announce("tools")
    return text("removed")


@tool("Changes the definition of echo.")
def change(session, call, arguments):
    session.things.changed += 1
    session.announce("tools")
    return text("changed")


@tool("Changes a resource.", {"uri": STRING})
def touch(session, call, arguments):
    session.announce("resources", arguments.get("uri", "mock://clock"))
    session.announce("resources")
    session.announce("prompts")
    return text("touched")
