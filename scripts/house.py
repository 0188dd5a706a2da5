#!/usr/bin/env python3
"""What a reader of the sources has before him, in numbers: now, and at an older revision beside it.

    house.py [OLD]      OLD: a revision; its files come out of git

Lines and files of src/ and tests/, lines of the headers, functions and their lengths, functions that other files use and
how many of these have one user, functions that each room offers to other rooms, what one prompt with one tool call visits
(trace.py), jobs of `make check`, and, with OLD, the seconds that gcc -O2 takes for the headers, one after the other."""
import collections
import glob
import io
import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
sys.dont_write_bytecode = True
import check_functions  # noqa: E402  pylint: disable=wrong-import-position

CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'", re.S)
NAME = re.compile(r"\bphi_\w+")
CROSS = re.compile(r"^PHI__FN\b[^;{}()=]*?\b(phi_\w+)\([^;{}]*?\)\s*\{", re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def lines_of(root, pattern):
    return [read(p).count("\n") for p in glob.glob(os.path.join(root, pattern), recursive=True) if os.path.isfile(p)]


def figures(root):
    """(name, value) of a tree."""
    src = lines_of(root, "src/**")
    yield "files of src", len(src)
    yield "lines of src", sum(src)
    yield "lines of tests (C)", sum(lines_of(root, "tests/**/*.[ch]"))
    for header in ("phi_json.h", "phi.h", "phi_tools.h"):
        yield f"lines of {header}", lines_of(root, header)[0]
        yield f"kilobytes of {header}", os.path.getsize(os.path.join(root, header)) // 1000
    counts, home, users = [], {}, collections.defaultdict(set)
    paths = sorted(glob.glob(os.path.join(root, "src/*/*.[ch]")))
    texts = {p: CODE.sub(" ", read(p)) for p in paths}
    for path, text in texts.items():
        counts += [count for _, _, count in check_functions.functions(read(path).split("\n"))]
        if path.endswith(".c"):
            home.update({name: path for name in CROSS.findall(text)})
    for path, text in texts.items():
        if path.endswith(".c"):
            for name in set(NAME.findall(text)):
                if name in home and home[name] != path:
                    users[name].add(path)
    yield "functions", len(counts)
    yield "lines of a function: mean", round(statistics.mean(counts), 1)
    yield "lines of a function: median", int(statistics.median(counts))
    yield "functions that another file uses", len(users)
    yield "... of which one file uses, %", round(100 * sum(len(u) == 1 for u in users.values()) / max(len(users), 1))
    rooms = collections.Counter()
    for name, who in users.items():
        mine = os.path.dirname(home[name])
        rooms[os.path.basename(mine)] += any(os.path.dirname(path) != mine for path in who)
    for room, count in rooms.most_common(8):
        yield f"functions that {room} offers", count
    said = subprocess.run([sys.executable, os.path.join(ROOT, "scripts/trace.py"), "--src", os.path.join(root, "src")],
                          cwd=ROOT, text=True, capture_output=True, check=False).stdout
    found = re.search(r"in (\d+) files, (\d+) crossings", said)
    if found:
        yield "one prompt, loop agent features: files", int(found[1])
        yield "one prompt, loop agent features: crossings", int(found[2])
    jobs = subprocess.run([sys.executable, "-c", "import check; print(len(list(check.jobs())))"], text=True,
                          cwd=os.path.join(root, "scripts"), capture_output=True, check=False).stdout
    if jobs.strip():
        yield "jobs of make check", int(jobs)


def seconds(root, header):
    with tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "a.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#define PHI_IMPLEMENTATION\n#include "{header}"\n')
        began = time.monotonic()
        subprocess.run(["gcc", "-O2", "-w", "-I", root, "-c", path, "-o", path + ".o"], check=True)
        return round(time.monotonic() - began, 1)


def main():
    old = sys.argv[1] if len(sys.argv) > 1 else None
    now = dict(figures(ROOT))
    if old is None:
        for name, value in now.items():
            print(f"{name:44} {value:>10,}")
        return 0
    with tempfile.TemporaryDirectory() as where:
        archive = subprocess.run(["git", "archive", old], cwd=ROOT, capture_output=True, check=True).stdout
        tarfile.open(fileobj=io.BytesIO(archive)).extractall(where, filter="data")
        before = dict(figures(where))
        for header in ("phi.h", "phi_tools.h"):
            before[f"gcc -O2 of {header}, s"] = seconds(where, header)
            now[f"gcc -O2 of {header}, s"] = seconds(ROOT, header)
    print(f"{'':44} {old[:10]:>10} {'now':>10}")
    for name in list(dict.fromkeys([*before, *now])):
        print(f"{name:44} {before.get(name, ''):>10} {now.get(name, ''):>10}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
