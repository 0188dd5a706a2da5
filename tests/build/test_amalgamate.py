"""The amalgamator: what it refuses, what it leaves alone, and what the guards of its headers do.

Each test works on a small tree of its own, with the real script and the real src/base."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADERS = ["phi_json.h", "phi.h", "phi_tools.h"]


class Amalgamate(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        for name in ("amalgamate.py", "LICENSE"):
            shutil.copy(os.path.join(ROOT, name), self.dir)
        os.mkdir(self.path("src"))
        for header in HEADERS:
            self.put(f"src/head_{header}.txt", f"/* {header} - v@VERSION@ */\n")
        shutil.copytree(os.path.join(ROOT, "src", "base"), self.path("src/base"))

    def path(self, name):
        return os.path.join(self.dir, name)

    def put(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def get(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def amalgamate(self, *args):
        return subprocess.run([sys.executable, self.path("amalgamate.py"), *args], text=True,
                              cwd=self.dir, capture_output=True, check=False)

    def refused(self, words):
        """The script fails with these words and leaves the headers as they were."""
        before = {h: self.get(h) for h in HEADERS if os.path.exists(self.path(h))}
        done = self.amalgamate()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(words, done.stderr)
        after = {h: self.get(h) for h in HEADERS if os.path.exists(self.path(h))}
        self.assertEqual(before, after)
        self.assertEqual([f for f in os.listdir(self.dir) if f.endswith(".tmp")], [])

    def made(self):
        done = self.amalgamate()
        self.assertEqual(done.returncode, 0, done.stderr)

    def compile(self, text, *flags):
        return subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *flags,
                               "-fsyntax-only", "-x", "c", "-I", self.dir, "-"], input=text, text=True,
                              cwd=self.dir, capture_output=True, check=False)

    def compiles(self, text, *flags):
        done = self.compile(text, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_check_says_stale_before_and_nothing_after(self):
        self.assertEqual(self.amalgamate("--check").returncode, 1)
        self.made()
        self.assertEqual(self.amalgamate("--check").returncode, 0)
        self.put("phi.h", self.get("phi.h") + "\n")
        done = self.amalgamate("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("stale: phi.h", done.stderr)

    def test_what_is_fresh_is_not_written_again(self):
        self.made()
        os.utime(self.path("phi.h"), (1, 1))
        self.made()
        self.assertEqual(os.stat(self.path("phi.h")).st_mtime, 1)

    def test_a_file_that_is_not_in_the_manifest_is_an_error(self):
        self.made()
        self.put("src/stray.c", "int x;\n")
        self.refused("src/stray.c: not in the manifest")
        os.remove(self.path("src/stray.c"))
        self.put("src/extra/a.c", "int x;\n")
        self.refused("src/extra/: not in the manifest")
        shutil.rmtree(self.path("src/extra"))
        self.put("src/base/notes.md", "x\n")
        self.refused("src/base/notes.md: neither")

    def test_an_include_that_is_not_there_or_below_is_an_error(self):
        self.put("src/text/a.c", '#include "base/nothing.h"\n')
        self.refused('src/text/a.c: #include "base/nothing.h": there is no')
        self.put("src/text/a.c", '#include "a.h"\n')
        self.refused("there is no src/a.h")
        self.put("src/io/b.h", "int b;\n")
        self.put("src/text/a.c", '#include "io/b.h"\n')
        self.refused("io is below text")

    def test_a_public_header_does_not_include_an_internal_one(self):
        self.put("src/text/a.h", '#include "base/base_in.h"\n')
        self.refused("a public header includes an internal one")

    def test_a_room_shows_other_rooms_one_internal_header(self):
        self.put("src/base/b_in.h", "int b;\n")
        self.put("src/text/a.c", '#include "base/b_in.h"\n')
        self.refused('src/text/a.c: #include "base/b_in.h": base shows other rooms base_in.h alone')

    def test_headers_that_include_each_other_are_an_error(self):
        self.put("src/text/a.h", '#include "text/b.h"\n')
        self.put("src/text/b.h", '#include "text/a.h"\n')
        self.refused("include each other")

    def test_files_follow_their_includes_then_their_names(self):
        self.put("src/text/a.h", '#include "text/z.h"\ntypedef z1 a1;\n')
        self.put("src/text/b.h", "typedef int b1;\n")
        self.put("src/text/z.h", "typedef int z1;\n")
        self.made()
        self.assertEqual(re.findall(r"/\* ---- src/text/(\w+)", self.get("phi_json.h")), ["z", "a", "b"])

    def test_local_macros_end_with_their_file(self):
        self.put("src/text/a.c", "#define PHI__A 1\n#define PHI__B 2\n#undef PHI__B\n")
        self.made()
        text = self.get("phi_json.h")
        self.assertEqual(text.count("#undef PHI__A\n"), 1)
        self.assertEqual(text.count("#undef PHI__B\n"), 1)

    def test_a_macro_with_a_foreign_name_or_a_headers_name_is_an_error(self):
        self.put("src/text/a.c", "#define COUNT 1\n")
        self.refused("macro COUNT: its name should start with")
        self.put("src/text/a.c", "#define PHI__COUNT 1\n")
        self.refused("macro PHI__COUNT is also a header's")

    def test_a_head_that_is_missing_or_too_long_is_an_error(self):
        self.put("src/head_phi.h.txt", "/* @VERSION@\n" + "\n" * 260 + "*/\n")
        self.refused("over 250 lines")
        os.remove(self.path("src/head_phi.h.txt"))
        self.refused("src/head_phi.h.txt: missing")

    def test_line_directives_point_into_src(self):
        self.put("src/text/a.c", '#include "base/base_in.h"\n\nint phi__a(void) { return wrong; }\n')
        done = self.amalgamate("--line")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.compile('#define PHI_IMPLEMENTATION\n#include "phi.h"\n')
        self.assertIn("src/text/a.c:3:", done.stderr)

    def test_two_versions_in_one_file_are_an_error(self):
        self.made()
        text = self.get("phi_json.h")
        version = re.search(r"#define PHI__PUB_BASE_BASE (0x\w+)", text).group(1)
        self.put("phi_json.h", text.replace(version, "0x1234567"))
        done = self.compile('#include "phi_json.h"\n#include "phi.h"\n')
        self.assertIn("two versions of phi's declarations", done.stderr)

    def test_phi_tools_of_another_version_than_phi_is_an_error(self):
        self.made()
        old = self.get("phi_tools.h")
        self.put("src/text/a.h", "typedef int phi_a;\n")
        self.made()
        self.put("phi_tools.h", old)
        self.compiles('#include "phi_tools.h"\n')
        self.put("src/base/base.h", self.get("src/base/base.h").replace("ok", "fine"))
        self.made()
        self.put("phi_tools.h", old)
        done = self.compile('#include "phi_tools.h"\n')
        self.assertIn("phi_tools.h and phi.h are of different versions", done.stderr)

    def test_a_system_header_that_came_too_early_is_an_error_with_words(self):
        self.made()
        late = '#include <stdio.h>\n#define PHI_IMPLEMENTATION\n#include "%s"\n'
        done = self.compile(late % "phi.h")
        self.assertIn("a system header was included before", done.stderr)
        self.compiles(late % "phi.h", "-D_GNU_SOURCE")
        self.compiles(late % "phi_json.h")
        done = self.compile((late + '#include "phi.h"\n') % "phi_json.h")
        self.assertIn("a system header was included before", done.stderr)

    def test_files_have_64_bit_numbers_on_32_bit_systems(self):
        if self.compile("#include <sys/types.h>\n", "-m32").returncode != 0:
            self.skipTest("gcc has no -m32 here (gcc-multilib)")
        self.made()
        wide = "typedef char wide[sizeof(off_t) == 8 ? 1 : -1];\n"
        for header in HEADERS:
            self.compiles('#define PHI_IMPLEMENTATION\n#include "%s"\n#include <sys/types.h>\n%s' % (header, wide), "-m32")

    def test_the_licence_stands_at_the_end(self):
        self.made()
        for header in HEADERS:
            self.assertTrue(self.get(header).endswith("*/\n"))
            self.assertIn("Permission is hereby granted", self.get(header)[-1300:])


if __name__ == "__main__":
    unittest.main()
