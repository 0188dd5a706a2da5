"""Holds phi's reader of TOML against the official suite and Python's tomllib.

    toml_checks.py PROGRAM TESTS     TESTS: the folder of the suite, with files-toml-1.0.0
    toml_checks.py --pack TESTS      writes tests/formats/toml_suite.txt, the same cases for make test

Every valid file must give the tree of its JSON, and that of tomllib; every invalid one must be refused, with a place.
tomllib must read what phi writes of each valid file.
TOML_COUNT documents (3000, by TOML_SEED) of lines of the valid ones, mixed and damaged, must be read or refused as
tomllib does."""
import datetime
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import tomllib

FRACTION = re.compile(r"(\.\d+?)0*(?=$|[Zz+-])")


def canonical(kind, value):
    """A tagged value as something to compare."""
    if kind == "integer":
        return int(value)
    if kind == "float":
        number = float(value)
        return "nan" if math.isnan(number) else (number, math.copysign(1, number))
    if kind in ("datetime", "datetime-local", "date-local", "time-local"):
        text = value.upper().replace(" ", "T")
        match = re.match(r"^(.*?)(\.\d+)?(Z|[+-]\d\d:\d\d)?$", text)
        head, fraction, zone = match.groups()
        fraction = (fraction or ".0")[:7].rstrip("0").rstrip(".")
        return head + fraction + ("+00:00" if zone == "Z" else zone or "")
    return value


def of_tagged(node):
    if isinstance(node, list):
        return [of_tagged(item) for item in node]
    if set(node) == {"type", "value"} and isinstance(node["type"], str) and isinstance(node["value"], str):
        return (node["type"], canonical(node["type"], node["value"]))
    return {key: of_tagged(value) for key, value in node.items()}


def of_tomllib(node):
    if isinstance(node, dict):
        return {key: of_tomllib(value) for key, value in node.items()}
    if isinstance(node, list):
        return [of_tomllib(item) for item in node]
    if isinstance(node, bool):
        return ("bool", "true" if node else "false")
    if isinstance(node, int):
        return ("integer", node)
    if isinstance(node, float):
        return ("float", canonical("float", str(node)))
    if isinstance(node, str):
        return ("string", node)
    kind = {datetime.date: "date-local", datetime.time: "time-local"}.get(type(node))
    if kind is None:
        kind = "datetime-local" if node.tzinfo is None else "datetime"
    return (kind, canonical(kind, node.isoformat()))


def ask(program, mode, paths):
    done = subprocess.run([program, mode], input="".join(path + "\n" for path in paths), text=True, encoding="utf-8",
                          stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


def mixed(texts, rng):
    """A document of lines of the suite's valid ones, in a new order, with a byte or two changed."""
    lines = []
    for _ in range(rng.randint(1, 4)):
        own = rng.choice(texts).split(b"\n")
        at = rng.randrange(len(own))
        lines += own[at:at + rng.randint(1, 12)]
    if rng.random() < 0.5:
        rng.shuffle(lines)
    for _ in range(rng.randint(0, 2)):
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    raw = bytearray(b"\n".join(lines))
    for _ in range(rng.choice((0, 0, 1, 2))):
        if raw:
            raw[rng.randrange(len(raw))] = rng.choice(b"ab.[]{}=\"'#,\n\r\t -+_01:TZ\\")
    return bytes(raw)


def beyond(raw):
    """What tomllib takes and phi refuses, by its documentation: numbers beyond 64 bits and beyond a double; and what
    tomllib refuses: a second 60, a byte order mark."""
    return (raw.startswith(b"\xef\xbb\xbf") or re.search(rb":60(?!\d)", raw) or re.search(rb"[0-9_]{18}", raw)
            or re.search(rb"0x[0-9a-fA-F_]{15}", raw) or re.search(rb"[eE][+-]?0*[1-9][0-9_]{2}", raw) or re.search(rb"0[bo][0-7_]{20}", raw))


def mixtures(program, tests, names, work):
    """(documents that both read, that both refuse, that differ)"""
    rng = random.Random(int(os.environ.get("TOML_SEED", "17")))
    texts = []
    for name in names:
        if name.startswith("valid/"):
            with open(os.path.join(tests, name), "rb") as file:
                texts.append(file.read())
    count = int(os.environ.get("TOML_COUNT", "3000"))
    documents = [raw for raw in (mixed(texts, rng) for _ in range(count)) if not beyond(raw)]
    paths = [os.path.join(work, f"{i}.toml") for i in range(len(documents))]
    for path, raw in zip(paths, documents):
        with open(path, "wb") as file:
            file.write(raw)
    equal = refused = 0
    bad = []
    for path, raw, got in zip(paths, documents, ask(program, "read", paths)):
        try:
            want = of_tomllib(tomllib.loads(raw.decode()))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError) as e:
            want = e
        if isinstance(want, Exception) and set(got) == {"refused"} and isinstance(got["refused"], str):
            refused += 1
        elif not isinstance(want, Exception) and got != {"refused": got.get("refused")} and of_tagged(got) == want:
            equal += 1
        else:
            bad.append(f"{path}: phi {str(got)[:300]}, tomllib {str(want)[:300]}")
    return equal, refused, bad


def pack(tests, names):
    """A line a case: its name, its text and (of a valid one) its tagged JSON, separated by tabs."""
    def escaped(raw):
        text = "".join(chr(b) if 0x20 <= b < 0x7f and b != 0x5c else f"\\{b:02x}" for b in raw)
        return text
    with open(os.path.join(tests, "..", "LICENSE"), encoding="utf-8") as file:
        licence = file.read().rstrip("\n").split("\n")
    out = ["toml-test 2.2.0, its cases of TOML 1.0.0, one a line: name, text, tagged JSON. A backslash is followed by a byte in",
           "two hexadecimal digits. Written by tests/interop/toml_checks.py --pack.", ""] + licence
    lines = [("# " + line).rstrip() for line in out]
    for name in names:
        with open(os.path.join(tests, name), "rb") as file:
            line = name[:-5] + "\t" + escaped(file.read())
        if name.startswith("valid/"):
            with open(os.path.join(tests, name[:-4] + "json"), encoding="utf-8") as file:
                line += "\t" + escaped(json.dumps(json.load(file), separators=(",", ":"), ensure_ascii=False).encode())
        lines.append(line)
    with open("tests/formats/toml_suite.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def main():
    program, tests = sys.argv[1:]
    with open(os.path.join(tests, "files-toml-1.0.0"), encoding="utf-8") as file:
        names = [name for name in file.read().split("\n") if name.endswith(".toml")]
    if program == "--pack":
        pack(tests, names)
        return 0
    paths = [os.path.join(tests, name) for name in names]
    passed = {"valid": 0, "invalid": 0, "tomllib": 0}
    failed = 0
    for name, path, got in zip(names, paths, ask(program, "read", paths)):
        bad = None
        if name.startswith("invalid/"):
            if set(got) != {"refused"} or not re.match(r"[1-9]\d*:[1-9]\d*: .", got["refused"]):
                bad = f"is not refused: {got}"
            passed["invalid"] += bad is None
            if "-v" in os.environ.get("TOML_FLAGS", ""):
                print(name, got)
        else:
            with open(path[:-4] + "json", encoding="utf-8") as file:
                want = of_tagged(json.load(file))
            if set(got) == {"refused"} or of_tagged(got) != want:
                bad = f"gives {got}, not {want}"
            passed["valid"] += bad is None
            with open(path, "rb") as file:
                want = of_tomllib(tomllib.load(file))
            if bad is None and of_tagged(got) != want:
                bad = f"gives {got}, tomllib {want}"
            passed["tomllib"] += bad is None
        if bad is not None:
            print(f"toml: {name} {bad}")
            failed += 1
    valid = [path for name, path in zip(names, paths) if name.startswith("valid/")]
    written = 0
    trees = []
    for path in valid:
        with open(path, "rb") as file:
            trees.append(of_tomllib(tomllib.load(file)))
    for path, text, tree in zip(valid, ask(program, "write", valid), trees):
        try:
            good = of_tomllib(tomllib.loads(text)) == tree
        except (tomllib.TOMLDecodeError, TypeError, AttributeError):
            good = False
        written += good
        if not good:
            print(f"toml: {path} written as {text}")
            failed += 1
    with tempfile.TemporaryDirectory() as work:
        equal, refused, bad = mixtures(program, tests, names, work)
    for line in bad[:10]:
        print("toml:", line)
    print(f"mixtures of the suite's lines: {equal} equal to tomllib's trees, {refused} refused by both, {len(bad)} differ")
    failed += len(bad)
    print(f"read back by tomllib: {written} of {len(valid)} that phi wrote")
    total = sum(passed.values()) + equal + refused + written
    print(f"toml-test: {passed['valid']} valid equal, {passed['invalid']} invalid refused; tomllib: "
          f"{passed['tomllib']} equal")
    print(f"toml: {total} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
