#!/usr/bin/env python3
"""State has owners: which files touch which part of a run, an agent or the runtime, and how many members structs have.

    check_state.py        prints every breach; exit code 1 on any
    check_state.py -v     ... and who touches what

A part is a struct that its owner's header declares. Who is not listed in OWNED asks the owner for what it needs. Parts
that are not listed are shared still. Structs of the public headers keep their members."""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST = 40
# member of phi__run, phi__agent or phi_runtime: the files that touch it. What a run is saved by touches what it saves.
OWNED = {
    "ready": "loop/schedule",
    "filter": "loop/input",
    "pause": "loop/limits loop/states",
    "listed": "loop/model_call",
    "shown": "loop/projection",
    "hosted": "loop/provider",
    "attempt": "loop/attempt loop/attempt_end loop/model_call loop/provider",
    "poll": "loop/input loop/states loop/tools loop/run_save loop/run_load",
    "tools": "loop/tools loop/states loop/call loop/run_save loop/run_load",
    "events": "loop/events",
    "one_shot": "loop/one_shot agent/one_shot_run",
    "room": "loop/forget loop/at_limit",
    "polls": "loop/call agent/runtime",
    "last_error": "loop/error",
}
# The same name of another struct's member, by the file: (file, member).
OTHERS = {("agent/runtime", "events"), ("loop/hooks", "events"), ("loop/stored", "events")}  # rt->events, the queue itself
FOLDERS = ("loop", "features", "agent", "session", "tools")
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
STRUCT = re.compile(r"\bstruct (\w+) \{")


def code(path):
    with open(path, encoding="utf-8") as file:
        return COMMENT.sub(" ", file.read())


def body(text, start):
    depth, at = 1, start
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[start:at - 1]


def members(text):
    """How many a struct's body declares; a struct or union without a name is one."""
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", " ", text)
    count = 0
    for line in text.split(";"):
        line = re.sub(r"^\s*#.*$", "", line, flags=re.M)
        if line.strip():
            while re.search(r"\([^()]*\)", line):
                line = re.sub(r"\([^()]*\)", "", line)
            count += line.count(",") + 1
    return count


def main():
    bad = 0
    for path in sorted(glob.glob(os.path.join(ROOT, "src", "*", "*.[ch]"))):
        name = os.path.relpath(path, os.path.join(ROOT, "src"))
        text = code(path)
        if not name.endswith(".h") or name.endswith("_in.h"):
            for found in STRUCT.finditer(text):
                count = members(body(text, found.end()))
                if "-v" in sys.argv and count > MOST * 3 // 4:
                    print(f"src/{name}: struct {found.group(1)} has {count} members")
                if count > MOST:
                    print(f"src/{name}: struct {found.group(1)} has {count} members, at most {MOST}")
                    bad += 1
    for member, owners in sorted(OWNED.items()):
        touched = set()
        for folder in FOLDERS:
            for path in sorted(glob.glob(os.path.join(ROOT, "src", folder, "*.c"))):
                user = os.path.relpath(path, os.path.join(ROOT, "src"))[:-2]
                if (user, member) in OTHERS:
                    continue
                if re.search(r"(?:\b(?:run|agent|rt)|->run|->agent|->rt|->paused|->first|->last)->%s\." % member, code(path)):
                    touched.add(user)
        if "-v" in sys.argv:
            print(f"{member}: {' '.join(sorted(touched))}")
        for user in sorted(touched - set(owners.split())):
            print(f"src/{user}.c touches `{member}`, which is of {owners}")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
