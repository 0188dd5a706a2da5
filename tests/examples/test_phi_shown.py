#!/usr/bin/env python3
"""phi, the command: what it shows of calls, sub-agents, models and streams that break. test_phi.py has the rest."""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_phi  # noqa: E402

setUpModule = test_phi.setUpModule
tearDownModule = test_phi.tearDownModule


class Shown(test_phi.Folder):
    def phi(self, *args, **more):
        return super().phi(*args, SERVER=test_phi.mock.url, **more)

    def test_a_call_with_a_long_id_is_not_said_not_to_run(self):
        self.assertEqual(self.phi("go", scenario="phi-long-id"), ("OK\n", "* list_files (ok)\n", 0))

    def test_an_alias_that_means_nothing_is_sent_nowhere(self):
        self.write("agents.toml", test_phi.AGENTS)
        test_phi.mock.asked()
        for args, words in [(("-c", "agents.toml", "-m", ":fsat"), "the file has no such model: :fsat"),
                            (("-c", "agents.toml", "-m", " :fsat"), "the file has no such model:  :fsat"),
                            (("-c", "agents.toml", "-m", "{{provider.x}}"),
                             "the file has no such model: {{provider.x}}"),
                            (("-m", ":fast"), "an alias wants a file (-c FILE): :fast"),
                            (("-m", "{{quick}}"), "an alias wants a file (-c FILE): {{quick}}")]:
            with self.subTest(args=args):
                self.assertEqual(self.phi(*args, "x"), ("", "phi: " + words + "\n", 2))
        self.assertEqual(test_phi.mock.asked(), [])
        self.assertEqual(self.phi("-c", "agents.toml", "-m", "claude-opus-4-1", "x")[0::2], (test_phi.HELLO, 0))

    def test_the_answer_is_the_agents_own_also_where_sub_agents_show_their_events(self):
        self.write("agents.toml", CALLER)
        out, err, code = self.phi("-c", "agents.toml", "go")
        self.assertEqual((out, code), ("I ask.\nDone.\n", 0), err)
        self.assertRegex(err, r"\A\* scout Look around \(\d+ms, ok\)\n\Z")
        out, err, code = self.phi("-c", "agents.toml", "--json", "go")
        self.assertEqual((err, code), ("", 0))
        self.assertEqual(out.count('"AgentEnd"'), 2)

    def test_json_ends_with_the_result_of_a_strategy(self):
        self.write("agents.toml", CALLER.split("[[provider")[0].replace("phi-caller", "echo") + '[agent]\nstrategy = "cot"\n')
        out, err, code = self.phi("-c", "agents.toml", "--json", "go")
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual((code, [line["type"] for line in lines[-2:]]), (0, ["AgentEnd", "StrategyResult"]), err)
        self.assertIsInstance(lines[-1]["result"], dict)
        self.assertIn("Strategy", {line["type"][:8] for line in lines[:-1]})

    def test_a_stream_that_breaks_leaves_nothing_in_a_pipe_and_a_word_on_a_terminal(self):
        again = "/m/times=1,%s/m/cut=6/s/slow-1"
        words = "one two three four five six seven eight nine ten\n"
        self.assertEqual(self.phi("-q", "go", scenario=again % "pipe"), (words, "", 0))
        child, terminal = self.begin(again % "terminal", "-q", "go")
        err = child.communicate(timeout=test_phi.LONGEST)[1]
        self.assertEqual((err, child.returncode), (b"(that was cut off, and is asked for again)\n", 0))
        self.assertTrue(os.read(terminal, 1000).decode().replace("\r", "").endswith(words))

    def test_an_answer_that_is_stopped_is_in_the_pipe_as_far_as_it_came(self):
        child = subprocess.Popen([test_phi.PHI, "--record", "tape", "go"], cwd=self.folder,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True, env=test_phi.environment(PHI_BASE_URL=self.url("slow-200")))
        self.wait_for_file("tape", b"two")
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=test_phi.LONGEST)
        self.assertEqual((err, child.returncode), ("(stopped)\n", 130))
        self.assertRegex(out, r"\Aone[a-z ]*\n\Z")

    def test_a_pipe_that_does_not_wait_is_waited_for(self):
        ours, theirs = os.pipe()
        os.set_blocking(ours, False)
        child = subprocess.Popen([test_phi.PHI], cwd=self.folder, stdin=ours, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True, env=test_phi.environment(PHI_BASE_URL=self.url("echo")))
        os.close(ours)
        for part in (b"late ", b"and later"):
            time.sleep(0.3)
            os.write(theirs, part)
        os.close(theirs)
        self.assertEqual(child.communicate(timeout=test_phi.LONGEST), ("late and later\n", ""))
        self.assertEqual(child.returncode, 0)

    def test_a_reader_that_has_left_ends_an_answer_that_is_still_to_come(self):
        child = subprocess.Popen([test_phi.PHI, "go"], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE,
                                 env=test_phi.environment(PHI_BASE_URL=self.url("/m/stall=3/s/slow-1")))
        child.stdout.close()
        self.assertEqual(child.wait(timeout=test_phi.LONGEST), 141)
        child.stderr.close()


CALLER = """
[provider]
model = "claude-haiku-4-5"
base_url = "${SERVER}/s/phi-caller"
api_key = "k"
api = "anthropic_messages"

[[provider.instances]]
id = "scout"
model = "claude-haiku-4-5"
base_url = "${SERVER}/s/hello"
api_key = "k"
api = "anthropic_messages"

[[sub_agents.instances]]
name = "scout"
description = "Looks around"
provider = "scout"
show_events = true

[permissions]
otherwise = "allow"
"""


if __name__ == "__main__":
    unittest.main()
