"""scripts/mutants.py over a small tree of its own: which mutants it makes, and what becomes of them."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
THING = """#include "base/thing_in.h"

/* Whether n is even; -1 counts as none; a comment; with { braces }. */
PHI__FN bool phi__thing_even(int n) {
    int half = n / 2;
    if (n == -1) return false;
    half *= 2;
    return half == n;
}

static int phi__thing_seen;

PHI__FN int phi__thing_count(int n) {
    int i, count = 0;
    phi__thing_seen = n; /* nobody looks */
    for (i = 0; i < n; i++) {
        if (phi__thing_even(i)) {
            count++;
            continue;
        }
    }
    return count;
}

PHI__FN int phi__thing_lost(int n) {
    while (n > 3) n--;
    return n;
}

PHI__FN int phi__thing_read(void) { return phi__thing_seen; }
"""
HEADER = """#include <stdbool.h>
PHI__FN bool phi__thing_even(int n);
PHI__FN int phi__thing_count(int n);
"""
TEST = """#include "base/thing_in.h"
int main(void) {
    return phi__thing_even(4) && !phi__thing_even(3) && !phi__thing_even(-1) && phi__thing_count(5) == 3 ? 0 : 1;
}
"""
HEAD = "src/base/thing.c:%d: phi__thing_%s"


class Mutants(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        for name, text in (("src/base/thing.c", THING), ("src/base/thing_in.h", HEADER),
                           ("tests/support/none.c", "int phi__none;\n"), ("tests/base/test_thing.c", TEST)):
            self.put(name, text)
        os.mkdir(os.path.join(self.dir, "scripts"))
        shutil.copy(os.path.join(ROOT, "scripts", "mutants.py"), os.path.join(self.dir, "scripts"))

    def put(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def mutants(self, *args):
        done = subprocess.run([sys.executable, "scripts/mutants.py", *args, "--jobs", "2"], text=True,
                              cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.strip().split("\n")

    def test_statements_are_removed_and_conditions_negated(self):
        code, lines = self.mutants("src/base", "--list")
        self.assertEqual(code, 0)
        self.assertEqual(lines, [
            HEAD % (6, "even: negated: n == -1"),
            HEAD % (6, "even: removed: if (n == -1) return false;"),
            HEAD % (7, "even: removed: half *= 2;"),
            HEAD % (8, "even: negated: return half == n;"),
            HEAD % (15, "count: removed: phi__thing_seen = n;"),
            HEAD % (17, "count: negated: phi__thing_even(i)"),
            HEAD % (17, "count: removed: if (phi__thing_even(i)) { count++; continue; }"),
            HEAD % (18, "count: removed: count++;"),
            HEAD % (26, "lost: negated: n > 3"),
            HEAD % (26, "lost: removed: n--;")])

    def test_survivors_are_told_and_lines_that_no_test_reaches(self):
        code, lines = self.mutants("src/base/thing.c")
        self.assertEqual(code, 1, lines)
        self.assertIn("survived: " + HEAD % (6, "even: removed: if (n == -1) return false;"), lines)
        self.assertIn("survived: " + HEAD % (15, "count: removed: phi__thing_seen = n;"), lines)
        self.assertIn("not reached: " + HEAD % (26, "lost: negated: n > 3"), lines)
        self.assertEqual(len([l for l in lines if l.startswith("survived")]), 2, lines)
        self.assertIn(" 6 killed, 2 survived, 2 not reached by any test", lines[-1])

    def test_those_that_are_listed_as_equal_are_left_out(self):
        self.put("scripts/mutants_equal.txt", "# why\n"
                 "src/base/thing.c: phi__thing_count: removed: phi__thing_seen = n;: nobody looks\n"
                 "src/base/thing.c: phi__thing_even: removed: if (n == -1) return false;: -1 / 2 * 2 is 0\n")
        code, lines = self.mutants("src/base/thing.c:1-20")
        self.assertEqual(code, 0, lines)
        self.assertIn(" 6 killed, 0 survived, 0 not reached by any test; 2 listed as equal", lines[-1])

    def test_a_sample_is_the_same_for_the_same_seed(self):
        first = self.mutants("src/base", "--list", "--count", "4", "--seed", "3")
        self.assertEqual(len(first[1]), 4)
        self.assertEqual(first, self.mutants("src/base", "--list", "--count", "4", "--seed", "3"))


if __name__ == "__main__":
    unittest.main()
