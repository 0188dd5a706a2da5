#!/usr/bin/env python3
"""phi, the command: what scripts see of a run (--json, exit codes), and the options that rule one: permissions, thinking,
limits; and what comes through a pipe."""
import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_phi  # noqa: E402
from test_examples import LONGEST, environment  # noqa: E402

setUpModule = test_phi.setUpModule
tearDownModule = test_phi.tearDownModule
PROVIDER = ('[provider]\nmodel = "claude-haiku-4-5"\napi_key = "k"\napi = "anthropic_messages"\nbase_url = "%s/s/%s"\n')
PRICES = "[provider.cost]\ninput_per_million = 1000.0\noutput_per_million = 1000.0\n"
NOT_RUN = "* bash touch one.txt (not run: "


class Options(test_phi.Folder):
    def end(self, *args, **more):
        """The last event of a run with --json, and the exit code."""
        out, err, code = self.phi("--json", *args, **more)
        last = json.loads(out.splitlines()[-1])
        self.assertEqual(last["type"], "AgentEnd", err)
        return last, code

    def file(self, scenario, *more):
        self.write("a.toml", PROVIDER % (test_phi.mock.url, scenario) + "".join(more))

    def test_json_gives_an_interrupted_run_no_reason(self):
        child = subprocess.Popen([test_phi.PHI, "--json", "go"], cwd=self.folder, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                 env=environment(PHI_BASE_URL=self.url("slow-500")))
        rows = [child.stdout.readline()]
        while '"Text"' not in rows[-1]:
            rows.append(child.stdout.readline())
        child.send_signal(signal.SIGINT)
        last = json.loads(child.communicate(timeout=LONGEST)[0].splitlines()[-1])
        self.assertEqual((last["type"], "status" in last, "reason" in last), ("AgentEnd", True, False))

    def test_json_ends_with_the_reason_and_the_exit_code_says_the_cause(self):
        last, code = self.end("go")
        self.assertEqual((last.get("status"), last.get("reason"), code), (None, None, 0))
        last, code = self.end("--max-turns", "2", "go", scenario="loop")
        self.assertEqual((last["status"], last["reason"], code), (-17, "Max turns reached (2/2)", 3))
        last, code = self.end("go", scenario="/m/status=401/s/hello")
        self.assertEqual((last["status"], code), (-16, 1))
        self.assertNotEqual(last["reason"], "")
        self.assertEqual(self.end("go", scenario="length")[1], 3)
        self.assertEqual(self.end("go", scenario="refusal")[1], 3)

    def test_json_of_a_run_that_is_interrupted_says_so(self):
        child = subprocess.Popen([test_phi.PHI, "--json", "go"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env=test_phi.environment(PHI_BASE_URL=self.url("slow-100")))
        first = child.stdout.readline()
        child.send_signal(signal.SIGINT)
        out = first + child.communicate(timeout=test_phi.LONGEST)[0]
        self.assertEqual((json.loads(out.splitlines()[-1])["status"], child.returncode), (-7, 130))

    def test_a_limit_that_is_reached_is_named(self):
        out, err, code = self.phi("--max-turns", "2", "go", scenario="loop")
        self.assertEqual(code, 3)
        self.assertIn("! Max turns reached (2/2)\n", err)
        self.file("loop", PRICES)
        out, err, code = self.phi("-c", "a.toml", "--max-cost", "0.000001", "go")
        self.assertEqual(code, 3, out)
        self.assertRegex(err, r"! Max cost reached \(\$\d+\.\d+/\$0\.0000\)\n")

    def test_a_cost_without_prices_is_refused_before_anything_is_sent(self):
        test_phi.mock.asked()
        self.assertEqual(self.phi("--max-cost", "1", "go"),
                         ("", "phi: --max-cost: no prices are known for claude-sonnet-4-5 at this server (a configuration "
                              "may give them: cost of [provider])\n", 2))
        self.assertEqual(test_phi.mock.asked(), [])

    def test_values_that_are_wrong_are_named(self):
        for option, value in [("--max-turns", "0"), ("--max-turns", "-1"), ("--max-turns", "9x"), ("--max-turns", ""),
                              ("--max-cost", "0"), ("--max-cost", "-1"), ("--max-cost", "nan"), ("--max-cost", "1.2.3"),
                              ("--max-cost", "0x10"), ("--thinking", "hard"), ("--allow", ""), ("--allow", " x"),
                              ("--allow", "x" * 100), ("--thinking", "\x1b[2J")]:
            with self.subTest(option=option, value=value):
                out, err, code = self.phi(option, value, "go")
                self.assertEqual((out, code), ("", 2))
                self.assertTrue(err.startswith("phi: " + option), err)
                self.assertNotIn("\x1b", err)
        self.assertEqual(self.phi("--plan", "--yes", "go")[1:],
                         ("phi: --plan runs only what reads: no --yes and no --allow (phi --help)\n", 2))

    def test_thinking_is_sent(self):
        test_phi.mock.asked()
        self.assertEqual(self.phi("--thinking", "high", "go")[2], 0)
        self.assertEqual(test_phi.mock.asked()[-1]["thinking"]["type"], "enabled")
        self.assertEqual(self.phi("--thinking", "off", "go")[2], 0)
        self.assertNotIn("thinking", test_phi.mock.asked()[-1])

    def test_an_answer_may_be_as_long_as_the_model_makes_it(self):
        test_phi.mock.asked()
        self.phi("go")
        self.assertEqual(test_phi.mock.asked()[-1]["max_tokens"], 64000)  # claude-sonnet-4-5
        self.file("hello", "max_tokens = 1000\n")
        self.phi("-c", "a.toml", "go")
        self.assertEqual(test_phi.mock.asked()[-1]["max_tokens"], 1000)
        self.file("hello")
        self.phi("-c", "a.toml", "go")
        self.assertEqual(test_phi.mock.asked()[-1]["max_tokens"], 64000)


class Permissions(test_phi.Folder):
    def test_yes_runs_what_would_be_asked_about(self):
        out, err, code = self.phi("--yes", "go", scenario="phi-ask")
        self.assertEqual(code, 0, out + err)
        self.assertEqual(self.files(), ["four.txt", "one.txt", "three.txt", "two.txt"])

    def test_yes_does_not_run_what_is_denied(self):
        self.write("a.toml", PROVIDER % (test_phi.mock.url, "phi-one") + '[tools]\nenabled = ["bash"]\n[permissions]\n'
                   '[[permissions.rules]]\nverdict = "deny"\ntool = "bash"\ncommand = "touch *"\n')
        out, err, _ = self.phi("-c", "a.toml", "--yes", "go")
        self.assertIn(NOT_RUN, err, out)
        self.assertEqual(self.files(), ["a.toml"])

    def test_allow_names_what_may_run(self):
        out, err, _ = self.phi("--allow", "bash touch one*", "--allow", "write_file four.txt", "go", scenario="phi-ask")
        self.assertEqual(self.files(), ["four.txt", "one.txt"], out + err)
        self.assertIn("* bash touch two.txt (not run: Nobody is there to allow this call.)\n", err)

    def test_a_tool_alone_allows_all_of_its_calls(self):
        self.phi("--allow", "bash", "go", scenario="phi-ask")
        self.assertEqual(self.files(), ["one.txt", "three.txt", "two.txt"])

    def test_allow_answers_for_the_rules_of_a_file_too_but_not_where_they_deny(self):
        rules = '[permissions]\n[[permissions.rules]]\nverdict = "%s"\ntool = "bash"\ncommand = "touch *"\n'
        for verdict, made in [("ask", ["one.txt", "three.txt", "two.txt"]), ("deny", [])]:
            with self.subTest(verdict=verdict):
                self.write("a.toml", PROVIDER % (test_phi.mock.url, "phi-ask") + '[tools]\nenabled = ["bash"]\n' +
                           rules % verdict)
                self.phi("-c", "a.toml", "--allow", "bash touch *", "go")
                self.assertEqual([name for name in self.files() if name.endswith(".txt")], made)
                for name in made:
                    os.remove(os.path.join(self.folder, name))

    def test_a_pattern_that_is_no_rule_is_an_error(self):
        out, err, code = self.phi("--allow", "write_file ../x/../..//", "go")
        self.assertIn(code, (0, 2), out + err)

    def test_planning_runs_only_what_reads_and_the_model_knows(self):
        self.write("notes.txt", "What is to be done.\n")
        test_phi.mock.asked()
        out, _, code = self.phi("--plan", "look", scenario="phi-look")
        self.assertIn("What is to be done.", out)
        self.assertIn("You are planning", str(test_phi.mock.asked()[0]["system"]))
        out, err, code = self.phi("--plan", "go", scenario="phi-ask")
        self.assertEqual((self.files(), code), (["notes.txt"], 0), out + err)
        self.assertIn(NOT_RUN, err)
        self.write("a.toml", PROVIDER % (test_phi.mock.url, "phi-ask") + '[tools]\nenabled = ["bash"]\n[permissions]\nmode = "all"\n')
        _, err, code = self.phi("-c", "a.toml", "--plan", "go")
        self.assertEqual((self.files(), code), (["a.toml", "notes.txt"], 0))
        self.assertIn(NOT_RUN, err)


class Pipes(test_phi.Folder):
    def test_a_pipe_that_nobody_writes_to_is_left_alone(self):
        began = time.monotonic()
        read, write = os.pipe()
        done = subprocess.run([test_phi.PHI, "Who?"], stdin=read, cwd=self.folder, timeout=test_phi.LONGEST,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              env=test_phi.environment(PHI_BASE_URL=self.url("echo")))
        os.close(read)
        os.close(write)
        self.assertEqual((done.stdout, done.returncode), ("Who?\n", 0))
        self.assertIn("phi: nothing came from standard input in 3 seconds", done.stderr)
        self.assertGreater(time.monotonic() - began, 2.5)

    def test_a_dash_waits_for_a_slow_pipe(self):
        child = subprocess.Popen([test_phi.PHI, "Review", "-"], cwd=self.folder, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env=test_phi.environment(PHI_BASE_URL=self.url("echo")))
        time.sleep(3.5)
        out, err = child.communicate("a diff\n", timeout=test_phi.LONGEST)
        self.assertEqual((out, err, child.returncode), ("Review\n\na diff\n", "", 0))

    def test_a_question_about_a_pipe_asks_for_permission_on_the_terminal(self):
        master, slave = os.openpty()

        def own_terminal():
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        child = subprocess.Popen([test_phi.PHI, "go"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=slave, start_new_session=True, preexec_fn=own_terminal,
                                 env=test_phi.environment(PHI_BASE_URL=self.url("phi-one"), TERM="dumb"))
        os.close(slave)
        child.stdin.write(b"a diff\n")
        child.stdin.close()
        said = b""
        while b"n: " not in said:
            said += os.read(master, 1000)
        self.assertIn(b"bash wants to run:", said)
        os.write(master, b"y\n")
        out = child.stdout.read()
        child.stdout.close()
        self.assertEqual(child.wait(timeout=test_phi.LONGEST), 0, out)
        os.close(master)
        self.assertEqual(self.files(), ["one.txt"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
