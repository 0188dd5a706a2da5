#!/usr/bin/env python3
"""extras/phi.hpp: its two test programs run, and compile with both compilers in both dialects. They take the library of
$PHI_BUILD (default: build/asan), which the Makefile builds for the examples, with its sanitizers."""
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("PHI_BUILD", os.path.join(ROOT, "build", "asan"))
CXX = "clang++" if "clang" in os.environ.get("CC", "") else "g++"  # the sanitizers of one compiler
WARN = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wold-style-cast", "-Werror"]
FLAGS = ["-O0", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"] if "asan" in BUILD else ["-O1"]


class PhiHpp(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)

    def compiled(self, source, compiler, dialect, *flags, link=True):
        command = [compiler, "-std=" + dialect, *WARN, *flags, "-I", os.path.join(ROOT, "build", "include"), "-I",
                   os.path.join(ROOT, "extras"), "-I", os.path.join(ROOT, "examples"), os.path.join(ROOT, source)]
        program = os.path.join(self.dir, "program")
        more = [*FLAGS, os.path.join(BUILD, "libphi_all.a"), "-lcurl", "-lm", "-lpthread", "-o", program]
        done = subprocess.run(command + (more if link else ["-fsyntax-only"]), text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[:5000])
        return program

    def run_tests(self, program, passed):
        done = subprocess.run([program, self.dir], cwd=self.dir, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, timeout=120)
        self.assertEqual(done.stdout.strip().split("\n")[-1], f"{passed} passed, 0 failed", done.stdout[-5000:])
        self.assertEqual(done.returncode, 0, done.stdout[-5000:])

    def test_it_keeps_its_promises(self):
        with open(os.path.join(ROOT, "tests/extras/phi_hpp.cpp"), encoding="utf-8") as file:
            count = file.read().count("        ENTRY(")
        self.assertGreater(count, 20)
        self.run_tests(self.compiled("tests/extras/phi_hpp.cpp", CXX, "c++17"), count)

    def test_it_works_without_exceptions(self):
        self.run_tests(self.compiled("tests/extras/phi_hpp_plain.cpp", CXX, "c++20", "-fno-exceptions"), 1)

    def test_both_compilers_take_it_in_both_dialects(self):
        for compiler, dialect in (("g++", "c++17"), ("g++", "c++20"), ("clang++", "c++17"), ("clang++", "c++20")):
            if shutil.which(compiler):
                self.compiled("tests/extras/phi_hpp.cpp", compiler, dialect, link=False)
                self.compiled("tests/extras/phi_hpp_plain.cpp", compiler, dialect, "-fno-exceptions", link=False)

    def test_an_older_dialect_is_refused_with_words(self):
        done = subprocess.run([CXX, "-std=c++14", "-fsyntax-only", "-I", os.path.join(ROOT, "build", "include"), "-x", "c++",
                               os.path.join(ROOT, "extras", "phi.hpp")], text=True, capture_output=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("phi.hpp needs C++17 or newer", done.stderr)


if __name__ == "__main__":
    unittest.main()
