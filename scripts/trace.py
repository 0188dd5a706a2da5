#!/usr/bin/env python3
"""What one prompt with one tool call takes: how many functions and files of src/ it visits, and how often
the way leads from a function of one file into one of another (a crossing), in all, and inside the rooms of
the loop: loop/, agent/ and features/, which has what was in loop/ once.

    trace.py            the figures
    trace.py -v         also a line for each pair of files of these rooms, the most crossed first
    trace.py --src DIR  of another tree's src/ (its scripts/trace.c is not looked at)

Builds scripts/trace.c with the sources, -O0 -finstrument-functions, in build/trace. Calls are counted as
they happen: a function that is called twice from another file crosses twice. Distinct crossings are pairs
of a file and a function of another file that it called. Functions that stand in a header count for that."""
import argparse
import collections
import concurrent.futures
import glob
import os
import struct
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FLAGS = ["-std=c99", "-D_GNU_SOURCE", "-O0", "-g", "-fno-pie", "-finstrument-functions", "-w"]
ROOMS = ("loop/", "agent/", "features/")


def build(src, out):
    """The program; each source is compiled by itself, so that ccache can help."""
    cc = os.environ.get("CC", "gcc").split()
    os.makedirs(out, exist_ok=True)

    def compile_one(path):
        name = os.path.join(out, os.path.relpath(path, src).replace("/", "_").replace("..", "") + ".o")
        subprocess.run(cc + FLAGS + ["-I", src, "-c", path, "-o", name], check=True)
        return name

    paths = sorted(glob.glob(os.path.join(src, "*", "*.c"))) + [os.path.join(ROOT, "scripts/trace.c")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        objects = list(pool.map(compile_one, paths))
    program = os.path.join(out, "trace")
    subprocess.run(cc + ["-no-pie"] + objects + ["-lcurl", "-lm", "-lpthread", "-o", program], check=True)
    return program


def places(program, addresses, src):
    """{address: (function, file)}; the file as room/name."""
    said = subprocess.run(["addr2line", "-f", "-e", program], check=True, text=True,
                          input="".join(f"{a:#x}\n" for a in addresses), stdout=subprocess.PIPE).stdout
    lines = said.split("\n")
    found = {}
    for i, address in enumerate(addresses):
        path = os.path.realpath(lines[2 * i + 1].rpartition(":")[0])
        found[address] = lines[2 * i], os.path.relpath(path, os.path.realpath(src))
    return found


def main():
    parser = argparse.ArgumentParser(description="what one prompt with one tool call visits")
    parser.add_argument("--src", default=os.path.join(ROOT, "src"))
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args()
    out = os.path.join(ROOT, "build", "trace")
    program = build(args.src, out)
    trace = os.path.join(out, "notes")
    subprocess.run([program, trace], check=True)
    with open(trace, "rb") as file:
        words = [w[0] for w in struct.iter_unpack("Q", file.read())]
    known = places(program, sorted({w >> 1 for w in words}), args.src)
    stack, calls = [], collections.Counter()
    for word in words:
        if word & 1:
            if stack:
                calls[known[stack[-1]], known[word >> 1]] += 1
            stack.append(word >> 1)
        else:
            stack.pop()
    ours = {place for place in known.values() if not place[1].startswith("..")}

    def figures(rooms):
        def inside(place):
            return place in ours and place[1].startswith(rooms)
        crossed = {pair: n for pair, n in calls.items()
                   if inside(pair[0]) and inside(pair[1]) and pair[0][1] != pair[1][1]}
        distinct = {(a[1], b) for a, b in crossed}
        return (len([p for p in ours if inside(p)]), len({p[1] for p in ours if inside(p)}),
                sum(crossed.values()), len(distinct), crossed)

    for title, rooms in (("inside loop/, agent/ and features/", ROOMS), ("in all", "")):
        functions, files, crossings, distinct, crossed = figures(rooms)
        print(f"{title}: {functions} functions in {files} files, {crossings} crossings"
              f" ({distinct} distinct)")
        if args.v and rooms:
            pairs = collections.Counter()
            for (a, b), n in crossed.items():
                pairs[a[1], b[1]] += n
            for (a, b), n in pairs.most_common():
                print(f"    {n:5}  {a} > {b}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
