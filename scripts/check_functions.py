#!/usr/bin/env python3
"""Lengths: a function over 120 lines fails, over 60 is counted; a file of src/ over 1,700 lines fails (1,500 is the soft
limit), and so does a line of it over 100 columns, comments too. In a public header a declaration stands on one line where
its own text fits, and a comment behind it ends there. A function of src/ begins with phi_ or phi__.
Reads the formatted style: a function starts at the left margin and ends with a brace there.
Prints what fails and one line of figures; exit code 1 on any failure. -v lists those over 60."""
import glob
import os
import re
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FAIL, WARN, FILE = 120, 60, 1700
COLUMNS = 100
EXAMPLE = {"phi.c": 600, "village.c": 345, "typed_windows.h": 240}
EXAMPLE_LINES = 200
NOT_A_FUNCTION = re.compile(r"^(?:typedef|struct|enum|union|extern \"C\"|static const struct|#|namespace)")


def functions(lines):
    """(name, first line, count of lines) of every function."""
    start, head = None, ""
    for number, line in enumerate(lines, 1):
        if start is None:
            if line[:1].isalpha() or line[:1] == "_":
                head, first = line, number
            elif line[:1] == " " and head:
                head += line
            elif line[:1] != "#":
                head = ""
            if head and line.rstrip().endswith(("{", "}")) and "(" in head and "=" not in \
                    head.split("(")[0] and not NOT_A_FUNCTION.match(head):
                found = re.search(r"\b(phi_\w+)\(", head) or re.search(r"(\w+)\s*\(", head)
                name = found.group(1) if found else head
                if name in ("TEST", "__attribute__"):
                    name = re.search(r"\(+\s*(\w+)", head).group(1)
                if line.rstrip().endswith("{"):
                    start = (name, first)
                else:
                    yield name, first, number - first + 1
                head = ""
            elif line.rstrip().endswith((";", "}")):
                head = ""
        elif line.startswith("}"):
            yield start[0], start[1], number - start[1] + 1
            start = None


def layout(lines, public):
    """(line, words) of lines that are too wide and, in a public header, of comments that stand behind
    a declaration but should be above it: they end on a later line, or have split it."""
    code = ""  # of the lines since the last that ended something
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield number, f"{len(line)} columns, at most {COLUMNS}"
        behind = re.match(r"(\s*[^\s/#*].*?)\s*/\*", line)
        if public and behind:
            whole = f"{code} {behind.group(1).strip()}" if code else behind.group(1)
            if "*/" not in line:
                yield number, "a comment of several lines belongs above what it explains"
            elif code and len(whole) <= COLUMNS and line.rstrip().endswith("*/"):
                yield number, "the comment has split a declaration that fits a line: put it above"
        ended = not line.strip() or line.strip()[0] in "#/*" or line.rstrip().endswith(
            (";", "{", "}", ",", "*/", ":")) or number == 1
        code = "" if ended else (f"{code} {line.strip()}" if code else line.rstrip())


def main():
    failed, over, counts = [], [], []
    for folder in ("src", "tests", "examples", "bench", "extras"):
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "**", "*.[ch]"), recursive=True) +
                           glob.glob(os.path.join(ROOT, folder, "*.txt"))):
            name = os.path.relpath(path, ROOT)
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")[:-1]
            most = {"src": FILE, "examples": EXAMPLE.get(os.path.basename(path), EXAMPLE_LINES)}
            if len(lines) > most.get(folder, 100000):
                failed.append(f"{name}: {len(lines)} lines, at most {most[folder]}")
            if folder == "src":
                public = name.endswith(".h") and not name.endswith("_in.h")
                failed += [f"{name}:{number}: {words}" for number, words in layout(lines, public)]
            defined = list(functions(lines))
            if folder == "src" and name.endswith((".c", ".h")):
                failed += [f"{name}:{first}: {function}: a function of src/ begins with phi_ or phi__"
                           for function, first, _ in defined if not function.startswith("phi_")]
            for function, first, count in defined:
                if folder == "src":
                    counts.append(count)
                if count > FAIL:
                    failed.append(f"{name}:{first}: {function}: {count} lines, at most {FAIL}")
                elif count > WARN:
                    over.append(f"{name}:{first}: {function}: {count} lines")
    if "-v" in sys.argv and over:
        print("\n".join(over))
    print("\n".join(failed), end="\n" * bool(failed))
    if counts:
        print(f"{len(counts)} functions in src, median {statistics.median(counts):g} lines, mean {statistics.mean(counts):.1f}, longest"
              f" {max(counts)}; {len(over)} anywhere over {WARN}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
