#!/usr/bin/env python3
"""Mutants: one statement of a source file is removed or negated at a time, and the tests of its room should
notice. Prints the survivors; exit code 1 when there are any.

    mutants.py src/loop/tools.c src/history    files, folders, or FILE:LINE, FILE:FIRST-LAST for some lines
      --count N     so many of the mutants there are, chosen by --seed (default: all)
      --seconds S   begins no mutant after that long; they come in an order by chance, so that those tried are a sample
      --tests GLOB  these test programs (default: those of the room and what ROOMS adds)
      --jobs N      mutants at a time (default: processors)
      --list        prints the mutants and runs nothing

Works on a copy of src/ and tests/ in build/mutants. phi is one shared object there, compiled without
optimisation, so that a mutant costs a compilation of its file and a link. Each test program runs once
over the unchanged code, to learn which lines it reaches and how long it takes; a mutant is then shown to
those that reach its line, the quickest first, until one fails, crashes, or takes ten times as long.
A line that no test reaches makes a survivor at once, marked as such. A mutant whose object file is the
same when optimised is no mutant, and is not counted.

scripts/mutants_equal.txt lists those that change nothing that could be seen, each with the reason:
    src/room/file.c: function: kind: statement: reason
The statement as it is printed; `: ` parts the fields, the last of which is the rest of the line."""
import argparse
import collections
import concurrent.futures
import fcntl
import glob
import gzip
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUT = os.path.join(ROOT, "build", "mutants")
TREE = os.path.join(OUT, "tree")
EQUAL = os.path.join(ROOT, "scripts", "mutants_equal.txt")
CC = os.environ.get("CC", "gcc").split()
FLAGS = ["-std=c99", "-D_GNU_SOURCE", "-w", "-fPIC", "-DPHI__FN=", "-DPHI__SEGMENT_BYTES=512",
         "-Isrc", "-Itests"]
# The rooms whose tests are also shown a room's mutants.
ROOMS = {"base": ["text"], "model": ["wire", "loop"], "codecs": ["wire"], "log": ["history", "persist", "agent"],
         "history": ["loop", "agent", "persist"], "persist": ["history", "agent", "record"], "loop": ["agent", "record"],
         "features": ["loop", "agent", "history"], "agent": ["loop", "record", "subagents", "evaluate", "strategy"],
         "record": ["agent"], "subagents": ["evaluate", "strategy"]}
TIMES = 10  # as long as over the unchanged code, and two seconds, is too long
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'", re.S)
DECLARES = re.compile(r"(?:const\s+|static\s+|struct\s+|unsigned\s+|volatile\s+)*(?!return\b|goto\b|else\b|case\b)"
                      r"[A-Za-z_]\w*[\s*]+(?:const\s+)?\(?\**[A-Za-z_]\w*\)?\s*(?:=(?!=)|;|,|\[|\()")
KEEPS = re.compile(r"(?:case\b.*:|default:|\w+:)\s*")

Mutant = collections.namedtuple("Mutant", "file line function kind statement start end text")


# ---- finding them ----

def blank(text):
    """The text with comments, literals and preprocessor lines as blanks of the same length."""
    text = COMMENT.sub(lambda m: re.sub(r"[^\n]", " " if m.group(0)[0] == "/" else "0", m.group(0)), text)
    lines, more = text.split("\n"), False
    for i, line in enumerate(lines):
        here = more or line.lstrip().startswith("#")
        more = here and line.endswith("\\")
        if here:
            lines[i] = " " * len(line)
    return "\n".join(lines)


def closing(code, at):
    """Where the bracket that opens at `at` closes."""
    depth = 0
    for i in range(at, len(code)):
        if code[i] in "({[":
            depth += 1
        elif code[i] in ")}]":
            depth -= 1
            if depth == 0:
                return i
    return len(code) - 1


def bodies(code):
    """(name, returns a bool, start, end) of each function; the house style puts both braces at the margin's
    lines."""
    for found in re.finditer(r"^(?:PHI__FN |PHI_API |static |inline )*([A-Za-z_][\w ]*?[\s*]+)(\w+)\(", code, re.M):
        end = closing(code, found.end() - 1)
        opens = re.match(r"\s*\{", code[end + 1:])
        if opens and found.group(1).split()[0] not in ("struct", "enum", "typedef", "return", "else"):
            start = end + opens.end()
            yield found.group(2), found.group(1).strip().split()[-1] == "bool", start, closing(code, start)


def statement_end(code, at):
    """Behind the `;` that ends the statement at `at`, or behind its block."""
    depth = 0
    for i in range(at, len(code)):
        c = code[i]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth == 0 and c == "}":
                return i + 1
        elif c == ";" and depth == 0:
            return i + 1
    return len(code)


def mutants_of(name, text):
    code = blank(text)

    def made(start, end, new, kind):
        # Lines stay where they are: asserts say theirs.
        new += "\n" * (code.count("\n", start, end) - new.count("\n"))
        shown = re.sub(r"\s+", " ", COMMENT.sub(lambda m: "" if m.group(0)[0] == "/" else m.group(0),
                                                text[start:end])).strip()
        return Mutant(name, code.count("\n", 0, start) + 1, function, kind, shown, start, end, new)

    for function, returns_bool, first, last in bodies(code):
        at = first + 1
        while at < last:
            if code[at] in " \n{}":
                at += 1
                continue
            label = KEEPS.match(code, at)
            if label and not re.match(r"\w+\s*\?", code[at:]) and label.end() > at:
                at = label.end()
                continue
            word = re.match(r"\w*", code[at:]).group(0)
            if word in ("else", "do"):
                at += len(word)
            elif word in ("if", "while", "for", "switch"):
                opens = code.index("(", at)
                ends = closing(code, opens)
                if word in ("if", "while"):
                    yield made(opens + 1, ends, f"!({text[opens + 1:ends]})", "negated")
                    whole = statement_end(code, ends + 1)
                    inner = re.search(r"^\s*(return\b|continue;|break;|goto\b)|"
                                      r"[;}]\s*(return\b[^;{}]*;|continue;|break;)\s*\}$", code[ends + 1:whole])
                    if inner and not re.match(r"\s*else\b", code[whole:]) and \
                            not re.search(r"else\s*$", code[first:at]):
                        yield made(at, whole, ";", "removed")
                at = ends + 1
            elif word == "return":
                ends = statement_end(code, at)
                value = text[at + 6:ends - 1].strip()
                if returns_bool and value not in ("true", "false"):
                    yield made(at, ends, f"return !({value});", "negated")
                at = ends
            elif word in ("break", "continue", "goto"):
                at = statement_end(code, at)
            else:
                ends = statement_end(code, at)
                whole = code[at:ends]
                if whole.strip() != ";" and not whole.rstrip().endswith("}") and \
                        not DECLARES.match(whole):
                    yield made(at, ends, ";", "removed")
                at = ends


# ---- building and running ----

def run(command, timeout=None, env=None, cwd=None):
    """Exit code (None: too long) and output; the children of one that is too long die with it."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, cwd=cwd or TREE, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = child.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
        if code != 0:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()
        out.seek(0)
        return code, out.read().decode("utf-8", "replace")


def must(command):
    code, said = run(command)
    if code != 0:
        sys.exit(f"mutants: this failed: {' '.join(command)}\n{said[:3000]}")


def objects_of(paths, folder, flags, pool):
    names = [os.path.join(OUT, folder, p.replace("/", "_")[:-2] + ".o") for p in paths]
    os.makedirs(os.path.join(OUT, folder), exist_ok=True)
    list(pool.map(lambda i: must(CC + FLAGS + flags + ["-c", paths[i], "-o", names[i]]), range(len(paths))))
    return dict(zip(paths, names))


def link(objects, out, flags=()):
    return run(CC + ["-shared", "-Wl,-soname,libphi.so"] + list(objects) + ["-lcurl", "-lm", "-lpthread"] +
               list(flags) + ["-o", out])


class World:
    """The unchanged code, its tests, and what each of them reaches."""
    def __init__(self, files, tests, jobs):
        shutil.rmtree(TREE, ignore_errors=True)
        os.makedirs(TREE)
        for folder in ("src", "tests", "scripts", "extras", "docs"):
            if os.path.isdir(os.path.join(ROOT, folder)):
                shutil.copytree(os.path.join(ROOT, folder), os.path.join(TREE, folder))
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            source = sorted(os.path.relpath(p, TREE) for p in glob.glob(os.path.join(TREE, "src/*/*.c")))
            support = sorted(os.path.relpath(p, TREE)
                             for p in glob.glob(os.path.join(TREE, "tests/support/*.c")))
            self.objects = objects_of(source, "obj", ["-O0"], pool)
            self.objects.update(objects_of(support, "obj", ["-O0"], pool))
            # gcov's names of files are as they were given: the tree is where it is compiled.
            covered = objects_of(files, "cov", ["-O0", "--coverage"], pool)
            os.makedirs(os.path.join(TREE, "build"))
            base = os.path.join(OUT, "base")
            os.makedirs(base, exist_ok=True)
            os.makedirs(os.path.join(OUT, "covlib"), exist_ok=True)
            self.link(base, {})
            code, said = link({**self.objects, **covered}.values(), os.path.join(OUT, "covlib/libphi.so"),
                              ["--coverage"])
            if code != 0:
                sys.exit(said)
            built = objects_of(tests, "obj", ["-O0"], pool)
            self.programs = {t: o[:-2] for t, o in built.items()}
            list(pool.map(lambda t: must(CC + [built[t], os.path.join(base, "libphi.so"), "-lcurl", "-lm",
                                               "-lpthread", "-lsqlite3", "-o", self.programs[t]]), tests))
            self.seconds, self.reach = {}, {}
            for test, seconds, lines in pool.map(self.look, tests):
                if seconds is None:
                    print(f"mutants: {test} fails over the unchanged code, and is left out")
                else:
                    self.seconds[test], self.reach[test] = seconds, lines
        self.tests = sorted(self.seconds, key=self.seconds.get)

    def link(self, folder, changed):
        code, said = link({**self.objects, **changed}.values(), os.path.join(folder, "libphi.so"))
        if code != 0:
            sys.exit(said)

    def environment(self, folder, **more):
        """`folder` holds the libphi.so that the tests are shown."""
        env = dict(os.environ, LD_LIBRARY_PATH=folder, PHI_SEEDS="20", PYTHONDONTWRITEBYTECODE="1",
                   PHI_BUILD=os.path.join(OUT, "build"), **more)
        env.setdefault("PYTHON", os.path.join(ROOT, "scripts", "python.sh"))
        return env

    def look(self, test):
        """(test, seconds, {file: lines reached}); seconds None: it fails."""
        start = time.monotonic()
        code, _ = run([self.programs[test]], 300, self.environment(os.path.join(OUT, "base")))
        seconds = time.monotonic() - start
        if code != 0:
            return test, None, {}
        notes = os.path.join(OUT, "notes", os.path.basename(self.programs[test]))
        shutil.rmtree(notes, ignore_errors=True)
        os.makedirs(notes)
        run([self.programs[test]], 900, self.environment(os.path.join(OUT, "covlib"), GCOV_PREFIX=notes,
                                                         GCOV_PREFIX_STRIP="99"))
        reached = collections.defaultdict(set)
        for data in glob.glob(os.path.join(notes, "*.gcda")):
            note = os.path.join(OUT, "cov", os.path.basename(data)[:-5] + ".gcno")
            shutil.copy(note, notes)
            run(["gcov", "-j", data], cwd=notes)
        for name in glob.glob(os.path.join(notes, "*.gcov.json.gz")):
            with gzip.open(name, "rt", encoding="utf-8") as file:
                for one in json.load(file)["files"]:
                    reached[one["file"]] |= {l["line_number"] for l in one["lines"] if l["count"] > 0}
        return test, seconds, reached


class Hunt:
    def __init__(self, world, until):
        self.world, self.until = world, until
        self.local, self.lock = threading.local(), threading.Lock()
        self.workers = 0
        self.killers = collections.Counter()
        self.same = {}

    def folder(self):
        if not hasattr(self.local, "folder"):
            with self.lock:
                self.local.folder = os.path.join(OUT, f"worker{self.workers}")
                self.workers += 1
            shutil.rmtree(self.local.folder, ignore_errors=True)
            os.makedirs(self.local.folder)
        return self.local.folder

    def optimised(self, name, path, folder):
        """A hash of the code an optimiser makes of it; None: it does not compile."""
        out = os.path.join(folder, "optimised.s")
        code, _ = run(CC + FLAGS + ["-O1", "-g0", "-I", os.path.dirname(name), "-S", path, "-o", out])
        if code != 0:
            return None
        with open(out, "rb") as file:
            return hashlib.sha256(re.sub(rb'\.file.*\n', b"", file.read())).hexdigest()

    def hunt(self, mutant):
        """What became of it: "killed by ...", "survived", "not reached", "same", "no code" or "no time"."""
        if self.until is not None and time.monotonic() > self.until:
            return "no time"
        folder, name = self.folder(), mutant.file
        with open(os.path.join(TREE, name), encoding="utf-8") as file:
            text = file.read()
        path = os.path.join(folder, "original.c")
        with self.lock:
            if name not in self.same:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                self.same[name] = self.optimised(name, path, folder)
        # One name for both: what asserts say of it is the same.
        with open(path, "w", encoding="utf-8") as file:
            file.write(text[:mutant.start] + mutant.text + text[mutant.end:])
        made = self.optimised(name, path, folder)
        if made is None or made == self.same[name]:
            return "no code" if made is None else "same"
        lines = range(mutant.line, mutant.line + text.count("\n", mutant.start, mutant.end) + 1)
        tests = [t for t in self.world.tests if not self.world.reach[t].get(name, set()).isdisjoint(lines)]
        if not tests:
            return "not reached"
        changed = os.path.join(folder, "mutant.o")
        if run(CC + FLAGS + ["-O0", "-c", path, "-o", changed])[0] != 0:
            return "no code"
        self.world.link(folder, {name: changed})
        env = self.world.environment(folder)
        tests.sort(key=lambda t: self.world.seconds[t] / (1 + self.killers[t]))
        for test in tests:
            code, _ = run([self.world.programs[test]], 2 + TIMES * self.world.seconds[test], env)
            if code != 0:
                self.killers[test] += 1
                return f"killed by {test}" + (" (too long)" if code is None else "")
        return "survived"


# ---- the command ----

def chosen_files(words):
    """[(file, first line, last line)]"""
    found = []
    for word in words:
        path, _, lines = word.partition(":")
        first, _, last = lines.partition("-")
        first, last = int(first or 1), int(last or first or 10 ** 9)
        path = os.path.relpath(os.path.abspath(path), ROOT)
        names = sorted(glob.glob(os.path.join(ROOT, path, "*.c"))) if os.path.isdir(
            os.path.join(ROOT, path)) else [os.path.join(ROOT, path)]
        found += [(os.path.relpath(n, ROOT), first, last) for n in names]
    return found


def chosen_tests(files, globs):
    if globs:
        return sorted({os.path.relpath(p, ROOT) for g in globs for p in glob.glob(os.path.join(ROOT, g))})
    rooms = {f.split("/")[1] for f in files}
    rooms |= {more for room in rooms for more in ROOMS.get(room, [])}
    return sorted(os.path.relpath(p, ROOT) for room in rooms
                  for p in glob.glob(os.path.join(ROOT, "tests", room, "test_*.c")))


def known_equal():
    if not os.path.exists(EQUAL):
        return []
    with open(EQUAL, encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def shown(mutant):
    return f"{mutant.file}: {mutant.function}: {mutant.kind}: {mutant.statement}"


def main():
    parser = argparse.ArgumentParser(description="which statements no test would miss")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--tests", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("-v", action="store_true", help="also says what killed each")
    args = parser.parse_args()
    files, mutants, equal = chosen_files(args.files), [], known_equal()
    for name, first, last in files:
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            mutants += [m for m in mutants_of(name, file.read()) if first <= m.line <= last]
    listed = [m for m in mutants if any(e.startswith(shown(m) + ": ") for e in equal)]
    mutants = [m for m in mutants if m not in listed]
    if args.count is not None and args.count < len(mutants):
        mutants = random.Random(args.seed).sample(mutants, args.count)
    elif args.seconds is not None:
        random.Random(args.seed).shuffle(mutants)
    if args.seconds is None:
        mutants.sort()
    if args.list:
        print("\n".join(f"{m.file}:{m.line}: {m.function}: {m.kind}: {m.statement}" for m in mutants))
        return 0
    os.makedirs(OUT, exist_ok=True)
    with open(os.path.join(OUT, "lock"), "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.exit("mutants: another one is at work in build/mutants")
        return hunt_all(args, mutants, len(listed))


def hunt_all(args, mutants, listed):
    start = time.monotonic()
    names = sorted({m.file for m in mutants})
    world = World(names, chosen_tests(names, args.tests), args.jobs)
    print(f"mutants: {len(mutants)} in {len(names)} files, {len(world.tests)} test programs, ready after"
          f" {time.monotonic() - start:.0f} s", flush=True)
    hunt = Hunt(world, time.monotonic() + args.seconds if args.seconds is not None else None)
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for mutant, became in zip(mutants, pool.map(hunt.hunt, mutants)):
            counts[became.split(" by ")[0]] += 1
            if args.v or became in ("survived", "not reached"):
                print(f"{became}: {mutant.file}:{mutant.line}: {mutant.function}: {mutant.kind}:"
                      f" {mutant.statement}", flush=True)
    tried = counts["killed"] + counts["survived"] + counts["not reached"]
    print(f"mutants: {tried} tried, {counts['killed']} killed, {counts['survived']} survived,"
          f" {counts['not reached']} not reached by any test; {listed} listed as equal,"
          f" {counts['same'] + counts['no code']} were none, {counts['no time']} left for want of time,"
          f" {time.monotonic() - start:.0f} s")
    return 1 if counts["survived"] + counts["not reached"] else 0


if __name__ == "__main__":
    sys.exit(main())
