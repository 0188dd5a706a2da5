#!/usr/bin/env python3
"""Lengths: a function over 120 lines fails, over 60 is counted; a file of src/ over 600 lines fails, and
so does a line of it over 100 columns, comments too. In a public header a declaration stands on one line
where its own text fits, and a comment behind it ends there. A private function of src/ bears the stem of
its file: phi__schedule_wake is in schedule.c, or inline in schedule_in.h; PREFIX lists the exceptions.
Reads the formatted style: a function starts at the left margin and ends with a brace there.
Prints what fails and one line of figures; exit code 1 on any failure. -v lists those over 60."""
import glob
import os
import re
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FAIL, WARN, FILE = 120, 60, 600
COLUMNS = 100
EXAMPLE = {"phi.c": 600}
EXAMPLE_LINES = 200
# What the functions of a file bear where it is not the stem; None: anything.
PREFIX = {
    # the words that all else is written in: phi__alloc, phi__min, phi__str_is
    "base/base.c": None, "base/base_in.h": None,
    # one of several: the names that their header promises
    "io/poller_epoll.c": "poller", "io/poller_kqueue.c": "poller", "io/poller_poll.c": "poller",
    # what the files of a module share, declared in the module's header
    "history/compact_shared.c": "compact", "config/config_tables_agent.c": "config_tables",
    "config/config_tables_model.c": "config_tables", "config/config_tables_strategy.c": "config_tables",
    "persist/file_lock.c": "file_store", "codecs/gemini_shared.c": "gemini",
    # the vendor's name is not repeated in each function
    "codecs/gemini_interactions.c": "interactions", "codecs/gemini_interactions_merge.c": "interactions_merge",
    "codecs/gemini_interactions_stream.c": "interactions_stream",
}
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


def stem(name):
    """Of room/name.c, room/name.h and room/name_in.h; name_posix.c and name_none.c are halves of name.c."""
    base, ending = os.path.splitext(os.path.basename(name))
    return re.sub("_in$" if ending == ".h" else "_(?:posix|none)$", "", base)


def bears(function, prefix):
    return prefix is None or function == f"phi__{prefix}" or function.startswith(f"phi__{prefix}_")


def prefixes(name, found):
    """What is wrong with the names of a file's functions; found: (name, first line)."""
    here = name[len("src/"):]
    prefix = PREFIX.get(here, stem(name))
    for function, first in found:
        if function.startswith("phi__") and not bears(function, prefix):
            yield f"{name}:{first}: {function} should be phi__{prefix}_..., as its file is called"
        elif not function.startswith("phi_"):
            yield f"{name}:{first}: {function}: a function of src/ begins with phi_ or phi__"
    if here in PREFIX and all(bears(f, stem(name)) for f, _ in found if f.startswith("phi__")):
        yield f"{name}: all of its functions bear the stem, but PREFIX lists it"


def main():
    failed, over, counts = [], [], []
    failed += [f"src/{name}: is not there, but PREFIX lists it"
               for name in PREFIX if not os.path.exists(os.path.join(ROOT, "src", name))]
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
                failed += prefixes(name, [(function, first) for function, first, _ in defined])
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
        print(f"{len(counts)} functions in src, median {statistics.median(counts):g} lines, longest"
              f" {max(counts)}; {len(over)} anywhere over {WARN}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
