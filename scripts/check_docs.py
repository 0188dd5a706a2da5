#!/usr/bin/env python3
"""Compiles every C block of README.md, docs/*.md and the texts at the top of the headers, as C99
and as C++20, without a warning.

    ```c      compiled both ways: as a whole file when it has an #include or an int main(; as
              declarations after the includes when a function is defined at its left margin;
              otherwise as the body of a function that has
                  phi_runtime *rt, phi_agent agent, phi_agent npc, phi_call call, phi_event ev
    ```cpp    the same, as C++20 only
A comment just above the block adds what the reader need not see (it may span lines):
    <!-- top: bool game_running(void); void draw(void); -->     code before the block, outside
    <!-- before: const phi_message *m = ev.message; -->         code before the block, in its function
    <!-- c: top --> or <!-- c: body -->                         says what the block is
Anything that is not meant to compile is marked ```text. A block may be a file of the tree, word for
word, when a comment just above it says which: <!-- file: tests/loop/story.txt -->
check_docs.py --write puts such files into their pages.
"""
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)
sys.dont_write_bytecode = True
import amalgamate  # noqa: E402

BLOCK = re.compile(r"((?:^<!--(?:(?!-->).)*-->[ \t]*\n)*)^```(c|cpp)[ \t]*\n(.*?)^```[ \t]*$", re.M | re.S)
COPY = re.compile(r"(^<!-- file: (\S+) -->\n```(?:text|c)\n)(.*?)(^```$)", re.M | re.S)
NOTE = re.compile(r"<!--\s*(top|before|c):\s*(.*?)\s*-->", re.S)
FUNCTION = re.compile(r"^(?!while|if|for|switch|else|do\b|return)[a-zA-Z_]\w*[ \t*]+[\w \t*]*\w\([^;{}]*\)\s*\{",
                      re.M)
GIVEN = [("phi_runtime", "*rt"), ("phi_agent", "agent"), ("phi_agent", "npc"), ("phi_call", "call"),
         ("phi_event", "ev")]
INCLUDES = '#include "phi_tools.h"\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n'
WAYS = {"c": ["gcc", "-x", "c", "-std=c99"], "cpp": ["g++", "-x", "c++", "-std=c++20"]}
WARN = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-parameter",
        "-Wno-unused-but-set-variable", "-Wno-unused-function", "-Wno-unused-but-set-parameter"]


def blocks_of(path):
    """(line, language, notes, code) of every block of a page."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".txt"):  # code indented by seven: a program at the top of a header, or of a section
        sections = os.path.basename(path).startswith("order_")
        for found in re.finditer(r"(?:^ {7}.*\n|^\n)+", text, re.M):
            code = re.sub(r"^ {7}", "", found.group(0), flags=re.M)
            if "int main(" in code or (sections and code.strip()):
                yield text.count("\n", 0, found.start()) + 1, "c", {}, code
        return
    for found in BLOCK.finditer(text):
        notes = {"top": "", "before": "", "c": ""}
        for key, code in NOTE.findall(found.group(1)):
            notes[key] += code + "\n"
        yield text.count("\n", 0, found.start(3)) + 1, found.group(2), notes, found.group(3)


def copies_of(path, write):
    """What is wrong with the files that a page shows, in words; with `write` they are put into it."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    said = []

    def one(found):
        head, name, shown, end = found.groups()
        try:
            with open(os.path.join(ROOT, name), encoding="utf-8") as file:
                whole = file.read()
        except OSError as e:
            said.append(f"{os.path.relpath(path, ROOT)}: {e}")
            return found.group(0)
        if shown != whole and not write:
            said.append(f"{os.path.relpath(path, ROOT)}: does not show {name} as it is: "
                        "scripts/check_docs.py --write puts it in")
        return head + whole + end

    new = COPY.sub(one, text)
    if write and new != text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)
    return said, len(COPY.findall(text))


def program_of(path, line, notes, code, types):
    mark = f'#line {line} "{os.path.relpath(path, ROOT)}"\n'
    kind = notes.get("c", "").strip()
    if not kind and re.search(r"^#include |\bint main\(", code, re.M):
        return notes.get("top", "") + mark + code
    if kind == "top" or (not kind and FUNCTION.search(code)):
        return INCLUDES + notes.get("top", "") + mark + code
    given = ", ".join(f"{t} {n}" for t, n in GIVEN if t in types) or "void"
    return (f"{INCLUDES}{notes.get('top', '')}void doc_block({given});\nvoid doc_block({given}) {{\n"
            f"{notes.get('before', '')}{{\n{mark}{code}}}\n}}\n")


def compile_one(way, program, folder):
    """What the compiler says of a program that it does not take."""
    define = ["-D_GNU_SOURCE"] if way == "c" and "PHI_IMPLEMENTATION" not in program else []
    done = subprocess.run(WAYS[way] + WARN + define + ["-fsyntax-only", "-I", folder, "-I",
                                               os.path.join(ROOT, "extras"), "-I", os.path.join(ROOT, "examples"), "-"],
                          input=program, capture_output=True, text=True, check=False, cwd=folder)
    return done.stderr or "it fails" if done.returncode else ""


def compile_block(job):
    path, line, language, program, folder = job
    said = []
    for way in ["c", "cpp"] if language == "c" else ["cpp"]:
        errors = compile_one(way, program, folder)
        if errors:
            said.append(f"{os.path.relpath(path, ROOT)}:{line}: as {WAYS[way][-1][5:]}:\n{errors}")
    return said


def together(jobs):
    """The jobs that are not yet known to be good. Blocks that are bodies of functions, and nothing else, cannot see
    each other: all those are one program. Where that is refused, each is compiled by itself."""
    alike = [j for j in jobs if j[3].startswith(INCLUDES + "void doc_block(") and "#define" not in j[3]]
    for language, ways in (("c", ["c", "cpp"]), ("cpp", ["cpp"])):
        mine = [j for j in alike if j[2] == language]
        parts = [j[3][len(INCLUDES):].replace("void doc_block(", f"void doc_block{i}(") for i, j in enumerate(mine)]
        if mine and not any(compile_one(way, INCLUDES + "".join(parts), mine[0][4]) for way in ways):
            jobs = [j for j in jobs if j not in mine]
    return jobs


def main():
    pages = [os.path.join(ROOT, "README.md")] + sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))
    pages += sorted(glob.glob(os.path.join(ROOT, "src", "head_*.txt")) + glob.glob(os.path.join(ROOT, "src", "order_*.txt")))
    passed = failed = 0
    for path in pages:
        said, count = copies_of(path, "--write" in sys.argv[1:])
        print("\n".join(said), end="\n" * bool(said))
        passed, failed = passed + count - len(said), failed + len(said)
    with tempfile.TemporaryDirectory() as folder:
        try:
            headers = amalgamate.build(False)
        except amalgamate.Trouble as e:
            print(f"{e}\n0 passed, 1 failed")
            return 1
        for name, text in headers.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        public = headers["phi.h"] + headers["phi_tools.h"]
        types = {t for t, _ in GIVEN if re.search(rf"\btypedef struct {t}\b", public)}
        jobs = [(path, line, language, program_of(path, line, notes, code, types), folder)
                for path in pages if os.path.exists(path)
                for line, language, notes, code in blocks_of(path)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
            rest = together(jobs)
            passed += len(jobs) - len(rest)
            for said in pool.map(compile_block, rest):
                print("\n".join(said), end="\n" * bool(said))
                passed, failed = passed + (not said), failed + bool(said)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
