#!/usr/bin/env python3
"""phi, the command: what a line of the chat may be besides words for the model: a line for the shell, files by their
path, words that are completed, lines and prompts of before. test_phi.py has the rest."""
import json
import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_phi  # noqa: E402

setUpModule = test_phi.setUpModule
tearDownModule = test_phi.tearDownModule


def asked():
    return test_phi.mock.asked()


class Line(test_phi.Tmux):
    def begin(self, scenario="echo", *args, size=(100, 40), **more):
        """A chat that keeps what it keeps in the test's own folder."""
        self.state = os.path.join(self.folder, "state")
        self.start(scenario, *args, size=size, XDG_STATE_HOME=self.state, **more)
        asked()

    def line(self, words, said=None):
        self.type("-l", words)
        time.sleep(0.05)  # an Enter that comes with a line for the shell does not run it
        self.type("Enter")
        return self.wait_for(said) if said is not None else None

    def say(self, word):
        """A prompt and its answer, the word itself."""
        self.line(word, r"^Agent \(\d+ms\): %s$" % word)

    def leave(self):
        self.type("C-u")
        self.type("C-d")
        self.wait_for("code 0")
        self.tmux("kill-server")

    def put(self, name, data=b"x"):
        path = os.path.join(self.folder, "work", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def kept(self, name):
        """The only file of that name that the command keeps."""
        found = [os.path.join(folder, name) for folder, _, files in os.walk(self.state) if name in files]
        self.assertEqual(len(found), 1)
        return found[0]

    # ---- lines for a run ----

    def test_a_line_that_a_stopped_run_has_not_read_comes_back_and_is_not_sent_after_the_next_prompt(self):
        self.begin("steer", "--yes")
        self.line("first", r"bash echo three")
        self.line("/model x", r"^! stop the run first \(Esc\)\n(.*\n)*> /model x\n")
        self.type("C-u")
        for words in ["unread one", "unread two"]:
            self.line(words, "^You: " + words)
        self.type("-l", "typed")
        self.type("Escape")
        self.wait_for(r"\(stopped\)\n(.*\n)*.*has not read(.*\n)+> unread one\n  unread two\n  typed\n")
        self.type("C-r", "C-u")
        self.wait_for("Msgs: 0")
        asked()
        self.line("second", r"^You: second\n(.*\n)*.*bash echo three")
        requests = [m["content"][0]["text"] for m in asked()[0]["messages"]]
        self.assertEqual(requests, ["second"])

    # ---- /compact ----

    def test_compact_has_the_model_sum_up_all_prompts_and_the_next_request_has_the_summary(self):
        self.begin("hello")
        for words in ["password-plum", "two", "three", "four", "five"]:
            self.line(words, r"^You: %s\n\nAgent \(\d+ms\): Hello" % words)
        self.line("/undo", "undone")
        self.type("C-u")
        self.line("/compact the passwords", r"^\(8 messages became a summary; the log keeps them\)")
        sums = asked()[-1]
        self.assertIn("the passwords", json.dumps(sums["system"]))
        prompt = sums["messages"][0]["content"][0]["text"]
        self.assertIn("password-plum", prompt)
        self.assertIn("four", prompt)
        self.assertNotIn("five", prompt)
        self.assertRegex(self.line("six", r"^You: six\n\nAgent \(\d+ms\): Hello"), "Ready")
        said = [c["text"] for m in asked()[0]["messages"] for c in m["content"]]
        self.assertEqual(len(said), 2)
        self.assertTrue(said[0].startswith("[Summary] " + test_phi.HELLO.strip()))
        self.assertEqual(said[1], "six")

    def test_near_the_window_the_model_sums_up_what_is_left_out(self):
        self.put("a.toml", b'[provider]\nmodel = "m"\nbase_url = "${PHI_BASE_URL}"\napi_key = "k"\n'
                           b'api = "anthropic_messages"\n[compaction]\nmax_context_tokens = 4000\n'
                           b'compact_budget_threshold_pct = 0.3\n')
        self.begin("hello", "-c", "a.toml")
        requests = []
        for n, word in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]):
            self.line((word + " ") * 250)
            self.wait_for(r"Msgs: %d\n.*Ready" % (2 * n + 2))
            time.sleep(0.2)  # for the summary
            requests += [json.dumps(request["messages"]) for request in asked()]
        self.assertIn("one one", [r for r in requests if "Write the summary" in r][0])
        self.assertIn("[Summary] " + test_phi.HELLO.strip(), requests[-1])

    def test_a_summary_that_esc_stops_changes_nothing(self):
        self.begin("/m/first-delay=2000/s/hello")
        self.line("/compact", "there is nothing to compact")
        self.line("one", r"Agent \(\d+ms\): Hello")
        self.line("/compact", "Status: Compacting")
        self.line("two", "the summary ends first, or Esc stops it")
        self.type("Escape")
        self.wait_for(r"^\(stopped: nothing was compacted\)(.*\n)*> two\n")
        asked()
        self.type("Enter")
        self.wait_for(r"^You: two(.*\n)+Agent \(\d+ms\): Hello")
        self.assertEqual(len(asked()[0]["messages"]), 3)

    # ---- the shell ----

    def test_a_line_after_an_exclamation_mark_runs_in_the_shell_and_goes_with_the_next_prompt(self):
        self.begin()
        self.line("!printf 'one\\ntwo\\033[2J\\n'; echo three >&2; exit 3",
                  r"^  one\n  two<U\+001B>\[2J\n  three\n\(failed, exit code 3, \d+ms\)$")
        self.line("! echo fine", r"^  fine\n\(ok, \d+ms\)$")
        self.assertEqual(asked(), [])  # and no question was asked
        self.say("hello")
        self.say("again")
        first, second = (body["messages"] for body in asked())
        words = [block for block in first[0]["content"] if block["type"] == "document"][0]["source"]["data"]
        self.assertRegex(words, r"(?s)\AThe user has run these lines in the shell:\n\n\$ printf .*exit 3\nExit code: 3\n.*"
                                r"one\ntwo.*three.*\n\$ echo fine\nExit code: 0\nfine\n")
        self.assertEqual(len([b for b in second[-1]["content"] if b["type"] == "document"]), 0)

    def test_a_paste_without_brackets_runs_nothing(self):
        self.begin()
        self.tmux("set-buffer", "!touch pasted.txt\r")
        self.tmux("paste-buffer", "-r")
        self.wait_for(r"press it again to run it\)(.*\n)+> !touch pasted\.txt$")
        self.assertFalse(self.has("pasted.txt"))
        time.sleep(0.1)
        self.type("Enter")
        self.wait_for(r"^\(ok, ")
        self.assertTrue(self.has("pasted.txt"))

    def test_leaving_ends_a_line_in_the_shell(self):
        self.begin()
        self.line("!trap 'touch ended' TERM; sleep 60 & wait", r"Status: The shell runs a line")
        began = time.monotonic()
        self.type("C-d")
        self.wait_for("code 0")
        self.assertLess(time.monotonic() - began, 10)

    def test_esc_stops_a_line_in_the_shell_and_what_it_printed_is_kept(self):
        self.begin()
        self.line("!echo begun; sleep 60; echo never", r"^  begun$(.*\n)+.*Status: The shell runs a line")
        self.line("a prompt waits", r"the line in the shell ends first(.*\n)+> a prompt waits$")
        self.type("Escape")
        self.wait_for(r"^\(.*, \d+ms\)$(.*\n)+.*Status: Ready")
        self.type("Enter")
        self.wait_for(r"^Agent \(\d+ms\): a prompt waits$")
        words = json.dumps(asked()[0]["messages"])
        self.assertIn("$ echo begun; sleep 60; echo never\\nbegun\\n", words)
        self.assertNotIn("never\\n", words.replace("echo never\\n", ""))

    def test_a_line_in_the_shell_that_prints_without_end_is_cut_and_the_screen_goes_on(self):
        self.begin()
        self.line("!yes | head -c 3000000", r"\(ok, \d+ms\) \(the rest is not shown")
        self.say("now")
        words = asked()[0]["messages"][0]["content"][0]["source"]["data"]
        self.assertLess(len(words), 70000)
        self.assertIn("bytes left out", words)
        self.line("!head -c 20000 /dev/zero | tr '\\0' a; head -c 15000 /dev/zero | tr '\\0' b >&2; echo",
                  r"\(ok, \d+ms\)$")  # each stream is shown whole
        self.line("!yes", r"Status: The shell runs a line")
        self.type("-l", "typed")
        self.wait_for(r"^> typed$")  # meanwhile
        self.type("C-u", "C-c")
        self.wait_for(r"Status: Ready")

    def test_a_fresh_lane_forgets_what_the_shell_printed_and_a_run_is_not_disturbed(self):
        self.begin("slow-80")
        self.line("!echo secret", r"^  secret$")
        self.type("C-r")
        self.wait_for("fresh lane")
        self.line("count", r"[-|/\\] Thinking")
        self.line("!echo no", r"^! stop the run first\n(.*\n)+> !echo no$")
        self.assertNotIn("secret", json.dumps(asked()))

    # ---- files ----

    def test_a_path_of_an_image_or_a_document_attaches_it(self):
        odd = self.put("an odd one.png", test_phi.PNG)
        self.put("a.pdf", test_phi.PDF)
        self.put("words.txt", b"only words")
        self.begin(size=(160, 40))
        escaped = odd.replace(" ", "\\ ")
        for words, types in [(escaped, ["image"]), ("see '%s', please" % odd, ["image"]),
                             ("file://" + odd.replace(" ", "%20"), ["image"]), ("What is @a.pdf?", ["document"]),
                             ("./a.pdf and ./words.txt", ["document"]), ("`./a.pdf` is a path", []),
                             ('@"an odd one.png" @words.txt', ["image", "document"]),
                             ("/no/such.png and ~/none.pdf", [])]:
            with self.subTest(words=words):
                self.line(words, r"^Agent \(\d+ms\): " + test_phi.re.escape(words.replace("`", "")))  # Markdown
                blocks = asked()[0]["messages"][-1]["content"]
                self.assertEqual([b["type"] for b in blocks], types + ["text"])
                self.assertEqual(blocks[-1]["text"], words)
                self.type("C-r")  # a lane with few messages
                self.wait_for("Msgs: 0")

    def test_a_model_that_takes_no_sound_says_so_before_anything_is_sent(self):
        talk = self.put("talk.wav", test_phi.WAV)
        self.begin(size=(160, 40))
        self.line(talk, r"^! .*/talk\.wav: claude-[a-z0-9-]+ takes no such sound \(audio/wav\)\n(.*\n)*> /.*talk\.wav$")
        self.assertEqual(asked(), [])

    # ---- completion ----

    def test_tab_completes_a_file_after_an_at_sign(self):
        for name in ("source/reader.c", "source/reader.h", "source/deep/needle.txt", "a b.txt", ".git/config", ".hidden"):
            self.put(name)
        self.begin()
        for typed, line in [("see @sou", "see @source/"), ("rea", "see @source/reader."), ("c", "see @source/reader.c")]:
            self.type("-l", typed)
            self.type("Tab")
            self.wait_for(r"^> %s$" % line)
        self.type("C-u", "@source/r", "Tab", "Tab")
        self.wait_for(r"^> @source/reader\.\n  source/reader\.c\n  source/reader\.h$")
        self.type("Escape")  # takes the list away, and does not quit
        screen = self.settles(lambda s: self.assertNotIn("  source/reader.c", s) or s)
        self.assertIn("> @source/reader.", screen)
        self.type("C-u", "@need", "Tab")  # none here, one below
        self.wait_for(r"^> @source/deep/needle\.txt$")
        self.type("C-u", "@a", "Tab")
        self.wait_for(r"^> @a\\ b\.txt$")
        self.type("C-u", "@.", "Tab")
        self.wait_for(r"^> @\.hidden$")
        self.type("C-u", "@nothing", "Tab")
        self.wait_for(r"nothing begins like this")
        self.type("C-u", "@", "Tab")
        self.wait_for(r"^> @\n  a b\.txt\n  source/$")

    def test_a_long_list_is_cut_and_names_that_hide_something_are_left_out(self):
        for i in range(12):
            self.put("n%02d" % i)
        self.put("n\x1b[31m")
        self.put("n\u202e")
        self.begin()
        self.type("@n", "Tab")
        self.wait_for(r"^> @n\n  n00\n(  n0[1-6]\n){6}  n07\n  \(and 4 more\)$")
        self.tmux("resize-window", "-x", "20", "-y", "6")
        self.settles(lambda s: self.assertLessEqual(len(s.split("\n")), 6))
        self.wait_for(r"^> @n")

    def test_tab_completes_a_command(self):
        self.begin()
        self.type("/se", "Tab")
        self.wait_for(r"^> /sessions$")
        self.type("C-u", "/co", "Tab")
        self.wait_for(r"^> /co\n  compact\n  cost$")

    def test_a_huge_directory_stalls_no_key(self):
        for i in range(200):
            for j in range(30):
                self.put("d%d/e%d/f" % (i, j))
        self.begin()
        self.type("@zzz", "Tab", "x")
        began = time.monotonic()
        self.wait_for(r"^> @zzzx$")
        self.assertLess(time.monotonic() - began, 1.5)

    # ---- lines of before ----

    def test_lines_are_kept_for_the_next_run_for_the_owner_alone(self):
        self.begin()
        self.line("first line", r"^Agent \(.*: first line$")
        self.type("-l", "second")
        self.type("C-j")
        self.line("row \\ it", r"^Agent \(.*: second\n")
        self.line(" not kept", r"^Agent \(.*: *not kept$")
        self.leave()
        path = self.kept("history")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "first line\nsecond\\nrow \\\\ it\n")
        with open(path, "a", encoding="utf-8") as file:
            file.write("hostile \x1b[2J\ncut off")
        self.begin()
        self.type("Up")
        self.wait_for(r"^> hostile <U\+001B>\[2J$")
        self.type("Up")
        self.wait_for(r"^> second\n  row \\ it$")
        self.type("C-u", "fir", "Up")
        self.wait_for(r"^> first line$")

    def test_two_at_once_lose_no_line_and_nothing_is_kept_without_a_session(self):
        self.begin()
        self.say("one")
        socket = self.socket
        self.begin()
        self.say("two")
        other, self.socket = self.socket, socket
        self.say("three")
        self.socket = other
        self.say("four")
        with open(self.kept("history"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "one\ntwo\nthree\nfour\n")
        self.leave()
        self.begin("echo", "--no-session")
        self.say("five")
        self.type("Up", "Up")
        self.leave()
        with open(self.kept("history"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "one\ntwo\nthree\nfour\n")

    def test_what_is_kept_of_lines_is_bounded(self):
        self.begin()
        self.say("one")
        self.leave()
        path = self.kept("history")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines("line %d %s\n" % (i, "x" * 100) for i in range(1300))
        self.begin()
        self.say("last")
        self.assertLess(os.path.getsize(path), 100)
        self.assertGreater(os.path.getsize(path + ".old"), 128 << 10)
        self.type("Up", "Up")
        self.wait_for(r"^> line 1299\n  x")

    # ---- prompts of before ----

    def test_ctrl_b_begins_a_lane_before_a_prompt_that_is_chosen(self):
        self.begin()
        self.type("C-b")
        self.wait_for(r"there is no prompt yet")
        for word in ("one", "two", "three"):
            self.say(word)
        self.type("draft", "C-b")
        self.wait_for(r"^> draft\n  one\n  two\n\* three\n.*Enter: a new lane before that prompt")
        self.type("Up", "Up", "Up", "Down")
        self.wait_for(r"^  one\n\* two\n  three$")
        self.type("Escape")
        self.wait_for(r"^> draft\nEnter: submit")
        self.type("C-b", "Up", "Enter")
        self.wait_for(r"^> two$")
        self.type("C-u")
        asked()
        self.say("other")
        said = [block["text"] for message in asked()[0]["messages"] for block in message["content"]]
        self.assertEqual(said, ["one", "one", "other"])
        self.line("/branch default", r"on that branch")
        self.say("four")
        said = [block["text"] for message in asked()[0]["messages"] for block in message["content"]]
        self.assertEqual(said, ["one", "one", "two", "two", "three", "three", "four"])

    def test_a_stopped_answer_stays_in_the_conversation_as_it_stood(self):
        self.begin("slow-80")
        self.line("count", r"^Agent: one two")
        self.type("Escape")
        shown = self.wait_for(r"^Agent \(\d+ms\): one.*\n\(stopped\)(.*\n)+.*Status: Ready")
        text = test_phi.re.search(r"^Agent \(\d+ms\): (one.*)$", shown, test_phi.re.M).group(1).strip()
        for _ in range(2):
            asked()
            self.line("go on", r"^Agent: one")
            self.type("Escape")
            self.wait_for(r"\(stopped\)\n(.*\n)+.*Status: Ready")
            said = [(m["role"], m["content"][0]["text"].strip()) for m in asked()[0]["messages"]]
            self.assertEqual(said[:3], [("user", "count"), ("assistant", text), ("user", "go on")])
        self.leave()
        self.begin("echo", "--continue")
        self.assertEqual(self.wait_for("Ready").count("(stopped)"), 3)
        self.line("and now", r"^Agent \(.*: and now$")
        self.assertEqual([m["role"] for m in asked()[0]["messages"]],
                         ["user", "assistant", "user", "assistant", "user", "assistant", "user"])

    def test_continue_opens_the_conversation_that_was_used_last(self):
        state = {"XDG_STATE_HOME": os.path.join(self.folder, "state")}
        names = []
        for words in ("first of all", "second of all"):
            self.phi(words, scenario="echo", **state)
            names.append(self.phi("sessions", **state)[0].split("\n")[-2].split("  ")[1] + ".jsonl")
        index = [os.path.join(folder, "index") for folder, _, files in os.walk(state["XDG_STATE_HOME"]) if "index" in files]
        older = os.path.join(os.path.dirname(index[0]), names[0])
        self.phi("--continue", "x", scenario="echo", **state)  # the second
        with open(index[0], encoding="utf-8") as file:
            self.assertEqual(file.read().count("\n"), 2)
        os.rename(older, older + ".not")  # one that is gone is passed over
        os.rename(older + ".not", older)
        with open(index[0], "a", encoding="utf-8") as file:
            file.write(names[0] + "\t\n")  # as the use of it writes
        asked()
        self.phi("--continue", "and", scenario="echo", **state)
        self.assertIn("first of all", json.dumps(asked()[0]["messages"]))
        self.assertRegex(self.phi("sessions", **state)[0],
                         r"\A  .*  %s  second of all\n\* .*  %s  first of all\n\Z" % (names[1][:-6], names[0][:-6]))

    def test_a_long_conversation_that_is_continued_says_how_much_is_not_shown(self):
        for i in range(11):
            self.phi("word %d" % i, "--session", os.path.join(self.folder, "s.jsonl"), scenario="echo")
        self.begin("echo", "--session", os.path.join(self.folder, "s.jsonl"), size=(80, 80))
        screen = self.wait_for("^Agent: word 10$")
        self.assertRegex(screen, r"(?m)^\.\.\. 2 earlier messages\n+You: word 1$")

    def test_undo_after_a_restart_knows_a_fresh_lane_from_before(self):
        self.begin("echo", "--session", "s.jsonl")
        self.say("one")
        self.type("C-r")
        self.wait_for("Msgs: 0")
        self.leave()
        self.begin("echo", "--session", "s.jsonl")
        self.wait_for("Msgs: 0")
        self.line("/undo", r"\(the lane before it\)(.*\n)+.*Msgs: 2")
        self.line("/undo", r"as it was before the last prompt")


class Once(test_phi.Folder):
    def test_the_text_of_an_interrupted_question_stays_for_the_next_one(self):
        child, terminal = self.begin("slow-100", "--session", "s", "count")
        said = b""
        while b"two" not in said:
            said += os.read(terminal, 100)
        child.send_signal(test_phi.signal.SIGINT)
        self.assertEqual(child.communicate(timeout=test_phi.LONGEST)[1], b"(stopped)\n")
        asked()
        self.phi("--session", "s", "go on", scenario="echo")
        roles = [(m["role"], m["content"][0]["text"]) for m in asked()[0]["messages"]]
        self.assertEqual([role for role, _ in roles], ["user", "assistant", "user"])
        self.assertRegex(roles[1][1], r"\Aone two")


class Dumb(test_phi.Pty):
    def test_a_dumb_terminal_runs_a_line_in_the_shell_too(self):
        self.start("echo", TERM="dumb")
        self.wait_for("> ")
        asked()
        self.type("!echo one; echo two\n")
        self.wait_for("  one\r\n  two\r\n(ok, ")
        self.wait_for("ms)\r\n> ")
        self.type("hello\n")
        self.wait_for("hello\r\nhello\r\n")
        self.assertIn("$ echo one; echo two\\nExit code: 0\\none\\ntwo", json.dumps(asked()[0]["messages"]))
        self.type("!echo begun; sleep 60\n")
        self.wait_for("  begun\r\n")
        self.type("\x03")
        self.said = b""
        self.wait_for("ms)\r\n> ")
        self.type("\x04")
        self.assertEqual(self.left()[0], 0)
        self.assertNotIn(b"\033", self.said)

    def test_a_signal_that_ends_a_run_ends_the_chat_too(self):
        self.start("echo", TERM="dumb")
        self.wait_for("> ")
        self.type("!echo begun; sleep 60\n")
        self.wait_for("  begun\r\n")
        self.child.send_signal(signal.SIGTERM)
        self.assertEqual(self.left()[0], 130)

    def test_a_pasted_line_does_not_run_there(self):
        self.start("echo", TERM="dumb")
        self.wait_for("> ")
        self.type("!touch first\nhello\n!touch last\n")
        for _ in range(2):
            self.wait_for("! not run: ")
            self.said = self.said.partition(b"! not run: ")[2]
        self.type("/quit\n")
        self.assertEqual(self.left()[0], 0)
        self.assertEqual(self.files(), [])


for name in [n for n in dir(test_phi.Pty) if n.startswith("test_")]:
    setattr(Dumb, name, None)
for name in [n for n in dir(test_phi.Tmux) if n.startswith("test_")]:
    setattr(Line, name, None)  # they are run where they stand


if __name__ == "__main__":
    unittest.main()
