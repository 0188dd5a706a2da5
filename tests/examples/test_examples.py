#!/usr/bin/env python3
"""Runs each example, as the Makefile built it, against the mock server; a terminal is a pseudo one.

The programs are those of $PHI_BUILD/examples (default: build/asan); a program that is not there is
an error, for the Makefile builds them before it runs this.
"""
import fcntl
import http.server
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import tempfile
import termios
import threading
import time
import unittest
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("PHI_BUILD", os.path.join(ROOT, "build", "asan"))
PYTHON = os.environ.get("PYTHON") or "/usr/bin/python3"
LONGEST = 60  # seconds any example may take
STATE = tempfile.TemporaryDirectory()  # of the command phi, which keeps conversations
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Mock:
    """The mock server; it ends when its stdin closes, however this program ends."""
    def __init__(self, *options):
        server = os.path.join(ROOT, "tests/mock/server.py")
        self.child = subprocess.Popen([PYTHON, server, *options], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)
        words = self.child.stdout.readline().split()
        if len(words) != 3:
            raise RuntimeError("the mock server does not start")
        self.port = int(words[2])
        self.url = "http://127.0.0.1:%d" % self.port

    def asked(self):
        """The bodies of the requests since the last call, oldest first."""
        with DIRECT.open(self.url + "/_log") as answer:
            log = json.load(answer)
        with DIRECT.open(urllib.request.Request(self.url + "/_reset", method="POST")) as answer:
            answer.read()
        return [entry["body"] for entry in log]

    def stop(self):
        self.child.stdin.close()
        self.child.stdout.close()
        self.child.wait()


mock = None


def setUpModule():
    global mock
    mock = Mock("--port", "0", "--scenario",
                os.path.join(ROOT, "tests/examples/scenarios.json"))


def tearDownModule():
    mock.stop()


def environment(**more):
    env = {k: v for k, v in os.environ.items()
           if not k.endswith("_API_KEY") and k not in ("PHI_BASE_URL", "PHI_MODEL")
           and not k.lower().endswith("_proxy")}
    return dict(env, **{"XDG_STATE_HOME": STATE.name, "XDG_CONFIG_HOME": STATE.name, **more})


def program(name):
    return os.path.join(BUILD, "examples", name)


def run(name, *args, scenario="hello", url=None, text="", **more):
    """Runs an example with pipes; what it said, and its exit code."""
    env = environment(PHI_BASE_URL=url or mock.url + "/s/" + scenario, **more)
    done = subprocess.run([program(name), *args], input=text, env=env, cwd=ROOT, timeout=LONGEST,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout, done.returncode


def closed_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return "http://127.0.0.1:%d" % s.getsockname()[1]


class Terminal:
    """An example on a pseudo terminal that controls it, so that Ctrl+C is a signal."""
    def __init__(self, name, *args, scenario):
        self.master, slave = pty.openpty()

        def own_terminal():
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.child = subprocess.Popen([program(name), *args], stdin=slave, stdout=slave,
                                      stderr=slave, cwd=ROOT, start_new_session=True,
                                      preexec_fn=own_terminal,
                                      env=environment(PHI_BASE_URL=mock.url + "/s/" + scenario))
        os.close(slave)
        self.said = ""

    def read(self, seconds):
        """Reads once; False at the end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:  # EIO: nobody holds the other side any more
            return False
        self.said += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)

    def wait_for(self, words):
        """Until `words` was said; what came before it, which is then forgotten."""
        end = time.monotonic() + LONGEST
        while words not in self.said:
            if time.monotonic() > end or not self.read(0.5):
                raise AssertionError("%r was not said, but %r" % (words, self.said))
        before, _, self.said = self.said.partition(words)
        return before

    def type(self, keys):
        time.sleep(0.1)  # nobody types in the very instant a prompt appears
        os.write(self.master, keys.encode())

    def end(self):
        """The rest of what it says, and its exit code."""
        end = time.monotonic() + LONGEST
        while time.monotonic() < end and self.read(0.5):
            pass
        code = self.child.wait(timeout=LONGEST)
        return self.said, code

    def close(self):
        if self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait()
        os.close(self.master)


class Hello(unittest.TestCase):
    def test_hello_prints_the_answer_and_ends(self):
        said, code = run("hello")
        self.assertEqual(said, "Hello! I am a scripted model, and this answer came as a stream.\n")
        self.assertEqual(code, 0)

    def test_hello_prints_what_went_wrong(self):
        said, _ = run("hello", url=closed_port())
        self.assertIn("connection refused by http://127.0.0.1:", said)


class Quickstart(unittest.TestCase):
    def test_quickstart_looks_at_a_directory_with_two_tools_and_tells_what_is_in_it(self):
        mock.asked()
        said, code = run("quickstart", "examples", scenario="demo")
        self.assertEqual(code, 0, said)
        lines = said.split("\n")
        self.assertEqual(lines[0],
                         "model    claude-sonnet-4-5 at %s/s/demo (PHI_BASE_URL)" % mock.url)
        for line in ("you      What is in this directory?",
                     "model    I'll look at what is there.",
                     'tool     list_files {"path": "."}',
                     "result   approve.c",
                     'tool     read_file {"path": "approve.c"}',
                     "model    The directory holds:",
                     "That is all there is to see."):
            self.assertIn(line, lines)
        self.assertRegex(lines[1], r"^run      [0-9a-f-]{36}\.anthropic\.claude-sonnet-4-5\.1$")
        self.assertRegex(lines[-2], r"^end      ok; 6 messages, \d+ tokens in, \d+ out$")
        self.assertEqual([len(body["messages"]) for body in mock.asked()], [1, 3, 5])

    def test_quickstart_asks_the_question_it_is_given(self):
        said, code = run("quickstart", "examples", "Is there a loop?", scenario="echo")
        self.assertEqual(code, 0, said)
        self.assertIn("model    Is there a loop?\n", said)

    def test_quickstart_fails_with_words_when_nobody_answers(self):
        said, code = run("quickstart", "examples", url=closed_port())
        self.assertEqual(code, 1)
        self.assertRegex(said, r"\nfailed   connection refused by http://127\.0\.0\.1:")

    def test_quickstart_fails_with_words_when_the_key_is_wrong(self):
        said, code = run("quickstart", "examples", url=mock.url + "/m/status=401/s/hello")
        self.assertEqual(code, 1)
        self.assertIn("\nfailed   invalid x-api-key\n", said)


class SubAgents(unittest.TestCase):
    def test_children_work_for_the_chief_and_one_is_continued(self):
        said, code = run("subagents")
        self.assertEqual(code, 0, said)
        for line in ('[reporter begins] {"task":"Ask at the harbour"}',
                     "    Ask at the market: done.",
                     '[reporter has finished] {"sub_agent":"reporter","turns":2,"id":"sub-2"}',
                     "    Ask again, for names: done, as I remember.",
                     '[clerk has finished] {"sub_agent":"clerk","turns":2}',
                     "We print it.",
                     "[spawned, ok] File it: done."):
            self.assertIn(line, said.split("\n"))
        self.assertTrue(said.endswith("8 model calls, the chief's and the children's\n"))


class CodingAgent(unittest.TestCase):
    def work(self, text):
        with tempfile.TemporaryDirectory(dir=BUILD) as there:
            with open(os.path.join(there, "notes.txt"), "w", encoding="utf-8") as file:
                file.write("kept\n")
            said, code = run("coding_agent", there, "Tidy up", scenario="coding", text=text)
            self.assertEqual(code, 0, said)
            return said, sorted(os.listdir(there))

    def test_it_explores_asks_before_a_change_and_cannot_push(self):
        said, files = self.work("y\n")
        self.assertEqual(files, ["made.txt", "notes.txt"])
        for words in ('[explore] {"task": "Find the notes"}\n',
                      "  | [sub-agent calling tool: list_files]\n",
                      "may it? y or n [reason]: ",
                      "Pushing is left to people.",
                      "Tool explore not found"):  # of the sub-agent, which has none below it
            self.assertIn(words, said)
        self.assertEqual(said.count("may it?"), 1)
        self.assertRegex(said, r"\n6 model calls, [1-9]\d+ tokens, \$\d\.\d{4}\n$")

    def test_without_a_person_nothing_changes(self):
        self.assertEqual(self.work("")[1], ["notes.txt"])


class FrameLoop(unittest.TestCase):
    def test_the_npc_walks_three_hundred_frames_while_the_game_goes_on(self):
        said, code = run("frame_loop", "fast", scenario="npc")
        self.assertEqual(code, 0, said)
        self.assertIn("Aye, follow me.\n[walks: {\"place\": \"forge\"}]\n", said)
        self.assertIn("Lay the sword on the anvil", said)
        self.assertIn("\n[ok]\n", said)
        frames = re.search(r"^(\d+) frames; phi_step: worst \d+ us, p99\.9 \d+ us, "
                           r"median [\d.]+ us$", said, re.M)
        self.assertGreater(int(frames.group(1)), 300)

    def test_escape_stops_the_walk_and_the_run(self):
        game = Terminal("frame_loop", scenario="npc")
        self.addCleanup(game.close)
        game.wait_for("[walks: {\"place\": \"forge\"}]")
        game.type("\033")
        said, code = game.end()
        self.assertEqual(code, 0)
        walked = re.search(r"\[the smith stops after (\d+) tiles\]\n\n\[cancelled\]\n", said)
        self.assertIsNotNone(walked, said)
        self.assertLess(int(walked.group(1)), 300)


class NpcInCpp(unittest.TestCase):
    def test_a_lambda_walks_the_smith_to_the_forge(self):
        said, code = run("npc_cpp", scenario="npc")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"Aye, follow me\.\n\[walk_to\]\nHere we are. Lay the sword on the anvil")
        self.assertIn("\n[the smith is at the forge after 4 messages]\n", said)

    def test_what_goes_wrong_is_thrown(self):
        said, code = run("npc_cpp", url=closed_port())
        self.assertEqual(code, 1, said)
        self.assertIn("connect", said)


class Repl(unittest.TestCase):
    def test_commands_and_prompts_come_by_pipe(self):
        mock.asked()
        said, code = run("repl", "examples", scenario="echo", text="/model\nfirst words\n"
                         "second words\n/model claude-other\n/clear\nthird words\n/model\n/help\n"
                         "/quit\nnever read\n")
        self.assertEqual(code, 0, said)
        start = "claude-sonnet-4-5 at %s/s/echo (PHI_BASE_URL); " % mock.url
        self.assertEqual(said[:len(start)], start)
        for words in ("> (claude-sonnet-4-5; 0 tokens in, 0 out)\n", "> first words\n",
                      "> second words\n", "> (claude-other)\n", "> (forgotten)\n",
                      "> third words\n", "> commands: /quit /clear /model [ID]\n"):
            self.assertIn(words, said)
        self.assertRegex(said, r"> \(claude-other; [1-9]\d* tokens in, [1-9]\d* out\)\n")
        self.assertNotIn("never read", said)
        asked = mock.asked()
        self.assertEqual([body["model"] for body in asked],
                         ["claude-sonnet-4-5", "claude-sonnet-4-5", "claude-other"])
        self.assertEqual([len(body["messages"]) for body in asked], [1, 3, 1])

    def test_the_end_of_the_input_ends_it(self):
        said, code = run("repl", "examples", text="hello\n")
        self.assertEqual(code, 0, said)
        self.assertIn("this answer came as a stream.", said)

    def test_tools_run_and_are_shown(self):
        said, code = run("repl", "examples", scenario="demo", text="look\n/quit\n")
        self.assertEqual(code, 0, said)
        self.assertIn('\n- list_files {"path": "."}\n', said)
        self.assertIn('\n- read_file {"path": "approve.c"}\n', said)
        self.assertIn("That is all there is to see.", said)

    def test_an_error_is_said_and_the_chat_goes_on(self):
        said, code = run("repl", "examples", url=mock.url + "/m/status=400+times=1,repl/s/hello",
                         text="hello\nagain\n/quit\n")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"\n! .+\n")
        self.assertIn("this answer came as a stream.", said)

    def test_a_server_that_is_overloaded_is_asked_again(self):
        said, code = run("repl", "examples", url=mock.url + "/m/status=529+times=1,busy/s/hello",
                         text="hello\n/quit\n")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"> \(Provider error \(attempt 1/4\), retrying in [01]\.\ds: API "
                         r"error: Overloaded\)\nHello! ")

    def test_control_c_stops_the_answer_and_not_the_program(self):
        chat = Terminal("repl", "examples", scenario="slow-300")
        self.addCleanup(chat.close)
        chat.wait_for("\n> ")
        chat.type("hello\n")
        chat.wait_for("one t")
        chat.type("\003")
        self.assertNotIn("ten", chat.wait_for("(stopped)\n"))
        chat.wait_for("> ")
        chat.type("/model\n")
        chat.wait_for("(claude-sonnet-4-5; ")
        chat.wait_for("> ")
        chat.type("\003")
        chat.wait_for("(Ctrl+C again or /quit to leave)\n> ")
        chat.type("/model\n")
        chat.wait_for("(claude-sonnet-4-5; ")
        chat.wait_for("> ")
        chat.type("/quit\n")
        self.assertEqual(chat.end()[1], 0)

    def test_control_c_twice_at_the_prompt_ends_the_program(self):
        chat = Terminal("repl", "examples", scenario="hello")
        self.addCleanup(chat.close)
        chat.wait_for("\n> ")
        chat.type("\003")
        chat.wait_for("(Ctrl+C again or /quit to leave)\n> ")
        chat.type("\003")
        self.assertEqual(chat.end()[1], 0)


class Approve(unittest.TestCase):
    def approve(self, text):
        """Runs it in a directory with keep.txt; what it said, and what is there afterwards."""
        with tempfile.TemporaryDirectory(dir=BUILD) as there:
            with open(os.path.join(there, "keep.txt"), "w", encoding="utf-8") as file:
                file.write("kept\n")
            said, code = run("approve", there, scenario="approve", text=text)
            self.assertEqual(code, 0, said)
            return said, sorted(os.listdir(there))

    def test_yes_no_with_a_reason_and_changed_arguments(self):
        said, files = self.approve('y\nn it is still needed\n'
                                   'e {"command": "echo three > three.txt"}\n')
        self.assertEqual(files, ["keep.txt", "one.txt", "three.txt"])
        for words in ('[may it?] bash {"command": "echo one > one.txt"}\n',
                      '[runs] bash {"command": "echo one > one.txt"}\n',
                      '[may it?] bash {"command": "rm keep.txt"}\n',
                      "[refused or failed] it is still needed\n",
                      '[runs] list_files {"path": "."}\n',
                      '[runs] bash {"command": "echo three > three.txt"}\n',
                      "I was told: ", "\n[ok]\n"):
            self.assertIn(words, said)
        self.assertEqual(said.count("[may it?]"), 3)
        self.assertIn("it is still needed", said.split("I was told: ")[1])

    def test_without_anybody_there_nothing_runs(self):
        said, files = self.approve("")
        self.assertEqual(files, ["keep.txt"])
        self.assertEqual(said.count("[refused or failed] There is nobody to ask.\n"), 3)

    def test_the_frames_go_on_while_a_person_thinks(self):
        game = Terminal("approve", "examples", scenario="approve")
        self.addCleanup(game.close)
        for answer in ("what?", "n", "n", "n"):
            game.wait_for("y, n [reason] or e ARGUMENTS: ")
            time.sleep(0.3)
            game.type(answer + "\n")
        said, code = game.end()
        self.assertEqual(code, 0)
        self.assertIn("Tool execution skipped by before_tool_execution hook.", said)
        frames = re.search(r"^\d+ frames, (\d+) of them with a question on the screen$", said, re.M)
        self.assertGreater(int(frames.group(1)), 20)


class Steer(unittest.TestCase):
    def begin(self):
        chat = Terminal("steer", "examples", scenario="steer")
        self.addCleanup(chat.close)
        chat.wait_for('- bash {"command": "sleep 2; echo one"}')
        return chat

    def test_a_line_steers_and_one_with_a_plus_follows_up(self):
        chat = self.begin()
        chat.type("Stop that.\n+ And then?\n")
        said, code = chat.end()
        self.assertEqual(code, 0)
        self.assertEqual(said.count("[result] Skipped due to queued user message.\n"), 2)
        steps = ["[result] Exit code: 0\none", "[result] Skipped",
                 "[you, while it works] Stop that.\n", "Now I hear: Stop that.",
                 "[you, afterwards] And then?\n", "Now I hear: And then?", "\n[ok]\n"]
        self.assertEqual(sorted(steps, key=said.index), steps)

    def test_stop_ends_the_run_after_the_turn(self):
        chat = self.begin()
        chat.type("/stop\n+ And then?\n")
        said, code = chat.end()
        self.assertEqual(code, 0)
        self.assertIn("\nthree\n", said)
        self.assertIn("\n[cancelled]\n(1 said and not delivered: the next run would begin", said)

    def test_control_c_ends_the_run_at_once(self):
        chat = self.begin()
        chat.type("\003")
        said, code = chat.end()
        self.assertEqual(code, 0)
        self.assertEqual(said.count("[result] Cancelled\n"), 3)
        self.assertIn("\n[cancelled]\n", said)


class Budget(unittest.TestCase):
    def test_more_money_lets_both_scouts_go_on(self):
        said, code = run("budget", "0.06", scenario="scout", text="y\n")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"scout [12] pauses: Cost budget reached \(\$0\.0\d+/\$0\.0600, "
                         r"the next call may take \$0\.01\d\d\)\n"
                         r"(scout [12] looks at .*\n)*"  # the other one's, of the same step
                         r"another \$0\.06\? y or n: ")
        self.assertEqual(said.count("says: Nothing there.\n"), 2)
        self.assertTrue(said.endswith("scout 1 spent $0.0540\nscout 2 spent $0.0540\n"
                                      "together $0.1080, 8 calls\n"), said)

    def test_without_more_money_they_stop_within_the_budget(self):
        said, code = run("budget", "0.06", scenario="scout", text="n\n")
        self.assertEqual(code, 0, said)
        self.assertEqual(said.count(": cancelled\n"), 2)
        spent = re.search(r"^together \$([\d.]+), (\d+) calls$", said, re.M)
        self.assertLessEqual(float(spent.group(1)), 0.06)
        self.assertEqual(int(spent.group(2)), 4)

    def test_budget_prints_what_went_wrong(self):
        said, code = run("budget", "1", url=mock.url + "/m/status=401/s/scout")
        self.assertEqual(code, 0, said)
        self.assertIn("scout 1: invalid x-api-key\n", said)


class Judge(unittest.TestCase):
    def test_three_branches_are_judged_and_the_conversation_goes_on(self):
        mock.asked()
        said, code = run("judge", "Why?", scenario="echo")  # the judge's echo names response 1
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"^3 branches\nthe judge used \d+ tokens\n\n"
                         r"-- brief, ok, selected\nWhy\?\n\n-- careful, ok\nWhy\?\n\n"
                         r"-- vivid, ok\nWhy\?\n\n\d+ tokens in all\n\n"
                         r"in five words: The same in five words, please.\n$")
        asked = mock.asked()
        self.assertEqual(len(asked), 5)
        self.assertIn("impartial judge", json.dumps(asked[3]["system"]))
        self.assertEqual(len(asked[4]["messages"]), 3)

    def test_judge_prints_what_went_wrong(self):
        said, code = run("judge", url=mock.url + "/m/status=401/s/echo")
        self.assertEqual(code, 0, said)
        self.assertIn("! invalid x-api-key\n", said)


class Pipeline(unittest.TestCase):
    def test_work_goes_from_critics_to_the_supervisor_and_back_twice(self):
        said, code = run("pipeline", "The moon.", scenario="echo")
        self.assertEqual(code, 0, said)
        self.assertTrue(said.startswith("critic 1: The moon.\ncritic 2: The moon.\n"
                                        "critic 3: The moon.\neditor: Text:\nThe moon.\n"), said)
        self.assertEqual(said.count("supervisor: "), 3)
        self.assertTrue(said.endswith("\n12 calls\n"), said)

    def test_what_the_supervisor_likes_is_not_sent_back(self):
        said, code = run("pipeline", scenario="fine")
        self.assertEqual(code, 0, said)
        self.assertTrue(said.endswith("supervisor: OK\nin French: OK\n6 calls\n"), said)

    def test_pipeline_prints_what_went_wrong(self):
        said, code = run("pipeline", url=mock.url + "/m/status=401/s/echo")
        self.assertEqual(code, 1, said)
        self.assertIn("! invalid x-api-key\n", said)


class OwnLoop(unittest.TestCase):
    def test_the_answer_comes_while_the_host_sleeps_in_its_own_epoll(self):
        said, code = run("own_loop", scenario="slow-20")
        self.assertEqual(code, 0, said)
        answer, woke = re.fullmatch(r"(.*)\nwoke (\d+) times\n", said, re.S).groups()
        self.assertEqual(answer, "one two three four five six seven eight nine ten")
        self.assertLess(int(woke), 200)  # it slept: ten deltas, a connection, a request

    def test_own_loop_prints_what_went_wrong(self):
        said, code = run("own_loop", url=closed_port())
        self.assertEqual(code, 0, said)
        self.assertIn("error: connection refused by http://127.0.0.1:", said)


class Demo(unittest.TestCase):
    def demo(self, **more):
        env = environment(QUICKSTART=program("quickstart"), PYTHON=PYTHON, **more)
        done = subprocess.run(["scripts/demo.sh"], env=env, cwd=ROOT, timeout=LONGEST,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.stdout, done.returncode

    def test_the_demo_shows_a_run_with_tools_and_leaves_nothing(self):
        tmp = tempfile.mkdtemp(dir=BUILD)
        said, code = self.demo(TMPDIR=tmp)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"^demo: a scripted model on 127\.0\.0\.1:\d+, over real HTTP")
        self.assertIn("\nresult   approve.c\n", said)
        self.assertIn("\nend      ok; 6 messages, ", said)
        self.assertEqual(os.listdir(tmp), [])
        os.rmdir(tmp)
        port = int(re.search(r"127\.0\.0\.1:(\d+)", said).group(1))
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port)).close()

    def test_the_live_demo_says_which_local_model_it_uses(self):
        try:
            local = http.server.ThreadingHTTPServer(("127.0.0.1", 11434), Ollama)
        except OSError:
            self.skipTest("something else is on Ollama's port")
        server = threading.Thread(target=local.serve_forever, kwargs={"poll_interval": 0.05})
        server.start()
        try:
            said, code = self.demo(LIVE="1")
        finally:
            local.shutdown()
            server.join()
            local.server_close()
        self.assertEqual(code, 0, said)
        self.assertIn("demo: no key in the environment: the local server on port 11434\n", said)
        self.assertIn("model    tiny:1b at http://localhost:11434/v1 (no key in the environment: "
                      "a local server on Ollama's port)\n", said)
        self.assertIn("\nmodel    I am tiny.\n", said)

    def test_the_live_demo_without_any_model_says_what_is_missing(self):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", 11434)) == 0:
                self.skipTest("there is a server on Ollama's port")
        said, code = self.demo(LIVE="1")
        self.assertEqual(code, 1)
        self.assertIn("demo: LIVE=1 needs a model, and there is none: no server on Ollama's port",
                      said)
        self.assertIn("ANTHROPIC_API_KEY OPENAI_API_KEY ", said)


class InProcess(unittest.TestCase):
    """The examples whose model is in the process: they need nobody."""
    def say(self, name, *arguments, cwd=None):
        done = subprocess.run([program(name), *arguments], stdin=subprocess.DEVNULL, cwd=cwd,
                              stdout=subprocess.PIPE, text=True, timeout=LONGEST,
                              env=environment())
        self.assertEqual(done.returncode, 0)
        return done.stdout

    def test_own_model_calls_its_tool_and_answers(self):
        self.assertIn("[look] The gate is shut. Move along.", self.say("own_model"))
        self.assertIn("Halt! State your business", self.say("own_model", "Good day."))

    def test_a_saved_game_goes_on_in_the_middle_of_a_call(self):
        said = self.say("savegame")
        self.assertRegex(said, r"\[loaded: the smith goes on at frame 2\d\]")
        self.assertTrue(said.endswith("Here it is: a sword of good steel.\n"))
        self.assertEqual(said.count("[the smith begins]"), 1)

    def test_the_village_lends_saves_and_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            said = self.say("village", cwd=folder).splitlines()
        before, after = said[:said.index("[saved while Anna thinks: yes]")], said[said.index("[saved while Anna thinks: yes]"):]
        # Two of eight were within earshot.
        self.assertEqual({"Anna", "Bert"}, {line.split(":")[0] for line in before})
        self.assertEqual(["Anna: Take it, and pay me back.", "[the player has 3 gold, Anna 7]",
                          "Gert: They say that a wolf is in the hills, so stay on the road."], after[1:])

    def test_the_tests_of_an_agent_pass(self):
        said = self.say("testing").splitlines()
        self.assertEqual(len(said), 8)
        self.assertTrue(all(line.startswith("ok   ") for line in said), said)

    def test_a_majority_of_calls_corrects_the_model(self):
        self.assertEqual(self.say("custom_strategy"), "It is 56.\n")

    def test_a_tokenizer_counts_what_phi_would_estimate(self):
        said = self.say("tokenizer")
        self.assertIn("The gatekeeper and the gate.       estimated  7, counted 15\n", said)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "small.tiktoken")
            with open(path, "w", encoding="utf-8") as file:  # "1", "2", "12"
                file.write("MQ== 0\nMg== 1\nMTI= 2\n")
            self.assertIn("1234567890                         estimated  3, counted  9\n",
                          self.say("tokenizer", path))
        said, code = run("tokenizer", "/nowhere")
        self.assertEqual((said, code), ("/nowhere: no vocabulary\n", 1))

    def test_strategies_play_the_game_of_24(self):
        said = self.say("strategies")
        self.assertEqual(said.count(": Game of 24: use 12, 8, 1 and 7 once each"), 9)
        self.assertIn("    not solved after 1 calls\ncot: ", said)  # a plain prompt
        self.assertIn("solved after 28 calls, ended by threshold", said)
        self.assertEqual(said, self.say("strategies"))  # the same seed, the same game
        one = self.say("strategies", "7", "trm")
        self.assertTrue(one.startswith("trm: Game of 24: use "))
        self.assertRegex(one, r"    (not )?solved after \d+ calls, ended by \w+\n$")

    def test_a_model_reads_the_skill_that_its_task_needs(self):
        said = self.say("skills", cwd=ROOT)
        self.assertIn("<name>commit-message</name>", said)
        self.assertIn('[read_skill {"name":"commit-message"}]\nI follow:\n# Commit messages\n', said)
        self.assertIn("examples/skills/commit-message/references/verbs.md lists good verbs.", said)
        self.assertNotIn("warning", said)
        said = self.say("skills", "examples/skills", "The new version is to be published.", cwd=ROOT)
        self.assertIn('[read_skill {"name":"release-notes"}]', said)
        self.assertIn("No skill is about that.", self.say("skills", "examples/skills", "Sing.", cwd=ROOT))

    def test_two_agents_come_out_of_a_file_and_faults_of_a_file_are_shown(self):
        said = self.say("from_config", cwd=ROOT)
        self.assertEqual(said, 'writer: The sea is calm tonight.\n'
                               'critic: "The sea is calm tonight." is short and clear.\n')
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "agent.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write('[provider]\nmodel = "m"\n[tools]\nenabled = ["read_fil"]\n')
            said, code = run("from_config", path)
        self.assertEqual(code, 1)
        self.assertIn('agent.toml:4:12: "read_fil": there is no such tool; did you mean "read_file"?', said)

    def test_three_ways_go_on_from_one_moment(self):
        said = self.say("time_travel").splitlines()
        self.assertEqual([line.split()[0] for line in said[:4]],
                         ["kind", "stern", "sly", "before"])
        self.assertIn("tea", said[0])
        self.assertIn("4 messages", said[3])

    def test_a_purchase_changes_the_state_of_its_lane_and_each_knows_its_own_facts(self):
        self.assertEqual(self.say("state").splitlines(), [
            'sold: "sword"',
            'after the purchase: {"gold":3,"bag":["sword"]}',
            'before it, in another lane: {"gold":8,"bag":[]}',
            "the knight is told: [What you know now]", "password: swordfish", "weather: rain",
            "the thief is told: [What you know now]", "loot: under the oak", "weather: rain"])

    def test_a_conversation_goes_on_when_the_program_is_started_again(self):
        with tempfile.TemporaryDirectory() as where:
            self.assertIn("0 messages so far", self.say("persist", where))
            said = self.say("persist", where, "And now?")
            self.assertIn("2 messages so far", said)
            self.assertIn('I have noted "And now?". That makes 3 messages.', said)


class Pets(http.server.BaseHTTPRequestHandler):
    """The server of the pet store of tests/fixtures/openapi, which serves its document, too."""
    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.server.asked.append((self.command, self.path, self.rfile.read(length).decode(),
                                  self.headers.get("X-Key")))
        body = b'{"id":7,"name":"Rex"}'
        if self.path == "/doc.json":
            with open(os.path.join(ROOT, "tests/fixtures/openapi/petstore_3.0.json"), "rb") as file:
                body = file.read()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = answer

    def log_message(self, *_):
        pass


class OpenApi(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pets)
        self.server.asked = []
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()

    def test_operations_of_a_document_are_called_and_a_deletion_is_asked_about(self):
        said, code = run("openapi", self.url + "/doc.json", "Tidy up", scenario="openapi", text="y\n",
                         API_URL=self.url, API_TAG="pets")
        self.assertEqual(code, 0, said)
        self.assertIn("tool     deletePet (asks first)\n", said)
        self.assertNotIn("probeOrders", said)
        self.assertIn('may it?  deletePet {"petId":7} [y/n] ', said.replace(": ", ":"))
        self.assertEqual([a[:3] for a in self.server.asked if a[0] != "POST"],
                         [("GET", "/doc.json", ""), ("GET", "/pets/7", ""), ("DELETE", "/pets/7", "")])
        self.assertIn(("POST", "/pets"), [a[:2] for a in self.server.asked])
        self.assertIn("GET %s/pets/7 \u2192 200 OK" % self.url, said)

    def test_a_deletion_that_is_refused_is_not_made(self):
        said, code = run("openapi", "tests/fixtures/openapi/petstore_3.0.json", scenario="openapi",
                         text="n\n", API_URL=self.url)
        self.assertEqual(code, 0, said)
        self.assertNotIn("DELETE", [a[0] for a in self.server.asked])

    def test_a_fault_of_the_document_has_its_place(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"openapi": "3.0.0",\n"paths": }')
            file.flush()
            said, code = run("openapi", file.name)
        self.assertEqual(code, 1)
        self.assertTrue(said.startswith(file.name + ":2:10: "), said)
        said, code = run("openapi", self.url.replace("http", "ftp"))
        self.assertIn("No such file or directory", said)


class Mcp(unittest.TestCase):
    SERVER = [PYTHON, os.path.join(ROOT, "tests/mock/mcp_server.py")]

    def test_tools_of_a_program_are_called_and_what_is_not_read_only_is_asked_about(self):
        said, code = run("mcp", "Count", *self.SERVER, scenario="mcp", text="y\n")
        self.assertEqual(code, 0, said)
        self.assertIn("server   mcp-mock 1.0, 2026-07-28\n", said)
        self.assertIn("tool     count (asks first)\n", said)
        self.assertIn("answer   42\n", said)
        self.assertIn("may it?  count {} [y/n] ", said)
        self.assertIn("answer   1\n", said)

    def test_a_refused_tool_is_not_called(self):
        said, code = run("mcp", "Count", *self.SERVER, "--eras", "2025-06-18", scenario="mcp", text="n\n")
        self.assertEqual(code, 0, said)
        self.assertIn("server   mcp-mock 1.0, 2025-06-18\n", said)
        self.assertNotIn("answer   1\n", said)

    def test_what_a_server_asks_is_answered_on_the_terminal(self):
        for era in ("2026-07-28", "2025-06-18"):
            said, code = run("mcp", "Ask", *self.SERVER, "--eras", era, scenario="mcp-ask",
                             text='y\n{"name":"Ada"}\n')
            self.assertEqual(code, 0, said)
            self.assertIn("mcp-mock asks: Who is there?\n", said)
            self.assertIn("answer   hello name=Ada\n", said)
        said, code = run("mcp", "Ask", *self.SERVER, scenario="mcp-ask", text="y\n\n")
        self.assertEqual(code, 0, said)
        self.assertIn("answer   the user said decline\n", said)

    def test_a_server_that_does_not_start_says_why(self):
        said, code = run("mcp", "Count", *self.SERVER, "--m", "no-start=3", scenario="mcp")
        self.assertEqual(code, 1, said)
        self.assertIn("cannot start: no configuration", said)

    def test_a_server_over_http_with_a_token(self):
        child = subprocess.Popen([*self.SERVER, "--port", "0"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        try:
            url = "http://127.0.0.1:%s/m/token=abc/mcp" % child.stdout.readline().split()[2]
            said, code = run("mcp", "Count", url, scenario="mcp", text="y\n", MCP_TOKEN="abc")
            self.assertEqual(code, 0, said)
            self.assertIn("answer   42\n", said)
            said, code = run("mcp", "Count", url, scenario="mcp")
            self.assertEqual(code, 1, said)
            self.assertIn("401", said)
        finally:
            child.stdin.close()
            child.stdout.close()
            child.wait()


class McpServer(unittest.TestCase):
    """The island, played by a client of 2025-06-18 over stdio and one of 2026-07-28 over HTTP."""
    def ask(self, child, number, method, params):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        child.stdin.write(json.dumps(message) + "\n")
        child.stdin.flush()
        notes = []
        while True:
            got = json.loads(child.stdout.readline())
            if got.get("id") == number:
                return got, notes
            notes.append(got)

    def test_a_client_over_stdio_plants_a_tree_and_walks_into_it(self):
        child = subprocess.Popen([program("mcp_server")], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        try:
            got, _ = self.ask(child, 1, "initialize", {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"}})
            self.assertEqual(got["result"]["serverInfo"]["name"], "island")
            child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
            got, _ = self.ask(child, 2, "tools/list", {})
            self.assertEqual([t["name"] for t in got["result"]["tools"]], ["look", "plant", "walk"])
            self.ask(child, 3, "resources/subscribe", {"uri": "island://map"})
            got, notes = self.ask(child, 4, "tools/call", {
                "name": "plant", "arguments": {"x": 3, "y": 0}})
            self.assertEqual(got["result"]["content"][0]["text"], "A tree grows there.")
            got, notes = self.ask(child, 5, "tools/call", {
                "name": "walk", "arguments": {"x": 5, "y": 0}, "_meta": {"progressToken": "w"}})
            self.assertTrue(got["result"]["isError"])
            self.assertEqual(got["result"]["content"][0]["text"], "A tree is in the way.")
            seen = {n["method"] for n in notes}
            self.assertEqual(seen, {"notifications/progress", "notifications/resources/updated"})
            got, _ = self.ask(child, 6, "resources/read", {"uri": "island://map"})
            self.assertTrue(got["result"]["contents"][0]["text"].startswith("..@T........\n"))
            got, _ = self.ask(child, 7, "tools/call", {"name": "walk", "arguments": {"x": "a"}})
            self.assertTrue("error" in got or got["result"]["isError"])
        finally:
            child.stdin.close()
            self.assertEqual(child.wait(LONGEST), 0)
            child.stdout.close()

    def test_a_client_over_http_needs_the_token(self):
        child = subprocess.Popen([program("mcp_server"), "0", "abc"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        try:
            port = int(child.stdout.readline().split()[2])
            meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {}}
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                               "params": {"_meta": meta, "name": "look", "arguments": {}}}).encode()
            headers = {"Content-Type": "application/json", "Mcp-Method": "tools/call",
                       "Accept": "application/json, text/event-stream", "Mcp-Name": "look",
                       "MCP-Protocol-Version": "2026-07-28"}
            url = "http://127.0.0.1:%d/mcp" % port
            with self.assertRaises(urllib.error.HTTPError) as refused:
                DIRECT.open(urllib.request.Request(url, body, headers))
            self.assertEqual(refused.exception.code, 401)
            refused.exception.close()
            headers["Authorization"] = "Bearer abc"
            with DIRECT.open(urllib.request.Request(url, body, headers)) as answer:
                self.assertIn("@...........", answer.read().decode())
        finally:
            child.terminate()
            child.wait(LONGEST)
            child.stdin.close()
            child.stdout.close()


class Ollama(http.server.BaseHTTPRequestHandler):
    """As much of a local server as the demo needs: a list of models, and one answer."""
    def reply(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply("application/json", b'{"object":"list","data":[{"id":"tiny:1b"}]}')

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        chunk = {"object": "chat.completion.chunk", "model": asked["model"],
                 "choices": [{"index": 0, "delta": {"role": "assistant", "content": "I am tiny."},
                              "finish_reason": "stop"}]}
        data = json.dumps(chunk).encode()
        self.reply("text/event-stream", b"data: %s\n\ndata: [DONE]\n\n" % data)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    unittest.main()
