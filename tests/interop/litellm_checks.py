"""phi behind LiteLLM's proxy, in the three dialects that it serves.

The models behind the proxy are the mock server of our tests.
"""

import json
import os

from talks import Server, Tally, free_port, is_yes, side_by_side

HELLO = "Hello! I am a scripted model, and this answer came as a stream."
DIFFICULT = "Gr\u00fc\u00dfe, \u4e16\u754c \U0001f600 \"quoted\" \\ back\tslash\n\u2713"
SEPARATED = "One line,\u2028and another."
MANY = "".join("%03d, " % i for i in range(400))
CALLED = [("double", {"n": 21}), ("open", {})]
SEEN = {
    "chat": "I look.Seen: 42, Error: it is locked.", "messages": "I look.Seen: 42, it is locked.",
    "responses": "I look.Seen: 42, Error: it is locked."
}


def said(text, **more):
    return dict({"type": "text", "text": text}, **more)


def thought(text):
    return {"type": "thinking", "thinking": text}


def call(name, **arguments):
    return {"type": "tool_use", "name": name, "input": arguments}


def in_run(*turns):
    return {"count": "run", "turns": [{"blocks": blocks} for blocks in turns]}


# What the mock says beside its own scenarios (tests/mock/README.md).
SCENARIOS = {
    "look": {
        "count": "run",
        "turns": [{"blocks": [said("I look."), call("double", n=21),
                              call("open")]},
                  {
                      "blocks": [said("Seen: ${tool_result.0}, ${tool_result.1}.")],
                      "usage": {"input": 100, "output": 20, "cache_read": 30, "cache_write": 0}
                  }]
    },
    "think": in_run(
        [thought("Both at once."), said("I look."),
         call("double", n=21)],
        [thought("It is even."), said("It is ${last_tool_result}.")]),
    "silent": in_run([call("double", n=21)], [said("It is ${last_tool_result}.")]),
    "count": [{"blocks": [said("First.")]},
              {"blocks": [said("Then turn ${turn}, after ${last_user}")]}],
    "difficult": [{"chunk": 1, "blocks": [said(DIFFICULT)]}],
    "separated": [{"chunk": 1, "blocks": [said(SEPARATED)]}],
    "answer": [{"blocks": [{"type": "answer", "input": {"answer": "yes"}}]}],
    "many": [{"chunk": 5, "blocks": [said(MANY)]}],
}

# How a dialect is spoken: user.c's name for it, what follows the proxy's address.
DIALECTS = {
    "chat": ("litellm", "/v1"), "messages": ("anthropic", ""),
    "responses": ("litellm_responses", "/v1")
}

# What stands behind the proxy: model names as phi knows them, how LiteLLM is to call them, and
# what follows the mock's address.
UPSTREAMS = {
    "claude": ("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", ""),
    "gpt": ("gpt-5-mini", "openai/gpt-5-mini", "/v1")
}

# Paths of the mock, by the last part of a model's name. {tag} keeps the one-time troubles of
# models apart.
PATHS = {
    "hello": "/s/hello",
    "look": "/s/look",
    "think": "/s/think",
    "count": "/s/count",
    "silent": "/s/silent",
    "401": "/m/status=401/s/hello",
    "429": "/m/status=429+retry-after=0/s/hello",
    "500": "/m/status=500/s/hello",
    "overflow": "/m/overflow/s/hello",
    "once": "/m/status=429+retry-after=0+times=1,{tag}/s/hello",
    "cut-once": "/m/eof=5+times=1,{tag}/s/hello",
    "cut": "/m/eof=5/s/hello",
    "broken": "/m/error-event=5/s/hello",
    "stall": "/m/stall=5/s/hello",
    "difficult": "/s/difficult",
    "separated": "/s/separated",
    "many": "/s/many",
    "badargs": "/s/badargs",
    "length": "/s/length",
    "answer": "/s/answer",
}


def model(upstream, dialect, path):
    return "%s.%s.%s" % (UPSTREAMS[upstream][0], dialect, path)


def configuration(mock):
    models = []
    for upstream, (_, name, suffix) in UPSTREAMS.items():
        for dialect in DIALECTS:
            for path, address in PATHS.items():
                tag = "%s-%s-%s" % (upstream, dialect, path)
                models.append({
                    "model_name": model(upstream, dialect, path), "litellm_params": {
                        "model": name, "api_key": "key", "max_retries": 0,
                        "api_base": mock + address.format(tag=tag) + suffix
                    }
                })
    return {
        "model_list": models,
        "general_settings": {"master_key": "sk-test"},
        "litellm_settings": {"telemetry": False, "num_retries": 0},
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
    }


def start(work, venv, mock):
    port = free_port()
    config = os.path.join(work, "litellm.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump(configuration(mock), file, indent=1)
    url = "http://127.0.0.1:%d" % port
    server = Server(work, "litellm", [
        os.path.join(venv, "bin", "litellm"), "--config", config, "--host", "127.0.0.1", "--port",
        str(port), "--telemetry", "False"
    ], url + "/health/liveliness", {
        "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False", "LITELLM_LOG": "ERROR"
    })
    return server, url


def separated(dialect, upstream):
    """What arrives of a text with U+2028.

    LiteLLM takes it for the end of a line of Claude's stream, drops the rest of the answer, and
    ends it with `stop`, so that no client can notice. By Messages it passes Claude's stream on as
    it is: there the text is whole.
    """
    cut = upstream == "claude" and dialect != "messages"
    return SEPARATED[:SEPARATED.index("\u2028")] if cut else SEPARATED


def conversations(tally, url, dialect, upstream):
    name, suffix = DIALECTS[dialect]
    base, label = url + suffix, "%s, %s: " % (dialect, upstream)

    def play(what, path, *settings, **options):
        return tally.play(label + what, name, base, model(upstream, dialect, path), *settings,
                          **options)

    answered = {
        "status": "ok", "text": HELLO, "stop": "stop",
        "usage": lambda u: u["input"] > 0 and u["output"] > 0
    }
    play("an answer, and its usage", "hello", wanted=[answered], requests=1)
    play("calls and their results",
         "look",
         requests=2,
         wanted=[{"status": "ok", "text": SEEN[dialect], "calls": CALLED, "stop": "stop"}])
    play("a call without a word beside it",
         "silent",
         requests=2,
         wanted=[{"status": "ok", "text": "It is 42.", "calls": CALLED[:1]}])
    play("a second prompt, with the history",
         "count",
         prompts=("One.", "Two."),
         wanted=[{"text": "First."}, {"text": "Then turn 1, after Two."}])
    play("calls, and then a second prompt",
         "look",
         prompts=("One.", "Two."),
         requests=4,
         wanted=[{"status": "ok", "text": SEEN[dialect]}, {"status": "ok", "text": SEEN[dialect]}])
    play("what was read from a cache",
         "look",
         requests=2,
         wanted=[{"usage": lambda u: u["cache_read"] == 30 and u["input"] >= 100}])

    play("difficult text", "difficult", wanted=[{"status": "ok", "text": DIFFICULT}])
    play("text with U+2028",
         "separated",
         wanted=[{"status": "ok", "text": separated(dialect, upstream)}])
    play("400 deltas", "many", wanted=[{"status": "ok", "text": MANY}])
    play("a call with broken JSON", "badargs", requests=2, wanted=[{"status": "ok", "text": bool}])
    play("an answer by a schema",
         "answer",
         "schema=1",
         "tools=0",
         wanted=[{"status": "ok", "text": is_yes}])
    play("an answer by a schema, where tools are offered",
         "answer",
         "schema=1",
         wanted=[{"status": "ok", "text": is_yes}])
    play("an answer that is cut at its limit",
         "length",
         wanted=[{"status": "ok", "stop": "length"}])


def thinking(tally, url, dialect):
    name, suffix = DIALECTS[dialect]
    tally.play("%s, claude: thinking is kept with its signature, and sent back" % dialect,
               name,
               url + suffix,
               model("claude", dialect, "think"),
               "thinking=low",
               prompts=("One.", "Two."),
               requests=4,
               wanted=[{
                   "status": "ok", "text": "I look.It is 42.", "signed": True,
                   "thinking": ["Both at once.", "It is even."]
               }] * 2)


def refusals(tally, url, dialect, upstream):
    name, suffix = DIALECTS[dialect]
    base, label = url + suffix, "%s, %s: " % (dialect, upstream)

    def play(what, path, *settings, **options):
        return tally.play(label + what, name, base, model(upstream, dialect, path), *settings,
                          **options)

    play("401 of the model's provider",
         "401",
         requests=1,
         wanted=[{"kind": "auth", "http": 401, "request_id": bool}])
    play("429, four times",
         "429",
         requests=4,
         wanted=[{"kind": "rate_limited", "http": 429, "retries": 3, "request_id": bool}])
    play("429, and then an answer",
         "once",
         requests=2,
         wanted=[{"status": "ok", "text": HELLO, "retries": 1, "retried": "rate_limited"}])
    play("500", "500", requests=4, wanted=[{"kind": "server", "http": 500, "retries": 3}])
    play("a prompt that is too long", "overflow", wanted=[{"kind": "overflow"}])
    play("a stream that is cut",
         "cut-once",
         requests=2,
         wanted=[{"status": "ok", "text": HELLO, "retries": 1}])
    play("a stream that is always cut",
         "cut",
         requests=4,
         wanted=[{"status": "error", "kind": lambda k: k in ("network", "server"), "retries": 3}])
    play(
        "an error in mid-stream",
        "broken",
        wanted=[{"status": "error", "kind": lambda k: k in ("overloaded", "server"),
                 "words": bool}])
    play("a stream that stalls",
         "stall",
         "silence_ms=1500",
         "retries=0",
         wanted=[{"status": "error", "kind": "timeout"}])
    tally.play(label + "a key that the proxy does not know",
               name,
               base,
               model(upstream, dialect, "hello"),
               key="sk-other",
               wanted=[{"status": "error", "http": 400, "retries": 0, "words": "No connected db."}])
    tally.play(label + "a model that the proxy does not have",
               name,
               base,
               "no-such-model",
               wanted=[{"status": "error", "http": lambda h: h in (400, 404), "retries": 0}])


def run(user, work, venv, mock, version):
    tally = Tally("LiteLLM", version, user)
    server, url = start(work, venv, mock)

    def checks(pair):
        conversations(tally, url, *pair)
        refusals(tally, url, *pair)
        if pair[1] == "claude":
            thinking(tally, url, pair[0])

    try:
        side_by_side(checks, [(d, u) for d in DIALECTS for u in UPSTREAMS])
    finally:
        server.stop()
    return tally
