#!/usr/bin/env python3
"""Which lines and branches of src/ the C tests run, per room: a table, and pages in build/coverage/index.html.

    coverage.py TEST...    programs that `make coverage` built with gcc's --coverage; they are run first

Needs gcovr. Lines with PHI_ASSERT or PHI_NEVER are not counted: what they name cannot happen."""
import collections
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUT = os.path.join(ROOT, "build", "coverage")


def main():
    os.makedirs(OUT, exist_ok=True)
    for old in glob.glob(os.path.join(ROOT, "build/cov/**/*.gcda"), recursive=True):
        os.remove(old)
    said = subprocess.run([sys.executable, os.path.join(ROOT, "scripts/run_tests.py"), "--build",
                           os.path.join(ROOT, "build/cov")] + sys.argv[1:], cwd=ROOT, text=True,
                          stdout=subprocess.PIPE, check=False)
    print("\n".join([line for line in said.stdout.split("\n") if line.startswith("FAIL")] +
                    said.stdout.rstrip().split("\n")[-1:]))
    data = os.path.join(OUT, "coverage.json")
    common = ["gcovr", "--root", ROOT, "--filter", os.path.join(ROOT, "src/"), "--object-directory",
              os.path.join(ROOT, "build/cov/src"), "--exclude-branches-by-pattern", r".*PHI_(ASSERT|NEVER)\(.*",
              "--exclude-lines-by-pattern", r".*PHI_(ASSERT\(false|NEVER\().*",
              "--gcov-ignore-parse-errors", os.path.join(ROOT, "build/cov/src")]
    subprocess.run(common + ["--json", data, "--html-details", os.path.join(OUT, "index.html")], cwd=ROOT, check=True,
                   stderr=subprocess.DEVNULL)
    with open(data, encoding="utf-8") as file:
        files = json.load(file)["files"]
    rooms = collections.defaultdict(lambda: [0, 0, 0, 0])
    for file in files:
        for room in (file["file"].split("/")[1], "all"):
            sums = rooms[room]
            for line in [n for n in file["lines"] if not n.get("gcovr/noncode")]:
                branches = [b for b in line["branches"] if not b.get("gcovr/noncode")]
                sums[0] += 1
                sums[1] += line["count"] > 0
                sums[2] += len(branches)
                sums[3] += sum(b["count"] > 0 for b in branches)
    print(f"{'room':12} {'lines':>7} {'run':>7} {'branches':>9} {'run':>7}")
    for room, (lines, run, branches, taken) in sorted(rooms.items(), key=lambda r: (r[0] == "all", r[0])):
        print(f"{room:12} {lines:7,} {100 * run / max(lines, 1):6.1f}% {branches:9,} "
              f"{100 * taken / max(branches, 1):6.1f}%")
    return said.returncode


if __name__ == "__main__":
    sys.exit(main())
