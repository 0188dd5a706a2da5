"""phi with LLMock, a mock of ten providers that injects faults and judges its clients.

Each check scripts what the next requests get, and then asks LLMock what it found wrong with phi.
"""

import os

from talks import Server, Tally, free_port, get, side_by_side

# user.c's preset, what follows the server's address, a model, and LLMock's name for the provider.
DIALECTS = {
    "chat": ("chat", "/v1", "gpt-5-mini"),
    "responses": ("responses", "/v1", "gpt-5-mini"),
    "anthropic": ("anthropic", "/anthropic", "claude-sonnet-4-5"),
    "gemini": ("google", "/gemini/v1beta", "gemini-2.5-flash"),
    "mistral": ("mistral", "/mistral/v1", "mistral-small-latest"),
    "groq": ("groq", "/groq/openai/v1", "openai/gpt-oss-20b"),
    "together": ("together", "/together/v1", "meta-llama/Llama-3.3-70B-Instruct-Turbo"),
    "xai": ("xai", "/xai/v1", "grok-4"),
}
HELLO = "Hello, all of you out there, on this side of the river and on the other."
CALL = {"type": "reply", "tool_calls": [{"name": "double", "arguments": {"n": 21}}]}
BOTH = {
    "type": "reply", "tool_calls": [{"name": "double", "arguments": {"n": 21}},
                                    {"name": "open", "arguments": {}}]
}
SAYS = {"type": "reply", "text": HELLO}
GOOD = {"status": "ok", "text": HELLO}


class Dialect:
    """One of LLMock's dialects, and how phi speaks it."""
    def __init__(self, tally, url, name):
        self.tally, self.url, self.name = tally, url, name
        self.preset, self.suffix, self.model = DIALECTS[name]

    def play(self, what, behaviours, *settings, wanted, findings=(), **options):
        get(self.url + "/_llmock/reset", {})
        get(self.url + "/_llmock/scenario", {"behaviors": behaviours})
        self.tally.play("%s: %s" % (self.name, what),
                        self.preset,
                        self.url + self.suffix,
                        self.model,
                        *settings,
                        wanted=wanted,
                        **options)
        verdict = get(self.url + "/_llmock/verdict") or {}
        found = sorted({f["code"] for f in verdict.get("findings", [{"code": "no verdict"}])})
        if found != sorted(findings):
            self.tally.check("%s: %s: LLMock's verdict" % (self.name, what), False,
                             "it found %s, not %s" % (found, sorted(findings)))


def fault(kind, times=1, after=3, **more):
    return dict({"type": "stream_fault", "kind": kind, "after_chunks": after, "times": times},
                **more)


def fail(status, times=1, **more):
    return dict({"type": "fail", "status": status, "times": times}, **more)


def conversations(dialect):
    # Mistral's API sends its usage unasked, and knows no stream_options; LLMock sends it only when
    # they spec for it.
    told = dialect.name != "mistral"
    dialect.play("an answer, and its usage", [SAYS],
                 requests=1,
                 wanted=[
                     dict(GOOD,
                          stop="stop",
                          usage=lambda u: (u["input"] > 0 and u["output"] > 0) == told)
                 ])
    dialect.play("a call and its result", [CALL, SAYS],
                 requests=2,
                 wanted=[dict(GOOD, calls=[("double", {"n": 21})])])
    dialect.play("two calls in one answer", [BOTH, SAYS],
                 requests=2,
                 wanted=[dict(GOOD, calls=[("double", {"n": 21}), ("open", {})])])
    dialect.play("three prompts, with calls in their history", [BOTH, SAYS, SAYS, CALL, SAYS],
                 prompts=("One.", "Two.", "Three."),
                 requests=5,
                 wanted=[GOOD, GOOD, GOOD])
    dialect.play("a tool that is not there", [{"type": "tool_fault", "kind": "unknown_tool"}, CALL],
                 wanted=[{"status": "ok", "calls": lambda c: len(c) >= 1}])
    dialect.play("arguments that are not JSON",
                 [{"type": "tool_fault", "kind": "malformed_arguments"}, CALL],
                 wanted=[{"status": "ok", "calls": lambda c: len(c) >= 1}])


def refusals(dialect):
    for status, kind in ((401, "auth"), (403, "auth"), (404, "invalid_request"),
                         (400, "invalid_request")):
        dialect.play("%d is not tried again" % status, [fail(status), SAYS],
                     requests=1,
                     wanted=[{
                         "status": "error", "http": status, "retries": 0,
                         "kind": lambda k, kind=kind: k == kind
                     }])
    for status in (429, 500, 502, 503, 529):
        dialect.play("%d, and then an answer" % status, [fail(status), SAYS],
                     requests=2,
                     wanted=[dict(GOOD, retries=1)])
    dialect.play("429 that asks for a delay", [fail(429, retry_after=0.5), SAYS],
                 requests=2,
                 wanted=[dict(GOOD, retries=1, retried="rate_limited")])
    dialect.play("503 for ever", [fail(503, None)],
                 requests=4,
                 wanted=[{"status": "error", "http": 503, "retries": 3}])


def faults(dialect):
    for kind in ("disconnect", "truncate", "malformed"):
        for after in (0, 1, 3):
            dialect.play("%s after %d chunks" % (kind, after),
                         [SAYS, fault(kind, after=after), SAYS],
                         requests=2,
                         wanted=[dict(GOOD, retries=1)])
    # phi ends with an error, which LLMock cannot see: to it the last attempt was taken for an
    # answer.
    dialect.play("truncated for ever",
                 [fault("truncate", None), dict(SAYS, times=None)],
                 requests=4,
                 wanted=[{"status": "error", "retries": 3}],
                 findings=["truncated_stream_accepted"])
    dialect.play("a stall", [fault("stall", stall_seconds=30), SAYS, SAYS],
                 "silence_ms=700",
                 requests=2,
                 wanted=[dict(GOOD, retries=1)])
    dialect.play("a slow first word", [{"type": "slow_first_token", "seconds": 0.5}, SAYS],
                 requests=1,
                 wanted=[GOOD])
    # A call of Gemini's comes in one piece with the end of its answer, and is whole with it.
    cut = 0 if dialect.name == "gemini" else 1
    dialect.play("a call that is cut", [CALL, fault("disconnect", after=cut), CALL, SAYS],
                 wanted=[dict(GOOD, calls=[("double", {"n": 21})], retries=1)])


def checks(tally, work, venv, name):
    """One dialect, with a server of its own.

    Streams are slowed down so that LLMock sees phi hang up where it reads broken JSON.
    """
    port = free_port()
    url = "http://127.0.0.1:%d" % port
    server = Server(work, "llmock-" + name, [
        os.path.join(venv, "bin", "llmock"), "serve", "--host", "127.0.0.1", "--port",
        str(port), "--stream-chunk-delay-ms", "15"
    ], url + "/health")
    try:
        dialect = Dialect(tally, url, name)
        conversations(dialect)
        refusals(dialect)
        faults(dialect)
    finally:
        server.stop()


def run(user, work, venv, version):
    tally = Tally("LLMock", version, user)
    side_by_side(lambda name: checks(tally, work, venv, name), DIALECTS)
    return tally
