"""phi with llama.cpp's own server, by three dialects.

Its model has random weights (tiny_model.py): the text is nonsense, but a schema leaves the model
only one answer.
"""

import os
import re
import subprocess

import tiny_model
from talks import Server, Tally, free_port, is_yes
from tiny_model import CALL_TOKEN

DIALECTS = {
    "chat": ("llama_cpp", "/v1"), "responses": ("llama_cpp_responses", "/v1"),
    "messages": ("anthropic", "")
}


def told(dialect, most):
    """A check of usage with at most so many output tokens.

    By Anthropic's protocol the prompt's tokens come with message_start, which the server leaves
    out where the answer's first token is not a whole character.
    """
    return lambda usage: 0 < usage["output"] <= most and (usage["input"] > 0 or dialect ==
                                                          "messages")


def checks(tally, url, dialect):
    preset, suffix = DIALECTS[dialect]

    def play(what, *settings, **options):
        tally.play("%s: %s" % (dialect, what), preset, url + suffix, "tiny", *settings, **options)

    # By OpenAI's newer protocol an answer at its limit says that it is complete.
    short = {
        "status": "ok", "stop": "stop" if dialect == "responses" else "length", "text": bool,
        "calls": []
    }
    play("an answer is read, once, and its usage",
         "tools=0",
         "max_tokens=16",
         requests=1,
         wanted=[dict(short, usage=told(dialect, 16))])
    play("300 tokens", "tools=0", "max_tokens=300", wanted=[dict(short, usage=told(dialect, 300))])
    play("tools are taken",
         "max_tokens=16",
         requests=1,
         wanted=[{"status": "ok", "usage": told(dialect, 16)}])
    play("three prompts, with their history",
         "tools=0",
         "max_tokens=16",
         prompts=("One.", "Two.", "Three."),
         requests=3,
         wanted=[dict(short, usage=told(dialect, 16))] * 3)
    if dialect == "chat":  # the others take a schema and let the model say what it likes
        play("an answer by a schema",
             "tools=0",
             "schema=1",
             wanted=[{"status": "ok", "text": is_yes}])
    # What comes then is the model's affair: text, or an error in the stream where it is no call.
    play("a schema beside tools is taken",
         "schema=1",
         "max_tokens=100",
         "turns=1",
         "retries=0",
         wanted=[{"http": lambda status: status in (0, 200)}])
    play("a prompt that is too long",
         "tools=0",
         prompts=("word " * 3000, ),
         requests=1,
         wanted=[{"status": "error", "kind": "overflow"}])
    play("a key that the server does not know",
         "tools=0",
         key="sk-other",
         requests=1,
         wanted=[{"status": "error", "kind": "auth", "http": 401}])


def calls(tally, url, dialect):
    """Calls, by a server that prefers the token that begins one.

    A tool must be called. Which, and with what, is random; the model calls until its tokens are
    spent.
    """
    preset, suffix = DIALECTS[dialect]
    tally.play("%s: tools are called, and their results go back" % dialect,
               preset,
               url + suffix,
               "tiny",
               "must_call=1",
               "turns=3",
               "max_tokens=200",
               wanted=[{
                   "calls": lambda c: c and all(call[0] in ("double", "open") for call in c),
                   "shown_calls": lambda n: n > 0, "turns": lambda n: n > 1
               }])


def version(program):
    said = subprocess.run([program, "--version"], capture_output=True, check=False, timeout=60)
    words = (said.stdout + said.stderr).decode()
    found = re.search(r"version: (\S+)[^\n]*commit (\w+)", words)
    return " ".join(found.groups()) if found else words.strip()


def start(work, program, name, more):
    port = free_port()
    url = "http://127.0.0.1:%d" % port
    model = os.path.join(work, name + ".gguf")
    tiny_model.main(model, name == "calls")
    command = [
        program, "-m", model, "--host", "127.0.0.1", "--port",
        str(port), "-c", "4096", "-np", "1", "-t", "1", "--seed", "7", "--jinja", "--offline",
        "--api-key", "sk-test"
    ]
    return Server(work, "llama-" + name, command + more, url + "/health"), url


def run(user, work, built):
    """`built`: where scripts/interop.py llama put the program and its package's version."""
    program = os.path.join(built, "llama-server")
    with open(os.path.join(built, "installed"), encoding="utf-8") as file:
        package = file.read().strip()
    tally = Tally("llama.cpp", "%s, of llama-cpp-python %s" % (version(program), package), user)
    for name, check, bias in (("tiny", checks, []), ("calls", calls,
                                                     ["--logit-bias",
                                                      "%d+100" % CALL_TOKEN])):
        server, url = start(work, program, name, bias)
        try:
            for dialect in DIALECTS:
                check(tally, url, dialect)
        finally:
            server.stop()
    return tally
