#!/usr/bin/env python3
"""phi, the command: questions for permission in the chat, who may answer them, and what is to be seen of them."""
import fcntl
import json
import os
import re
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_phi  # noqa: E402
from test_examples import Mock  # noqa: E402

# What hides text: a sample of each class. The tests' own list, not that of the program.
HIDDEN = [0x00A0, 0x00AD, 0x034F, 0x0600, 0x061C, 0x070F, 0x115F, 0x1160, 0x1680, 0x17B4, 0x180E, 0x2000, 0x2003,
          0x200B, 0x200D, 0x200E, 0x2028, 0x202E, 0x202F, 0x205F, 0x2060, 0x2066, 0x2800, 0x3000, 0x3164, 0xFE0F,
          0xFEFF, 0xFFA0, 0xFFF9, 0xFFFC, 0x0338, 0x0489, 0x20DD, 0x16FE4, 0x1D159, 0x1BCA0, 0x1D173, 0xE0001, 0xE0041, 0xE0100,
          0x1CD4, 0x1CE2, 0xA670, 0xE0A0, 0xF020, 0x10A39, 0x16AF0, 0x1BC9E, 0x1D167, 0xF0000, 0x10FFFD]


def bash(command):
    return [{"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": command}}]},
            {"blocks": [{"type": "text", "text": "I was told: ${last_tool_result}"}]}]


SCENARIOS = {
    "one": bash("touch one.txt"),
    "two": bash("touch one.txt")[:1] + bash("touch two.txt"),
    "three": bash("touch one.txt")[:1] * 2 + bash("touch two.txt"),
    "blanks": bash("touch first.txt;" + " " * 8000 + "touch last.txt"),
    "breaks": bash("touch first.txt\n" + "\n" * 100 + "touch last.txt"),
    "hidden": bash("touch " + "".join("x" + chr(c) for c in HIDDEN) + " one.txt"),
    "long": bash("touch one.txt " + "word " * 60),
    "denied": bash("rm -rf /"),
    "unnamed": [{"blocks": [{"type": "tool_use", "name": "files", "input": {"delete": "notes"}}]}],
    "lengthy": [{"blocks": [{"type": "tool_use", "name": "x" * 300 + "_delete", "input": {}}]}],
    "sentence": [{"blocks": [{"type": "tool_use", "name": "bash wants to run: ls", "input": {}}]}],
    "beside": [{"blocks": [*bash("touch one.txt")[0]["blocks"], *bash("sleep 0.5")[0]["blocks"]]}] + bash("")[1:],
    "rows": [{"blocks": [{"type": "text", "text": "".join("row %d of it\n" % i for i in range(90))}, *bash(
        "\n".join("touch f%d.txt" % i for i in range(90)))[0]["blocks"]]}] + bash("")[1:],
    "timed": [{"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "touch one.txt", "timeout": 5}}]}],
    "caller": [{"blocks": [{"type": "tool_use", "name": "scout", "input": {"task": "Look around"}}]},
               {"blocks": [{"type": "tool_use", "name": "echo", "input": {"text": "hello"}}]}],
    "c1": [{"blocks": [{"type": "text", "text": "\x9b2J\u202e\U000e0041\u00e9"}]}],
    "longid": [{"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "echo first; sleep 1"}, "id": "i" * 120}]},
               *bash("sleep 3")],
    "same": [{"blocks": [{"type": "tool_use", "name": "scout", "input": {"task": "Look around"}, "id": "one"}]},
             {"blocks": [{"type": "text", "text": "Done."}]}],
    "same-scout": [{"blocks": [{"type": "tool_use", "name": "list_files", "input": {"path": "sub"}, "id": "one"}]},
                   {"blocks": [{"type": "text", "text": "Done."}]}],
    "thinks": [{"blocks": [{"type": "thinking", "thinking": "Hm.\n(yes)\n", "signature": "s"},
                           {"type": "text", "text": "So:\nYou: no\n"}]}],
    "answers": [{"blocks": [{"type": "text", "text": "It is seven."}]}],
    "prints": bash("for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; printf '\\033[1;31mred\\033[0m\\033[2J'; sleep 2"),
}
CONFIG = """
[provider]
model = "claude-haiku-4-5"
base_url = "${SERVER}/s/%s"
api_key = "k"
api = "anthropic_messages"
[tools]
enabled = ["bash"]
[permissions]
otherwise = "%s"
[callbacks]
before_tool_execution = { command = "%s", shell = true }
"""

STRATEGY = """
[provider]
model = "claude-haiku-4-5"
base_url = "${SERVER}/m/first-delay=400/s/answers"
api_key = "k"
api = "anthropic_messages"
[agent]
strategy = "trm"
"""


def setUpModule():
    folder = tempfile.mkdtemp(prefix="phi")
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "scenarios.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(SCENARIOS, file)
    test_phi.mock = Mock("--port", "0", "--scenario", path)


tearDownModule = test_phi.tearDownModule


class Screen(test_phi.Tmux):
    def begin_chat(self, scenario, otherwise=None, script=None, **more):
        """A chat whose agent has been asked to go."""
        os.makedirs(os.path.join(self.folder, "work"), exist_ok=True)
        args = []
        if script is not None:
            self.write("work/agent.toml", CONFIG % (scenario, otherwise, script))
            args = ["-c", "agent.toml"]
        self.start(scenario, *args, SERVER=test_phi.mock.url, **more)
        self.type("go", "Enter")

    def ask(self, scenario, **more):
        self.begin_chat(scenario, **more)
        self.wait_for(r"y: once|larger window")
        time.sleep(0.3)  # an answer that was typed before the question could be read is none
        return self.screen()

    def settled(self, seconds=0.7):
        time.sleep(seconds)
        return self.screen()

    # ---- scripts ----

    def test_no_key_answers_for_a_hook_script(self):
        for otherwise in ("allow", "ask"):
            with self.subTest(otherwise=otherwise):
                self.begin_chat("one", otherwise, "touch asked; sleep 2; echo not that >&2; exit 1")
                self.wait_for("Status: . A hook script decides bash")
                time.sleep(0.4)
                self.type("y")
                screen = self.settled()
                self.assertNotIn("wants to run", screen)
                self.type("Enter")
                screen = self.wait_for(r"I was told: .*not that")
                self.assertRegex(screen, r"\* bash touch one.txt \(not run: .*not that")
                self.assertFalse(self.has("one.txt"))
                self.tmux("kill-server")

    def test_a_script_that_allows_leaves_the_question_to_the_person(self):
        self.begin_chat("one", "ask", "sleep 0.5; exit 0")
        self.wait_for("y: once")
        self.assertFalse(self.has("one.txt"))
        time.sleep(0.3)
        self.type("y")
        self.wait_for(r"\* bash touch one.txt \(\d+ms, ok\)")

    def test_a_denied_call_leaves_a_line(self):
        self.begin_chat("denied")
        self.wait_for(r"^\* bash rm -rf / \(not run: denied: ")

    def test_always_answers_a_rule_that_asks_for_this_very_call(self):
        rule = '{verdict = "ask", tool = "bash", command = "touch *"}'
        self.begin_chat("three", f'allow"\nrules = [{rule}]\nhome = "/x', "true")
        screen = self.wait_for("a: always")
        self.assertIn("always would allow: this very line", screen)
        time.sleep(0.3)
        self.type("a")
        screen = self.wait_for(r"touch two.txt\n(.*\n)+.*y: once")
        self.assertEqual(len(re.findall(r"\* bash touch one.txt \(", screen)), 2)
        self.assertEqual(screen.count("wants to run"), 2)
        time.sleep(0.3)
        self.type("n")
        self.wait_for("I was told: The user said no")

    # ---- what counts as an answer ----

    def test_a_typed_sentence_answers_nothing(self):
        self.ask("two")
        for words in ("are you sure?", "rm -f", "yes, but", "no way", "a b", "y y"):
            with self.subTest(words=words):
                self.type("-l", words)
                screen = self.settled(0.6)
                self.assertIn("touch one.txt", screen)
                self.assertRegex(screen, r"(?m)^> " + words.replace("?", r"\?"))
                self.assertRegex(screen, "(?m)^y: once")
                self.type("C-u")
                self.wait_for(r"^>$")
        self.assertFalse(self.has("one.txt"))
        self.type("-l", "yes")
        self.settled(0.1)
        self.type("Enter")
        self.wait_for(r"touch two.txt\n(.*\n)+.*y: once")
        self.assertTrue(self.has("one.txt"))
        time.sleep(0.3)
        self.type("n")
        self.wait_for("I was told: The user said no")

    def test_a_letter_that_is_pasted_or_taken_back_is_no_answer(self):
        self.ask("one")
        self.tmux("set-buffer", "y")
        self.tmux("paste-buffer", "-p", "-r")
        self.assertRegex(self.settled(), r"(?m)^> y$")
        self.type("C-u")
        self.wait_for(r"^>$")
        self.type("y", "BSpace")
        self.assertRegex(self.settled(), r"(?m)^>$")
        for keys in (("y", "C-@"), ("-l", "\u200by"), ("-l", "\x01y")):  # it did not come alone
            self.type(*keys)
            self.settled(0.5)
            self.assertFalse(self.has("one.txt"))
            self.type("C-u")
            self.wait_for(r"^>$")
            time.sleep(0.3)
        self.type("y")
        self.wait_for(r"\* bash touch one.txt")

    def test_a_paste_without_brackets_or_one_that_closes_them_is_no_answer(self):
        self.ask("one")
        for keys in ("ls\ryes\r", "\x1b[200~\x1b[201~yes\r\x1b[201~", "y\r"):
            with self.subTest(keys=keys):
                self.type("-l", keys)
                self.assertRegex(self.settled(), r"(?m)^> (yes|y)$")
                self.assertFalse(self.has("one.txt"))
                self.type("C-u")
                self.wait_for(r"^>$")
        self.type("-l", "yes")
        self.settled(0.3)
        self.type("Enter")
        self.wait_for(r"\* bash touch one.txt")

    def test_what_a_terminal_answers_is_not_typed(self):
        self.ask("one")
        for parts in (["\x1b]11;rgb:ffff/", "0000/0000\x1b\\"], ["\x1b]ly\x07"], ["\x1bP>|term", "(1)\x1b\\"],
                      ["\x1b[", "24;8", "0R"], ["\x1b[?2026;2$", "y"], ["\x1bO", "y"], ["\x1b[", "\x1b[", "y"]):
            with self.subTest(parts=parts):
                for part in parts:
                    self.type("-l", part)
                    self.settled(0.4)
                self.assertRegex(self.settled(0.5), r"(?m)^>$")
                self.assertFalse(self.has("one.txt"))

    def test_ctrl_c_stops_within_a_paste_or_a_sequence_that_has_no_end(self):
        for keys in ("\x1b[200~words", "\x1b[1;2", "\x1bO", "\x1b]0;words", "\x1b[" + "0" * 5000):
            with self.subTest(keys=keys[:12]):
                self.ask("one")
                self.type("-l", keys)
                self.settled(0.3)
                self.type("C-c")
                self.wait_for(r"\(stopped\)")
                self.tmux("kill-server")

    def test_what_was_typed_while_it_was_stopped_is_no_answer(self):
        self.ask("one")
        child = self.tmux("list-panes", "-F", "#{pane_pid}").split()[0]
        with open("/proc/%s/task/%s/children" % (child, child), encoding="utf-8") as file:
            phi = int(file.read().split()[0])
        os.kill(phi, signal.SIGSTOP)
        self.type("y")
        self.settled(0.3)
        os.kill(phi, signal.SIGCONT)
        self.assertRegex(self.settled(), r"(?m)^y: once")
        self.assertFalse(self.has("one.txt"))
        self.type("y")
        self.wait_for(r"\* bash touch one.txt")

    def test_what_was_typed_before_the_question_is_no_answer(self):
        self.begin_chat("one", "ask", "sleep 1; exit 0")
        self.wait_for("A hook script decides")
        self.type("-l", "yes")  # a draft, which stays
        self.wait_for("y: once")
        time.sleep(0.4)
        self.type("Enter")
        self.wait_for("^You: yes")
        self.assertRegex(self.settled(), "(?m)^y: once")
        self.assertFalse(self.has("one.txt"))

    # ---- what is to be seen ----

    def test_the_beginning_and_the_end_of_a_long_command_are_shown_and_the_rest_is_counted(self):
        for scenario, said in [("blanks", r"(?m)^  \.\.\. 1\d\d rows not shown, 7\d\d\d characters \.\.\.$"),
                               ("breaks", r"(?m)^  \.\.\. 9\d rows not shown, 0 characters \.\.\.$")]:
            for size in ((80, 24), (80, 9), (40, 60), (80, 16), (80, 19)):
                with self.subTest(scenario=scenario, size=size):
                    screen = self.ask(scenario, size=size)
                    self.assertRegex(screen, r"(?m)^bash wants to run:\n  \| touch first.txt")
                    self.assertRegex(screen.replace("\n  + ", ""), r"(?m) touch last.txt$")
                    self.assertRegex(screen, said if size == (80, 24) else r"\.\.\. \d+ rows not shown")
                    self.tmux("kill-server")

    def test_all_of_an_answer_and_of_a_long_question_is_in_the_terminal(self):
        self.ask("rows")
        said = self.tmux("capture-pane", "-p", "-S", "-")
        for i in range(90):
            self.assertRegex(said, r"(?m)^(Agent: )?row %d of it$" % i)
            self.assertRegex(said, r"(?m)^  \| touch f%d.txt$" % i)

    def test_arguments_beside_the_command_are_shown(self):
        self.assertRegex(self.ask("timed"), r'(?m)^  \| touch one.txt\n  \| \{.*"timeout": 5\}$')

    def test_a_question_says_that_a_sub_agent_asks_and_whose_tool_it_is(self):
        os.makedirs(os.path.join(self.folder, "work"))
        model = 'model = "claude-haiku-4-5"\napi_key = "k"\napi = "anthropic_messages"\nbase_url = "${SERVER}/s/%s"\n'
        self.write("work/agent.toml", "[provider]\n" + model % "caller" + "[[mcp.instances]]\nname = 'here'\n"
                   "command = ['%s', '%s/tests/mock/mcp_server.py']\n" % (sys.executable, test_phi.ROOT) +
                   '[[provider.instances]]\nid = "scout"\n' + model % "one" +
                   '[[sub_agents.instances]]\nname = "scout"\nprovider = "scout"\ntools = ["bash"]\n')
        self.start("caller", "-c", "agent.toml", SERVER=test_phi.mock.url, size=(40, 24))
        self.type("go", "Enter")
        self.wait_for(r"^scout wants to run:(.*\n)+y: once")
        time.sleep(0.3)
        self.type("y")
        self.wait_for(r"^A sub-agent: bash wants to run:\n  \| touch one.txt\n(.*\n)+y: once")
        time.sleep(0.3)
        self.type("n")
        self.wait_for(r'^echo of here wants to run:\n  \| hello\n  \| \{"text": "hello"\}\n(.*\n)+y: once')

    def test_the_name_of_an_argument_that_says_what_is_done_with_it_is_shown(self):
        self.assertRegex(self.ask("unnamed"), r'(?m)^files wants to run:\n  \| notes\n  \| \{"delete": "notes"\}$')

    def test_no_tools_name_reads_like_a_sentence(self):
        self.assertRegex(self.ask("sentence"), r"(?m)^bash<U\+0020>wants<U\+0020>to<U\+0020>run:<U\+0020>ls wants to run:$")
        self.tmux("kill-server")
        self.assertIn("x" * 300 + "_delete wants to run:\n", self.ask("lengthy").replace("\n  + ", ""))

    def test_a_run_goes_on_with_as_much_as_it_had_and_no_more(self):
        os.makedirs(os.path.join(self.folder, "work"))
        self.write("work/agent.toml", CONFIG.replace('enabled = ["bash"]', 'enabled = ["list_files"]') % ("loop", "allow", "true") +
                   "[execution]\nmax_turns = 2\npause = true\n")
        self.start("loop", "-c", "agent.toml", SERVER=test_phi.mock.url)
        test_phi.mock.asked()
        self.type("go", "Enter")
        for _ in range(2):
            self.wait_for(r"^The run has paused. Shall it go on, with as much again\?\n(.*\n)+y: go on")
            self.assertEqual(len(test_phi.mock.asked()), 2)
            time.sleep(0.3)
            self.type("y")
            self.wait_for(r"^\(yes\)")
            self.settled(0.5)

    def test_always_is_not_offered_where_its_key_is_not_shown(self):
        screen = self.ask("one", size=(26, 24))
        self.assertRegex(screen, r"(?m)^y: once \| n: no$")
        self.assertNotIn("always", screen)
        self.type("a")
        self.settled()
        self.assertFalse(self.has("one.txt"))
        self.tmux("resize-window", "-x", "28", "-y", "24")
        self.wait_for(r"^y: once \| n: no \| a: always$")

    def test_a_window_that_is_too_small_takes_no_yes(self):
        screen = self.ask("long", size=(40, 6))
        self.assertIn("n: no | a yes wants a larger window", screen)
        self.type("y")
        self.settled()
        self.type("Enter")
        self.settled(0.3)
        self.assertFalse(self.has("one.txt"))
        self.tmux("resize-window", "-x", "80", "-y", "24")
        self.wait_for(r"^  \| touch one.txt (.*\n)  \+ (.*\n)+y: once")
        self.type("C-u")
        time.sleep(0.3)
        self.type("y")
        self.wait_for(r"\* bash touch one.txt")

    def test_margins_that_another_program_has_left_hide_nothing(self):
        phi = self.command
        self.command = lambda *args: (["sh", "-c", "printf \"\\033[2;5r\"; exec \"$0\"", *phi(*args)[0]], phi(*args)[1])
        self.begin_chat("one")
        # What is new is drawn first, between those margins, and then all of it: the wait is for the second.
        self.wait_for(r"^bash wants to run:\n  \| touch one.txt\n(.*\n)+y: once")

    def test_what_hides_text_is_spelled_out(self):
        screen = self.ask("hidden", size=(200, 40)).replace("\n  + ", "")
        for c in HIDDEN:
            self.assertIn("x<U+%04X>" % c, screen)
        self.assertTrue(screen.isascii(), [hex(ord(c)) for c in screen if ord(c) > 126])

    def test_what_a_tool_prints_is_to_be_seen_while_it_runs(self):
        self.begin_chat("prints", "allow", "exit 0")
        screen = self.wait_for(r"^  : line 6\n  : line 7\n  : line 8\n  : line 9\n  : red<U\+001B>\[2J$")
        self.assertNotIn(": line 5", screen)
        screen = self.wait_for(r"Ready")
        self.assertNotIn("  : line", screen)

    def test_what_a_call_of_a_long_name_printed_is_gone_when_it_is_over(self):
        self.begin_chat("longid", "allow", "exit 0")
        self.wait_for(r"^  : first$")
        self.wait_for(r"^\* bash \(ok\)")
        self.assertNotIn("  : first", self.settled(0.4))

    def test_a_sub_agents_call_does_not_rename_its_callers(self):
        model = 'model = "claude-haiku-4-5"\napi_key = "k"\napi = "anthropic_messages"\nbase_url = "${SERVER}/s/%s"\n'
        self.write("agent.toml", "[provider]\n" + model % "same" +
                   '[[provider.instances]]\nid = "scout"\n' + model % "same-scout" +
                   '[[sub_agents.instances]]\nname = "scout"\nprovider = "scout"\ntools = ["list_files"]\nshow_events = true\n'
                   '[permissions]\notherwise = "allow"\n')
        out, err, code = self.phi("-c", "agent.toml", "go", SERVER=test_phi.mock.url)
        self.assertRegex(err, r"\A\* list_files sub \(.*\n\* scout Look around \(\d+ms, ok\)\n\Z")

    def test_a_strategys_progress_is_shown_and_its_best_answer_can_be_taken(self):
        os.makedirs(os.path.join(self.folder, "work"), exist_ok=True)
        self.write("work/agent.toml", STRATEGY)
        self.start("answers", "-c", "agent.toml", SERVER=test_phi.mock.url)
        self.type("go", "Enter")
        self.wait_for(r"trm .*calls: [2-9]\d* of \d+")
        self.wait_for(r"Ctrl\+S: take the best so far")
        self.type("C-s")
        screen = self.wait_for("Ready")
        self.assertIn("It is seven.", screen)
        self.assertNotIn("Ctrl+S", screen)


    # ---- rows that look like the program's ----

    FORGED = "x\nYou: yes\n(yes)\n* bash ls (1ms, ok)\nbash wants to run:\n  | ls\ny: once | n: no"

    def test_no_message_has_a_row_that_looks_like_the_programs(self):
        os.makedirs(os.path.join(self.folder, "work"))
        self.write("work/agent.toml", CONFIG % ("answers", "ask", "true") + "[[mcp.instances]]\nname = 's'\nno_restart = true\n"
                   "command = ['sh', '-c', 'printf \"%%s\" \"$0\" >&2; exit 1', %s]\n" % json.dumps(self.FORGED))
        for args in (("-c", "agent.toml"), ("-m", "claude-" + self.FORGED)):
            with self.subTest(args=args[0]):
                self.start("answers", *args, SERVER=test_phi.mock.url)
                self.assertNotRegex(self.screen(), r"(?m)^(You: yes|\(yes\)|\* bash|bash wants|  \| ls|y: once)")
                self.tmux("kill-server")
        for width, row in ((76, "z \\(yes\\)"), (73, "\\(yes\\)")):  # where a row of 79 columns begins, and one of 75
            self.start("answers", "-m", "claude-" + " (yes) ".join(["z" * width] * 3))
            self.assertRegex(self.screen(), "(?m)^    %s$" % row)
            self.assertNotRegex(self.screen(), r"(?m)^\(yes\)")
            self.tmux("kill-server")
        out, err, code = self.phi("-a", self.FORGED, "go")
        self.assertEqual((out, code), ("", 2))
        self.assertEqual(err, "phi: " + self.FORGED.replace("\n", "\n    ") + ": No such file or directory\n")

    def test_an_option_that_is_unknown_is_spelled_out(self):
        for args in (("--\x1b]0;x\x07",), ("-\x1b",), ("check", "\x1b[2J.toml")):
            out, err, code = self.phi(*args)
            self.assertEqual(code, 2)
            self.assertRegex(err + out, r"<U\+001B>|\?\[2J")
            self.assertNotIn("\x1b", err + out)

    def test_thoughts_and_answers_never_have_the_style_of_the_programs_rows(self):
        for more in ({}, {"NO_COLOR": "1"}):
            with self.subTest(more=more):
                self.start("thinks", **more)
                self.type("go", "Enter")
                self.wait_for("Msgs: 2(.*\n)+.*Ready")
                said = self.tmux("capture-pane", "-p", "-e")
                self.assertRegex(said, r"\x1b\[0;2;3m[^\n]*Hm\.\n\(yes\)\n\x1b\[0m[^\n]*So:\nYou: no\n")
                self.assertRegex(said, r"\x1b\[1m(?:\x1b\[34m)?[^\x1b]*You: \x1b\[0m[^\n]*go\n")
                self.tmux("kill-server")


class Bytes(test_phi.Pty):
    def test_json_on_a_terminal_escapes_what_that_may_not_show(self):
        self.start("c1", "--json", "go")
        self.wait_for('"AgentEnd"')
        self.assertEqual(self.left()[0], 0)
        said = self.said.decode()
        self.assertIn("\\u009b2J\\u202e\\udb40\\udc41\u00e9", said)
        self.assertNotRegex(said, "[\x1b\x80-\x9f\u202e]")
        for line in said.replace("\r", "").splitlines():
            json.loads(line)

    def test_a_question_is_printed_again_below_what_is_said_of_other_calls(self):
        self.write("agent.toml", CONFIG % ("beside", 'ask"\nrules = [{verdict = "allow", tool = "bash", command = "sleep *"}]\nhome = "/x', "true"))
        self.start("beside", "-c", "agent.toml", "go", SERVER=test_phi.mock.url)
        self.wait_for("* bash sleep 0.5 (")
        self.wait_for("ok)\r\nbash wants to run:\r\n  | touch one.txt\r\n")
        self.said = self.said[self.said.rindex(b"ok)"):]
        self.wait_for("n: ")
        self.type("y\n")
        self.wait_for("* bash touch one.txt (")
        self.assertEqual(self.left()[0], 0)

    def test_a_question_is_printed_again_when_the_program_goes_on_or_the_window_has_another_size(self):
        self.start("long", "go")
        for number in (signal.SIGSTOP, signal.SIGWINCH):
            self.wait_for("touch one.txt word")
            self.wait_for("n: ")
            self.said = b""
            if number == signal.SIGSTOP:  # meanwhile a shell may have filled the window
                self.child.send_signal(number)
                os.waitpid(self.child.pid, os.WUNTRACED)
                self.type("y\n")
                self.child.send_signal(signal.SIGCONT)
            else:
                fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
        self.wait_for("\r\n  + ord")
        self.wait_for("n: ")
        self.assertLess(max(len(row) for row in self.said.decode().split("\r\n")), 41)
        self.type("n\n")
        self.wait_for("I was told: The user said no")

    def test_a_question_fits_its_terminal_also_where_the_answer_goes_elsewhere(self):
        command, env = self.command("long", "go")
        self.command = lambda *args: (["sh", "-c", 'stty cols 40; exec "$0" "$@" > out', *command], env)
        self.start("long")
        self.wait_for("\n  +")
        self.wait_for("n: ")
        rows = self.said.decode().split("bash wants to run:\r\n")[1].split("\r\n")
        self.assertEqual({(row[:4], len(row) < 40) for row in rows[:9]}, {("  | ", True), ("  + ", True)})

    def test_no_answer_counts_after_a_signal_that_ends_it(self):
        for _ in range(3):
            self.start("one", "go")
            self.wait_for("n: ")
            self.type("y")
            time.sleep(0.1)
            self.child.send_signal(signal.SIGTERM)
            self.type("\n")
            self.assertEqual(self.left()[0], 130)
            self.assertNotIn(b"(yes)", self.said + os.read(self.master, 65536))

    def test_a_word_with_a_nul_behind_it_is_no_answer(self):
        self.start("one", "go")
        self.wait_for("n: ")
        self.said = b""
        self.type("y\0\n")
        self.wait_for("bash wants to run:")
        self.wait_for("n: ")
        self.type("n\n")
        self.wait_for("I was told: The user said no")

    def test_no_ctrl_c_in_a_pasted_text_ends_the_paste(self):
        for parts in (["\x1b[200~" + "\x03" * 9000], ["\x1b[200~words", "\x03", "\x03", "\n"]):
            with self.subTest(parts=len(parts)):
                self.start("answers")
                self.wait_for("Ready")
                for part in parts:
                    self.type(part)
                    time.sleep(0.02)
                self.type("rest of it\n\x1b[201~")
                time.sleep(0.3)
                self.assertIsNone(self.child.poll())
                self.type("\r")
                self.wait_for("It is seven.")
                self.type("\x04")
                self.assertEqual(self.left(), (0, True))

    def test_what_was_not_read_when_the_chat_ends_is_not_left_for_the_shell(self):
        # The program reads 4,096 bytes, all that the terminal holds; the kernel delivers the rest in its own time, on a
        # busy machine after the program has ended, where nobody can drop it: one try that leaves nothing is enough.
        left = bytearray(4)
        for _ in range(5):
            self.start("answers")
            self.wait_for("Ready")
            self.type("\x04" + "x" * 4095 + "\nrm one.txt\n")
            self.assertEqual(self.left(), (0, True))
            fcntl.ioctl(self.slave, termios.FIONREAD, left)
            if left == bytes(4):
                break
        self.assertEqual(left, bytes(4))


for name in [n for n in dir(test_phi.Pty) if n.startswith("test_")]:
    setattr(Bytes, name, None)
for name in [n for n in dir(test_phi.Tmux) if n.startswith("test_")]:
    setattr(Screen, name, None)  # they are run where they stand


if __name__ == "__main__":
    unittest.main()
