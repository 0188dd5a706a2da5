#!/usr/bin/env python3
"""Random trees with ignore files, hidden and binary files, links and odd names: `search` by our own engine
and by ripgrep must give the same text, and `list_files` must leave out what git leaves out.

    search_trees.py PROG_SEARCH SEED COUNT

Prints what differs, and the figures; exit code 1 where anything differed."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

NAMES = ["a", "b", "c", "ab", "a.c", "b.c", "b.h", "x.o", "log", "build", "src", "foo", "bar", "a-b", "a b", ".hid", ".dot.c", "#x",
         "!y", "é", "foo.bar", "[x]", "temp~", "Z", "*s", "tab\ty"]
GLOBS = ["*", "?", "*.c", "*.o", "a*", "*b", "b?r", "[ab].c", "[!a].c", "[a-c]", "**", "**/", "/**", "/**/", "*/", "foo", "build",
         "src", "a", "b", "log", "\\#x", "\\!y", "a b", "foo.*", ".hid", "é", "a/b", "/a", "src/", "a/**/b", "**/b", "a/**", "x.o",
         "\\[x\\]", "[[]x]", "*s", "\\*s"]


def ignore_line(rng, braces):
    line = "".join(rng.choice(GLOBS + ["/"] * 4) for _ in range(rng.choice([1, 1, 1, 2, 2, 3])))
    if rng.random() < 0.25:
        line = "!" + line
    if rng.random() < 0.15:
        line = "/" + line
    if rng.random() < 0.2:
        line += "/"
    if rng.random() < 0.1:
        line += rng.choice(["  ", "\\ ", " "])
    if braces and rng.random() < 0.15:
        line = rng.choice(["*.{c,h}", "{a,b}", "{src,build}/", "/{a,foo}/**", "{*.o,log,}"])
    # ripgrep reads "**//" as every directory, git as none; git reads "***" as "**".
    line = re.sub(r"\*{3,}", "**", re.sub("/+", "/", line))
    return rng.choice(["# a comment", "", line, line, line, line])


def ignore_file(rng, braces):
    return "\n".join(ignore_line(rng, braces) for _ in range(rng.randint(0, 5))) + rng.choice(["", "\n", "\r\n"])


def content(rng, long_lines):
    r = rng.random()
    words = [b"needle", b"NEEDLE", b"need", b"x", b"", b"hay needle hay", "n\u00e9edle".encode(), b"needle\r", b"\xff needle"]
    text = b"\n".join(rng.choice(words) for _ in range(rng.randint(0, 8))) + rng.choice([b"", b"\n"])
    if r < 0.06:
        # Once ripgrep has seen a line of more than 64 KiB, it reads larger pieces.
        text = b"needle\n" * rng.choice([1, 5000] if long_lines else [1, 5000, 9362, 9363, 20000]) + b"\0" + text
    elif r < 0.1:
        text = rng.choice([b"a\n\0", b"\n", b"\0", b"needle\0", b"\xef\xbb\xbfneedle\n"]) + text
    elif r < 0.13:
        text += b"y" * rng.choice([1990, 70000, 140000] if long_lines else [1990, 60000]) + b" needle\nneedle\n"
    return text


def make(rng, root, braces, long_lines, depth=3):
    for name in rng.sample(NAMES, rng.randint(1, 6)):
        path = os.path.join(root, name)
        r = rng.random()
        if r < 0.35 and depth > 0:
            os.mkdir(path)
            make(rng, path, braces, long_lines, depth - 1)
            if rng.random() < 0.06:
                os.mkdir(os.path.join(path, ".git"))
        elif r < 0.4:
            os.symlink(rng.choice(["a", "..", "nowhere", "/etc"]), path)
        elif r < 0.42:
            os.mkfifo(path)
        else:
            with open(path, "wb") as file:
                file.write(content(rng, long_lines))
    for name, chance in ((".gitignore", 0.4), (".ignore", 0.12), (".rgignore", 0.08)):
        if rng.random() < chance:
            with open(os.path.join(root, name), "w") as file:
                file.write(ignore_file(rng, braces))


def calls(rng, top):
    out = []
    for _ in range(4):
        one = {"pattern": rng.choice(["needle", "^needle$", "n.edle", "e{2}d|^x", "", "\\bneed\\b", "^$", "needle.?$"])}
        if rng.random() < 0.4:
            directories = [os.path.relpath(d, top) for d, _, _ in os.walk(top)]
            one["path"] = rng.choice(directories) + rng.choice(["", "", "/"])
            # ripgrep takes one "./" from a path before it asks the ignore files.
            if rng.random() < 0.2 and one["path"][0] != ".":
                one["path"] = "./" + one["path"]
        if rng.random() < 0.3:
            one["include"] = rng.choice(["*.c", "*.{c,h}", "!*.c", "a*", "src/**", "/a", "**/a/*", ".*", "[ab].c", "build/", "*"])
        if rng.random() < 0.5:
            one["case_sensitive"] = True
        out.append(one)
    return out


def answers(program, which, top, asked):
    text = "".join(f"{tool} {json.dumps(one)}\n" for tool, one in asked)
    run = subprocess.run([program, which, top, "1000000"], input=text.encode(), capture_output=True, timeout=300)
    rows = run.stdout.split(b"\n\x1e\n")[:-1]
    if len(rows) != len(asked):
        raise SystemExit(f"{program} {which} failed: {run.stderr.decode(errors='replace')[-2000:]}")
    return rows


def git_files(top):
    """What git neither tracks nor ignores: all files that its rules leave."""
    run = subprocess.run(["git", "-c", "core.excludesFile=", "-c", "core.quotePath=false", "ls-files", "-z", "-o", "--exclude-per-directory=.gitignore",
                          "--exclude-from=.git/info/exclude"], cwd=top, capture_output=True, check=True)
    return run.stdout.split(b"\0")[:-1]


def check_git(program, top):
    found = git_files(top)
    want = [p for p in found if os.path.isfile(os.path.join(top.encode(), p)) and not os.path.islink(os.path.join(top.encode(), p))]
    want.sort()
    got = answers(program, "own", top, [("list_files", {"max_depth": 100})])[0]
    rows = got.rsplit(b"\n\n(", 1)[0].split(b"\n") if not got.startswith(b"No files") else []
    clean = [p.replace(b"\t", b"?") for p in want]
    return rows == clean, rows, clean


def main():
    program, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    bad = same = lists = 0
    for n in range(seed, seed + count):
        rng = random.Random(n)
        top = tempfile.mkdtemp()
        git_only = rng.random() < 0.3
        make(rng, top, not git_only, rng.random() < 0.5)
        if git_only:
            for folder, names, files in os.walk(top):
                for name in [x for x in names if x == ".git"]:
                    shutil.rmtree(os.path.join(folder, name))
                    names.remove(name)
                for name in files:
                    if name in (".ignore", ".rgignore"):
                        os.unlink(os.path.join(folder, name))
            subprocess.run(["git", "init", "-q", "."], cwd=top, check=True)
        elif rng.random() < 0.8:
            os.makedirs(os.path.join(top, ".git", "info"))
        if os.path.isdir(os.path.join(top, ".git", "info")) and rng.random() < 0.3:
            with open(os.path.join(top, ".git", "info", "exclude"), "w") as file:
                file.write(ignore_file(rng, not git_only))
        asked = [("search", one) for one in calls(rng, top)]
        for (_, one), ours, theirs in zip(asked, answers(program, "own", top, asked), answers(program, "rg", top, asked)):
            if ours == theirs:
                same += 1
                continue
            bad += 1
            at = len(os.path.commonprefix([ours, theirs]))
            print(f"seed {n}, {top}: {one}\n  from byte {at}: ours {ours[max(0, at - 60):at + 100]!r}\n  ripgrep {theirs[max(0, at - 60):at + 100]!r}")
        if git_only:
            good, ours, theirs = check_git(program, top)
            lists += good
            if not good:
                bad += 1
                print(f"seed {n}, {top}: list_files\n  only ours {sorted(set(ours) - set(theirs))}\n  only git {sorted(set(theirs) - set(ours))}")
        if bad == 0 or "KEEP" not in os.environ:
            shutil.rmtree(top)
        if bad >= 10:
            break
    print(f"trees from seed {seed}: {same} searches as ripgrep, {lists} listings as git, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
