"""docs/conformance.md: every requirement, ambiguity and line of the checklists has a row, every row is there
once and names tests that exist and are run."""
import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
sys.dont_write_bytecode = True
import conformance  # noqa: E402


def tests_of(file, known={}):  # noqa: B006: read once
    """Names of the tests of a file that run: in C those that are defined and entered."""
    if file not in known:
        path = os.path.join(ROOT, "tests", file)
        if os.path.exists(path + ".c"):
            with open(path + ".c", encoding="utf-8") as source:
                text = source.read()
            entered = set(re.findall(r"TEST_ENTRY\(\s*(\w+)\)", text))
            known[file] = entered & set(re.findall(r"(?m)^(?:TEST\(|static void )(\w+)\b", text))
        else:
            with open(path + ".py", encoding="utf-8") as source:
                known[file] = set(re.findall(r"(?m)^    def (test_\w+)\(self", source.read()))
    return known[file]


class Conformance(unittest.TestCase):
    def setUp(self):
        self.text = conformance.page()
        self.rows = conformance.rows(self.text)

    def test_every_row_has_an_id_a_file_and_a_test(self):
        for line in filter(conformance.is_row, self.text.split("\n")):
            self.assertTrue(conformance.ROW.match(line), line)

    def test_a_decision_of_phi_has_its_reason(self):
        own = [line for line in self.text.split("\n") if conformance.is_row(line) and "| phi: " in line]
        self.assertEqual(len(own), sum(row.own for row in self.rows))

    def test_every_row_names_tests_that_are_run(self):
        for row in self.rows:
            there = {name for file in row.files for name in tests_of(file)}
            for name in row.tests:
                self.assertIn(name, there, f"{row.id}: {', '.join(row.files)}")
            for file in row.files:
                self.assertTrue(set(row.tests) & tests_of(file), f"{row.id}: no test of {file}")

    def test_every_line_has_a_row(self):
        self.assertEqual([], conformance.missing(self.rows))

    def test_no_row_is_there_twice_or_about_nothing(self):
        ids = [row.id for row in self.rows]
        self.assertEqual([], sorted({name for name in ids if ids.count(name) > 1}))
        known = {line for lines in conformance.LINES.values() for line in lines}
        self.assertEqual([], [row.id for row in self.rows
                              if row.id not in known and not row.id.startswith(("INV-", "C-"))])

    def test_a_clause_without_its_row_is_missing_though_its_line_has_others(self):
        self.assertEqual(["C-33: a sub-agent's label is its name"],
                         conformance.missing([row for row in self.rows if row.id != "C-33.2"]))
        self.assertEqual(76, len({words.split(":")[0] for words, _ in conformance.clauses()}))

    def test_every_departure_from_the_original_is_of_one_kind(self):
        self.assertEqual([], conformance.without_kind(self.text))
        row = "| %s | It is there | %s | a/test_b | `c` |"
        text = [row % ("REQ-001", "B 3: otherwise"), row % ("REQ-002", "phi: not so, because"),
                row % ("REQ-003", "A note"), row % ("SI-1", "Study A: not so")]
        self.assertEqual(["REQ-001", "REQ-002"], conformance.without_kind("\n".join(text)))
        text += ["| K-1 | It is so | A reason | REQ-001, REQ-002 |"]
        self.assertEqual([], conformance.without_kind("\n".join(text)))
        text += ["| K-2 | It is so | A reason | REQ-002, REQ-003 |", "| K-3 | No reason | REQ-004 |"]
        self.assertEqual(["| K-3 | No reason | REQ-004 |", "REQ-003", "REQ-002"],
                         conformance.without_kind("\n".join(text)))

    def test_the_counts_are_of_the_rows(self):
        rows = conformance.rows("\n".join(["| REQ-001 | It is there | | a/test_b | `c` |",
                                           "| C-1.1 | So is this | A note | a/test_b, d/test_e | `c`, `f` |",
                                           "| C-1.2 | But not this | B 3: otherwise | a/test_b | `c` |",
                                           "| C-1.3 | Nor this | phi: not so, because | a/test_b | `c` |",
                                           "| Line | What holds | Departs | File | Test |"]))
        self.assertEqual("1 of 221 requirements, 0 of 3 ambiguities, B 0 of 74, C 1 of 295 clauses, D 0 of 8, "
                         "E 0 of 107, documents 0 of 278: 2 proved, 1 departed by a document, 1 by phi's own decision",
                         conformance.summary(rows))


if __name__ == "__main__":
    unittest.main()
