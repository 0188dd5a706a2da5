"""What the checks against servers share: processes, conversations of user.c, and a tally."""

import concurrent.futures
import json
import os
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

MOST_SECONDS = 120  # until a server answers


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(url, body=None):
    """The JSON that a server answers, or None."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as answer:
            return json.loads(answer.read())
    except (OSError, ValueError):
        return None


class NotStarted(Exception):
    pass


class Server:
    """A server as a child process.

    Its environment holds nothing of ours, and names a proxy that does not exist: what it sends to
    other machines arrives nowhere.
    """
    def __init__(self, work, name, command, ready, variables=None):
        env = dict(
            {
                "PATH": os.environ["PATH"], "HOME": work, "PYTHONUNBUFFERED": "1",
                "LC_ALL": "C.UTF-8", "HTTP_PROXY": "http://127.0.0.1:9",
                "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"
            }, **(variables or {}))
        self.log = os.path.join(work, name + ".log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command,
                                            stdin=subprocess.DEVNULL,
                                            stdout=log,
                                            stderr=log,
                                            env=env,
                                            cwd=work)
        end = time.monotonic() + MOST_SECONDS
        while get(ready) is None:
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise NotStarted("%s did not start; see %s" % (name, self.log))
            time.sleep(0.2)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


# ---- a conversation ----


class Run:
    """What came of one prompt, from the events of its run."""
    def __init__(self):
        self.status, self.kind, self.http, self.request_id, self.words = "ok", "", 0, "", ""
        self.retries, self.turns, self.retried = 0, 0, ""
        self.messages, self.usage = [], {}
        self.heard = self.before = ""
        self.shown_calls = 0

    def hear(self, event):
        kind = event["type"]
        if kind == "MessageUpdate":
            self.heard += event["delta"].get("Text", {}).get("delta", "")
        elif kind == "MessageStart":
            self.before = self.heard
        elif kind == "Retract":
            self.heard = self.before
        elif kind == "TurnStart":
            self.turns += 1
        elif kind == "ToolExecutionStart":
            self.shown_calls += 1
        elif kind == "Retry":
            self.retries += 1
            self.retried = event["kind"]
        elif kind == "Error":
            self.status, self.kind = "error", event["kind"]
            self.http, self.words = event["http_status"], event["message"]
            self.request_id = event.get("request_id", "")
        elif kind == "AgentEnd":
            self.messages, self.usage = event["messages"], event["usage"]

    def blocks(self, kind):
        return [
            block for message in self.messages if message["role"] == "assistant"
            for block in message["content"] if block["type"] == kind
        ]

    @property
    def text(self):
        return "".join(block["text"] for block in self.blocks("text"))

    @property
    def thinking(self):
        return [block["thinking"] for block in self.blocks("thinking")]

    @property
    def signed(self):
        return all(block.get("signature") for block in self.blocks("thinking"))

    @property
    def calls(self):
        return [(block["name"], block["arguments"]) for block in self.blocks("toolCall")]

    @property
    def stop(self):
        return self.messages[-1].get("stopReason") if self.messages else None

    @property
    def doubled(self):
        """Whether what was shown as it came is not what stands in the messages."""
        return self.status == "ok" and self.heard != self.text

    @property
    def requests(self):
        return self.turns + self.retries


class User:
    """user.c: phi as a user compiles it."""
    def __init__(self, program):
        self.program = program
        self.lock = threading.Lock()

    def talk(self, dialect, base, model, *settings, prompts=("Look.", ), key="sk-test"):
        """(runs, exit code, what it said on stderr)."""
        command = [self.program, dialect, base, model, key, *settings, "--", *prompts]
        child = subprocess.run(command,
                               capture_output=True,
                               timeout=MOST_SECONDS,
                               check=False,
                               env={"PATH": os.environ["PATH"]})
        runs, run = [], None
        for line in child.stdout.decode("utf-8").split("\n"):  # not splitlines: U+2028 is no end
            if not line:
                continue
            event = json.loads(line)
            if event["type"] == "AgentStart":
                run = Run()
                runs.append(run)
            if run:
                run.hear(event)
        return runs, child.returncode, child.stderr.decode("utf-8", "replace")


# ---- the tally ----


class Tally:
    """The checks against one server: a line for each, a row for the table of docs/interop.md."""
    def __init__(self, server, version, user):
        self.server, self.version, self.user = server, version, user
        self.requests = self.passed = self.failed = 0

    def check(self, what, good, why=""):
        lines = ["%s  %s, %s" % ("ok    " if good else "FAILED", self.server, what)]
        if not good:
            lines += ["        " + line[:600] for line in str(why).strip().splitlines()[:20]]
        with self.user.lock:
            self.passed += bool(good)
            self.failed += not good
            print("\n".join(lines), flush=True)

    def play(self, what, dialect, base, model, *settings, wanted, requests=None, **options):
        """Talks, and compares each run with what is wanted: values, or functions of values."""
        runs, code, words = self.user.talk(dialect, base, model, *settings, **options)
        wrong = []
        for i, want in enumerate(wanted):
            run = runs[i] if i < len(runs) else Run()
            for key, value in dict({"doubled": False}, **want).items():
                have = getattr(run, key)
                if not (value(have) if callable(value) else have == value):
                    wrong.append("%d: %s is %r%s" %
                                 (i, key, have, "" if callable(value) else ", not %r" % (value, )))
            if wrong and run.words:
                wrong.append("%d: it said: %s" % (i, run.words))
        made = sum(run.requests for run in runs)
        with self.user.lock:
            self.requests += made
        if requests is not None and made != requests:
            wrong.append("%d requests, not %d" % (made, requests))
        if code != 0 or len(runs) != len(wanted):
            wrong.append("exit code %d after %d runs; %s" % (code, len(runs), words))
        self.check(what, not wrong, "\n".join(wrong))
        return runs

    def row(self):
        return "| %s | %s | %d | %d | %d |" % (self.server, self.version, self.requests,
                                               self.passed + self.failed, self.passed)


def is_yes(text):
    """Whether it is the only answer that fits the schema of user.c."""
    try:
        return json.loads(text) == {"answer": "yes"}
    except ValueError:
        return False


def side_by_side(work, items):
    """work(item) for each, four at a time: most of it is waiting."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work, item) for item in items]:
            done.result()
