#!/usr/bin/env python3
"""Random patterns over random lines: our engine, ripgrep and, where the syntax means the same, Python's re.

    search_patterns.py PROG_MATCH SEED COUNT

A pattern that we refuse counts apart; one that ripgrep refuses must be refused or be one of those that later
releases of it accept. Prints what differs, and the figures; exit code 1 where anything differed."""
import random
import re
import subprocess
import sys
import tempfile

LETTERS = "aab bcAxyz_09-.é ßK\u212aſÉщ漢\U0001F600\t\r"
CLASSES = [r"\w", r"\d", r"\s", r"\W", r"\D", r"\S", ".", "[a-c]", "[^a-c]", r"[\w-]", "[[:alpha:]]", "[^[:space:]]",
           "[a-zé-ÿ]", r"[\d.]", "[]a]", "[^]a]", r"[^\W_]", "[-x]", "[x-]", r"[\x41-\x{5a}]", "[[:^digit:]x]"]
EDGES = ["^", "$", r"\b", r"\B"]


ASCII = "".join(c for c in LETTERS if c.isascii())


class Maker:
    def __init__(self, rng, letters=LETTERS):
        self.rng = rng
        self.letters = letters

    def atom(self, depth):
        r = self.rng.random()
        if r < 0.5:
            c = self.rng.choice(self.letters)
            return re.escape(c) if c in ".-" else c
        if r < 0.7:
            return self.rng.choice(CLASSES)
        if r < 0.78:
            return self.rng.choice(EDGES)
        if depth <= 0:
            return "b"
        inner = self.choice(depth - 1)
        return self.rng.choice(["(%s)", "(?:%s)", "(?i:%s)", "(?P<n>%s)"]).replace("?P<n>", "?:") % inner

    def piece(self, depth):
        text = self.atom(depth)
        if text not in EDGES and self.rng.random() < 0.3:
            text += self.rng.choice(["*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?", "{0}", "{0,2}"])
        return text

    def sequence(self, depth):
        return "".join(self.piece(depth) for _ in range(self.rng.randint(1 if depth else 0, 4)))

    def choice(self, depth):
        return "|".join(self.sequence(depth) for _ in range(self.rng.choice([1, 1, 1, 2, 3])))


def lines(rng, letters):
    out = []
    for _ in range(rng.randint(1, 60)):
        line = "".join(rng.choice(letters) for _ in range(rng.choice([0, 1, 3, 6, 12, 30]))).encode()
        if letters is LETTERS and rng.random() < 0.15:
            at = rng.randint(0, len(line))
            line = line[:at] + rng.choice([b"\xff", b"\xc3", b"\xe2\x84", b"\xed\xa0\x80", b"\xf0\x9f\x98"]) + line[at:]
        out.append(line)
    return b"\n".join(out) + rng.choice([b"", b"\n"])


def ripgrep(pattern, flag, path):
    argv = ["rg", "--no-config", "-n", "--no-mmap", "-a", "--encoding=none"] + (["-i"] if flag == "i" else [])
    run = subprocess.run(argv + ["-e", pattern, "--", path], capture_output=True)
    if run.returncode > 1:
        return "error " + run.stderr.decode(errors="replace").strip().splitlines()[-1]
    return [int(row.split(b":", 1)[0]) for row in run.stdout.split(b"\n") if row]


def python(pattern, flag, text):
    """Of pattern and text in ASCII."""
    if "[[" in pattern or r"[^[" in pattern or "{5a}" in pattern or not text.isascii() or not pattern.isascii() or \
            re.search(r"[*+?}]{2}|\{0\}|\\[BwsWSd]", pattern):
        return None
    try:
        found = re.compile(pattern, re.A | (re.I if flag == "i" else 0))
    except re.error:
        return None
    rows = text.decode().split("\n")
    if rows and rows[-1] == "":
        rows.pop()
    # A dollar of ours is the line's end alone; there is no newline in a row.
    return [n for n, row in enumerate(rows, 1) if found.search(row)]


def main():
    program, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    bad = refused = both = with_python = 0
    done = 0
    while done < count:
        letters = rng.choice([LETTERS, LETTERS, ASCII])
        maker = Maker(rng, letters)
        text = lines(rng, letters)
        with tempfile.NamedTemporaryFile() as file:
            file.write(text)
            file.flush()
            batch = [(rng.choice("is"), maker.choice(rng.randint(0, 3))) for _ in range(50)]
            # ripgrep 13 finds no "$^" in an empty line and no "\\b^a" in "a", where both edges hold.
            batch = [(f, p) for f, p in batch if not re.search(r"(\$|\\[bB]).*\^", p)]
            ours = subprocess.run([program, "regex", file.name], capture_output=True, check=True,
                                  input="".join(f"{f} {p}\n" for f, p in batch).encode()).stdout.decode()
            for (flag, pattern), row in zip(batch, ours.split("\n")):
                done += 1
                want = ripgrep(pattern, flag, file.name)
                if row.startswith("error"):
                    refused += 1
                    if not isinstance(want, str):
                        bad += 1
                        print(f"refused: {pattern!r}: {row}")
                    continue
                got = [int(n) for n in row.split()]
                if got != want:
                    bad += 1
                    print(f"differs: {flag} {pattern!r}: ours {got}, ripgrep {want}, text {text!r}")
                    continue
                both += 1
                third = python(pattern, flag, text)
                if third is not None:
                    with_python += 1
                    if third != got:
                        bad += 1
                        print(f"differs: {flag} {pattern!r}: ours {got}, Python {third}, text {text!r}")
    print(f"patterns, seed {seed}: {both} as ripgrep, {with_python} of these as Python's re, {refused} refused by both, "
          f"{bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
