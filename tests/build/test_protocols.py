"""Programs link the protocols that they name, compiled as users compile them; and a protocol is added by a file and its
name. All of it talks over a scripted transport (talk.c)."""
import os
import shutil
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(ROOT, "build", "protocols")
MENDED = 'request 1: first\nforge {"what":"sword"}\nrequest 2: with a result\nIt is mended.\n'
PROTOCOLS = ["anthropic_messages", "openai_completions", "openai_responses", "azure_openai_responses",
             "google_generative_ai", "google_vertex", "google_interactions", "bedrock_converse_stream"]
OTHER_NAMES = ["anthropic", "OpenAI", "vertex", "interactions"]
# Unoptimised, clang makes the program in a third of the time, and warns of more.
CC = ["clang"] if shutil.which("clang") else ["gcc", "-Wno-misleading-indentation"]
WARN = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-DPHI_NO_CURL", "-ffunction-sections", "-fdata-sections",
        "-Wl,--gc-sections"]


def run(*command, cwd=ROOT):
    return subprocess.run(command, cwd=cwd, text=True, stdin=subprocess.DEVNULL, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class Protocols(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.programs = {}
        shutil.rmtree(OUT, ignore_errors=True)
        os.makedirs(os.path.join(OUT, "include"))
        done = run(sys.executable, "amalgamate.py", "--out", os.path.join(OUT, "include"))
        assert done.returncode == 0, done.stdout

    def build(self, *defines, include=os.path.join(OUT, "include")):
        """The program talk; made once. Its warnings are errors (that of indentation takes gcc longer than all else, on a
        file so long; the files of src/ are compiled with it)."""
        key = (include, *defines)
        if key not in self.programs:
            program = os.path.join(OUT, f"talk{len(self.programs)}")
            done = run(*CC, *WARN, "-I", include, *["-D" + d for d in defines], os.path.join(HERE, "talk.c"), "-o",
                       program)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.programs[key] = program
        return self.programs[key]

    def everything(self):
        """With all protocols by their names, and one more."""
        tree = os.path.join(OUT, "made_up")
        if not os.path.exists(tree):
            os.makedirs(tree)
            shutil.copytree(os.path.join(ROOT, "src"), os.path.join(tree, "src"))
            for name in ("amalgamate.py", "LICENSE"):
                shutil.copy(os.path.join(ROOT, name), tree)
            shutil.copy(os.path.join(HERE, "made_up.c"), os.path.join(tree, "src", "codecs"))
            path = os.path.join(tree, "src", "codecs", "names_in.h")
            with open(path, encoding="utf-8") as file:
                text = file.read()
            line = "PHI__FN const phi__codec *phi__bedrock_codec(void);\n"
            self.assertEqual(text.count(line), 1)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(line, line + line.replace("bedrock", "made_up")))
            done = run(sys.executable, "amalgamate.py", cwd=tree)
            self.assertEqual(done.returncode, 0, done.stdout)
        return self.build("MADE_UP", include=tree)

    def symbols(self, program):
        return {line.split()[-1] for line in run("nm", program).stdout.splitlines()}

    def test_a_program_with_one_preset_talks(self):
        done = run(self.build(), "anthropic_messages")
        self.assertEqual((done.returncode, done.stdout), (0, MENDED))

    def test_a_protocol_that_nobody_names_is_refused_with_the_line_to_add(self):
        for name in PROTOCOLS[1:] + OTHER_NAMES[1:] + ["telepathy"]:
            done = run(self.build(), name)
            self.assertEqual((done.returncode, done.stdout),
                             (2, f"unsupported: No provider registered for protocol: {name} (presets bring "
                                 "theirs; or set phi_runtime_desc.codecs = PHI_ALL_PROTOCOLS)\n"))

    def test_all_protocols_are_found_by_their_names_where_the_runtime_names_them(self):
        program = self.build("ALL")
        for name in PROTOCOLS + OTHER_NAMES:
            self.assertNotIn("unsupported", run(program, name).stdout, name)
        self.assertIn("unsupported", run(program, "telepathy").stdout)

    def test_nothing_of_a_codec_that_nobody_names_is_in_the_program(self):
        parts = ("phi__bedrock_", "phi__gemini_", "phi__interactions_", "phi__chat_", "phi__resp_",
                 "phi__sigv4", "phi__frames_")
        full, one = self.symbols(self.build("ALL")), self.symbols(self.build())
        for part in parts:
            self.assertTrue([s for s in full if s.startswith(part)], f"{part}: nothing is called so any more")
            self.assertEqual([s for s in one if s.startswith(part)], [])

    def test_a_protocol_is_added_by_a_file_and_its_name(self):
        done = run(self.everything(), "made_up")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "request 1: user: Can you mend it?\n\nIt is\n mended.\n"))
        done = run(self.everything(), "anthropic_messages")
        self.assertEqual((done.returncode, done.stdout), (0, MENDED))


if __name__ == "__main__":
    unittest.main()
