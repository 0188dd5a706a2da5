"""docs/providers.md, known quirks: every row names a test that exists and is run, every test of the files
test_quirks*.c has a row, and every bit of phi_model.quirks stands in one. docs/interop.md: what a server does
differently names a test that is run, a check of make interop, or none."""
import glob
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROW = re.compile(r"^\| (?:[^|]+\| ){3}(\w+/\w+) \| `(\w+)` \|$")
BIT = re.compile(r"(PHI_QUIRK_\w+) = 1 <<|#define (PHI_QUIRK_\w+) ")


def read(*names):
    with open(os.path.join(ROOT, *names), encoding="utf-8") as file:
        return file.read()


class Providers(unittest.TestCase):
    def setUp(self):
        page = read("docs", "providers.md")
        section = page.split("## Known quirks, each with its test\n")[1].split("\n## ")[0]
        head = ("| Quirk |", "|-")
        self.lines = [line for line in section.split("\n")
                      if line.startswith("|") and not line.startswith(head)]

    def rows(self):
        return [ROW.match(line).groups() for line in self.lines if ROW.match(line)]

    def test_every_row_has_a_quirk_a_file_and_a_test(self):
        self.assertGreater(len(self.lines), 100)
        for line in self.lines:
            self.assertTrue(ROW.match(line), line)

    def test_every_row_names_a_test_that_is_run(self):
        for file, name in self.rows():
            source = read("tests", file + ".c")
            for form in (rf"(?m)^TEST\({name}\) ", rf"TEST_ENTRY\(\s*{name}\)"):
                self.assertTrue(re.search(form, source), f"{name} in tests/{file}.c")

    def test_every_test_of_a_quirk_has_a_row(self):
        listed = set(self.rows())
        for path in glob.glob(os.path.join(ROOT, "tests", "wire", "test_quirks*.c")):
            file = "wire/" + os.path.basename(path)[:-2]
            for name in re.findall(r"^TEST\((\w+)\)", read(path), re.M):
                self.assertTrue((file, name) in listed, f"{name} of {file}")

    def test_every_bit_stands_in_a_row(self):
        text = "\n".join(self.lines)
        for bit in BIT.findall(read("src", "model", "model.h")):
            self.assertIn(f"`{bit[0] or bit[1]}`", text)


class Interop(unittest.TestCase):
    def test_every_deviation_of_a_server_names_its_test(self):
        rows = [[cell.strip() for cell in line.strip("|").split("|")]
                for line in read("docs", "interop.md").split("\n") if line.startswith("| ")]
        rows = [row for row in rows if len(row) == 3 and row[2] != "test"]
        checks = "".join(read(path) for path in glob.glob(os.path.join(ROOT, "tests/interop/*.py")))
        self.assertGreater(len(rows), 10)
        for _, what, test in rows:
            named = re.match(r"(\w+/\w+), `(\w+)`$", test)
            played = re.match(r'make interop, "(.+)"$', test)
            if named:
                self.assertIn(f"TEST({named[2]})", read("tests", named[1] + ".c"))
            elif played:
                self.assertIn(f'"{played[1]}"', checks)
            else:
                self.assertTrue(test == "none" and what.startswith("Open:"), test)


if __name__ == "__main__":
    unittest.main()
