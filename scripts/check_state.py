#!/usr/bin/env python3
"""State has owners: which files touch which part of a run, an agent or the runtime, and how many members structs have.

    check_state.py        prints every breach; exit code 1 on any
    check_state.py -v     ... and who touches what

A part is a struct that its owner's header declares, a member of phi__run, phi__agent or phi_runtime. PARTS says who may
touch it: its one owner; who else changes it, with a reason; and who reads it. All others ask the owner for what they
need. A list that names somebody who does not need to be in it is a breach, too. Parts that are not listed are shared
still. Structs of the public headers keep their members.

OWNERS are the structs that a thread is made of, and an agent's line: one file changes each, all may read it. The compiler
proves that: every other file of the folders is compiled with headers in which the struct's members are const."""
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST = 40
SAVES = "loop/run_save loop/run_load"  # what a run is saved by touches what it saves
# member: (owner, who else changes it, who reads it)
PARTS = {
    # of a run
    "start": ("loop/run", "", "loop/run_load loop/states loop/stored"),
    "turn": ("loop/states", "", "loop/events loop/hooks loop/limits loop/pending loop/run_load loop/tools features/capture"
             " features/failover strategy/strategy"),
    "end": ("loop/schedule", "loop/input loop/run agent/agent",  # no memory for what was said; it is over; a reason
            "loop/attempt loop/attempt_end loop/call loop/cap loop/hooks loop/model_call loop/states loop/tools " + SAVES +
            " features/compaction features/failover features/fields"),
    "said": ("loop/draft", "loop/states loop/input loop/run_load",  # attached, told; filtered
             "loop/forget loop/responses loop/run_save"),
    "spent": ("loop/limits", "loop/run loop/run_load agent/snapshot",
              "agent/agent_info evaluate/evaluation subagents/result strategy/strategy_call"),  # the agent's, too
    "reserved": ("loop/limits", "loop/attempt", ""),  # the request was made
    "limits": ("loop/limits", "", "loop/reserve loop/tools"),
    "taking": ("loop/feature", "", "loop/call loop/states loop/tools"),
    "ready": ("loop/schedule", "", "record/tape_play record/tape_record"),
    "pause": ("loop/limits", "", "loop/states"),
    "poll": ("loop/input", SAVES, "loop/states loop/tools"),
    "filter": ("loop/input", "", ""),
    "tools": ("loop/tools", "loop/call " + SAVES, "loop/states"),  # how many run
    "listed": ("loop/model_call", "", "loop/thinking"),
    "projection": ("loop/projection", "", "loop/thinking"),
    "hosted": ("loop/provider", "", ""),
    "attempt": ("loop/attempt", "loop/attempt_end loop/model_call loop/provider"
                " loop/head loop/tell features/facts",  # what is appended to the request
                "loop/thinking strategy/strategy"),
    # of an agent
    "tree": ("agent/agent_end", "loop/events loop/states loop/schedule"  # a watcher is due; aborts are counted
             " subagents/child subagents/follow evaluate/evaluation strategy/strategy_call",  # who it is
             "agent/agent_make agent/snapshot_all agent/summary features/effects features/facts loop/find loop/limits"
             " loop/tools loop/update evaluate/evaluate"),
    "line": ("loop/line", "",
             "loop/draft loop/events loop/model_call loop/run agent/agent_info agent/agent_make agent/agent_set agent/agent_store agent/query"
             " record/event_json agent/new_session agent/snapshot strategy/strategy subagents/children subagents/forward subagents/result"
             " evaluate/branches evaluate/conclude evaluate/saving strategy/strategy_call"),
    "queues": ("loop/input", "", "agent/agent_info loop/states"),
    "room": ("loop/forget", "loop/at_limit", ""),
    "one_shot": ("agent/one_shot_run", "", "agent/agent_end loop/states"),
    "budget": ("loop/limits", "agent/agent agent/agent_make agent/agent_set", "agent/agent_info"),
    "events": ("loop/events", "", ""),
    # of the runtime
    "polls": ("loop/call", "", "agent/runtime"),
    "fetches": ("loop/fetch", "", "agent/runtime loop/transfer"),
    "slice": ("agent/runtime", "", "openapi/openapi"),
    "last_error": ("loop/error", "", ""),
}
# struct, or one of its members: the file that changes it
OWNERS = {
    "phi__log": "log/log",
    "phi__segments": "log/segments",
    "phi__segment": "log/segments",
    "phi__hashes": "log/hashes",
    "phi__dirty": "log/dirty",
    "phi__lanes": "history/lane",
    "phi__lane": "history/lane",
    "phi__messages": "history/messages",
    "phi__fold": "history/fold",
    "phi__ops": "history/ops",
    "phi__loops": "history/loops",
    "phi__undo": "history/runs",
    "phi__counted": "history/append",
    "phi__about": "history/about",
    "phi_thread.id": "history/about",
    "phi_thread.about": "history/about",
    "phi_thread.loading": "history/load",
    "phi__tool_state": "history/kept_state",
    "phi_thread": "history/thread",  # whose it is, and all of it: threads are moved there
    "phi__journal": "persist/journal",
    "phi_thread.journal": "persist/journal",
    "phi__line": "loop/line",
}
# Embedded here, a struct of that list is not a member but a part, whose owner answers for it; and whoever has something
# to put into an arena may do so.
WHOLES = ("phi_thread", "phi__log")
# What arrays of these structs hold is theirs, too; other pointers lead to things of somebody else.
ELEMENTS = ("phi__item", "phi__lane", "phi__loop_start", "phi__compaction_mark", "uint32_t", "uint64_t")
OWNED_IN = ("log", "history", "persist", "loop", "features", "agent", "record", "subagents", "evaluate", "strategy")
# The same name of another struct's member, by the file: (file, member).
OTHERS = {("agent/runtime", "ready"),  # rt->ready and rt->events, the lists themselves
          ("agent/runtime", "events"), ("loop/hooks", "events"), ("loop/stored", "events")}
FOLDERS = ("loop", "features", "agent", "record", "subagents", "evaluate", "strategy", "permissions",
           "tools", "openapi", "skills", "trace")
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


def constant(struct, declaration):
    """A member's declaration, const for all but its owner: for whoever does not define its macro."""
    found = re.match(r"(\s*)((?:const |struct )*\w+) (.*)$", declaration, re.S)
    if not found:
        return declaration
    space, base, names = found.groups()
    if base == "phi_arena" or (struct in WHOLES and base in OWNERS):
        return declaration
    made = []
    for name in names.split(","):
        bare = name.replace("*", "").strip()
        member = f"{struct}.{bare.split('[')[0]}"
        macro = "CONST_" + (member if member in OWNERS else struct).replace(".", "_")
        stars = name.count("*")
        if stars == 0:
            made.append(f"{macro} {base} {bare}")
        elif stars == 1:
            made.append(f"{macro if base in ELEMENTS else ''} {base} *{macro} {bare}")
        else:
            made.append(f"{base} *{macro} *{macro} {bare}")
    return space + "; ".join(made)


def write_headers(folder):
    """Copies of the headers that declare OWNERS, with their members const."""
    missing = {name.split(".")[0] for name in OWNERS}
    for path in glob.glob(os.path.join(ROOT, "src", "*", "*_in.h")):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found.group(0)), file.read(), flags=re.S)
        for struct in sorted(missing):
            found = re.search(r"struct %s \{(.*?)\n\}" % struct, text, re.S)
            if found:
                made = ";".join(constant(struct, part) for part in found.group(1).split(";"))
                text = text[:found.start(1)] + made + text[found.end(1):]
                missing.discard(struct)
        if "CONST_" in text:
            out = os.path.join(folder, os.path.relpath(path, os.path.join(ROOT, "src")))
            os.makedirs(os.path.dirname(out), exist_ok=True)
            with open(out, "w", encoding="utf-8") as file:
                file.write(text)
    return missing


def changes_of(folder, user, owned):
    """What the compiler says about a file that may change `owned` alone."""
    macros = [f"-DCONST_{name.replace('.', '_')}={'' if name in owned else 'const'}" for name in OWNERS]
    command = [*os.environ.get("CC", "cc").split(), "-std=gnu99", "-fsyntax-only", "-Werror", "-D_GNU_SOURCE", *macros,
               "-I" + folder, "-I" + os.path.join(ROOT, "src"), os.path.join(ROOT, "src", user + ".c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.split("\n") if re.search(r": (fatal )?(error|warning): ", line)]
    said = [line.replace(ROOT + os.sep, "").replace(folder, "src") for line in said]
    return said if said or done.returncode == 0 else [done.stderr]


def cleared(user):
    """Parts of others that a file writes through a pointer to void, of which the compiler says nothing."""
    names = {"log": "log/log", "segments": "log/segments", "line": "loop/line"}
    names.update({name[5:]: owner for name, owner in OWNERS.items() if owner.startswith("history/")})
    text = code(os.path.join(ROOT, "src", user + ".c"))
    for use in re.finditer(r"\bmem(?:set|cpy|move)\(&[\w>.-]*(?:->|\.)(\w+),", text):
        if names.get(use.group(1), user) != user:
            yield f"src/{user}.c: {use.group(0)}: `{use.group(1)}` is of {names[use.group(1)]}"


def breaches_of_owners():
    users = sorted(os.path.relpath(path, os.path.join(ROOT, "src"))[:-2] for folder in OWNED_IN
                   for path in glob.glob(os.path.join(ROOT, "src", folder, "*.c")))
    owned = {user: {name for name, owner in OWNERS.items() if owner == user} for user in users}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in sorted(write_headers(folder)):
            yield f"{sys.argv[0]}: there is no struct {name}"
        for said in pool.map(lambda user: changes_of(folder, user, owned[user]), users):
            yield from said
        # Does its owner change it? Else something is wrong with the list, or with this proof.
        proofs = [(name, owner, pool.submit(changes_of, folder, owner, owned.get(owner, set()) - {name}))
                  for name, owner in OWNERS.items()]
        for name, owner, proof in proofs:
            if not proof.result():
                yield f"{sys.argv[0]}: {owner} need not be listed for {name}"
    for user in users:
        yield from cleared(user)


def main():
    bad = 0
    for breach in breaches_of_owners():
        print(breach)
        bad += 1
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
