#!/usr/bin/env python3
"""Instructions of the benchmark programs, at an older revision and now. Exit code 1 when one takes over 3 % more.

    callgrind.py OLD [WORD...]   only the programs whose names contain one of the words
      --new REV                  instead of the working tree, what is not committed included
      --runs N                   the least of so many runs counts (default: 1 in memory, 3 over the network)
      --keep                     keeps callgrind's files of the last run in build/callgrind (for callgrind_annotate)

Both revisions are built in build/callgrind as `make bench` builds them, each with its own bench/, in which numbers are
made smaller: valgrind is some fifty times slower. "all" is every instruction of the process, libcurl's and the C library's
included; "phi" those of functions whose names begin with phi, and not what they call in libraries. In memory "all" is
the same to a few in each run, and counts. Over the network it is chance how a stream is cut and how often a poll finds
nothing: so steps wait there, streams that are paced are slow enough for a step a delta, and "phi" counts. "apart" is
how far runs of one program differ in it. bench_memory measures for a time and not for an amount of work: it is left
out, as is TLS."""
import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUT = os.path.join(ROOT, "build", "callgrind")
C = ["gcc", "-std=c99", "-O2", "-g", "-D_GNU_SOURCE"]
CPP = ["g++", "-std=c++17", "-O2", "-g"]
MOST = 3.0  # percent

# kind: "user" is linked with the header as users compile it, "inside" with the same whose private functions can be called,
# "json" includes its own header. edits: NAME=NUMBER of an enumerator or a macro, and (text, text) pairs.
Program = collections.namedtuple("Program", "kind network edits pairs flags", defaults=((), ""))
WAITS = ("phi_step(rt, 0)", "phi_step(rt, -1)")
PROGRAMS = {
    "bench_wire": Program("inside", False, "ROUNDS=1 DELTAS=2000"),
    "bench_decode": Program("inside", False, "ROUNDS=1 PART_BYTES=100000"),
    "bench_project": Program("inside", False, "ROUNDS=1 LATE=2000 ENTRIES=10000"),
    "bench_stores": Program("inside", False, "ROUNDS=1 FILE_BYTES=3000000 APPENDS=1000 SYNCED=5",
                            [('"build/bench/stores"', '"stores"')]),
    "bench_thread": Program("user", False, "ENTRIES=300 BRANCHES=300 EXCHANGES=1000"),
    "bench_load": Program("user", False, "ROUNDS=1 MB=200000"),
    "bench_json": Program("json", False, "", [
        ("#if __has_include", "#if 0 && __has_include"), ("libjansson.so.4", "no.such.file"), ("5u << 20", "1u << 19"),
        ("50, 2000", "1, 200"), (", 20, 20)", ", 1, 2)"), (", 9, 3,", ", 1, 1,")]),
    "bench_turns": Program("user", True, "TURNS=200 PART=50 ROUNDS=1", [WAITS]),
    "bench_arguments": Program("user", True, "ROUNDS=3", [WAITS]),
    "bench_delta": Program("user", True, "ROUNDS=1 PACED=300 FLOOD=20000", [
        ("anthropic/60000", "anthropic/20000"), ("anthropic/2000/200", "anthropic/300/20000"), ("tree_peers()", "(const tree_peer[1]){{NULL}}"),
        ('"one_by_one", 0)', '"one_by_one", -1)')]),
    "bench_first_byte": Program("user", True, "WARM_ROUNDS=31 BIG_ROUNDS=11 HISTORY_BYTES=300000", [
        ("while (phi_step(rt, 0)", "while (phi_step(rt, -1)")]),
    "bench_starts": Program("user", True, "AGENTS=300", [WAITS], "-Wl,--wrap=fcntl,--wrap=close"),
    "bench_step": Program("user", True, "MOST_STEPS=10000 HISTORY_BYTES=300000 REQUESTS=10", [
        WAITS, ("i < 300", "i < 30"), ("i < 20;", "i < 2;"), ("anthropic/10000/100", "anthropic/300/20000")],
                          "-Wl,--wrap=curl_multi_socket_action"),
    "bench_http": Program("inside", True, "ROUNDS=1", [
        ("anthropic/200000", "anthropic/20000"), ("40/\", 200000", "40/\", 20000"), ("anthropic/400000", "anthropic/20000"),
        ("anthropic/10000/100", "anthropic/300/20000"), ("anthropic/4000/200", "anthropic/300/20000"), (": 4000", ": 300"),
        ("port, 2000", "port, 200"),
        ("ours_step(&o, 0)", "ours_step(&o, -1)")]),
}


def sh(command, cwd, env=None):
    done = subprocess.run(command, cwd=cwd, env=env, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"callgrind: failed: {' '.join(command)}\n{done.stdout[-3000:]}")
    return done.stdout


def checked_out(name, revision):
    """The tree of a revision; what was built of it stays."""
    tree = os.path.join(OUT, name)
    commit = sh(["git", "rev-parse", revision + "^{tree}"], ROOT).strip()
    mark = os.path.join(tree, "build", "tree")
    if not os.path.exists(mark) or open(mark, encoding="utf-8").read() != commit:
        shutil.rmtree(tree, ignore_errors=True)
        os.makedirs(os.path.join(tree, "build"))
        archive = subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", tree], stdin=archive.stdout, check=True)
        if archive.wait() != 0:
            sys.exit(f"callgrind: no tree of {revision}")
        with open(mark, "w", encoding="utf-8") as file:
            file.write(commit)
    return tree


def build(tree, names, jobs):
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    kinds = {PROGRAMS[name].kind for name in names}
    make = ["make", f"-j{jobs}", "--no-print-directory", "V=normal"] + ([f"CC={os.environ['CC']}"] if "CC" in os.environ else [])
    sh(make + ["build/include/.stamp"] + ["build/normal/libphi_all.a"] * ("user" in kinds), tree, env)
    if "inside" in kinds and not os.path.exists(os.path.join(tree, "build/inside.o")):
        sh(C + ["-DPHI__FN=", "-DPHI_IMPLEMENTATION", "-x", "c", "-c", "build/include/phi.h", "-o", "build/inside.o"], tree)
    sh(C + ["bench/stream_server.c", "-o", "build/stream_server"], tree)
    return {name: build_program(tree, name) for name in names}


def build_program(tree, name):
    program = PROGRAMS[name]
    ending = ".cpp" if program.kind == "json" else ".c"
    with open(os.path.join(tree, "bench", name + ending), encoding="utf-8") as file:
        text = file.read()
    for edit in program.edits.split():
        constant, number = edit.split("=")
        text, done = re.subn(rf"\b({constant}(?: = |[ \t]+))\d+\b", rf"\g<1>{number}", text)
        if done != 1:
            sys.exit(f"callgrind: {name} has {done} constants {constant}")
    for old, new in program.pairs:
        if old not in text:
            sys.exit(f"callgrind: {name} has no {old}")
        text = text.replace(old, new)
    path, made = os.path.join(tree, "build", name + ending), os.path.join(tree, "build", name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    include, last = ["-Ibuild/include", "-Isrc", "-Ibench", "-Itests"], ["-lcurl", "-lm", "-ldl", "-o", made]
    if program.kind == "json":
        sh(CPP + include + [path] + last, tree)
    elif program.kind == "inside":
        sh(C + include + [path, "build/inside.o"] + last, tree)
    else:
        sh(C + include + [path, "bench/kit.c", "bench/bare.c", "build/normal/libphi_all.a"] + program.flags.split() + last, tree)
    return made


def counts(path):
    """(all, phi) of a file of callgrind's, written without compression."""
    total, own, ours, inclusive = 0, 0, False, False
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("fn="):
                ours = line.startswith("fn=phi")
            elif line.startswith("calls="):
                inclusive = True
            elif line[0].isdigit():
                if not inclusive:
                    cost = int(line.split()[1])
                    total += cost
                    own += cost if ours else 0
                inclusive = False
    return total, own


def measured(side, tree, name, program, runs):
    """The least of some runs, of each count for itself; and how far apart those of "phi" are, in percent."""
    # What repeats one instruction for each byte would count as that many.
    tunables = "glibc.cpu.x86_rep_movsb_threshold=1073741824:glibc.cpu.x86_rep_stosb_threshold=1073741824"
    env = dict(os.environ, GLIBC_TUNABLES=tunables)
    seen = []
    for _ in range(runs or (3 if PROGRAMS[name].network else 1)):
        out = os.path.join(OUT, f"{side}.{name}.out")
        command = ["valgrind", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no", f"--callgrind-out-file={out}", program]
        sh(command + (["build/stream_server"] if PROGRAMS[name].network else []), tree, env)
        seen.append(counts(out))
    alls, owns = zip(*seen)
    return min(alls), min(owns), 100 * (max(owns) / min(owns) - 1)


def main():
    parser = argparse.ArgumentParser(description="instructions of the benchmark programs, before and now")
    parser.add_argument("old")
    parser.add_argument("words", nargs="*", default=[])
    parser.add_argument("--new")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    args = parser.parse_intermixed_args()
    new = args.new or sh(["git", "stash", "create"], ROOT).strip() or "HEAD"
    names = [n for n in PROGRAMS if not args.words or any(word in n for word in args.words)]
    trees = {side: checked_out(side, revision) for side, revision in (("old", args.old), ("new", new))}
    programs = {side: build(tree, names, args.jobs) for side, tree in trees.items()}
    print(f"{'':18}{'old: all':>15}{'new: all':>15}{'':>9}{'old: phi':>15}{'new: phi':>15}{'':>9}{'apart':>8}", flush=True)
    over = []
    for name in names:
        with concurrent.futures.ThreadPoolExecutor(min(args.jobs, 2)) as pool:
            old, now = pool.map(lambda side: measured(side, trees[side], name, programs[side][name], args.runs), ("old", "new"))
        percent = [100 * (now[i] / old[i] - 1) for i in (0, 1)]
        counted = percent[1 if PROGRAMS[name].network else 0]
        over += [name] if counted > MOST else []
        print(f"{name:18}{old[0]:15,}{now[0]:15,}{percent[0]:+8.2f}%{old[1]:15,}{now[1]:15,}{percent[1]:+8.2f}%"
              f"{max(old[2], now[2]):7.2f}%{'  over' if counted > MOST else ''}", flush=True)
        if not args.keep:
            for side in trees:
                os.remove(os.path.join(OUT, f"{side}.{name}.out"))
    print(f"callgrind: {len(names)} programs, {len(over)} over {MOST:g} %{': ' if over else ''}{', '.join(over)}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
