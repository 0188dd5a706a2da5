#!/usr/bin/env python3
"""The sources of phi and ten thousand generated files: `search` by our own engine and by ripgrep must give
the same text, with ripgrep installed and, for the default, without it.

    search_many.py PROG_SEARCH"""
import os
import random
import sys
import tempfile

from search_trees import answers

WORDS = ["alpha", "beta", "gamma", "delta", "Alpha", "naïve", "x1", "0x7f", "foo_bar", "todo", "the", "return", "  ", "(", ");", "漢字"]
PATTERNS = ["alpha", "\\bfoo_\\w+", "^the.*return$", "[0-9]x[0-9a-f]{2}", "na.ve|漢", "(alpha|beta) (gamma|delta)", "todo$", "zzz"]


def grow(top, count):
    rng = random.Random(7)
    for n in range(count):
        folder = os.path.join(top, f"d{n % 37}", f"e{n % 11}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"f{n}" + rng.choice([".c", ".h", ".txt", ".o", ""])), "w", encoding="utf-8") as file:
            for _ in range(rng.randint(0, 30)):
                file.write(" ".join(rng.choice(WORDS) for _ in range(rng.randint(0, 12))) + "\n")
    os.mkdir(os.path.join(top, ".git"))
    for folder, text in (("", "*.o\n/d3/\n"), ("d5", "e*\n!e7\n"), ("d9/e9", "*.txt\n!*9*.txt\n")):
        with open(os.path.join(top, folder, ".gitignore"), "w") as file:
            file.write(text)


def same(program, top, what):
    asked = [("search", {"pattern": p, **more}) for p in PATTERNS for more in ({}, {"case_sensitive": True}, {"include": "*.{c,h}"})]
    bad = shown = 0
    for (_, one), ours, theirs in zip(asked, answers(program, "own", top, asked), answers(program, "rg", top, asked)):
        shown += ours.count(b"\n") - 1
        if ours != theirs:
            bad += 1
            at = len(os.path.commonprefix([ours, theirs]))
            print(f"{what}: {one}\n  ours    {ours[at:at + 200]!r}\n  ripgrep {theirs[at:at + 200]!r}")
    print(f"{what}: {len(asked) - bad} searches as ripgrep, {shown} lines, {bad} failed")
    return bad


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    bad = same(sys.argv[1], root, "the sources of phi")
    with tempfile.TemporaryDirectory() as top:
        grow(top, 10000)
        bad += same(sys.argv[1], top, "ten thousand files")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
