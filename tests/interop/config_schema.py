#!/usr/bin/env python3
"""docs/phi.schema.json by an independent validator (the package jsonschema), and phi's own reader, on the same
configurations: tests/config/fixtures, and each of their values changed to another type, out of bounds, misspelt or
removed.

    config_schema.py PROGRAM    prints "N passed, M failed"

What the schema refuses, phi has a problem with. What phi calls an invalid value, an unknown field or a missing one, the
schema refuses; what a schema cannot see (references, fields that need another) is phi's alone."""
import copy
import glob
import json
import os
import re
import subprocess
import sys
import tomllib

import jsonschema

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Faults that the schema shows, too.
SHOWN = re.compile(r"Invalid value for |Unknown field | has no \w+: add ")
# ... but these: names of entities, what a variable stands for, and what phi takes with a warning.
NOT_SHOWN = re.compile(r"\"\$\{|expected a name|is used$|U\+0000|has the block")
OTHERS = [5, -1, 0, 1e12, 0.5, "x", "unlimited", "${X}", True, [], ["x"], [5], {}, {"x": 1}, [{}]]


def places(node, path=()):
    """Every path of a tree, itself first."""
    yield path
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        yield from places(child, path + (key,))


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def changes(tree):
    """The tree, and trees in which one thing is different."""
    yield tree
    for path in places(tree):
        if not path:
            continue
        for other in OTHERS:
            now = copy.deepcopy(tree)
            at(now, path[:-1])[path[-1]] = other
            yield now
        now = copy.deepcopy(tree)
        holder = at(now, path[:-1])
        value = holder.pop(path[-1])
        yield copy.deepcopy(now)
        if isinstance(holder, dict):
            holder["zzz" + path[-1]] = value
            yield now


def main():
    with open(os.path.join(ROOT, "docs/phi.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    trees = []
    for name in sorted(glob.glob(os.path.join(ROOT, "tests/config/fixtures/*.toml"))):
        with open(name, "rb") as file:
            trees += list(changes(tomllib.load(file)))
    text = "".join(json.dumps(tree) + "\n" for tree in trees)
    said = subprocess.run([sys.argv[1]], input=text, capture_output=True, text=True, check=True,
                          timeout=600).stdout.split("\n")
    good, bad = 0, []
    for tree, messages in zip(trees, said):
        problems = [m for m in messages.split("\t") if m]
        fits = validator.is_valid(tree)
        shown = [m for m in problems if SHOWN.search(m) and not NOT_SHOWN.search(m)]
        if fits and shown or not fits and not problems:
            bad.append((fits, problems, next(validator.iter_errors(tree), None)))
        else:
            good += 1
    for fits, problems, error in bad[:20]:
        print(f"schema {'takes' if fits else 'refuses'} it; phi says {problems[:3]}; {error and error.message[:200]} "
              f"{error and list(error.absolute_path)}")
    print(f"config: {good} passed, {len(bad)} failed")
    return 1 if bad or not trees else 0


if __name__ == "__main__":
    sys.exit(main())
