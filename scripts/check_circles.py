#!/usr/bin/env python3
"""Proves that the files of src/ form no circle: who defines a function, and who uses it, read from the objects.

    check_circles.py DIR          DIR: objects of src/, as the Makefile makes them (build/asan/src)
    check_circles.py DIR -v       ... and why: each arrow of a circle, with the names that make it
    check_circles.py DIR A B      what file A uses of file B

An arrow that goes the other way on purpose stands in ALLOWED, with its reason. Exit code 1 on any circle, on any use of a
folder that is below one's own, and on an exception that is not needed."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)
sys.dont_write_bytecode = True
import amalgamate  # noqa: E402

ALLOWED = {}  # (user, used): why


def objects(folder):
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            file = os.path.relpath(path, folder)[:-2]
            if name.endswith(".o") and os.path.exists(os.path.join(ROOT, "src", file + ".c")):
                yield file, path


def symbols(path):
    """(defined, used) names of phi's own in an object."""
    out = subprocess.run(["nm", "-g", path], check=True, capture_output=True, text=True).stdout
    defined, used = set(), set()
    for line in out.splitlines():
        kind, name = line.split()[-2:]
        if name.startswith(("phi_", "PHI_")):
            (used if kind == "U" else defined).add(name)
    return defined, used


def graph(folder):
    """{file: {file: names}}: what each file uses of others."""
    seen = {name: symbols(path) for name, path in objects(folder)}
    home = {symbol: name for name, (defined, _) in seen.items() for symbol in defined}
    arrows = {}
    for name, (_, used) in seen.items():
        arrows[name] = {}
        for symbol in used:
            if symbol in home and home[symbol] != name:
                arrows[name].setdefault(home[symbol], set()).add(symbol)
    return arrows


def circles(arrows):
    """Strongly connected files, each list of more than one (Tarjan, without recursion)."""
    index, low, stack, on, found = {}, {}, [], set(), []
    for start in sorted(arrows):
        if start in index:
            continue
        work = [(start, iter(sorted(arrows[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on.add(start)
        while work:
            node, rest = work[-1]
            for to in rest:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on.add(to)
                    work.append((to, iter(sorted(arrows[to]))))
                    break
                if to in on:
                    low[node] = min(low[node], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = []
                    while True:
                        part.append(stack.pop())
                        on.discard(part[-1])
                        if part[-1] == node:
                            break
                    if len(part) > 1:
                        found.append(sorted(part))
    return found


def upward(arrows):
    order = amalgamate.FRAGMENTS
    for name, uses in sorted(arrows.items()):
        for to in sorted(uses):
            if order.index(to.split("/")[0]) > order.index(name.split("/")[0]):
                yield name, to, uses[to]


def main():
    folder, rest = sys.argv[1], sys.argv[2:]
    arrows = graph(folder)
    if len(rest) == 2:
        print("\n".join(sorted(arrows[rest[0]].get(rest[1], ()))))
        return 0
    bad = 0
    for user, used in sorted(ALLOWED):
        if arrows.get(user, {}).pop(used, None) is None:
            print(f"{user} does not use {used}: take it out of ALLOWED")
            bad += 1
    for name, to, names in upward(arrows):
        print(f"{name} uses {to}, which is below it: {', '.join(sorted(names))}")
        bad += 1
    for part in circles(arrows):
        print(f"{len(part)} files form a circle: {' '.join(part)}")
        bad += 1
        if "-v" in rest:
            for name in part:
                for to in sorted(set(arrows[name]) & set(part)):
                    print(f"    {name} -> {to}: {', '.join(sorted(arrows[name][to]))}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
