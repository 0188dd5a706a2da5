#!/usr/bin/env python3
"""The programs of docs/start.md: each is built and run as the page says, and prints what the page shows after it."""
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("PHI_BUILD", os.path.join(ROOT, "build", "asan"))
PROGRAM = re.compile(r"^<!-- runs(?P<twice> twice)? -->\n```c\n(?P<code>.*?)^```.*?^```text\n(?P<shown>.*?)^```", re.M | re.S)


def said_by(code, times, folder):
    source, program = os.path.join(folder, "start.c"), os.path.join(folder, "start")
    with open(source, "w", encoding="utf-8") as file:
        file.write(code)
    subprocess.run([*(os.environ.get("CC") or "gcc").split(), "-std=c99", "-g1", "-fsanitize=address,undefined",
                    f"-I{BUILD}/declared", source, f"{BUILD}/libphi_all.a", "-lcurl", "-lm", "-lpthread", "-o", program],
                   check=True, timeout=120)
    runs = [subprocess.run([program], cwd=folder, capture_output=True, text=True, check=True, timeout=60)
            for _ in range(times)]
    return "".join(run.stdout + run.stderr for run in runs)


class Start(unittest.TestCase):
    def test_each_program_prints_what_the_page_shows(self):
        with open(os.path.join(ROOT, "docs", "start.md"), encoding="utf-8") as file:
            programs = list(PROGRAM.finditer(file.read()))
        self.assertEqual(4, len(programs))
        for program in programs:
            with tempfile.TemporaryDirectory() as folder:
                self.assertEqual(program["shown"], said_by(program["code"], 2 if program["twice"] else 1, folder))


if __name__ == "__main__":
    unittest.main()
