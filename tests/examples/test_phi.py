#!/usr/bin/env python3
"""phi, the command, against the mock server: one question, pipes, exit codes, tapes, sessions that are killed, and the
chat, driven in tmux where it is installed, and on a pseudo terminal."""
import base64
import fcntl
import itertools
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_examples  # noqa: E402
from test_examples import LONGEST, Mock, ROOT, environment, program  # noqa: E402

PHI = program("phi")
HELLO = "Hello! I am a scripted model, and this answer came as a stream.\n"
mock = None


def setUpModule():
    global mock
    mock = Mock("--port", "0", "--scenario", os.path.join(ROOT, "tests/examples/scenarios.json"))


def tearDownModule():
    mock.stop()


def home():
    """A directory of its own, so that no phi.toml is found."""
    return tempfile.mkdtemp(prefix="phi")


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = home()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def url(self, scenario):
        return mock.url + (scenario if scenario.startswith("/") else "/s/" + scenario)

    def phi(self, *args, scenario="hello", text="", **more):
        env = environment(**{"PHI_BASE_URL": self.url(scenario), **more})
        done = subprocess.run([PHI, *args], input=text, env=env, cwd=self.folder, timeout=LONGEST,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        return done.stdout, done.stderr, done.returncode

    def begin(self, scenario, *args):
        """A question whose answer a terminal gets as it comes: the child, when that began, and the terminal."""
        terminal, slave = os.openpty()
        self.addCleanup(os.close, terminal)
        child = subprocess.Popen([PHI, *args], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=slave,
                                 stderr=subprocess.PIPE, env=environment(PHI_BASE_URL=self.url(scenario)))
        os.close(slave)
        os.read(terminal, 100)
        return child, terminal

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def wait_for_file(self, name, words):
        """Until a file that the command writes has the words."""
        path, said, end = os.path.join(self.folder, name), b"", time.monotonic() + LONGEST
        while words not in said:
            if time.monotonic() > end:
                raise AssertionError("%r is not in %s: %r" % (words, name, said))
            time.sleep(0.03)
            if os.path.exists(path):
                with open(path, "rb") as file:
                    said = file.read()

    def files(self):
        return sorted(os.listdir(self.folder))


class Ollama:
    """Listens on Ollama's port; it reads each request, and drops the connection."""
    def __init__(self, test):
        self.heard = []
        try:
            self.server = socket.create_server(("127.0.0.1", 11434))
        except OSError:
            test.skipTest("another program listens on Ollama's port")
        test.addCleanup(self.server.close)
        test.addCleanup(self.server.shutdown, socket.SHUT_RDWR)  # ends accept
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as request:
                head = b"".join(itertools.takewhile(bytes.strip, iter(request.readline, b"")))
                size = re.search(rb"(?i)content-length: *(\d+)", head)
                self.heard.append(request.read(int(size[1]) if size else 0))

    def wait_for(self, word, times):
        """Until a prompt came so often; how often it came."""
        end = time.monotonic() + LONGEST
        while sum(word in body for body in self.heard) < times and time.monotonic() < end:
            time.sleep(0.02)
        return sum(word in body for body in self.heard)


class OneQuestion(Folder):
    def test_a_model_that_is_guessed_is_tried_once_and_one_that_is_named_again(self):
        server = Ollama(self)
        _, said, code = self.phi("guessed", PHI_BASE_URL="")
        self.assertEqual((server.wait_for(b"guessed", 1), code), (1, 1))
        self.assertIn("phi: no key is set, and no local server answers", said)
        child = subprocess.Popen([PHI, "-m", "llama3.2", "named"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(PHI_BASE_URL=""))
        self.assertEqual(server.wait_for(b"named", 2), 2)
        child.send_signal(signal.SIGINT)
        self.assertNotIn(b"no key is set", child.communicate(timeout=LONGEST)[1])

    def test_the_answer_is_on_stdout_alone(self):
        self.assertEqual(self.phi("Who", "are", "you?"), (HELLO, "", 0))

    def test_a_pipe_is_the_question_or_follows_it(self):
        self.assertEqual(self.phi(text="from a pipe", scenario="echo"), ("from a pipe\n", "", 0))
        self.assertEqual(self.phi("Review", text="a diff\n", scenario="echo")[0],
                         "Review\n\na diff\n")
        self.assertEqual(self.phi("Alone", text="", scenario="echo")[0], "Alone\n")

    def test_standard_input_that_cannot_be_read_is_an_error(self):
        for flags, expected in [(os.O_RDONLY, ("", "phi: standard input: Is a directory (phi --help)\n", 2)),
                                (os.O_WRONLY, ("Review\n", "", 0))]:  # as nohup opens it
            with self.subTest(flags=flags):
                file = os.open(self.folder if flags == os.O_RDONLY else os.devnull, flags)
                done = subprocess.run([PHI, "Review"], stdin=file, cwd=self.folder, timeout=LONGEST,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      env=environment(PHI_BASE_URL=self.url("echo")), check=False)
                os.close(file)
                self.assertEqual((done.stdout, done.stderr, done.returncode), expected)

    def test_tool_calls_are_lines_on_stderr_unless_it_is_quiet(self):
        self.write("notes.txt", "What is to be done.\n")
        out, err, code = self.phi("look", scenario="phi-look")
        self.assertEqual(code, 0)
        self.assertIn("What is to be done.", out)
        self.assertRegex(err, r"\A\* list_files \. \(\d+ms, ok\)\n"
                              r"\* read_file notes\.txt \(\d+ms, ok\)\n\Z")
        self.assertEqual(self.phi("-q", "look", scenario="phi-look")[1], "")

    def test_nobody_is_there_so_a_call_that_is_asked_about_does_not_run(self):
        out, err, code = self.phi("go", scenario="phi-ask")
        self.assertEqual((out, code), ("I was told: Nobody is there to allow this call.\n", 0))
        self.assertIn("* bash touch one.txt (not run: Nobody is there to allow this call.)\n", err)
        self.assertEqual(self.files(), [])

    def test_json_is_a_line_for_each_event_and_nothing_else(self):
        out, err, code = self.phi("--json", "look", scenario="phi-look")
        events = [json.loads(line) for line in out.splitlines()]
        self.assertEqual((err, code), ("", 0))
        self.assertEqual(events[0]["type"], "AgentStart")
        self.assertEqual(events[-1]["type"], "AgentEnd")
        self.assertIn("ToolExecutionEnd", [event["type"] for event in events])

    def test_control_characters_never_come_through(self):
        self.write("a.txt", "x")
        out, err, _ = self.phi("go", scenario="phi-hostile")
        self.assertEqual(out, "<U+001B>]0;owned<U+0007><U+001B>[2Jsafe<U+009B>31m <U+202E>gnp.exe\n"
                              "end\nOK\n")
        self.assertNotIn("\033", err)

    def test_streams_that_are_closed_are_not_taken_by_files(self):
        self.write("t.tape", "")
        for number, code in [(0, 0), (1, 1), (2, 0)]:
            with self.subTest(stream=number):
                env = environment(PHI_BASE_URL=self.url("hello"))
                done = subprocess.run(["sh", "-c", 'exec "$0" "$@" %d>&-' % number, PHI, "--record",
                                       "t.tape", "go"], cwd=self.folder, env=env, check=False,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, code)
                with open(os.path.join(self.folder, "t.tape"), "rb") as file:
                    for line in file:
                        json.loads(line)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no full device here")
    def test_a_full_disk_is_told_and_ends_it_with_an_error(self):
        full = "No space left"
        with open("/dev/full", "w", encoding="utf-8") as out:
            for args, code in [(("schema",), 1), (("models",), 1), (("go",), 1)]:
                with self.subTest(args=args):
                    done = subprocess.run([PHI, *args], cwd=self.folder, stdin=subprocess.DEVNULL,
                                          stdout=out, stderr=subprocess.PIPE, text=True,
                                          env=environment(PHI_BASE_URL=self.url("hello")), check=False)
                    self.assertEqual(done.returncode, code)
                    self.assertIn("phi: standard output: " + full, done.stderr)
                    self.assertNotIn("stopped", done.stderr)
        for option in ("--record", "--trace"):
            with self.subTest(option=option):
                _, err, code = self.phi(option, "/dev/full", "go")
                self.assertEqual(code, 1)
                self.assertIn("phi: ", err)

    def test_exit_codes(self):
        port = test_examples.closed_port()
        for code, args, scenario in [
                (1, ("go",), "/m/status=401/s/hello"), (2, ("--nonsense",), "hello"),
                (2, ("--record", "a", "--replay", "b", "go"), "hello"),
                (2, ("--replay", "is-not-there", "go"), "hello"), (2, (), "hello"),
                (2, ("--session", "/dev/null/x", "go"), "hello"),
                (2, ("-c", "is-not-there.toml", "go"), "hello"), (0, ("--help",), "hello"),
                (0, ("--version",), "hello"), (3, ("go",), "refusal"),
                (2, (" ",), "hello"), (2, ("--agent", "one", "go"), "hello")]:
            with self.subTest(args=args, scenario=scenario):
                out, err, got = self.phi(*args, scenario=scenario)
                self.assertEqual(got, code, out + err)
                if code in (1, 2):
                    self.assertNotEqual(err, "")
        self.assertIsNotNone(port)

    def test_an_interrupt_stops_the_run(self):
        child, terminal = self.begin("slow-100", "go")
        child.send_signal(signal.SIGINT)
        err = child.communicate(timeout=LONGEST)[1]
        self.assertEqual((err, child.returncode), (b"(stopped)\n", 130))
        self.assertTrue(os.read(terminal, 1000).endswith(b"\n"))

    def test_an_interrupt_ends_it_also_where_the_reader_does_not_read(self):
        for args in (("go",), ("--json", "go")):
            with self.subTest(args=args):
                child = subprocess.Popen([PHI, *args], cwd=self.folder, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         env=environment(PHI_BASE_URL=self.url("long-20000")))
                before, held = b"", bytearray(4)
                while before != held or not any(held):  # until the pipe is full
                    before = bytes(held)
                    time.sleep(0.3)
                    fcntl.ioctl(child.stdout, termios.FIONREAD, held)
                child.send_signal(signal.SIGINT)
                self.assertEqual(child.wait(timeout=LONGEST), 130)
                self.assertNotIn(b"standard output", child.communicate()[1])

    def test_a_reader_that_leaves_ends_it_quietly(self):
        child = subprocess.Popen([PHI, "-q", "go"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=environment(PHI_BASE_URL=self.url("slow-50")))
        child.stdout.close()
        err = child.stderr.read()
        child.stderr.close()
        self.assertEqual((child.wait(timeout=LONGEST), err), (141, b""))

    def test_a_recorded_run_is_played_without_a_network(self):
        first = self.phi("--record", "a.tape", "look", scenario="phi-look")
        mock.asked()
        self.assertEqual(self.phi("--replay", "a.tape", "look", scenario="phi-look"), first)
        json_first = self.phi("--json", "--record", "b.tape", "look", scenario="phi-look")
        mock.asked()
        self.assertEqual(self.phi("--json", "--replay", "b.tape", "look", scenario="phi-look"),
                         json_first)
        self.assertEqual(mock.asked(), [])
        _, err, code = self.phi("--replay", "a.tape", "another question", scenario="phi-look")
        self.assertEqual(code, 1)
        self.assertIn("phi: the run differs from line ", err)

    def test_a_trace_is_a_page(self):
        self.assertEqual(self.phi("--trace", "a.html", "look", scenario="phi-look")[2], 0)
        with open(os.path.join(self.folder, "a.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("list_files", page)
        self.assertEqual(self.phi("--trace", "not/there.html", "x")[2], 1)

    def test_models_without_a_file_are_the_presets(self):
        out, _, code = self.phi("models", GROQ_API_KEY="secret-key")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"(?m)^groq +openai/gpt-oss-20b +GROQ_API_KEY \(set\)$")
        self.assertRegex(out, r"(?m)^openai +gpt-5-mini +OPENAI_API_KEY$")
        self.assertNotIn("secret", out)


PNG = (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0"
       b"\5\0\1\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82")
PDF = b"%PDF-1.4\ntrailer<</Root 1 0 R>>\n%%EOF\n"
WAV = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\0\0\0\0"


class Attached(Folder):
    def bytes(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)

    def sent(self):
        return [message["content"] for message in mock.asked()[-1]["messages"] if message["role"] == "user"]

    def test_files_go_before_the_question_by_their_content(self):
        self.bytes("paper", PDF)
        self.bytes("a.txt", PNG)
        self.bytes("talk.pdf", "Größe: 3\n".encode())
        mock.asked()
        self.assertEqual(self.phi("-a", "paper", "--attach", "a.txt", "--attach=talk.pdf", "What", "is", "it?")[2], 0)
        paper, image, words, question = self.sent()[0]
        self.assertEqual((paper["type"], paper["title"], paper["source"]["media_type"]),
                         ("document", "paper", "application/pdf"))
        self.assertEqual(base64.b64decode(paper["source"]["data"]), PDF)
        self.assertEqual((image["type"], image["source"]["media_type"]), ("image", "image/png"))
        self.assertEqual(base64.b64decode(image["source"]["data"]), PNG)
        self.assertEqual((words["title"], words["source"]),
                         ("talk.pdf", {"type": "text", "media_type": "text/plain", "data": "Größe: 3\n"}))
        self.assertEqual((question["type"], question["text"]), ("text", "What is it?"))

    def test_a_text_that_begins_as_another_type_is_a_text(self):
        for words in (b"ID3 is a format", b"12345678WAVE", b"GIF8"):
            with self.subTest(words=words):
                self.bytes("a", words)
                mock.asked()
                self.assertEqual(self.phi("-a", "a", "go")[2], 0)
                self.assertEqual(self.sent()[0][0]["source"]["data"], words.decode())

    def test_a_pipe_is_the_question_and_a_session_keeps_the_file(self):
        self.bytes("a.pdf", PDF)
        self.assertEqual(self.phi("--session", "s", "-a", "a.pdf", text="from a pipe")[2], 0)
        mock.asked()
        self.assertEqual(self.phi("--session", "s", "and now?")[2], 0)
        first, second = self.sent()
        self.assertEqual([part["type"] for part in first], ["document", "text"])
        self.assertEqual([part["type"] for part in second], ["text"])

    def test_what_cannot_be_attached_is_named_and_nothing_is_sent(self):
        self.bytes("talk.wav", WAV)
        self.bytes("empty", b"")
        self.bytes("odd", b"\0\1\2")
        self.bytes("cut", b"caf\xc3")
        self.bytes("zip", b"PK\3\4\0\0")
        self.bytes("a.docx", b"PK\3\4\0\0")
        self.bytes("large", b"x" * (20 << 20) + b"x")
        self.bytes("half", b"x" * (11 << 20))
        unknown = "neither text nor a document, image or sound of a known type"
        mock.asked()
        for args, said in [
                (("-a", "talk.wav"), "talk.wav: claude-sonnet-4-5 takes no such sound (audio/wav)"),
                (("-a", "a.docx"), "a.docx: claude-sonnet-4-5 takes no such document (application/vnd.openxmlformats-"
                                   "officedocument.wordprocessingml.document)"),
                (("-a", "not/there"), "not/there: No such file or directory"),
                (("-a", "."), ".: Is a directory"),
                (("-a", "empty"), "empty: the file is empty"), (("-a", "odd"), "odd: " + unknown),
                (("-a", "cut"), "cut: " + unknown), (("-a", "zip"), "zip: " + unknown),
                (("-a", "large"), "large: more than 20 MiB of files"),
                (("-a", "half", "-a", "half"), "half: more than 20 MiB of files"),
                (("-a", "empty") * 17, "at most 16 files: empty (phi --help)"),
                (("-a", "empty", "models"), "--attach wants a question, or a chat (phi --help)")]:
            with self.subTest(args=args[:4]):
                out, err, code = self.phi(*args, *(["go"] if "models" not in args else []))
                self.assertEqual((out, err, code), ("", "phi: %s\n" % said, 2))
        self.assertEqual(mock.asked(), [])

    def test_the_largest_and_the_most_files_are_sent(self):
        self.bytes("large", b"x" * (20 << 20))
        self.assertEqual(self.phi("-a", "large", "go")[2], 0)
        mock.asked()
        self.bytes("a", b"a")
        self.assertEqual(self.phi(*("-a", "a") * 16, "go")[2], 0)
        self.assertEqual(len(self.sent()[0]), 17)

    def test_in_a_chat_they_go_with_the_first_prompt_alone(self):
        self.bytes("a.pdf", PDF)
        mock.asked()
        terminal, slave = os.openpty()
        child = subprocess.Popen([PHI, "-a", "a.pdf"], cwd=self.folder, stdin=slave, stdout=slave, stderr=slave,
                                 env=environment(PHI_BASE_URL=self.url("hello"), TERM="dumb"))
        os.close(slave)
        said = b""
        for words in (b"first\n", b"second\n"):
            os.write(terminal, words)
            while said.count(b"a stream.") < (1 if words == b"first\n" else 2):
                said += os.read(terminal, 1000)
        os.write(terminal, b"\4")
        self.assertEqual(child.wait(timeout=LONGEST), 0)
        os.close(terminal)
        first, second = self.sent()
        self.assertEqual([part["type"] for part in first], ["document", "text"])
        self.assertEqual([part["type"] for part in second], ["text"])


class Session(Folder):
    def test_a_conversation_goes_on_in_the_next_process(self):
        self.phi("--session", "chat.jsonl", "first")
        self.phi("--session", "chat", "second")
        mock.asked()
        self.phi("--session", self.folder + "/chat.jsonl", "third")
        said = [[part["text"] for part in message["content"]]
                for message in mock.asked()[0]["messages"] if message["role"] == "user"]
        self.assertEqual(said, [["first"], ["second"], ["third"]])
        self.assertEqual([name for name in self.files() if not name.endswith(".lock")],
                         ["chat.jsonl"])

    def test_killed_in_mid_stream_it_goes_on(self):
        child = self.begin("slow-120", "--session", "s.jsonl", "count")[0]
        child.kill()
        child.communicate()
        with open(os.path.join(self.folder, "s.jsonl"), "a", encoding="utf-8") as file:
            file.write('{"crc":"00000000","seq":9,"e":{"torn')
        out, _, code = self.phi("--session", "s.jsonl", "go on", scenario="echo")
        self.assertEqual((out, code), ("count\ngo on\n", 0))  # what was not answered is asked, too

    def test_two_at_once_are_refused(self):
        child = self.begin("slow-120", "--session", "s.jsonl", "count")[0]
        out, err, code = self.phi("--session", "s.jsonl", "me, too")
        child.kill()
        child.communicate()
        self.assertEqual((out, code), ("", 2))
        self.assertIn("locked", err)


AGENTS = """
[provider]
model = "claude-haiku-4-5"
base_url = "${SERVER}/s/echo"
api_key = "k"
api = "anthropic_messages"

[[provider.instances]]
id = "quick"
model = "claude-quick"
base_url = "${SERVER}/s/hello"
api_key = "k"
api = "anthropic_messages"

[models]
fast = "{{provider.quick}}"

[[agent.instances]]
name = "planner"

[[agent.instances]]
name = "worker"
provider = ":fast"
"""


class Config(Folder):
    def setUp(self):
        super().setUp()
        self.write("agents.toml", AGENTS)

    def phi(self, *args, **more):
        return super().phi(*args, SERVER=mock.url, **more)

    def test_agents_and_models_of_a_file(self):
        self.assertEqual(self.phi("-c", "agents.toml", "plan"), ("plan\n", "", 0))
        self.assertEqual(self.phi("-c", "agents.toml", "--agent", "worker", "x"), (HELLO, "", 0))
        self.assertEqual(self.phi("-c", "agents.toml", "-m", ":fast", "x"), (HELLO, "", 0))
        out, err, code = self.phi("-c", "agents.toml", "--agent", "none", "x")
        self.assertEqual((out, err, code), ("", "phi: the file has no such agent: none\n", 2))

    def test_check_prints_every_problem(self):
        self.assertEqual(self.phi("check", "agents.toml"), ("agents.toml: ok\n", "", 0))
        self.write("bad.toml", "[provider]\nmodel = 3\n[execution]\nmax_turns = \"many\"\n")
        out, _, code = self.phi("check", "bad.toml")
        self.assertEqual(code, 2)
        self.assertRegex(out, r"(?m)^bad\.toml:2:\d+: ")
        self.assertRegex(out, r"(?m)^bad\.toml:4:\d+: ")
        self.assertEqual(len(out.splitlines()), 2, "each problem once:\n" + out)
        sent, err, code = self.phi("-c", "bad.toml", "x")
        self.assertEqual((sent, code), ("", 2))
        self.assertEqual(err, out)

    def test_the_first_request_offers_the_tools_of_mcp_servers(self):
        servers = "".join("[[mcp.instances]]\nname = '%s'\nprefix = '%s'\nno_restart = true\n"
                          "command = ['%s', '%s']\n" %
                          (name, name, sys.executable, os.path.join(ROOT, "tests/mock", file))
                          for name, file in [("here", "mcp_server.py"), ("gone", "no_such.py")])
        self.write("mcp.toml", AGENTS.replace("/s/echo", "/s/tools") + servers)
        out, err, code = self.phi("-c", "mcp.toml", "x")
        self.assertEqual(code, 0, err)
        self.assertIn("here__echo", out)
        self.assertRegex(err, r'\Amcp.toml:\d+:1: warning: MCP server "gone": .*'
                              r'; its tools are missing\n'
                              r"MCP server gone said before it ended:\n      \| .*no_such\.py.*\n\Z")

    def test_a_tape_without_the_start_of_an_mcp_server_is_another_run(self):
        server = "[[mcp.instances]]\nname = 'here'\ncommand = ['%s', '%s']\n" % (
            sys.executable, os.path.join(ROOT, "tests/mock/mcp_server.py"))
        self.write("mcp.toml", AGENTS + server)
        self.assertEqual(self.phi("-c", "agents.toml", "--record", "t.tape", "x")[2], 0)
        out, err, code = self.phi("-c", "mcp.toml", "--replay", "t.tape", "x")
        self.assertEqual((out, code), ("", 1), err)
        self.assertIn("t.tape", err)

    def test_models_and_schema(self):
        out, _, code = self.phi("models", "-c", "agents.toml")
        self.assertEqual((out, code), (":fast                 {{provider.quick}} = claude-quick\n"
                                       "{{provider.default}}  claude-haiku-4-5\n"
                                       "{{provider.quick}}    claude-quick\n", 0))
        self.assertEqual(self.phi("-c", "agents.toml", "-m", "{{provider.default}}", "plan")[0], "plan\n")
        self.write("shared.toml", AGENTS.replace('id = "quick"', 'id = "{{%quick%}}"').replace("[provider]", "[left]"))
        self.assertEqual(self.phi("models", "-c", "shared.toml")[0],
                         ":fast                 {{provider.quick}} = claude-quick\n"
                         "{{%quick%}}           claude-quick\n")
        self.assertEqual(self.phi("-c", "shared.toml", "-m", "{{%quick%}}", "x")[0], HELLO)
        out, _, code = self.phi("schema")
        self.assertEqual(code, 0)
        self.assertIn("permissions", json.loads(out)["properties"])

    def test_a_file_that_keeps_sessions_wants_no_other(self):
        self.write("own.toml", AGENTS + '[session]\nscope = "persistent"\ndirectory = "kept"\n')
        self.assertEqual(self.phi("-c", "own.toml", "x")[:1], ("x\n",))
        self.assertTrue(os.listdir(os.path.join(self.folder, "kept")))
        out, err, code = self.phi("-c", "own.toml", "--session", "s.jsonl", "x")
        self.assertEqual((out, code), ("", 2))
        self.assertIn("the configuration keeps its own sessions: see [session]", err)

    def test_a_limit_ends_it_also_where_it_would_pause(self):
        for pause in ("false", "true"):
            with self.subTest(pause=pause):
                self.write("one.toml", AGENTS.replace("/s/echo", "/s/loop") +
                           "[execution]\nmax_turns = 2\npause = %s\n" % pause)
                _, err, code = self.phi("-c", "one.toml", "x")
                self.assertEqual(code, 3, err)

    def test_rules_of_a_file_come_first(self):
        self.write("rules.toml", AGENTS.replace("/s/echo", "/s/phi-ask") + """
[permissions]
otherwise = "deny"
rules = [{ verdict = "allow", tool = "bash", command = "touch *" },
         { verdict = "ask", tool = "write_file" }]
[tools]
enabled = ["bash", "write_file"]
""")
        out, err, code = self.phi("-c", "rules.toml", "go")
        self.assertEqual((out, code), ("I was told: Nobody is there to allow this call.\n", 0), err)
        self.assertEqual([n for n in self.files() if n.endswith(".txt")],
                         ["one.txt", "three.txt", "two.txt"])

    def test_a_session_of_an_agent_of_a_file(self):
        for words in ("one", "two"):
            self.phi("-c", "agents.toml", "--agent", "worker", "--session", "s.jsonl", words)
        mock.asked()
        self.phi("-c", "agents.toml", "--agent", "worker", "--session", "s.jsonl", "three")
        self.assertEqual(len(mock.asked()[0]["messages"]), 5)
        self.assertEqual([name for name in self.files() if name.endswith(".jsonl")], ["s.jsonl"])


class Chat(Folder):
    """What both kinds of terminal do."""
    def command(self, scenario, *args):
        return [PHI, *args], environment(PHI_BASE_URL=self.url(scenario), TERM="xterm-256color",
                                         NO_COLOR="")


class Pty(Chat):
    """On a pseudo terminal: the bytes that a terminal is sent."""
    def start(self, scenario, *args, **more):
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.before = termios.tcgetattr(slave)
        command, env = self.command(scenario, *args)

        def own_terminal():
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave,
                                      cwd=self.folder, env=dict(env, **more),
                                      start_new_session=True, preexec_fn=own_terminal)
        self.slave = slave
        self.said = b""
        self.addCleanup(self.end, self.child, slave, self.master)

    @staticmethod
    def end(child, *files):
        if child.poll() is None:
            child.kill()
        child.wait()
        for file in files:
            try:
                os.close(file)
            except OSError:
                pass  # the test has closed it

    def wait_for(self, words):
        end = time.monotonic() + LONGEST
        while words.encode() not in self.said:
            if time.monotonic() > end:
                raise AssertionError("%r was not said, but %r" % (words, self.said))
            if select.select([self.master], [], [], 1)[0]:
                self.said += os.read(self.master, 65536)

    def type(self, keys):
        os.write(self.master, keys.encode())

    def left(self):
        """Ends; whether the terminal has its settings back."""
        code = self.child.wait(timeout=LONGEST)
        return code, termios.tcgetattr(self.slave) == self.before

    def test_an_answer_and_ctrl_d(self):
        self.start("echo")
        self.wait_for("Ready")
        self.type("Hello from a pty\r")
        self.wait_for("Agent (")
        self.type("\x04")
        self.assertEqual(self.left(), (0, True))

    def test_a_signal_and_a_crash_give_the_terminal_back(self):
        for number, code in [(signal.SIGTERM, 130), (signal.SIGSEGV, -signal.SIGSEGV)]:
            with self.subTest(signal=number):
                self.start("echo")
                self.wait_for("Ready")
                self.child.send_signal(number)
                self.assertEqual(self.left(), (code, True))

    def test_stopped_by_another_process_it_gives_the_terminal_back_meanwhile(self):
        self.start("echo")
        self.wait_for("Ready")
        for number in (signal.SIGTSTP, signal.SIGSTOP):
            self.said = b""
            self.child.send_signal(number)
            if number == signal.SIGTSTP:  # it has no shell, and goes on at once
                self.wait_for("\x1b[?2004l")
            else:
                os.waitpid(self.child.pid, os.WUNTRACED)
                termios.tcsetattr(self.slave, termios.TCSANOW, self.before)
                self.child.send_signal(signal.SIGCONT)
            self.wait_for("\x1b[?2004h")
            end = time.monotonic() + LONGEST
            while termios.tcgetattr(self.slave) == self.before and time.monotonic() < end:
                time.sleep(0.01)
            self.type("%d\r" % number)
            self.wait_for("Agent (")
        self.type("\x04")
        self.assertEqual(self.left(), (0, True))

    def test_one_question_asks_for_permission_at_the_terminal(self):
        self.start("phi-ask", "go")
        self.wait_for("touch one.txt\r\n  always would allow:\r\n  | bash touch *, path: ./**\r\ny, a (always) or n: ")
        self.said = b""  # the next question: what is typed before it counts for nothing
        self.type("a\n")
        self.wait_for("n: ")
        self.assertIn(b"by hand", self.said)
        self.type("n\n")
        self.wait_for("I was told: The user said no.")
        self.assertEqual(self.left(), (0, True))
        self.assertEqual(self.files(), ["one.txt", "three.txt", "two.txt"])

    def test_what_a_sub_agent_wants_to_run_is_asked_about(self):
        model = ('model = "claude-haiku-4-5"\napi_key = "k"\napi = "anthropic_messages"\n'
                 'base_url = "${SERVER}/s/%s"\n')
        self.write("agents.toml", "[provider]\n" + model % "phi-caller" +
                   '[[provider.instances]]\nid = "scout"\n' + model % "phi-one" +
                   '[[sub_agents.instances]]\nname = "scout"\nprovider = "scout"\ntools = ["bash"]\n')
        self.start("echo", "-c", "agents.toml", "go", SERVER=mock.url)
        self.wait_for("Look around")
        self.wait_for("n: ")
        self.said = b""
        self.type("y\n")
        self.wait_for("touch one.txt")
        self.wait_for("n: ")
        self.type("n\n")
        self.wait_for("Done.")
        self.assertEqual(self.left(), (0, True))
        self.assertEqual(self.files(), ["agents.toml"])

    def test_no_command_looks_like_another(self):
        self.start("phi-sly", "go")
        self.wait_for("n: ")
        said = self.said.decode().replace("\r\n", "\n")
        self.assertRegex(said, r"(?m)^  \| bash wants to run:$")  # its words are marked as its own
        self.assertEqual(len(re.findall(r"(?m)^bash wants to run:$", said)), 1)
        self.assertRegex(said, r"\n  \+ +; touch owned\.txt<U\+001B>\n  \+ \[8m\n")
        self.type("n\n")
        self.assertEqual(self.left(), (0, True))

    def test_random_keys_and_sizes_end_well(self):
        keys = ["\r", "\n", "\x1b", "\x1b[A", "\x1b[B", "\x1b[D", "\x7f", "\x0b", "\x17", "\x15", "\x12",
                "\x0c", "\x0f", "\x1b[200~", "\x1b[201~", "hello ", "\u4f60\u597d", "e\u0301", "y", "a", "n",
                "\x1b[3~", "\x1b[1;5C", "\x1bOA", "\t", "\0", "\x9b", "x" * 500, "\x02", "@", "!echo "]
        for seed in range(int(os.environ.get("PHI_SEEDS", "2"))):
            with self.subTest(seed=seed):
                pick = random.Random(seed)
                self.start(pick.choice(["echo", "phi-ask", "phi-wide", "phi-hostile", "slow-20"]))
                self.wait_for("Ready")
                for _ in range(60):
                    if self.child.poll() is not None:
                        break
                    self.type(pick.choice(keys))
                    if pick.random() < 0.2:
                        size = [pick.choice([1, 2, 5, 24, 300]), pick.choice([1, 2, 20, 80, 300])]
                        fcntl.ioctl(self.slave, termios.TIOCSWINSZ,
                                    struct.pack("HHHH", *size, 0, 0))
                        time.sleep(0.02)
                    while select.select([self.master], [], [], 0)[0]:
                        os.read(self.master, 65536)
                self.child.send_signal(signal.SIGTERM)
                while self.child.poll() is None:
                    if select.select([self.master], [], [], 0.05)[0]:
                        os.read(self.master, 65536)
                self.assertIn(self.left(), [(0, True), (130, True)])

    def test_a_terminal_that_goes_away_ends_it(self):
        for scenario in ("echo", "slow-300"):
            with self.subTest(scenario=scenario):
                self.start(scenario)
                self.wait_for("Ready")
                self.type("go\r")
                self.wait_for("go")
                os.close(self.slave)
                os.close(self.master)
                self.assertEqual(self.child.wait(timeout=LONGEST), 141)

    def test_an_idle_chat_writes_nothing(self):
        self.start("echo")
        self.wait_for("Ready")
        time.sleep(0.6)
        while select.select([self.master], [], [], 0)[0]:
            self.said += os.read(self.master, 65536)
        self.assertEqual(select.select([self.master], [], [], 0.7)[0], [])
        self.type("\x1b")
        self.assertEqual(self.left(), (0, True))

    def test_a_dumb_terminal_gets_no_sequences(self):
        self.start("echo", TERM="dumb")
        self.wait_for("> ")
        self.type("plain words\n")
        self.wait_for("plain words\r\nplain words\r\n")
        self.type("\x04")
        self.assertEqual(self.left()[0], 0)
        self.assertNotIn(b"\033", self.said)

    def test_without_colors_none_are_sent(self):
        self.start("echo", NO_COLOR="1")
        self.wait_for("Ready")
        self.type("\x1b")
        self.assertEqual(self.left(), (0, True))
        self.assertNotRegex(self.said, rb"\033\[[0-9;]*[34]\d[0-9;]*m")


@unittest.skipUnless(shutil.which("tmux"), "no tmux here")
class Tmux(Chat):
    """In a terminal that shows what a person sees."""
    def tmux(self, *args):
        done = subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *args], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env=environment(LC_ALL="C.UTF-8", LANG="C.UTF-8"))
        return done.stdout

    def start(self, scenario, *args, size=(80, 24), **more):
        self.socket = os.path.join(self.folder, "tmux%d" % time.monotonic_ns())
        self.work = os.path.join(self.folder, "work")
        os.makedirs(self.work, exist_ok=True)
        command, env = self.command(scenario, *args)
        # A terminal that dies in the midst of a search for leaks leaves that waiting; Pty has it.
        words = ["ASAN_OPTIONS=detect_leaks=0", "PHI_BASE_URL=" + env["PHI_BASE_URL"],
                 *(name + "=" + value for name, value in more.items()), *command]
        self.tmux("-u", "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), "-c",
                  self.work, "env " + " ".join("'%s'" % w for w in words) +
                  "; echo code $?; exec sleep 60")
        self.addCleanup(subprocess.run, ["tmux", "-S", self.socket, "kill-server"], check=False,
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for("Ready")

    def screen(self):
        return self.tmux("capture-pane", "-p").rstrip("\n")

    def type(self, *keys):
        self.tmux("send-keys", *keys)

    def wait_for(self, pattern):
        end = time.monotonic() + LONGEST
        while True:
            screen = self.screen()
            if re.search(pattern, screen, re.M):
                return screen
            if time.monotonic() > end:
                raise AssertionError("%r is not to be seen:\n%s" % (pattern, screen))
            time.sleep(0.03)

    def settles(self, check):
        """A while after a change of size the screen passes the check, and on a busy machine later."""
        time.sleep(0.15)
        end = time.monotonic() + LONGEST
        while True:
            try:
                return check(self.screen())
            except AssertionError:
                if time.monotonic() > end:
                    raise
            time.sleep(0.03)

    def has(self, name):
        return os.path.exists(os.path.join(self.work, name))

    def test_an_answer_grows_and_esc_stops_it(self):
        self.start("slow-80")
        self.type("count", "Enter")
        lengths = set()
        end = time.monotonic() + LONGEST
        while len(lengths) < 3 and time.monotonic() < end:
            lengths.add(len(re.search(r"^Agent.*: ?(.*)$|\Z", self.screen(), re.M).group(1) or ""))
        self.assertGreater(len(lengths), 2)
        self.wait_for(r"[-|/\\] Thinking")
        self.type("Escape")
        screen = self.wait_for(r"\(stopped\)\n(.*\n)*.*Status: Ready")
        self.assertNotIn("ten", screen)
        self.assertRegex(screen, r"(?m)^Agent \(\d+ms\): one")
        self.type("Escape")
        self.wait_for("code 0")

    def test_esc_stops_the_second_run_as_it_stopped_the_first(self):
        self.start("slow-80")
        for _ in range(2):
            self.type("count", "Enter")
            self.wait_for(r"[-|/\\] Thinking")
            self.type("Escape")
            self.wait_for(r"Status: Ready")
        self.type("-l", "  ")
        self.type("Enter", "again", "Enter")  # a line of blanks is no question
        self.wait_for(r"[-|/\\] Thinking")
        self.type("Escape")
        screen = self.wait_for(r"Msgs: 6(.*\n)+.*Ready")
        self.assertEqual(screen.count("(stopped)"), 3)

    def test_a_line_with_a_slash_is_a_command_that_no_model_reads(self):
        self.start("echo", size=(100, 40))
        mock.asked()
        for line, said in [("/help", r"^/undo +takes the last prompt back(.*\n)+Esc: stops the run .*\nCtrl\+O: "),
                           ("/tools", r"^bash: .*\n(.*\n)*search: "),
                           ("/cost", r"^0 tokens in"), ("/permissions", r"^\d+ rules \(/permissions rules shows"),
                           ("/permissions rules", r'"verdict":"deny"'),
                           ("/nothing", r"there is no command /nothing"), ("/undo", r"there is nothing to undo"),
                           ("/compact", r"there is nothing to compact")]:
            self.type("C-l")
            self.type("-l", line)
            self.type("Enter")
            self.wait_for(said)
        self.assertEqual(mock.asked(), [])
        self.type("-l", "/etc/hosts is a path")
        self.type("Enter")
        self.wait_for(r"^Agent \(.*: /etc/hosts is a path")
        self.type("-l", "/quit")
        self.type("Enter")
        self.wait_for("code 0")

    def test_undo_takes_the_last_prompt_and_the_last_fresh_lane_back(self):
        self.start("echo", size=(100, 40))
        for word in ("one", "two"):
            self.type(word, "Enter")
            self.wait_for(r"^Agent \(.*: %s$" % word)
        mock.asked()
        self.type("/undo", "Enter")
        self.wait_for(r"as it was before the last prompt")
        self.wait_for(r"^> two$")  # its words are back in the line
        self.type("C-u", "three", "Enter")
        self.wait_for(r"^Agent \(.*: three$")
        said = [block["text"] for message in mock.asked()[0]["messages"] for block in message["content"]]
        self.assertEqual(said, ["one", "one", "three"])
        self.type("C-r")
        self.wait_for(r"Msgs: 0")
        self.type("/undo", "Enter")
        self.wait_for(r"Msgs: 4")
        self.type("/branch what-if", "Enter")
        self.wait_for(r"on that branch")
        self.type("/branch", "Enter")
        self.wait_for(r"^  default  4 messages: two\n(.*\n)*\* what-if  4 messages: three$")
        self.type("/undo", "Enter")
        self.wait_for(r"Msgs: 2")

    def test_a_provider_without_its_key_and_no_provider_at_all_are_said_at_once(self):
        more = dict(PHI_BASE_URL="", HOME=self.folder)
        self.assertEqual(self.phi("-m", "groq", "go", **more),
                         ("", "phi: GROQ_API_KEY is not set, the key of this provider: groq\n", 2))

    def test_a_guessed_model_is_tried_once_until_a_model_is_named(self):
        server = Ollama(self)
        self.start("hello", PHI_BASE_URL="")
        self.type("guessed", "Enter")
        self.wait_for("no key is set, and no local server answers")
        self.type("-l", "/model llama3.2")
        self.type("Enter")
        self.wait_for("from now on llama3.2")
        self.type("named", "Enter")
        self.assertEqual(server.wait_for(b'"named"', 2), 2)
        self.assertEqual(sum(b'"named"' not in body for body in server.heard), 1)
        self.type("Escape")
        self.wait_for(r"\(stopped\)")

    def test_a_conversation_is_kept_listed_and_continued(self):
        state = os.path.join(self.folder, "state")
        more = {"XDG_STATE_HOME": state}
        self.assertEqual(self.phi("sessions", **more)[:1], ("no conversation was kept here\n",))
        self.assertEqual(self.phi("--continue", "x", **more),
                         ("", "phi: no conversation was kept in this directory\n", 2))
        self.phi("--no-session", "nothing", scenario="echo", **more)
        self.phi("one", scenario="echo", **more)
        self.phi("two\nrows", scenario="echo", **more)
        mock.asked()
        self.assertEqual(self.phi("--continue", "three", scenario="echo", **more), ("three\n", "", 0))
        said = [block["text"] for message in mock.asked()[0]["messages"] for block in message["content"]]
        self.assertEqual(said, ["two\nrows", "two\nrows", "three"])
        self.assertRegex(self.phi("sessions", **more)[0],
                         r"\A  \d{4}-\d\d-\d\d \d\d:\d\d  \d{8}-\d{6}-\d+  one\n"
                         r"\* \d{4}-\d\d-\d\d \d\d:\d\d  \d{8}-\d{6}-\d+  two rows\n\Z")
        name = self.phi("sessions", **more)[0].split()[2]
        for given in (name, name + ".jsonl"):  # that conversation, and no new file
            mock.asked()
            self.assertEqual(self.phi("--session", given, "again", scenario="echo", **more), ("again\n", "", 0))
            self.assertIn('"one"', json.dumps(mock.asked()[0]["messages"]))
        self.assertRegex(self.phi("sessions", **more)[0], r"  two rows\n\* .*" + name + r"  one\n\Z")
        self.assertEqual(self.files(), ["state"])
        for folder, _, files in os.walk(state):
            self.assertEqual(os.stat(folder).st_mode & 0o077, 0, folder)
            for name in files:
                self.assertEqual(os.stat(os.path.join(folder, name)).st_mode & 0o777, 0o600, name)
        other = os.path.join(self.folder, "other")  # another directory has other conversations
        os.mkdir(other)
        done = subprocess.run([PHI, "sessions"], cwd=other, env=environment(**more), stdout=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, check=True)
        self.assertEqual(done.stdout, "no conversation was kept here\n")
        self.assertEqual(self.files(), ["other", "state"])

    def test_the_model_knows_the_place_and_reads_the_instructions_of_the_project(self):
        self.write("AGENTS.md", "Use tabs.\n")
        os.mkdir(os.path.join(self.folder, ".git"))
        self.write(".git/HEAD", "ref: refs/heads/topic/one\n")
        mock.asked()
        self.assertEqual(self.phi("go", scenario="echo"), ("go\n", "phi: the model reads AGENTS.md\n", 0))
        self.phi("--system", "Be short.", "go", scenario="echo")
        first, second = (json.dumps(body["system"]) for body in mock.asked())
        for words in ("Directory: " + self.folder, "Git branch: topic/one\\n", "Date: 20", "Use tabs."):
            self.assertIn(words, first)
        self.assertNotIn("Use tabs.", second)

    def test_instructions_that_are_a_link_are_not_read(self):
        self.write("key", "secret\n")
        os.symlink("key", os.path.join(self.folder, "AGENTS.md"))
        mock.asked()
        self.assertEqual(self.phi("go", scenario="echo"), ("go\n", "", 0))
        self.assertNotIn("secret", json.dumps(mock.asked()))

    def test_a_prompt_that_comes_back_draws_nothing_on_the_terminal(self):
        os.mkdir(os.path.join(self.folder, "work"))
        self.phi("--session", "work/s.jsonl", text="red \x1b[31m", scenario="echo")
        self.start("echo", "--session", "s.jsonl", size=(100, 40))
        self.type("/undo", "Enter")
        self.wait_for(r"^> red <U\+001B>\[31m$")
        self.type("C-u", "/undo", "Enter")
        self.wait_for(r"there is nothing to undo")

    def test_leaving_a_chat_says_how_to_come_back(self):
        self.start("echo")
        self.type("one", "Enter")
        self.wait_for(r"^Agent \(.*: one$")
        self.type("C-d")
        self.wait_for(r"\(phi --continue goes on from here\)(.*\n)*code 0")

    def test_a_file_is_attached_by_its_name_in_the_line(self):
        self.start("echo", size=(100, 40))
        with open(os.path.join(self.work, "notes.txt"), "w", encoding="utf-8") as file:
            file.write("The gate is shut.\n")
        mock.asked()
        self.type("-l", "What is in @notes.txt and ada@home?")
        self.type("Enter")
        self.wait_for(r"\(with notes\.txt\)(.*\n)*Agent \(")
        said = json.dumps(mock.asked()[0]["messages"])
        self.assertIn("The gate is shut.", said)
        self.assertIn("What is in @notes.txt and ada@home?", said)

    def test_permission_once_always_and_no(self):
        self.start("phi-ask")
        self.type("go", "Enter")
        self.wait_for(r"bash wants to run:\n  \| touch one.txt\n")
        self.wait_for(r"^  always would allow:\n  \| bash touch \*, path: \./\*\*\n(.*\n)+y: once \| n: no \| a: always")
        self.assertFalse(self.has("one.txt"))
        time.sleep(0.27)  # an answer that was typed before the question could be read is none
        self.type("y")
        self.wait_for(r"touch two.txt\n(.*\n)+.*^y: once")
        self.assertTrue(self.has("one.txt") and not self.has("two.txt"))
        time.sleep(0.27)
        self.type("a")
        self.wait_for(r"write_file wants to run:\n  \| four.txt\n  \| .*by hand")
        self.assertTrue(self.has("two.txt") and self.has("three.txt"))
        time.sleep(0.27)
        self.type("n")
        screen = self.wait_for(r"I was told: The user said no\.")
        self.assertFalse(self.has("four.txt"))
        self.assertRegex(screen, r"\* bash touch three.txt \(\d+ms, ok\)")

    def test_a_call_that_was_skipped_is_said_not_to_run(self):
        os.makedirs(os.path.join(self.folder, "work"))
        self.write("work/agents.toml", AGENTS.replace("/s/echo", "/s/phi-skip") +
                   '[permissions]\notherwise = "allow"\n'
                   '[tools]\nenabled = ["bash"]\ntool_strategy = "sequential"\n')
        self.start("echo", "-c", "agents.toml", SERVER=mock.url)
        self.type("go", "Enter")
        self.wait_for(r"[-|/\\] bash")
        self.type("no, wait", "Enter")
        self.wait_for(r"Now I hear: no, wait")
        screen = self.screen()
        self.assertRegex(screen, r"\* bash touch one.txt; sleep 2 \(\d+ms, ok\)")
        self.assertIn("* bash (not run, error: Skipped due to queued user message.)", screen)
        self.assertFalse(self.has("two.txt"))

    def test_killed_in_mid_stream_the_chat_goes_on_with_its_totals(self):
        self.start("slow-60", "--session", "chat.jsonl")
        self.type("hello there", "Enter")
        self.wait_for(r"\(\d+ms\): one.* ten\n")
        totals = re.search(r"Tokens: [^|]*\|", self.wait_for("Msgs: 2(.*\n)+.*Ready")).group()
        self.type("count", "Enter")
        self.wait_for(r"Agent: one two")
        child = self.tmux("list-panes", "-F", "#{pane_pid}").split()[0]
        with open("/proc/%s/task/%s/children" % (child, child), encoding="utf-8") as file:
            os.kill(int(file.read().split()[0]), signal.SIGKILL)
        self.wait_for("code 137")
        self.tmux("kill-server")
        self.start("echo", "--session", "chat.jsonl")
        screen = self.screen()
        self.assertIn("You: hello there", screen)
        self.assertIn("You: count", screen)
        self.assertIn("Thread: chat | Msgs: 3", screen)
        self.assertIn(totals, screen)
        self.type("and on", "Enter")
        self.wait_for(r"\(\d+ms\): count\nand on")

    def test_dollars_are_what_this_process_spent_and_tokens_the_logs(self):
        os.makedirs(os.path.join(self.folder, "work"))
        self.write("work/agents.toml", AGENTS.replace("[[provider", "[provider.cost]\noutput_per_million = 1000.0\n"
                                                   "[[provider", 1))
        path = os.path.join(self.folder, "work/s.jsonl")
        self.assertEqual(self.phi("-c", "work/agents.toml", "--session", path, "-m", ":fast", "hello",
                                  SERVER=mock.url)[2], 0)
        with open(path, "rb") as file:  # as a log of another program may have it
            lines = [re.sub(rb'"total_tokens":\d+', b'"total_tokens":1', line[18:])
                     for line in file.read().splitlines()]
        with open(path, "wb") as file:
            file.writelines(b'{"crc":"%08x",%s\n' % (zlib.crc32(line), line) for line in lines)
        self.start("echo", "-c", "agents.toml", "--session", "s.jsonl", SERVER=mock.url)
        tokens = re.search(r"^Tokens: (\d+) \((\d+) in / (\d+) out\) \| Status: Ready", self.screen(), re.M)
        self.assertIsNotNone(tokens, self.screen())
        self.assertEqual(int(tokens.group(1)), int(tokens.group(2)) + int(tokens.group(3)))
        self.type("and again", "Enter")
        screen = self.wait_for(r"^Tokens: .*, \$[\d.]+ spent \| Status: Ready")
        self.assertEqual(re.search(r"^Agent \(\d+ms, (.*)\): and again", screen, re.M).group(1),
                         re.search(r", (\$.*) spent", screen).group(1))

    def test_small_and_large_windows_and_wide_text(self):
        self.start("phi-wide", size=(20, 5))
        self.type("go", "Enter")
        screen = self.wait_for(r"Ready")
        for size in [(200, 60), (20, 5), (33, 12)]:
            self.tmux("resize-window", "-x", str(size[0]), "-y", str(size[1]))
            self.wait_for(r"Ready")

            def whole(screen, lines=size[1]):
                self.assertLessEqual(len(screen.split("\n")), lines)
                self.assertEqual(screen.count("Ready"), 1, screen)
                self.assertEqual(len(re.findall("(?m)^>", screen)), 1, screen)
                self.assertIn("\u4f60\u597d\u4e16\u754c e\u0301t\u00e9 \U0001f642.", screen)

            self.settles(whole)
        self.tmux("resize-window", "-x", "200", "-y", "60")
        self.wait_for("(?m)^phi 0")
        self.settles(lambda screen: self.assertEqual(screen.count("\u4f60\u597d"), 12))

    def test_the_line_is_edited_pasted_cleared_and_remembered(self):
        self.start("echo")
        self.type("-l", "wrld\u4f60")
        self.type("BSpace", "Left", "Left", "Left", "o", "Home")
        self.type("-l", "hello ")
        self.wait_for(r"^> hello world$")
        self.type("C-u")
        self.wait_for(r"^>$")
        self.type("one two three", "C-w", "C-a", "Delete", "C-e", "3")
        self.wait_for(r"^> ne two 3$")
        self.type("Enter")
        self.wait_for(r"\(\d+ms\): ne two 3$(.*\n)+.*Ready")
        self.tmux("set-buffer", "first row\nsecond row\x1b[31m")
        self.tmux("paste-buffer", "-p", "-r")
        self.wait_for(r"^> first row\n  second row")
        self.type("Up", "Up", "Down")  # no line before begins like this one
        self.wait_for(r"^  second row")
        self.type("Enter")
        self.wait_for(r"\(\d+ms\): first row$(.*\n)+.*Ready")
        self.type("Up")
        self.wait_for(r"^> first row\n  second row")
        self.type("C-u", "ne", "Up")
        self.wait_for(r"^> ne two 3$")
        self.type("Down")
        self.wait_for(r"^> ne$")

    def test_a_command_that_fails_and_an_answer_that_is_cut_off_say_so(self):
        out, err, code = self.phi("go", scenario="length")
        self.assertEqual((out, code), ("This answer ends because the limit of\n", 3))
        self.assertEqual(err, "! the answer was cut off at its limit of tokens (max_tokens)\n")
        self.assertEqual(self.phi("--json", "go", scenario="length")[2], 3)
        self.start("phi-fails")
        self.type("go", "Enter")
        self.wait_for(r"^\* bash cd nowhere-at-all \(\d+ms, failed, exit code \d\)")

    def test_a_change_of_a_file_is_asked_about_as_lines(self):
        self.start("phi-edit", size=(80, 30))
        self.type("go", "Enter")
        self.wait_for(r"edit_file wants to run:\n  \| notes\.txt\n  \| - the gate\n  \| - is shut\n  \| \+ the gate is open\n")

    def test_a_fresh_lane_and_steering(self):
        self.start("slow-40", "--session", "s.jsonl")
        self.type("first", "Enter")
        self.wait_for("Agent: one")
        self.type("then this", "Enter")
        self.wait_for(r"^You: then this")
        self.wait_for(r"Msgs: 4(.*\n)+.*Ready")
        self.type("C-r")
        self.wait_for(r"fresh lane: the model sees nothing")
        self.wait_for("Msgs: 0")
        mock.asked()
        self.type("second", "Enter")
        self.wait_for("Agent: one")
        self.assertEqual(len(mock.asked()[0]["messages"]), 1)
        self.type("C-c")
        self.wait_for("stopped")
        self.type("C-c")
        self.wait_for("code 0")
        with open(os.path.join(self.work, "s.jsonl"), encoding="utf-8") as file:
            self.assertIn('"first"', file.read())


class Install(Folder):
    FILES = ["bin/phi", "include/phi.h", "include/phi.hpp", "include/phi_json.h", "include/phi_store_sqlite.h",
             "include/phi_tools.h", "share/bash-completion/completions/phi", "share/cmake/phi/phi-config-version.cmake",
             "share/cmake/phi/phi-config.cmake", "share/cmake/phi/phi_implementation.c", "share/man/man1/phi.1",
             "share/pkgconfig/phi.pc", "share/zsh/site-functions/_phi"]

    def make(self, target):
        build = os.path.join(self.folder, "build")
        os.makedirs(build, exist_ok=True)
        if not os.path.exists(os.path.join(build, "phi")):
            os.symlink(PHI, os.path.join(build, "phi"))  # it is made with -O2 otherwise
        subprocess.run(["make", "-s", "-C", ROOT, "-o", "all", "-o", os.path.join(build, "phi"),
                        "BUILD=" + build, "PREFIX=/opt/here", "DESTDIR=" + self.folder, target],
                       check=True, stdout=subprocess.DEVNULL, env=environment(MAKEFLAGS=""))

    def installed(self):
        prefix = os.path.join(self.folder, "opt", "here")
        return sorted(os.path.relpath(os.path.join(base, name), prefix)
                      for base, _, names in os.walk(prefix) for name in names)

    def test_install_and_uninstall(self):
        self.make("install")
        self.assertEqual(self.installed(), self.FILES)
        command = os.path.join(self.folder, "opt/here/bin/phi")
        done = subprocess.run([command, "--version"], stdout=subprocess.PIPE, text=True, check=True)
        self.assertRegex(done.stdout, r"^phi \d+\.\d+\.\d+\n$")
        self.make("uninstall")
        self.assertEqual(self.installed(), [])

    def test_help_manual_page_and_completions_name_the_same_options(self):
        said = set(re.findall(r"--[a-z]+", self.phi("--help")[0]))
        for path, strip in [("docs/phi.1", "\\"), ("scripts/completion/phi.bash", ""),
                            ("scripts/completion/_phi", "")]:
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                text = file.read().replace(strip, "") if strip else file.read()
            with self.subTest(path=path):
                self.assertLessEqual(said, set(re.findall(r"--[a-z]+", text)))

    @unittest.skipUnless(shutil.which("bash"), "no bash here")
    def test_bash_completes(self):
        done = subprocess.run(["bash", "-c", "source scripts/completion/phi.bash; COMP_WORDS=(phi che);"
                               "COMP_CWORD=1; _phi; echo ${COMPREPLY[*]}; COMP_WORDS=(phi --re);"
                               "_phi; echo ${COMPREPLY[*]}"], cwd=ROOT, check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.stdout, "check\n--record --replay\n")

    @unittest.skipUnless(shutil.which("bash"), "no bash here")
    def test_bash_completes_files_and_models_also_without_extglob(self):
        for name in ("a.toml", "b.txt", "c.json"):
            self.write(name, "")
        os.symlink(PHI, os.path.join(self.folder, "phi"))
        done = subprocess.run(["bash", "--norc", "-c", "source %s/scripts/completion/phi.bash;"
                               "COMP_WORDS=(phi -c ''); COMP_CWORD=2; _phi; echo ${COMPREPLY[*]};"
                               "COMP_WORDS=(phi -m ''); _phi; echo ${COMPREPLY[*]}" % ROOT],
                              cwd=self.folder, check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=environment(
                                  PATH=self.folder + ":" + os.environ["PATH"]))
        files, models = done.stdout.splitlines()
        self.assertEqual(sorted(files.split()), ["a.toml", "c.json"])
        self.assertIn("groq", models.split())
        self.assertNotIn("without", models.split())

    @unittest.skipUnless(shutil.which("bash"), "no bash here")
    def test_bash_completes_names_without_running_what_stands_in_them(self):
        self.write("phi", "#!/bin/sh\necho ':$(touch${IFS}owned) x'\necho ':fast x'\n")
        os.chmod(os.path.join(self.folder, "phi"), 0o755)
        self.write("$(touch owned).toml", "")
        env = environment(PATH=self.folder + ":" + os.environ["PATH"])
        done = subprocess.run(["bash", "--norc", "-c", "source %s/scripts/completion/phi.bash; COMP_WORDS=(phi -m '');"
                               "COMP_CWORD=2; _phi; echo ${COMPREPLY[*]}" % ROOT], cwd=self.folder, check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env)
        self.assertEqual((done.stdout, self.files()), (":fast\n", ["$(touch owned).toml", "phi"]))
        terminal, slave = os.openpty()
        child = subprocess.Popen(["bash", "--norc", "--noprofile", "-i"], cwd=self.folder, stdin=slave, stdout=slave, stderr=slave,
                                 start_new_session=True, env=dict(env, PS1="> ", TERM="dumb", HISTFILE=""))
        os.close(slave)
        os.write(terminal, b"source %s/scripts/completion/phi.bash\nphi -c \t\nexit\n" % ROOT.encode())
        self.assertEqual(child.wait(timeout=LONGEST), 0)
        os.close(terminal)
        self.assertEqual(self.files(), ["$(touch owned).toml", "phi"])


if __name__ == "__main__":
    unittest.main()
