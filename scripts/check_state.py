#!/usr/bin/env python3
"""State has owners: which files touch which part of a run, an agent or the runtime, and how many members structs have.

    check_state.py        prints every breach; exit code 1 on any
    check_state.py -v     ... and who touches what

A part is a struct that its owner's header declares, a member of phi__run, phi__agent or phi_runtime. PARTS says who may
touch it: its one owner; who else changes it, with a reason; and who reads it. All others ask the owner for what they
need. A list that names somebody who does not need to be in it is a breach, too. Parts that are not listed are shared
still. Structs of the public headers keep their members."""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST = 40
SAVES = "loop/run_save loop/run_load"  # what a run is saved by touches what it saves
# member: (owner, who else changes it, who reads it)
PARTS = {
    # of a run
    "start": ("loop/run", "", "loop/run_load loop/states loop/stored"),
    "turn": ("loop/states", "", "loop/events loop/hooks loop/limits loop/pending loop/run_load features/capture"),
    "end": ("loop/schedule", "loop/input loop/run agent/agent",  # no memory for what was said; it is over; a reason
            "loop/attempt loop/attempt_end loop/call loop/hooks loop/model_call loop/states loop/tools " + SAVES +
            " features/compaction features/fields"),
    "said": ("loop/draft", "loop/states loop/input loop/run_load",  # attached, told; filtered
             "loop/forget loop/responses loop/run_save"),
    "spent": ("loop/limits", "loop/run loop/run_load agent/snapshot", "agent/agent"),  # the agent's, too
    "reserved": ("loop/limits", "loop/attempt", ""),  # the request was made
    "limits": ("loop/limits", "", "loop/states"),
    "taking": ("loop/feature", "", "loop/call loop/states loop/tools"),
    "ready": ("loop/schedule", "", "record/tape_play record/tape_record"),
    "pause": ("loop/limits", "", "loop/states"),
    "poll": ("loop/input", SAVES, "loop/states loop/tools"),
    "filter": ("loop/input", "", ""),
    "tools": ("loop/tools", "loop/call " + SAVES, "loop/states"),  # how many run
    "listed": ("loop/model_call", "", ""),
    "projection": ("loop/projection", "", ""),
    "hosted": ("loop/provider", "", ""),
    "attempt": ("loop/attempt", "loop/attempt_end loop/model_call loop/provider", ""),
    # of an agent
    "tree": ("agent/agent_end", "",
             "agent/agent_make agent/summary loop/events loop/forget loop/limits loop/schedule loop/states loop/stored"),
    "line": ("loop/line", "",
             "loop/draft loop/events loop/model_call agent/agent agent/agent_make agent/agent_store agent/event_json"
             " agent/new_session agent/snapshot"),
    "queues": ("loop/input", "", "loop/enqueue loop/states"),
    "room": ("loop/forget", "loop/at_limit", ""),
    "one_shot": ("agent/one_shot_run", "", "agent/agent_end loop/states"),
    "budget": ("loop/limits", "agent/agent agent/agent_make", ""),
    "events": ("loop/events", "", ""),
    # of the runtime
    "polls": ("loop/call", "", "agent/runtime"),
    "slice": ("agent/runtime", "", ""),
    "last_error": ("loop/error", "", ""),
}
# The same name of another struct's member, by the file: (file, member).
OTHERS = {("agent/runtime", "ready"),  # rt->ready and rt->events, the lists themselves
          ("agent/runtime", "events"), ("loop/hooks", "events"), ("loop/stored", "events")}
FOLDERS = ("loop", "features", "agent", "record", "tools")
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
# ... = x, += x, ++, behind a member, its element or what it points to
CHANGE = r"(?:->\w+|\[[^\]]*\])*\s*((?<![=!<>])=(?!=)|[-+|&]=|\+\+|--)?"
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


def touches(member):
    """{file: whether it changes the part}, of all that touch it."""
    way = r"(?:\b(?:run|agent|rt|parent|child)|->run|->agent|->rt|->paused|->first|->last|->parent)->%s\.[\w.]*" % member
    found = {}
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(ROOT, "src", folder, "*.c"))):
            user = os.path.relpath(path, os.path.join(ROOT, "src"))[:-2]
            if (user, member) in OTHERS:
                continue
            text = code(path)
            for use in re.finditer(r"((?<!&)&\s*|\+\+|--)?(?:\b\w+(?:->|\.))*" + way + CHANGE, text):
                found[user] = found.get(user, False) or bool(use.group(1) or use.group(2))
    return found


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
    for member, (owner, changes, reads) in PARTS.items():
        touched = touches(member)
        if "-v" in sys.argv:
            print(f"{member}: " + " ".join(f"{user}{'!' if touched[user] else ''}" for user in sorted(touched)))
        for user, changed in sorted(touched.items()):
            if user != owner and user not in changes.split() and (changed or user not in reads.split()):
                print(f"src/{user}.c {'changes' if changed else 'reads'} `{member}`, which is of {owner}")
                bad += 1
        for user in changes.split() + reads.split():
            if user not in touched or (user in changes.split() and not touched[user]):
                print(f"{sys.argv[0]}: {user} need not be listed for `{member}`")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
