"""docs/conformance.md: every row names a test that exists and is run, and every line of the checklist that
the page is about has a row."""
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINES = [*range(1, 26), *range(34, 46), *range(53, 68), 73, 74]
ROW = re.compile(r"^\| ((?:REQ-|AMB-|INV-)?\d+) \|(?:[^|]*\|){2} (\S+) \| `(\w+)` \|$")


def read(*names):
    with open(os.path.join(ROOT, *names), encoding="utf-8") as file:
        return file.read()


def is_row(line):
    return line.startswith("|") and not line.startswith(("|-", "| Line |"))


class Conformance(unittest.TestCase):
    def setUp(self):
        self.text = read("docs", "conformance.md")
        self.rows = [ROW.match(line).groups() for line in self.text.split("\n") if ROW.match(line)]

    def test_every_row_has_a_line_a_file_and_a_test(self):
        for line in filter(is_row, self.text.split("\n")):
            self.assertTrue(ROW.match(line), line)

    def test_every_row_names_a_test_that_is_run(self):
        for _, file, name in self.rows:
            source = read("tests", file + ".c")
            for form in (rf"(?m)^TEST\({name}\) ", rf"TEST_ENTRY\(\s*{name}\)"):
                self.assertTrue(re.search(form, source), f"{name} in tests/{file}.c")

    def test_every_line_has_a_row(self):
        self.assertEqual(LINES, sorted({int(line) for line, _, _ in self.rows if line.isdigit()}))


if __name__ == "__main__":
    unittest.main()
