"""scripts/windows.py without a compiler and Wine: its list of what is left out, and its launcher of servers."""
import contextlib
import os
import socket
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import windows  # noqa: E402

ECHO = "import sys; print('ready', sys.argv[1:], flush=True); print(sys.stdin.read().upper())"


class Launcher(unittest.TestCase):
    def talk(self, *words, token=None):
        launcher = windows.Launcher()
        connection = socket.create_connection(("127.0.0.1", launcher.port), timeout=30)
        name = launcher.name if token is None else f"{launcher.port}:{token}"
        connection.sendall(b"".join(w.encode() + b"\0" for w in (name, *words)) + b"\0")
        return connection

    def test_a_program_without_the_token_of_this_run_starts_nothing(self):
        for token in ("", "0" * 32, "\u00e9"):
            with self.talk(sys.executable, "-c", "print('ready')", token=token) as connection, \
                    connection.makefile("rb") as said:
                self.assertEqual(said.read(), b"", token)

    def test_a_program_gets_its_words_and_the_end_of_its_input(self):
        with self.talk(sys.executable, "-c", ECHO, "a b") as connection, connection.makefile("rb") as said:
            self.assertEqual(said.readline(), b"ready ['a b']\n")
            connection.shutdown(socket.SHUT_WR)
            self.assertEqual(said.read(), b"\n")

    def test_all_that_a_program_says_arrives_before_the_end(self):
        with self.talk(sys.executable, "-c", "print('x' * 300000)") as connection, connection.makefile("rb") as said:
            connection.shutdown(socket.SHUT_WR)
            self.assertEqual(len(said.read()), 300001)


class LeftOut(unittest.TestCase):
    def entries(self, text):
        with tempfile.TemporaryDirectory() as folder, here(folder):
            os.mkdir("tests")
            windows.write("tests/windows.txt", text)
            windows.write("tests/test_a.c", "")
            return windows.left_out()

    def test_entries_name_a_program_or_a_test_of_it(self):
        self.assertEqual(self.entries("# words\n\ntests/test_a.c  needs fork\ntests/test_a.c:one  too\n"),
                         {"tests/test_a.c": {"": "needs fork", "one": "too"}})

    def test_an_entry_of_a_file_that_is_gone_is_refused(self):
        with self.assertRaisesRegex(windows.GiveUp, "there is no tests/test_b.c"):
            self.entries("tests/test_b.c  needs fork\n")

    def run_one(self, tests, verdicts):
        """What one() counts and says, of a program whose tests have these verdicts (True: it passes)."""
        def wine(env, command, _):
            left = env.get("PHI_LEFT_OUT", "").split()
            ran = [v for name, v in verdicts.items() if name not in left and (not command[1:] or name in command[1:])]
            return "", ran.count(True), ran.count(False), len(left), ""
        real = windows.link, windows.wine
        windows.link, windows.wine = lambda *_: ("program", ""), wine
        try:
            numbers, lines = windows.one(64, "tests/test_a.c", [], {}, tests)
        finally:
            windows.link, windows.wine = real
        return numbers, "\n".join(lines)

    def test_a_test_that_is_left_out_and_fails_is_no_failure(self):
        numbers, _ = self.run_one({"bad": "why"}, {"good": True, "bad": False})
        self.assertEqual((numbers.passed, numbers.failed, numbers.left), (1, 0, 1))

    def test_an_entry_that_is_not_true_any_more_is_a_failure(self):
        numbers, said = self.run_one({"good": "why"}, {"good": True})
        self.assertEqual(numbers.failed, 1)
        self.assertIn("tests/test_a.c:good: it passes", said)

    def test_a_program_that_is_left_out_and_passes_is_a_failure(self):
        numbers, said = self.run_one({"": "why"}, {"good": True})
        self.assertEqual(numbers.failed, 1)
        self.assertIn("tests/test_a.c: it passes", said)


@contextlib.contextmanager
def here(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


if __name__ == "__main__":
    unittest.main()
