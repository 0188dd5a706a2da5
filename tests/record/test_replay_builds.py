"""One recording in each protocol, played by programs of other compilers, of 32 bits, and with small steps: the log
has the same hash in all of them. Records with tests/record/test_replay_http, which must have been built."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILDS = {"gcc": ["gcc", "-O0"], "clang": ["clang", "-O0"], "m32": ["gcc", "-m32", "-O0"]}
BUDGETS = ["0", "1024"]


def run(command, **more):
    return subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300, check=False, **more)


def compiles(command, folder):
    path = os.path.join(folder, "try.c")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#include <stdio.h>\nint main(void) { return 0; }\n")
    return shutil.which(command[0]) and run(command + [path, "-o", path + ".out"]).returncode == 0


class Builds(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        recorders = glob.glob(os.path.join(ROOT, "build", "*", "tests", "record", "test_replay_http"))
        if not recorders:
            self.skipTest("tests/record/test_replay_http is not built")
        newest = max(recorders, key=os.path.getmtime)
        done = run([newest], env=dict(os.environ, PHI_TAPES=self.folder))
        self.assertEqual(done.returncode, 0, done.stdout)
        made = run([sys.executable, "amalgamate.py", "--out", self.folder])
        self.assertEqual(made.returncode, 0, made.stdout)

    def program(self, name):
        command = BUILDS[name]
        if not compiles(command, self.folder):
            return None
        out = os.path.join(self.folder, "play_" + name)
        done = run(command + ["-std=c99", "-D_GNU_SOURCE", "-DPHI_NO_CURL", "-I", self.folder, "-Itests",
                              "tests/record/replay_main.c", "-lm", "-lpthread", "-o", out])
        self.assertEqual(done.returncode, 0, done.stdout)
        return out

    def test_every_build_and_every_budget_has_the_same_log(self):
        hashes, built = {}, 0
        tapes = {name: os.path.join(self.folder, name + ".tape") for name in self.protocols()}
        for name in BUILDS:
            program = self.program(name)
            if program is None:
                print(f"no {name} here")
                continue
            built += 1
            for number, protocol in enumerate(self.protocols()):
                for budget in BUDGETS:
                    done = run([program, tapes[protocol], str(number), budget])
                    self.assertEqual(done.returncode, 0, f"{name} {protocol} {budget}: {done.stdout}")
                    hashes.setdefault(protocol, set()).add(done.stdout)
        self.assertGreater(built, 0)
        self.assertEqual(len(hashes), 7)
        for protocol, found in hashes.items():
            with open(tapes[protocol] + ".hash", encoding="utf-8") as file:
                self.assertEqual(found, {file.read()}, protocol)

    def protocols(self):
        with open(os.path.join(ROOT, "src", "model", "model.h"), encoding="utf-8") as file:
            text = file.read()
        names = ["ANTHROPIC", "OPENAI_CHAT", "OPENAI_RESPONSES", "AZURE_RESPONSES", "GOOGLE", "VERTEX",
                 "BEDROCK"]
        return [text.split(f"#define PHI_PROTOCOL_{n} \"")[1].split('"')[0] for n in names]


if __name__ == "__main__":
    unittest.main()
