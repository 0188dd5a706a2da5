#!/usr/bin/env python3
"""Functions of src/ that no program can come to: only tests call them, or nobody.

Reads the sources, so that the halves for other systems count, too. A function lives if a public one (PHI_API), a table, a
macro, or a header of extras/ names it, or a function that lives. Prints the others; exit code 1 on any.

KEPT: what only tests call, on purpose, with the reason."""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
sys.dont_write_bytecode = True
import check_functions  # noqa: E402

KEPT = {"phi__fetch_resume": "a body that is not taken waits for it: for readers that are slower than the network",
        "phi__channel_resume": "the same, of stdin",
        "phi__serve_connections": "tests count them"}
NAME = re.compile(r"\bphi_\w+")
QUIET = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
# A declaration uses nothing.
DECLARED = re.compile(r"^(?:PHI__FN|PHI_API|extern|static)\b[^;{}=]*\([^;{}=]*\)[^;{}=]*;", re.M)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def read(path):
    """({(function, public): names in its body}, names outside of every function)."""
    with open(path, encoding="utf-8") as file:
        text = QUIET.sub(blank, file.read())
    lines = text.split("\n")
    bodies, inside = {}, set()
    for name, first, count in check_functions.functions(lines):
        body = lines[first - 1:first - 1 + count]
        head = "\n".join(body).split("{")[0]
        names = set(NAME.findall("\n".join(body))) - {name}
        key = (name, "PHI_API" in head)
        bodies[key] = bodies.get(key, set()) | names
        inside.update(range(first - 1, first - 1 + count))
    rest = "\n".join("" if i in inside else line for i, line in enumerate(lines))
    return bodies, set(NAME.findall(DECLARED.sub(blank, rest)))


def main():
    uses, where, open_names = {}, {}, set(KEPT)
    for path in sorted(glob.glob("src/*/*.[ch]", root_dir=ROOT)):
        bodies, named = read(os.path.join(ROOT, path))
        open_names |= named
        for (name, public), names in bodies.items():
            uses[name] = uses.get(name, set()) | names
            where.setdefault(name, path)
            if public or not name.startswith("phi__"):
                open_names.add(name)
    for path in glob.glob("extras/*.h*", root_dir=ROOT):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            open_names |= set(NAME.findall(file.read()))
    lives = set()
    while open_names:
        name = open_names.pop()
        if name not in lives:
            lives.add(name)
            open_names |= uses.get(name, set())
    dead = sorted((where[name], name) for name in uses if name not in lives)
    for path, name in dead:
        print(f"{path}: {name} is called by tests alone, or by nobody")
    for name in sorted(set(KEPT) - set(uses)):
        print(f"{name} is not there: take it out of KEPT")
        dead.append(name)
    if not dead:
        print(f"{len(uses)} functions, none dead")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
