#!/usr/bin/env python3
"""The longer examples: the villager in 64 KB, the reviewer, and the server with its five hundred clients."""
import os
import re
import sys
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


if __name__ == "__main__":
    unittest.main()
