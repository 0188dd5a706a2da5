"""Programs that leave parts out, compiled as users compile them: PHI_NO_X, PHI_MINIMAL and PHI_WITH_X; and a protocol that
is added by a line in src/codecs/registry.c. All of it talks over a scripted transport (talk.c)."""
import os
import shutil
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(ROOT, "build", "profiles")
MENDED = 'request 1: first\nforge {"what":"sword"}\nrequest 2: with a result\nIt is mended.\n'
PROTOCOLS = {"anthropic_messages": "PHI_NO_ANTHROPIC", "openai_completions": "PHI_NO_OPENAI_CHAT",
             "openai_responses": "PHI_NO_OPENAI_RESPONSES", "azure_openai_responses": "PHI_NO_AZURE",
             "google_generative_ai": "PHI_NO_GEMINI", "google_vertex": "PHI_NO_VERTEX",
             "google_interactions": "PHI_NO_INTERACTIONS",
             "bedrock_converse_stream": "PHI_NO_BEDROCK"}
# Unoptimised, clang makes the program in a third of the time, and warns of more.
CC = ["clang"] if shutil.which("clang") else ["gcc", "-Wno-misleading-indentation"]
# The protocols in halves, with either of those that share files in another one: each half is left out of a program.
HALVES = (["anthropic_messages", "openai_completions", "azure_openai_responses", "google_generative_ai",
           "google_interactions"],
          ["bedrock_converse_stream", "openai_responses", "google_vertex"])
WITHOUT = [[PROTOCOLS[name] for name in HALVES[0]], [PROTOCOLS[name] for name in HALVES[1]] + ["PHI_NO_REWRITES"]]
OTHER_NAMES = {"anthropic": "PHI_NO_ANTHROPIC", "OpenAI": "PHI_NO_OPENAI_CHAT", "vertex": "PHI_NO_VERTEX",
               "interactions": "PHI_NO_INTERACTIONS"}


def run(*command, cwd=ROOT):
    return subprocess.run(command, cwd=cwd, text=True, stdin=subprocess.DEVNULL, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class Profiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.programs = {}
        shutil.rmtree(OUT, ignore_errors=True)
        os.makedirs(os.path.join(OUT, "include"))
        done = run(sys.executable, "amalgamate.py", "--out", os.path.join(OUT, "include"))
        assert done.returncode == 0, done.stdout

    def build(self, *defines, include=os.path.join(OUT, "include")):
        """The program talk of a profile; made once. Warnings of a profile are errors (that of indentation takes gcc
        longer than all else, on a file so long; the files of src/ are compiled with it). `make check` compiles the
        profiles with gcc."""
        key = (include, *defines)
        if key not in self.programs:
            program = os.path.join(OUT, f"talk{len(self.programs)}")
            done = run(*CC, "-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-I", include, "-DPHI_NO_CURL", *["-D" + d for d in defines], os.path.join(HERE, "talk.c"), "-o", program)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.programs[key] = program
        return self.programs[key]

    def everything(self):
        """The whole library, with one protocol more."""
        tree = os.path.join(OUT, "made_up")
        if os.path.exists(tree):
            return self.build(include=tree)
        os.makedirs(tree)
        shutil.copytree(os.path.join(ROOT, "src"), os.path.join(tree, "src"))
        for name in ("amalgamate.py", "LICENSE"):
            shutil.copy(os.path.join(ROOT, name), tree)
        shutil.copy(os.path.join(HERE, "made_up.c"), os.path.join(tree, "src", "codecs"))
        registry = os.path.join(tree, "src", "codecs", "registry.c")
        with open(registry, encoding="utf-8") as file:
            lines = file.read().split("\n")
        at = [i for i, line in enumerate(lines) if line.startswith("#define PHI__CODEC_LIST(X)")]
        self.assertEqual(len(at), 1)
        lines.insert(at[0] + 1, '    X(phi__made_up_codec, {"made_up"}, "PHI_NO_MADE_UP") \\')
        with open(registry, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        done = run(sys.executable, "amalgamate.py", cwd=tree)
        self.assertEqual(done.returncode, 0, done.stdout)
        return self.build(include=tree)

    def symbols(self, program):
        return {line.split()[-1] for line in run("nm", program).stdout.splitlines()}

    def refused(self, program, words, *args):
        done = run(program, *args)
        self.assertEqual((done.returncode, done.stdout), (2, f"unsupported: {words}\n"))

    def test_minimal_with_one_provider_talks(self):
        done = run(self.build("PHI_MINIMAL", "PHI_WITH_ANTHROPIC"), "anthropic_messages")
        self.assertEqual((done.returncode, done.stdout), (0, MENDED))

    def test_a_protocol_that_was_left_out_is_refused_by_the_name_of_its_macro(self):
        program = self.build("PHI_MINIMAL", "PHI_WITH_ANTHROPIC")
        for name, macro in {**PROTOCOLS, **OTHER_NAMES}.items():
            if macro != "PHI_NO_ANTHROPIC":
                self.refused(program, f"protocol {name} is left out of this program: {macro}", name)
        self.refused(program, "No provider registered for protocol: telepathy", "telepathy")

    def test_each_macro_leaves_out_its_own_protocol_and_not_the_one_that_shares_its_files(self):
        self.assertEqual(sorted(sum(HALVES, [])), sorted(PROTOCOLS))
        for out, defines in zip(HALVES, WITHOUT):
            program = self.build(*defines)
            for name in PROTOCOLS:
                if name in out:
                    self.refused(program, f"protocol {name} is left out of this program: {PROTOCOLS[name]}", name)
                else:
                    self.assertNotIn("unsupported", run(program, name).stdout, name)

    def test_nothing_of_a_codec_that_was_left_out_is_in_the_program(self):
        parts = ("phi__anthropic_", "phi__bedrock_", "phi__claude_", "phi__gemini_", "phi__interactions_",
                 "phi__openai_chat_",
                 "phi__openai_responses_", "phi__sigv4", "phi__frames_", "phi__strict_words", "phi__strict_nulls_")
        full = self.symbols(self.everything())
        none = self.symbols(self.build("PHI_MINIMAL", "PHI_WITH_SNAPSHOT"))
        for part in parts:
            self.assertTrue([s for s in full if s.startswith(part)], f"{part}: nothing is called so any more")
            self.assertEqual([s for s in none if s.startswith(part)], [])

    def test_strict_schemas_that_were_left_out_are_refused(self):
        program = self.build("PHI_MINIMAL", "PHI_WITH_ANTHROPIC")
        self.refused(program, 'tool "forge": strict: strict schemas are left out of this program: PHI_NO_STRICT',
                     "anthropic", "strict")
        done = run(self.everything(), "anthropic", "strict")
        self.assertEqual((done.returncode, done.stdout), (0, MENDED))

    def test_a_tool_that_relies_on_its_schema_is_refused_where_none_is_checked(self):
        program = self.build("PHI_MINIMAL", "PHI_WITH_ANTHROPIC")
        self.refused(program, 'tool "forge": it does not set checks_arguments, and this build does not check them '
                     '(PHI_NO_SCHEMA)', "anthropic", "-", "unchecked")

    def test_a_tool_without_a_schema_is_taken_and_taken_again(self):
        done = run(self.build("PHI_MINIMAL", "PHI_WITH_ANTHROPIC"), "anthropic_messages", "-", "unchecked", "bare")
        self.assertEqual((done.returncode, done.stdout), (0, MENDED))

    def test_what_a_part_needs_comes_and_goes_with_it(self):
        saves = self.symbols(self.build("PHI_MINIMAL", "PHI_WITH_SNAPSHOT"))
        for name in ("phi_agent_snapshot", "phi_thread_to_json", "phi_thread_rewrite"):
            self.assertIn(name, saves)
        for name in ("phi_summarize", "phi_agent_rewrite", "phi_compaction_plan"):
            self.assertNotIn(name, saves)
        fixed = self.symbols(self.build(*WITHOUT[1]))
        for name in ("phi_thread_rewrite", "phi_summarize", "phi_agent_rewrite", "phi_thread_to_json",
                     "phi_session_free"):
            self.assertNotIn(name, fixed)
        self.assertIn("phi_compaction_plan", fixed)

    def test_a_protocol_is_added_by_one_line_in_the_registry(self):
        program = self.everything()
        done = run(program, "made_up")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "request 1: user: Can you mend it?\n\nIt is\n mended.\n"))
        done = run(program, "anthropic_messages")
        self.assertEqual((done.returncode, done.stdout), (0, MENDED))


if __name__ == "__main__":
    unittest.main()
