"""Plays conversations of phi, compiled from phi.h as a user does, with servers that are not ours.

    servers.py USER WORK VENV [SERVER]...

USER: the program made of user.c. WORK: a directory for configurations and logs. VENV: where
requirements.txt is installed. SERVER: litellm, llmock, llama (default: the first two). All traffic
is on 127.0.0.1. Prints a line for each check, and rows for the table of docs/interop.md; exit code
1 where a check failed.
"""

import importlib.metadata
import json
import os
import signal
import sys

import litellm_checks
import llmock_checks
from talks import NotStarted, Server, User, free_port

HERE = os.path.dirname(os.path.abspath(__file__))


def mock_server(work):
    script = os.path.join(work, "scenarios.json")
    with open(script, "w", encoding="utf-8") as file:
        json.dump(litellm_checks.SCENARIOS, file)
    port = free_port()
    url = "http://127.0.0.1:%d" % port
    return Server(work, "mock", [
        sys.executable,
        os.path.join(HERE, "..", "mock", "server.py"), "--port",
        str(port), "--scenario", script, "--ignore-stdin"
    ], url + "/_stats"), url


def checks_of(name, user, work, venv, mock):
    if name == "litellm":
        version = importlib.metadata.version("litellm")
        return litellm_checks.run(user, work, venv, mock, version)
    if name == "llmock":
        return llmock_checks.run(user, work, venv, importlib.metadata.version("llmock"))
    import llama_checks  # needs gguf and numpy, which take their time
    return llama_checks.run(user, work, os.path.join(work, "..", "llama"))


def main(program, work, venv, *names):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # through what ends the servers
    user, tallies, code = User(program), [], 0
    work, venv = os.path.abspath(work), os.path.abspath(venv)
    mock, url = mock_server(work)
    try:
        for name in names or ("litellm", "llmock"):
            try:
                tallies.append(checks_of(name, user, work, venv, url))
            except NotStarted as e:
                print("interop:", e, file=sys.stderr)
                code = 1
    finally:
        mock.stop()
    print("| server | version | requests | checks | passed |\n|-|-|-|-|-|")
    for tally in tallies:
        print(tally.row())
    return 1 if any(tally.failed for tally in tallies) else code


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), *sys.argv[2:]))
