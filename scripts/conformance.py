#!/usr/bin/env python3
"""Reads docs/conformance.md and says what its rows prove; exit 1 where a row or a line is missing.

A row: | id | what holds | departure or note | files below tests/ | `test`, `test` |
Ids: REQ-001 to REQ-221, AMB-001 to AMB-003, B-n, C-n.m, D-n, E-page.n, INV-n; of the documents on threads and
strategies SI-n, TP-n, TI-n, MT-n, TS-n.

Lines of part C have several clauses. scripts/conformance_clauses.txt lists them, each with the rows that prove it: a
clause without a row is missing, though its line has others.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROW = re.compile(r"^\| ([A-Z]+-[\w.]+) \| ((?:[^|]|\\\|)+?) \| ((?:[^|]|\\\|)*?)\| "
                 r"(\w+/\w+(?:, \w+/\w+)*) \| (`\w+`(?:, `\w+`)*) \|$")
# Where something else holds on purpose, the text begins with the place that says so, or with phi's own reason; all
# else is a note.
SOURCE = re.compile(r"^(?:(?:Design|Demand|Issue|[RWBCD]) [\d.]+|Study [A-G])\b")
OWN = re.compile(r"^phi: .*\bbecause\b")
# How many assertions of each of the original's test files part E lists.
E = {"agent_loop": 20, "session": 14, "config": 12, "compaction": 6, "openapi": 7, "prun": 5, "sub_agent": 5,
     "context_translation": 3, "structured_output": 4, "agent": 5, "tools": 6, "tool_timeout": 4,
     "turn_request_capture": 4, "revert": 3, "serialization": 2, "others": 7}
# How many rows each document on threads and strategies has: strategy internals, thread projection, thread integration,
# multi-turn, and the study of all four.
DOCUMENTS = {"SI": 39, "TP": 34, "TI": 56, "MT": 50, "TS": 99}
LINES = {
    "requirements": [f"REQ-{n:03}" for n in range(1, 222)],
    "ambiguities": [f"AMB-{n:03}" for n in range(1, 4)],
    "B": [f"B-{n}" for n in range(1, 75)],
    "D": [f"D-{n}" for n in range(1, 9)],
    "E": [f"E-{page}.{n}" for page, count in E.items() for n in range(1, count + 1)],
    "documents": [f"{page}-{n}" for page, count in DOCUMENTS.items() for n in range(1, count + 1)],
}


# Kinds of differences to the original: | K-n | what phi does | the reason | the rows that say so |
KIND = re.compile(r"^\| (K-\d+) \| [^|]+ \| [^|]+ \| ([A-Z]+-[\w.]+(?:, [A-Z]+-[\w.]+)*) \|$")
CLAUSE = re.compile(r"^(\d+) \| (.+) \| (C-[\d.]+(?: C-[\d.]+)*)$")
LINES_OF_C = 76


class Row:
    def __init__(self, found):
        self.id, self.what, departs, files, tests = (part.strip() for part in found.groups())
        self.departs = bool(SOURCE.match(departs))
        self.own = bool(OWN.match(departs))
        self.files = files.split(", ")
        self.tests = re.findall(r"\w+", tests)


def page():
    with open(os.path.join(ROOT, "docs", "conformance.md"), encoding="utf-8") as file:
        return file.read()


def is_row(line):
    return line.startswith("|") and not line.startswith(("|-", "| Line |", "| Kind |", "| K-"))


def rows(text):
    return [Row(found) for found in map(ROW.match, text.split("\n")) if found]


def clauses(path=os.path.join(ROOT, "scripts", "conformance_clauses.txt")):
    """(words, ids of rows) of each clause of part C; every line of the part has one."""
    with open(path, encoding="utf-8") as file:
        text = [line for line in file.read().split("\n") if line and not line.startswith("#")]
    found = [CLAUSE.match(line) for line in text]
    wrong = [line for line, match in zip(text, found) if match is None]
    lines = {int(match.group(1)) for match in found if match}
    wrong += [f"C-{n} has no clause" for n in range(1, LINES_OF_C + 1) if n not in lines]
    if wrong:
        raise ValueError("conformance_clauses.txt: " + "; ".join(wrong))
    return [(f"C-{match.group(1)}: {match.group(2)}", match.group(3).split(" ")) for match in found]


def without_kind(text):
    """Departures of the original's lists that are of no kind or of two, rows of kinds that declare none, lines that are
    no kind."""
    lines = [line for line in text.split("\n") if line.startswith("| K-")]
    named = [name for match in map(KIND.match, lines) if match for name in match.group(2).split(", ")]
    departed = {row.id for row in rows(text) if (row.departs or row.own) and row.id not in LINES["documents"]}
    return ([line for line in lines if not KIND.match(line)] + sorted(departed ^ set(named)) +
            sorted({name for name in named if named.count(name) > 1}))


def missing(found):
    """Lines and clauses without a row."""
    have = {row.id for row in found}
    wanted = {line for lines in LINES.values() for line in lines}
    return sorted(wanted - have) + [words for words, ids in clauses() if not have.issuperset(ids)]


def summary(found):
    have = {row.id for row in found}
    counts = {name: f"{sum(line in have for line in lines)} of {len(lines)}" for name, lines in LINES.items()}
    counts["C"] = f"{sum(have.issuperset(ids) for _, ids in clauses())} of {len(clauses())} clauses"
    departed, own = sum(row.departs for row in found), sum(row.own for row in found)
    return (f"{counts['requirements']} requirements, {counts['ambiguities']} ambiguities, " +
            ", ".join(f"{part} {counts[part]}" for part in "BCDE") + f", documents {counts['documents']}" +
            f": {len(found) - departed - own} proved, {departed} departed by a document, {own} by phi's own decision")


def main():
    text = page()
    found = rows(text)
    bad = [line for line in text.split("\n") if is_row(line) and not ROW.match(line)] + missing(found)
    bad += [f"{name}: a departure without its kind, or a kind without its departure" for name in without_kind(text)]
    for line in bad:
        print(line)
    print("conformance: " + summary(found))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
