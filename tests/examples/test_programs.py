#!/usr/bin/env python3
"""The longer examples: the villager in 64 KB, the reviewer, and the server with its five hundred clients."""
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_examples  # noqa: E402
from test_examples import LONGEST, Mock, ROOT, environment, program, run  # noqa: E402


def setUpModule():
    test_examples.setUpModule()


def tearDownModule():
    test_examples.tearDownModule()


class Npc(unittest.TestCase):
    ENDS = (r"(\d+) prompts, (\d+) wrong answers, (\d+) errors; (\d+) messages forgotten\n"
            r"of 65536 bytes: runtime \d+ at first, villager at most \d+, together at most (\d+)"
            r"(?: \((\d+) after a tenth\))?\nthe highest byte in use was number (\d+)\n$")

    def test_thousands_of_prompts_fit_into_64_kb_and_she_forgets_no_taste(self):
        said, code = run("npc", "4000")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"^saved in a text of \d+ bytes, and loaded\n")
        found = re.search(self.ENDS, said)
        prompts, wrong, errors, forgotten, peak, _, highest = map(int, found.groups())
        self.assertEqual((prompts, wrong, errors), (4000, 0, 0))
        self.assertGreater(forgotten, 6000)
        self.assertLess(peak, highest)
        self.assertLessEqual(highest, 65536)
        short = re.search(self.ENDS, run("npc", "400")[0])
        self.assertEqual(short.group(6), found.group(6))  # after 40 prompts and after 400
        self.assertLess(abs(int(short.group(5)) - peak), 200)  # longer numbers in the saved text

    def test_over_http_she_lives_in_the_same_block(self):
        lines = "".join("Hello for the %dth time, old villager\n" % i for i in range(100))
        said, code = run("npc", "live", scenario="echo", text=lines)
        self.assertEqual(code, 0, said)
        self.assertTrue(said.startswith(lines), said)
        found = re.search(self.ENDS, said)
        self.assertEqual(found.group(1, 2, 3), ("100", "0", "0"))
        self.assertGreater(int(found.group(4)), 100)


class Review(unittest.TestCase):
    def setUp(self):
        there = tempfile.TemporaryDirectory(dir=test_examples.BUILD)
        self.addCleanup(there.cleanup)
        self.folder = os.path.join(there.name, "repository")
        os.makedirs(os.path.join(self.folder, "src"))
        self.write("../secret.txt", "hush\n")
        self.write("src/lock.c", "int a;\n")
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "first")

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def git(self, *words):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], text=True,
                              cwd=self.folder, stdout=subprocess.PIPE, check=True).stdout

    def review(self, *args, text="", **options):
        env = environment(PHI_BASE_URL=test_examples.mock.url + "/s/review")
        folder = os.path.join(self.folder, options.get("folder", "."))
        done = subprocess.run([program("review"), *args], input=text, env=env, cwd=folder, text=True,
                              timeout=LONGEST, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.stdout, done.returncode

    def test_a_diff_is_reviewed_with_its_cost_and_asked_about_later(self):
        self.write("src/lock.c", "void f(void) {\n    lock();\n}\n")
        test_examples.mock.asked()
        said, code = self.review(text=self.git("diff"))
        self.assertEqual(code, 0, said)
        for words in ('[read_file {"path": "src/lock.c"}]\n', "src/lock.c:2: the lock is never released",
                      "   2 |     lock();\n", "No matches found for 'unlock'",
                      "Cannot access ../secret.txt: it is outside the allowed paths"):
            self.assertIn(words, said)
        self.assertNotIn("hush", said)
        self.assertTrue(said.endswith("\n2 model calls, 5000 tokens in (2000 of them from the cache), "
                                      "300 out: $0.0141\n"), said)
        asked = test_examples.mock.asked()
        self.assertIn("+    lock();", json.dumps(asked[0]["messages"][0]))
        self.assertEqual(sorted(tool["name"] for tool in asked[0]["tools"]),
                         ["list_files", "read_file", "search"])

        said, code = self.review("--continue", "What about the locking?", folder="src")
        self.assertEqual(code, 0, said)
        self.assertTrue(said.startswith('About "What about the locking?": it is as I said.\n'), said)
        self.assertTrue(said.endswith("\n1 model calls, 4000 tokens in (3000 of them from the cache), "
                                      "50 out: $0.0046\n"), said)
        self.assertGreater(len(test_examples.mock.asked()[0]["messages"]), 4)
        self.assertEqual(self.git("status", "--short"), " M src/lock.c\n")  # nothing of its own

        said, code = self.review(text=self.git("diff"))  # a new review knows nothing of the last one
        self.assertEqual(code, 0, said)
        self.assertEqual(len(test_examples.mock.asked()[0]["messages"]), 1)

    def test_without_a_diff_or_a_repository_it_says_so(self):
        self.assertEqual(self.review(), ("there is nothing to review\n", 0))
        self.assertEqual(self.review("--what")[1], 2)
        said, code = self.review(folder="/", text="+ a diff\n")
        self.assertEqual(code, 1)
        self.assertIn("! this is not in a git repository\n", said)


class Server(unittest.TestCase):
    """The server, a mock of its own, and clients."""
    def begin(self, address, *args):
        self.mock = Mock("--port", "0")
        self.addCleanup(self.mock.stop)
        env = environment(PHI_BASE_URL=self.mock.url + address)
        self.child = subprocess.Popen([program("server"), "0", *args], env=env, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(self.child.stdout.close)
        self.addCleanup(self.child.wait)
        self.addCleanup(self.child.kill)
        self.port = int(self.child.stdout.readline().split()[2])

    def end(self):
        self.child.send_signal(signal.SIGTERM)
        said = self.child.stdout.read()
        self.assertEqual(self.child.wait(LONGEST), 0, said)
        return said

    def of_mock(self, what):
        with test_examples.DIRECT.open(self.mock.url + what) as answer:
            return json.load(answer)

    async def ask(self, name, text, events=None):
        """The status line and the events of an answer. events: hangs up after so many."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        body = text.encode()
        writer.write(b"POST /%s HTTP/1.1\r\nHost: x\r\ncontent-length: %d\r\n\r\n%s"
                     % (name.encode(), len(body), body))
        status = (await reader.readline()).decode().strip()
        while await reader.readline() not in (b"\r\n", b""):
            pass
        got = []
        while events is None or len(got) < events:
            line = (await reader.readline()).decode()
            if not line.startswith("event: "):
                break
            data = (await reader.readline()).decode()
            self.assertEqual(await reader.readline(), b"\n")
            got.append((line[7:-1], json.loads(data[len("data: "):])))
        writer.close()
        return status, got

    def check(self, answer, text):
        status, events = answer
        self.assertEqual(status, "HTTP/1.1 200 OK")
        self.assertEqual({kind for kind, _ in events[:-1]}, {"text"})
        self.assertEqual("".join(data["text"] for _, data in events[:-1]), text)
        self.assertEqual((events[-1][0], events[-1][1]["status"]), ("end", "ok"))

    def test_five_hundred_clients_at_once_and_fifty_hang_up(self):
        self.begin("/m/delay=10/s/echo")

        def text(i):  # of those who hang up, long enough for that
            return (60 if i % 10 == 0 else 3) * ("I am number %d, with \"quotes\",\nlines and \u00fcml\u00e4uts. " % i)

        async def crowd():
            return await asyncio.gather(*(
                self.ask("client-%d" % i, text(i), 2 if i % 10 == 0 else None) for i in range(500)))

        for i, answer in enumerate(asyncio.run(crowd())):
            if i % 10 == 0:
                self.assertEqual(len(answer[1]), 2)
            else:
                self.check(answer, text(i))
        end = time.monotonic() + LONGEST
        while self.of_mock("/_stats")["active"] and time.monotonic() < end:
            time.sleep(0.02)
        stats = self.of_mock("/_stats")
        self.assertEqual((stats["total"], stats["active"]), (500, 0))
        self.assertLessEqual(stats["peak_active"], 128 + 50)  # the mock sees a hang-up late
        left = [entry.get("gone", False) for entry in self.of_mock("/_log")
                if entry["body_bytes"] > 2000]
        self.assertEqual(left, [True] * 50)  # who hangs up, stops the model call
        again = asyncio.run(self.ask("client-10", "I am back."))
        self.check(again, "I am back.")
        self.assertRegex(self.end(), r"^500 clients, 501 prompts, 50 hung up, at most \d+ KB")

    def test_a_client_may_spend_its_budget_and_no_more(self):
        self.begin("/s/echo", "700")

        async def talk():
            return [await self.ask(name, "Once more." * 20) for name in ("ada", "ada", "ada", "bo")]

        answers = asyncio.run(talk())
        self.check(answers[0], "Once more." * 20)
        self.assertEqual(answers[2][1][-1][1]["status"], "a limit of the run was reached")
        self.check(answers[3], "Once more." * 20)  # has a budget of its own
        spent = [events[-1][1]["tokens"] for _, events in answers]
        self.assertEqual(spent, sorted(spent[:3]) + [spent[0]])
        self.assertLessEqual(spent[2], 700)

    def test_what_is_no_question_is_refused(self):
        self.begin("/m/slow-headers=300/s/echo")

        async def raw(text):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(text)
            said = await reader.read()
            writer.close()
            return said.decode().split("\r\n")[0]

        async def talk():
            first = asyncio.ensure_future(self.ask("ada", "Hello"))
            await asyncio.sleep(0.1)
            busy = await self.ask("ada", "And again")
            return (await first, busy[0], await raw(b"GET / HTTP/1.1\r\n\r\n"),
                    await raw(b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\nhi"),
                    await raw(b"POST /x HTTP/1.1\r\n\r\n"),
                    await raw(b"POST /x HTTP/1.1\r\ncontent-length: 99999\r\n\r\n"))

        first, *refused = asyncio.run(talk())
        self.check(first, "Hello")
        self.assertEqual([status.split()[1] for status in refused],
                         ["409", "405", "400", "400", "413"])
        self.end()


if __name__ == "__main__":
    unittest.main()
