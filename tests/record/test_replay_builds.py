"""What one build recorded is played by builds of other compilers, of 32 bits, and with small steps, when no server is
there any more: every log has the same hash. Played are

    a tape of each protocol, of tests/record/test_replay_http, which must have been built (replay_main.c);
    each example, recorded against the mock server, or with its own model: it says the same, too. The examples are
    compiled as they are; taped.c stands between them and the library."""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "examples"))
from test_examples import PYTHON, Mock, environment  # noqa: E402

# gcc's records, too. In 32 bits clang, where it is there, takes half the time.
BUILDS = {"gcc": ["gcc", "-O0"], "clang": ["clang", "-O0", "-DPHI_NO_CURL"],
          "m32": ["clang" if shutil.which("clang") else "gcc", "-m32", "-O0", "-DPHI_NO_CURL"]}
PROTOCOLS = ["ANTHROPIC", "OPENAI_CHAT", "OPENAI_RESPONSES", "AZURE_RESPONSES", "GOOGLE", "VERTEX", "INTERACTIONS", "BEDROCK"]
WRAPPED = ["phi_runtime_new", "phi_runtime_free", "phi_agent_new",
           "phi_agent_restore", "phi_agent_reset", "phi_agents_free", "phi_next_event"]
# What is said of frames and time, which are not the same in a replay.
FIGURES = re.compile(r"^.*(?:\d+ frames\b|woke \d+ times).*\n", re.M)
LONGEST = 60  # seconds any example may take

# An example that is recorded: its name, arguments ({} is a directory of its own), scenario, what is typed, and what it
# must have said, so that the tape holds what it is meant to hold.
RUNS = {
    "hello": ("hello", [], "/s/hello", "", "this answer came as a stream"),
    "hello, refused": ("hello", [], "/m/status=401/s/hello", "", "invalid x-api-key"),
    "quickstart": ("quickstart", ["examples"], "/s/demo", "", "That is all there is to see."),
    "frame_loop": ("frame_loop", ["fast"], "/s/npc", "", "Lay the sword on the anvil"),
    "own_loop": ("own_loop", [], "/s/slow-20", "", "nine ten"),
    "repl": ("repl", ["examples"], "/s/echo",
             "start:first,words :second,words :/model,claude-other :/clear :third,words :/quit",
             "third words"),
    "repl, tools": ("repl", ["examples"], "/s/demo", "start:look :/quit", "- read_file"),
    "repl, overloaded": ("repl", ["examples"], "/m/status=529+times=1,taped/s/hello",
                         "start:hello :/quit", "(attempt 1/4)"),
    "repl, Ctrl+C": ("repl", ["examples"], "/s/slow-50",
                     "start:hello TextDelta:^C AgentEnd:again AgentEnd:/quit", "(stopped)"),
    "approve": ("approve", ["{}"], "/s/approve",
                'start:y :n,it,is,needed :e,{"command":"echo,three,>,three.txt"}',
                "it is needed"),
    "steer": ("steer", ["examples"], "/s/steer",
              "ToolExecutionStart:Stop,that. :+,And,then?", "Now I hear: Stop that."),
    "steer, stop": ("steer", ["examples"], "/s/steer", "ToolExecutionStart:/stop :+,Later.",
                    "(1 said and not delivered"),
    "steer, Ctrl+C": ("steer", ["examples"], "/s/steer", "ToolExecutionStart:^C", "Cancelled"),
    "budget": ("budget", ["0.06"], "/s/scout", "start:y", "together $0.1080, 8 calls"),
    "budget, no more": ("budget", ["0.06"], "/s/scout", "start:n", "together $0.0"),
    "judge": ("judge", ["Why?"], "/s/echo", "", "-- brief, ok, selected"),
    "pipeline": ("pipeline", [], "/s/echo", "", "12 calls"),
    "own_model": ("own_model", [], None, "", "[look] The gate is shut."),
    "persist": ("persist", ["{}"], None, "", "0 messages so far"),
    "persist, again": ("persist", ["{}"], None, "", "2 messages so far"),
    "savegame": ("savegame", [], None, "", "a sword of good steel"),
    "state": ("state", [], None, "", "the thief is told: [What you know now]"),
    "subagents": ("subagents", [], None, "", "[spawned, ok] File it: done."),
    "coding_agent": ("coding_agent", ["{}", "Tidy up"], "/s/coding", "start:y", "Pushing is left to people."),
    "openapi": ("openapi", ["tests/fixtures/openapi/petstore_3.0.json", "Tidy up"], "/s/openapi", "start:n",
                "Error: HTTP request failed"),
    "mcp": ("mcp", ["Count", PYTHON, "tests/mock/mcp_server.py"], "/s/mcp", "start:y", "It said: 42"),
    "skills": ("skills", [], None, "", "references/verbs.md lists good verbs."),
    "from_config": ("from_config", [], None, "", "is short and clear."),
    "time_travel": ("time_travel", [], None, "", "all in one log"),
    "custom_strategy": ("custom_strategy", [], None, "", "It is 56."),
    "phi": ("phi", ["Who", "are", "you?"], "/s/hello", "", "this answer came as a stream"),
    "phi, tools": ("phi", ["look"], "/s/parallel", "", "* list_files"),
    "strategies": ("strategies", ["24", "tot"], None, "", "solved after 28 calls"),
}
# Clients are elsewhere; a mock of its own; it counts alone; it writes a file where it is started; its memory is measured;
# it wants a repository of Git.
NOT_PLAYED = {"mcp_server", "server", "testing", "tokenizer", "village", "npc", "review"}
FOLLOWS = {"persist, again": "persist"}  # the other one's directory
# Their tools do more than give results, or nothing else: they are run again, and their results compared.
RUN_AGAIN = {"savegame", "frame_loop", "own_model", "budget", "budget, no more"}


def run(command, **more):
    return subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300, check=False, **more)


def must(command):
    done = run(command)
    if done.returncode != 0:
        raise RuntimeError(" ".join(command) + "\n" + done.stdout)


def works(command, folder):
    path = os.path.join(folder, "try.c")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#include <stdio.h>\nint main(void) { return 0; }\n")
    return shutil.which(command[0]) and run(command + [path, "-o", path + ".out"]).returncode == 0


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Builds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.pool = concurrent.futures.ThreadPoolExecutor(2)
        cls.addClassCleanup(cls.pool.shutdown)
        cls.sources = sorted(p for p in glob.glob(os.path.join(ROOT, "examples", "*.c"))
                             if os.path.basename(p) != "town.c")  # it needs SDL2
        must([sys.executable, "amalgamate.py", "--out", cls.folder])
        with open(os.path.join(cls.folder, "all.c"), "w", encoding="utf-8") as file:
            file.write('#define PHI_IMPLEMENTATION\n#include "phi_tools.h"\n')
        # An example that would hold the library in itself links with it, too: only so can it be wrapped.
        os.mkdir(os.path.join(cls.folder, "shim"))
        for header in ("phi.h", "phi_tools.h"):
            with open(os.path.join(cls.folder, "shim", header), "w", encoding="utf-8") as file:
                file.write('#undef PHI_IMPLEMENTATION\n#include "../%s"\n' % header)
        cls.built = [name for name in BUILDS if works(BUILDS[name], cls.folder)]
        list(cls.pool.map(cls.library, cls.built))
        list(cls.pool.map(cls.build, cls.built))
        cls.said = cls.record()

    @classmethod
    def compile(cls, name, source, out):
        must(BUILDS[name] + ["-std=c99", "-fPIC", "-D_GNU_SOURCE",
                             "-I", os.path.join(cls.folder, "shim"), "-I", cls.folder, "-I", "tests",
                             "-c", source, "-o", out])

    @classmethod
    def library(cls, name):
        where = os.path.join(cls.folder, name)
        os.mkdir(where)
        cls.compile(name, os.path.join(cls.folder, "all.c"), os.path.join(where, "all.o"))
        must(BUILDS[name] + ["-shared", os.path.join(where, "all.o")] +
             ([] if "-DPHI_NO_CURL" in BUILDS[name] else ["-lcurl"]) +
             ["-lm", "-lpthread", "-o", os.path.join(where, "libphi.so")])
        cls.compile(name, os.path.join(ROOT, "tests", "record", "taped.c"),
                    os.path.join(where, "taped.o"))

    @classmethod
    def link(cls, name, source, *more):
        out = os.path.join(cls.folder, name, os.path.basename(source)[:-2])
        cls.compile(name, source, out + ".o")
        where = os.path.join(cls.folder, name)
        must(BUILDS[name] + [out + ".o", *more, "-L" + where, "-lphi", "-Wl,-rpath," + where, "-o", out] +
             ([] if "-DPHI_NO_CURL" in BUILDS[name] else ["-lcurl"]))

    @staticmethod
    def plays(build, program):
        """The command calls libcurl itself (read_url)."""
        return program != "phi" or "-DPHI_NO_CURL" not in BUILDS[build]

    @classmethod
    def build(cls, name):
        cls.link(name, os.path.join(ROOT, "tests", "record", "replay_main.c"))
        for source in cls.sources:
            if cls.plays(name, os.path.basename(source)[:-2]):
                cls.link(name, source, os.path.join(cls.folder, name, "taped.o"), *["-Wl,--wrap=" + w for w in WRAPPED])

    @classmethod
    def record(cls):
        scenarios = os.path.join(cls.folder, "scenarios.json")
        text = json.loads(read(os.path.join(ROOT, "tests", "examples", "scenarios.json")))
        text["steer"][0]["blocks"][0]["input"]["command"] = "sleep 0.3; echo one"
        with open(scenarios, "w", encoding="utf-8") as file:
            json.dump(text, file)
        mock = Mock("--port", "0", "--scenario", scenarios)
        cls.url = mock.url
        try:
            return cls.all("gcc", "0", "record")
        finally:
            mock.stop()

    @classmethod
    def all(cls, build, budget, what="play"):
        """Runs every example: what each said, and the hashes of its logs."""
        chains = [[name] + [then for then, first in FOLLOWS.items() if first == name]
                  for name in RUNS if name not in FOLLOWS and cls.plays(build, RUNS[name][0])]
        said = {}
        for found in cls.pool.map(lambda chain: cls.chain(chain, build, budget, what), chains):
            said.update(found)
        return said

    @classmethod
    def chain(cls, names, build, budget, what):
        with tempfile.TemporaryDirectory(dir=cls.folder) as own:
            return {name: cls.one(name, build, budget, own, what, name in RUN_AGAIN)
                    for name in names}

    @classmethod
    def one(cls, name, build, budget, own, what, again):
        program, arguments, scenario, keys, _ = RUNS[name]
        out = os.path.join(own, "..", "hashes of " + os.path.basename(own))
        env = environment(TAPED=what, BUDGET=budget, OUT=out,
                          TAPE=os.path.join(cls.folder, name), KEYS=keys,
                          TOOLS="run" if again else "", API_URL="http://127.0.0.1:9",
                          PHI_BASE_URL=cls.url + scenario if scenario else "http://127.0.0.1:9")
        with open(os.devnull, encoding="utf-8") as nothing:
            try:
                done = subprocess.run(
                    [os.path.join(cls.folder, build, program)] +
                    [argument.replace("{}", own) for argument in arguments],
                    stdin=nothing, env=env, cwd=ROOT, timeout=LONGEST, text=True, check=False,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            except subprocess.TimeoutExpired as e:
                return "it hangs: %r" % e.stdout, ""
        return FIGURES.sub("", done.stdout), read(out) if os.path.exists(out) else "no hashes"

    def same(self, build, budget="0"):
        if build not in self.built:
            self.skipTest("no %s here" % " ".join(BUILDS[build]))
        for name, (said, hashes) in self.all(build, budget).items():
            with self.subTest(example=name):
                self.assertEqual(hashes, self.said[name][1])
                self.assertEqual(said, self.said[name][0])

    def recorded(self):
        """What test_replay_http recorded: for each protocol a tape and a hash."""
        made = glob.glob(os.path.join(ROOT, "build", "*", "tests", "record", "test_replay_http"))
        if not made:
            self.skipTest("tests/record/test_replay_http is not built")
        done = run([max(made, key=os.path.getmtime)], env=dict(os.environ, PHI_TAPES=self.folder))
        self.assertEqual(done.returncode, 0, done.stdout)
        text = read(os.path.join(ROOT, "src", "model", "model.h"))
        return [os.path.join(self.folder, text.split(f"#define PHI_PROTOCOL_{name} \"")[1].split('"')[0] + ".tape")
                for name in PROTOCOLS]

    def test_a_tape_of_each_protocol_is_the_same_log_everywhere(self):
        for number, tape in enumerate(self.recorded()):
            for name in self.built:
                for budget in ("0", "1024"):
                    with self.subTest(tape=tape, build=name, budget=budget):
                        done = run([os.path.join(self.folder, name, "replay_main"), tape, str(number), budget])
                        self.assertEqual((done.returncode, done.stdout), (0, read(tape + ".hash")))

    def test_the_recordings_hold_what_they_are_meant_to(self):
        played = {run[0] for run in RUNS.values()}
        self.assertEqual(played | NOT_PLAYED, {os.path.basename(path)[:-2] for path in self.sources})
        for name, (said, hashes) in self.said.items():
            with self.subTest(example=name):
                self.assertIn(RUNS[name][4], said)
                self.assertRegex(hashes, r"^(?:(?:runtime \d, agent \d+: \d+ entries, [0-9a-f]{16}\n"
                                 r")+runtime \d: ok\n)+\Z")

    def test_a_tool_is_not_called_when_a_tape_is_played(self):
        with tempfile.TemporaryDirectory(dir=self.folder) as own:
            for name in RUN_AGAIN:
                with self.subTest(example=name):
                    said, hashes = self.one(name, "gcc", "0", own, "play", False)
                    self.assertEqual(hashes, self.said[name][1])
                    self.assertNotIn("goes on at frame", said)  # in savegame's tool: it is resumed

    def test_gcc_plays_the_same_logs(self):
        self.same("gcc")

    def test_clang_plays_the_same_logs(self):
        self.same("clang")

    def test_32_bits_play_the_same_logs(self):
        self.same("m32")

    def test_steps_of_one_kilobyte_play_the_same_logs(self):
        self.same("gcc", "1024")


if __name__ == "__main__":
    unittest.main()
