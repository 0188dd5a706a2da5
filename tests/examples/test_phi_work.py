#!/usr/bin/env python3
"""phi, the command: what the chat shows of calls: their outputs, changes of files, lists of tasks, sub-agents."""
import json
import os
import re
import shutil
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_phi  # noqa: E402
from test_examples import Mock  # noqa: E402


def call(name, **arguments):
    return {"type": "tool_use", "name": name, "input": arguments}


def text(words):
    return {"type": "text", "text": words}


def todo(*tasks):
    names = {" ": "pending", ">": "in_progress", "x": "completed"}
    return call("todo_write", todos=[{"content": task[1:], "status": names[task[0]]} for task in tasks])


FILE = "".join("line %d\n" % i for i in range(1, 41))
SCENARIOS = {
    "outputs": [{"blocks": [call("bash", command="echo one"), call("list_files", path=".")]},
                {"blocks": [call("read_file", path="notes.txt")]},
                {"blocks": [call("bash", command="for i in 1 2 3 4 5 6 7 8 9; do echo row $i; done; "
                                 "printf '\\033[31mred\\033[0m\\033[2Jx\\n10%%\\r20%%\\r'")]},
                {"blocks": [text("Done.")]}],
    "fails": [{"blocks": [call("read_file", path="nothing.txt")]}, {"blocks": [text("Done.")]}],
    "huge": [{"blocks": [call("bash", command="yes 1234567 | head -n 20000; echo end")]}, {"blocks": [text("Done.")]}],
    "failing": [{"blocks": [call("bash", command="seq 1 30; echo; echo; echo the cause; exit 3")]},
                {"blocks": [call("bash", command="for i in 1 2 3 4 5 6 7; do echo; echo $i; done")]}, {"blocks": [text("Done.")]}],
    "edit": [{"blocks": [call("edit_file", path="notes.txt", old_text="line 7\nline 8\n", new_text="line seven\n")]},
             {"blocks": [text("Done.")]}],
    "edits": [{"blocks": [call("edit_file", path="notes.txt", old_text="line 7\nline 8\n", new_text="line seven\n")]},
              {"blocks": [call("edit_file", path="notes.txt", old_text="line 20\n", new_text="line twenty\n")]},
              {"blocks": [text("Done.")]}],
    "write": [{"blocks": [call("write_file", path="notes.txt", content=FILE.replace("line 3\n", "").replace("line 30\n", "line 30\nnew\x1b[8m\n"))]},
              {"blocks": [text("Done.")]}],
    "new": [{"blocks": [call("write_file", path="sub/new.txt", content=FILE)]}, {"blocks": [text("Done.")]}],
    "end": [{"blocks": [call("write_file", path="notes.txt", content=FILE[:-1])]}, {"blocks": [text("Done.")]}],
    "same": [{"blocks": [call("write_file", path="notes.txt", content=FILE)]}, {"blocks": [text("Done.")]}],
    "large": [{"blocks": [call("write_file", path="notes.txt", content="".join("new %d\n" % i for i in range(20000)))]},
              {"blocks": [text("Done.")]}],
    "tasks": [{"blocks": [todo(">Read the notes", " Write\nthe \x1b[2Jreport", *(" Task %d" % i for i in range(3, 11))),
                          call("bash", command="sleep 2")]},
              {"blocks": [todo("xRead the notes", ">Write the report")]},
              {"blocks": [text("Done.")]}],
    "no-tasks": [{"blocks": [call("todo_write", todos="none")]}, {"blocks": [text("Told: ${last_tool_result}")]}],
    "echo-it": [{"blocks": [text("It is ${last_user}.")]}],
    "caller": [{"blocks": [text("I ask."), call("scout", task="Look around")]}, {"blocks": [text("Done.")]}],
    "scout": [{"blocks": [call("list_files", path="sub")]}, {"blocks": [text("Nothing there.")]}],
}
AGENTS = """
[provider]
model = "claude-haiku-4-5"
base_url = "${SERVER}/s/caller"
api_key = "k"
api = "anthropic_messages"

[[provider.instances]]
id = "scout"
model = "claude-haiku-4-5"
base_url = "${SERVER}/s/scout"
api_key = "k"
api = "anthropic_messages"

[[sub_agents.instances]]
name = "scout"
provider = "scout"
tools = ["list_files"]
show_events = true

[permissions]
otherwise = "allow"
"""


def setUpModule():
    folder = tempfile.mkdtemp(prefix="phi")
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "scenarios.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(SCENARIOS, file)
    test_phi.mock = Mock("--port", "0", "--scenario", path)


tearDownModule = test_phi.tearDownModule


class Work(test_phi.Tmux):
    def chat(self, scenario, *args, file=FILE, **more):
        os.makedirs(os.path.join(self.folder, "work"), exist_ok=True)
        if file is not None:
            self.write("work/notes.txt", file)
        self.start(scenario, *args, **dict({"size": (80, 40)}, **more))
        self.type("go", "Enter")

    def answer(self, key="y", screen="y: once"):
        self.wait_for(screen)
        time.sleep(0.3)
        self.type(key)

    def read(self, name):
        with open(os.path.join(self.work, name), encoding="utf-8") as file:
            return file.read()

    # ---- outputs ----

    def test_the_first_rows_of_an_output_are_shown_and_ctrl_o_shows_all_the_newest_first(self):
        self.chat("outputs")
        self.answer()
        screen = self.wait_for("^Done\\.")
        self.assertRegex(screen, r"(?m)^\* bash echo one \(.*\n    one\n")
        self.assertRegex(screen, r"(?m)^\* read_file .*\n    \.\.\. 41 rows \(Ctrl\+O shows them\)\n")
        self.assertRegex(screen, r"(?m)^    row 4\n    \.\.\. 7 rows \(Ctrl\+O shows them\)\nDone\.")
        self.type("C-o")
        screen = self.wait_for(r"^    row 9\n    red<U\+001B>\[2Jx\n    20%$")
        self.type("C-o")
        self.wait_for(r"^    .*line 40$")
        self.type("C-o", "C-o", "C-o")
        self.wait_for(r"^\(no other output is kept\)$")

    def test_a_command_that_failed_shows_its_last_rows_and_no_blank_row_counts(self):
        self.chat("failing", "--session", "s.jsonl")
        screen = self.wait_for("^Done\\.")
        self.assertRegex(screen, r"(?m)failed, exit code 3\)\n    \.\.\. 27 rows \(Ctrl\+O shows them\)\n    28\n    29\n    30\n"
                                 r"    the cause\n")
        self.assertRegex(screen, r"(?m)^    1\n    2\n    3\n    4\n    \.\.\. 3 rows \(Ctrl\+O shows them\)\nDone")
        self.type("C-o", "C-o")
        self.wait_for(r"^    30\n\s*\n\s*\n    the cause$")
        self.type("Escape")
        self.wait_for("code 0")
        self.tmux("kill-server")
        self.start("echo-it", "--session", "s.jsonl")  # the lines of the calls come back, too
        self.wait_for(r"^You: go\n\* bash seq 1 30; .* \(failed, exit code 3\)\n\* bash for .* \(ok\)\n+Agent: Done\.")

    def test_a_call_that_failed_says_why_in_its_line_alone(self):
        self.chat("fails", file=None, size=(120, 24))
        screen = self.wait_for("^Done\\.")
        self.assertRegex(screen, r"(?m)^\* read_file nothing\.txt \(.*error: .*\)\nDone\.$")

    def test_a_huge_output_is_folded_and_a_small_window_shows_it(self):
        self.chat("huge", size=(20, 5))
        self.tmux("resize-window", "-x", "80", "-y", "24")
        self.answer()
        self.wait_for(r"^    \.\.\. \d+ rows \(Ctrl\+O shows them\)\nDone")
        self.tmux("resize-window", "-x", "20", "-y", "5")
        self.wait_for("Ready")
        self.type("C-o")
        self.wait_for("end")

    def test_one_question_shows_no_outputs(self):
        self.write("notes.txt", FILE)
        self.assertRegex(self.phi("go", scenario="fails")[1], r"\A\* read_file nothing\.txt \(.*\)\n\Z")

    # ---- changes of files ----

    def test_an_edit_is_asked_about_as_a_diff_with_numbers_and_lines_around(self):
        self.chat("edit")
        self.wait_for(r"^edit_file wants to run:\n  \| notes\.txt\n  \|    4   line 4\n  \|    5   line 5\n  \|    6   line 6\n"
                      r"  \|    7 - line 7\n  \|    8 - line 8\n  \|    7 \+ line seven\n  \|    8   line 9\n")
        said = self.tmux("capture-pane", "-p", "-e")
        self.assertRegex(said, r"\x1b\[31m  \|    7 - line 7")
        self.assertRegex(said, r"\x1b\[32m  \|    7 \+ line seven")
        self.answer()
        screen = self.wait_for("^Done\\.")
        self.assertEqual(screen.count("- line 7"), 1)  # the question is in the transcript
        self.assertIn("line seven\nline 9\n", self.read("notes.txt"))

    def test_a_file_that_is_written_again_is_asked_about_as_a_diff(self):
        self.chat("write")
        screen = self.wait_for("y: once")
        self.assertRegex(screen, r"  \|    3 - line 3\n  \|    3   line 4\n  \|    4   line 5\n  \|    5   line 6\n  \|      \.\.\.\n"
                                 r"  \|   27   line 28\n")
        self.assertRegex(screen, r"  \|   30 \+ new<U\+001B>\[8m\n  \|   31   line 31\n")
        self.assertNotIn("line 15", screen)

    def test_what_needs_no_answer_is_shown_after_it_was_made(self):
        self.chat("edits")
        self.answer("a")
        self.wait_for("^Done\\.")
        said = self.tmux("capture-pane", "-p", "-e", "-S", "-")
        plain = re.sub(r"\x1b\[[0-9;]*m", "", said)
        self.assertRegex(plain, r"\* edit_file notes\.txt \(\d+ms, ok\)\n      16   line 17\n      17   line 18\n"
                                r"      18   line 19\n      19 - line 20\n      19 \+ line twenty\n")
        self.assertRegex(said, r"\x1b\[31m(\x1b\[49m)?      19 - line 20")

    def test_a_change_of_an_agent_of_a_file_is_shown_by_its_arguments(self):
        os.makedirs(os.path.join(self.folder, "work"))
        self.write("work/agent.toml", AGENTS.split("[[")[0].replace("caller", "edit") +
                   '[tools]\nenabled = ["edit_file"]\n[permissions]\notherwise = "allow"\n')
        self.chat("x", "-c", "agent.toml", SERVER=test_phi.mock.url)
        screen = self.wait_for("^Done\\.")
        self.assertRegex(screen, r"\* edit_file notes\.txt \(\d+ms, ok\)\n    - line 7\n    - line 8\n    \+ line seven\nDone")

    def test_a_new_file_has_lines_that_come_and_one_without_a_line_break_says_so(self):
        self.chat("new")
        self.wait_for(r"^write_file wants to run:\n  \| sub/new\.txt\n  \| \+ line 1\n")
        self.tmux("kill-server")
        self.chat("end")
        self.wait_for(r"^  \|   40 - line 40\n  \|   40 \+ line 40 \(no line break\)$")
        self.tmux("kill-server")
        self.chat("same")
        self.wait_for(r"^  \| notes\.txt\n  \| \(no change\)$")

    def test_a_large_change_shows_its_beginning_and_its_end(self):
        self.chat("large", file="".join("old %d\n" % i for i in range(20000)))
        self.wait_for(r"^  \| notes\.txt\n  \|    1 - old 0\n(.*\n)+  \.\.\. 399\d\d rows not shown, .*\n(.*\n)+  \| 20000 \+ new 19999\n")
        self.answer()
        self.wait_for("^Done\\.")

    def test_a_file_of_zeros_and_one_that_is_none_are_not_read(self):
        os.makedirs(os.path.join(self.folder, "work"))
        os.mkfifo(os.path.join(self.folder, "work", "notes.txt"))
        self.chat("edit", file=None)
        self.wait_for(r"^  \| notes\.txt\n  \| - line 7\n  \| - line 8\n  \| \+ line seven\n")
        self.tmux("kill-server")
        os.remove(os.path.join(self.folder, "work", "notes.txt"))
        self.chat("edit", file="line 7\nline 8\n\0")
        self.wait_for(r"^  \| notes\.txt\n  \| - line 7\n  \| - line 8\n  \| \+ line seven\n")

    # ---- tasks ----

    def test_tasks_are_shown_while_they_are_worked_at_and_come_back(self):
        self.chat("tasks", "--session", "s.jsonl", size=(60, 40))
        self.wait_for(r"^  \[>\] Read the notes\n  \[ \] Write the <U\+001B>\[2Jreport\n(  \[ \] Task \d\n){3}  \(0 of 10 done\)\nAgent:")
        screen = self.wait_for("^Done\\.")
        self.assertRegex(screen, r"\* todo_write \(0 of 10 done\)\n    \[>\] Read the notes\n    \[ \] Write the <U\+001B>\[2Jreport\n")
        self.assertRegex(screen, r"\* todo_write \(1 of 2 done\)\n    \[x\] Read the notes\n    \[>\] Write the report\n")
        self.wait_for("Ready")
        self.assertNotRegex(self.screen(), r"(?m)^  \[>\]")
        self.type("Escape")
        self.wait_for("code 0")
        self.tmux("kill-server")
        self.start("/m/first-delay=3000/s/echo-it", "--session", "s.jsonl", size=(60, 40))
        self.type("going on", "Enter")
        self.wait_for(r"^  \[x\] Read the notes\n  \[>\] Write the report\nAgent:")
        self.type("Escape")
        self.wait_for("Ready")
        self.type("C-r", "fresh", "Enter")
        self.wait_for("[-|/\\\\] Thinking")
        self.assertNotIn("[>]", self.screen())

    def test_a_small_window_shows_the_task_that_is_worked_at(self):
        self.chat("tasks", size=(20, 5))
        self.tmux("resize-window", "-x", "22", "-y", "8")
        self.wait_for(r"^  \[>\] Read the notes")

    def test_a_list_that_is_none_is_an_error_for_the_model(self):
        out, err, code = self.phi("go", scenario="no-tasks")
        self.assertEqual(code, 0)
        self.assertRegex(out, "Told: .*todos")
        self.assertRegex(err, r"\A\* todo_write .*error: ")

    # ---- sub-agents ----

    def test_a_sub_agents_calls_are_indented_below_its_name(self):
        os.makedirs(os.path.join(self.folder, "work", "sub"))
        self.write("work/agent.toml", AGENTS)
        self.chat("x", "-c", "agent.toml", SERVER=test_phi.mock.url)
        screen = self.wait_for("^Done\\.")
        self.assertRegex(screen, r"(?m)^  scout: \* list_files sub \(\d+ms, ok\)\n\* scout Look around \(\d+ms, ok\)\n    Nothing there\.\n")
        self.tmux("kill-server")
        self.write("work/agent.toml", AGENTS.replace("show_events = true", ""))
        self.chat("x", "-c", "agent.toml", SERVER=test_phi.mock.url)
        screen = self.wait_for("^Done\\.")
        self.assertRegex(screen, r"(?m)^  scout: list_files\n\* scout Look around \(\d+ms, ok\)\n    Nothing there\.\n")


for name in [n for n in dir(test_phi.Tmux) if n.startswith("test_")]:
    setattr(Work, name, None)  # they are run where they stand


if __name__ == "__main__":
    unittest.main()
