#!/usr/bin/env python3
"""What a Windows user does with phi, under Wine: the demo, phi.exe with pipes and files, phi.exe in a console that tmux
drives, and a program out of the zip. scripts/windows.py runs it, with Wine's environment, PHI_BITS and PHI_ZIP.

The models are scripted: the mock server runs outside of Wine."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "examples"))
sys.dont_write_bytecode = True
import test_examples  # noqa: E402

BITS = os.environ["PHI_BITS"]
WORK = os.path.join(ROOT, "build", "windows")
PHI = os.path.join(WORK, BITS, "examples", "phi.exe")
ARCHIVE = os.environ.get("PHI_ZIP", "")
SECONDS = int(os.environ.get("PHI_SECONDS", "120"))
HELLO = "Hello! I am a scripted model, and this answer came as a stream.\n"
mock = None


def setUpModule():
    global mock
    mock = test_examples.Mock("--port", "0", "--default", "demo", "--scenario",
                              os.path.join(ROOT, "tests/examples/scenarios.json"))


def tearDownModule():
    mock.stop()


def environment(scenario):
    return test_examples.environment(PHI_BASE_URL=mock.url + ("/s/" + scenario if scenario else ""), PHI_MODEL="claude-demo")


class Folder(unittest.TestCase):
    """A folder of the drive Z:, which is the repository."""
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="user", dir=WORK)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def wine(self, *command, scenario="hello", **more):
        more = {"stdin": subprocess.DEVNULL, **more}
        return subprocess.run(["wine", *command], cwd=self.folder, env=environment(scenario), timeout=SECONDS, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def phi(self, *args, **more):
        """(stdout, exit code)"""
        done = self.wine(PHI, *args, **more)
        return done.stdout.decode("utf-8"), done.returncode

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)


class Demo(unittest.TestCase):
    def test_the_demo_runs(self):
        script = os.path.join(WORK, BITS, "quickstart.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nexec wine "%s" "$@"\n' % os.path.join(WORK, BITS, "examples", "quickstart.exe"))
        os.chmod(script, 0o755)
        done = subprocess.run(["scripts/demo.sh"], cwd=ROOT, env=dict(os.environ, QUICKSTART=script, LIVE=""), timeout=SECONDS,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("tool     read_file", done.stdout)
        self.assertRegex(done.stdout, r"\nend      ok; 6 messages")


class Command(Folder):
    def test_a_question_is_answered_on_stdout(self):
        self.assertEqual(self.phi("Who", "are", "you?"), (HELLO, 0))

    def test_words_and_answers_are_utf8(self):
        self.assertEqual(self.phi("Größe", "€ 😀?", scenario="echo"), ("Größe € 😀?\n", 0))

    def test_a_pipe_is_read_with_either_line_end(self):
        self.assertEqual(self.phi("Review", stdin=None, input="a dïff\r\nb\n".encode(), scenario="echo"), ("Review\n\na dïff\nb\n", 0))

    def test_a_file_is_read(self):
        self.write("in.txt", b"from a file\r\n")
        with open(os.path.join(self.folder, "in.txt"), "rb") as file:
            self.assertEqual(self.phi(stdin=file, scenario="echo"), ("from a file\n", 0))

    def test_nul_is_empty_input(self):
        self.assertEqual(self.phi("Alone", scenario="echo"), ("Alone\n", 0))
        self.assertEqual(self.phi(scenario="echo")[1], 2)

    def test_tools_work_in_the_folder(self):
        self.write("notes.txt", "What is to be done, schön.\n".encode())
        out, code = self.phi("look", scenario="phi-look")
        self.assertEqual(code, 0)
        self.assertIn("What is to be done, schön.", out)

    def test_nobody_is_there_so_a_call_that_is_asked_about_does_not_run(self):
        self.assertEqual(self.phi("go", scenario="phi-ask"), ("I was told: Nobody is there to allow this call.\n", 0))
        self.assertEqual(os.listdir(self.folder), [])

    def test_files_of_any_name_are_written_and_read(self):
        out, code = self.phi("--record", "bänd.jsonl", "--trace", "päge.html", "Who?")
        self.assertEqual((out, code), (HELLO, 0))
        self.assertIn(b"<html", self.read("päge.html"))
        self.assertEqual(self.phi("--replay", "bänd.jsonl", "Who?"), (HELLO, 0))
        self.assertEqual(self.phi("--session", "talk.jsonl", "One")[1], 0)
        self.assertEqual(self.phi("--session", "talk.jsonl", "Two")[1], 0)
        self.assertEqual(self.read("talk.jsonl").count(b'"Two"'), 1)

    def test_a_configuration_is_checked(self):
        self.write("agent.toml", b'[provider]\nmodel = 3\n')
        out, code = self.phi("check", "agent.toml")
        self.assertEqual(code, 2)
        self.assertIn("provider.model", out)

    def test_a_found_configuration_wants_a_person(self):
        self.write("phi.toml", b'[agent]\nsystem_prompt = "Hi."\n')
        done = self.wine(PHI, "Who?")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"nobody has trusted ./phi.toml", done.stderr)

    def test_a_chat_wants_a_terminal(self):
        self.assertEqual(self.phi()[1], 2)

    def test_a_server_that_is_not_there_is_said(self):
        env = dict(environment("hello"), PHI_BASE_URL=test_examples.closed_port())
        done = subprocess.run(["wine", PHI, "-q", "Who?"], cwd=self.folder, env=env, timeout=SECONDS, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"refused", done.stderr)


@unittest.skipIf(shutil.which("openssl") is None, "openssl makes the certificates")
class Tls(Folder):
    def ask(self, certificate, host="localhost", ca="ca.pem"):
        """(stdout, stderr, exit code) of a question to a mock with that certificate."""
        make = [test_examples.PYTHON, os.path.join(ROOT, "tests/mock/certs.py"), self.folder]
        if not os.path.exists(os.path.join(self.folder, "ca.pem")):
            subprocess.run(make, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        server = test_examples.Mock("--port", "0", "--tls", *[os.path.join(self.folder, certificate + end) for end in (".pem", ".key")])
        try:
            env = dict(environment(""), PHI_BASE_URL="https://%s:%d/s/hello" % (host, server.port))
            if ca:
                env["SSL_CERT_FILE"] = "Z:/" + os.path.relpath(os.path.join(self.folder, ca), ROOT)
            done = subprocess.run(["wine", PHI, "Who?"], cwd=self.folder, env=env, timeout=SECONDS, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        finally:
            server.stop()
        return done.stdout.decode(), done.stderr.decode("utf-8", "replace"), done.returncode

    def refused(self, certificate, words, **more):
        out, err, code = self.ask(certificate, **more)
        self.assertEqual((out, code), ("", 1), err)
        self.assertRegex(err, words)

    def test_an_answer_streams_from_a_server_whose_ca_is_given(self):
        out, err, code = self.ask("good")
        self.assertEqual((out, code), (HELLO, 0), err)
        self.assertEqual(self.ask("good", host="127.0.0.1")[0], HELLO)

    def test_other_certificates_are_refused(self):
        tls = "no secure connection with https://localhost:"
        self.refused("good", tls, ca="selfsigned.pem")
        self.refused("wronghost", tls)
        self.refused("expired", tls)
        self.refused("selfsigned", tls)


@unittest.skipIf(shutil.which("tmux") is None, "tmux is not installed")
class Console(Folder):
    """Wine's console in a terminal of tmux. It knows no sequences, so that the chat has lines (phi_raw_windows.h)."""
    def start(self, scenario, *args, program=PHI):
        # a server for each test: one that is still ending takes no new session
        self.tmux = ["tmux", "-L", os.path.basename(self.folder), "-f", "/dev/null"]
        # Wine's console host ends after the program, and gives the terminal its modes back only then
        command = "trap : INT; wine %s; echo exit $?; for i in $(seq 100); do stty -a | grep -q ' icanon' && break; " \
            "sleep 0.1; done; stty -a; sleep 1000" % " ".join(map(shlex.quote, [program, *args]))
        self.addCleanup(subprocess.run, [*self.tmux, "kill-server"], stderr=subprocess.DEVNULL, check=False)
        subprocess.run([*self.tmux, "new-session", "-d", "-x", "100", "-y", "50", command], cwd=self.folder,
                       env=dict(environment(scenario), TERM="xterm", LC_ALL="C.UTF-8"), check=True)

    def press(self, *keys):
        subprocess.run([*self.tmux, "send-keys", *keys], check=True)

    def type(self, words):
        self.press("-l", words)
        self.press("Enter")

    def shown(self):
        return subprocess.run([*self.tmux, "capture-pane", "-p"], stdout=subprocess.PIPE, text=True, check=True).stdout

    def wait(self, pattern):
        end = time.monotonic() + SECONDS
        while not re.search(pattern, self.shown()):
            if time.monotonic() > end:
                raise AssertionError("%r is not in:\n%s" % (pattern, self.shown()))
            time.sleep(0.1)

    def ends(self, code):
        self.wait(r"exit %d\n" % code)
        self.wait(r"\bicanon\b")
        self.assertRegex(self.shown(), r"(?s)[^-]icanon.*[^-]echo ")

    def test_keys_and_modes_of_a_console(self):
        self.start("hello", program=os.path.join(WORK, BITS, "tests", "windows", "console.exe"))
        self.wait(r"\d+ passed, \d+ failed")
        self.assertRegex(self.shown(), r"(?m)^40 passed, 0 failed$")

    def test_lines_are_edited_and_answered_until_ctrl_c(self):
        self.start("echo")
        self.wait(r"\n>")
        self.press("-l", "Größe €x")
        self.press("BSpace")
        self.press("Enter")
        self.wait(r"> Größe €\nGröße €\n>")
        self.type("again")
        self.wait(r"> again\nagain\n>")
        self.press("C-c")
        self.ends(130)

    def test_a_call_is_asked_about_and_runs_after_a_yes(self):
        self.start("phi-ask")
        self.wait(r"\n>")
        self.type("go")
        self.wait(r"(?s)touch one\.txt.*y, a \(always\) or n:")
        self.assertEqual(os.listdir(self.folder), [])
        self.type("y")
        self.wait(r"(?s)\(yes\).*touch two\.txt.*or n:")
        self.assertEqual(os.listdir(self.folder), ["one.txt"])
        self.type("n")
        self.wait(r"(?s)\(no\).*touch three\.txt.*or n:")
        self.assertEqual(os.listdir(self.folder), ["one.txt"])
        self.press("C-c")
        self.wait(r"\(stopped\)")

    def test_ctrl_c_stops_the_answer_and_then_the_chat(self):
        self.start("slow-500")
        self.wait(r"\n>")
        self.type("go")
        self.wait(r"> go\n\w")
        self.press("C-c")
        self.wait(r"\(stopped\)")
        self.press("C-c")
        self.ends(130)

    def test_a_found_configuration_is_shown_and_asked_about(self):
        self.write("phi.toml", b'[agent]\nsystem_prompt = "Hi."\n')
        self.start("hello", "Who?")
        self.wait(r"Trust it\? yes or no:")
        self.assertIn('system_prompt = "Hi."', self.shown())
        self.type("no")
        self.wait(r"is not used\)")
        self.ends(0)


@unittest.skipIf(not ARCHIVE, "the zip is for 64 bits")
class Zip(Folder):
    def test_a_program_out_of_the_zip_is_compiled_by_its_readme_and_runs(self):
        shutil.unpack_archive(os.path.join(ROOT, ARCHIVE), self.folder)
        (name, ) = os.listdir(self.folder)
        folder = self.folder = os.path.join(self.folder, name)
        readme = self.read("README.txt").decode("utf-8")
        command = re.search(r"^    (x86_64-w64-mingw32-gcc .*?)\r?$", readme, re.M).group(1)
        done = subprocess.run(command.split(), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        out = self.wine(os.path.join(folder, "hello.exe"))
        self.assertEqual((out.stdout.decode().replace("\r", ""), out.returncode), (HELLO, 0))
        out = self.wine(os.path.join(folder, "phi.exe"), "Who?")
        self.assertEqual((out.stdout.decode(), out.returncode), (HELLO, 0))
        self.assertIn("COPYRIGHT AND PERMISSION NOTICE", self.read("licences/curl.txt").decode())
        self.assertIn("MIT License", self.read("LICENSE").decode())


if __name__ == "__main__":
    unittest.main()
