#!/usr/bin/env python3
"""Writes src/tools/regex_tables.c from Python's Unicode data (Python 3.11: Unicode 14.0): word
characters, digits, white space, and simple case folding. Run it, then clang-format the file."""
import os
import unicodedata

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LAST = 0x10FFFF
# Letters by Other_Alphabetic that are no letters or marks by category: circled and squared ones.
OTHER = [(0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189)]
JOINERS = (0x200C, 0x200D)
SPACES = [0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028,
          0x2029, 0x202F, 0x205F, 0x3000]
DOTLESS = 0x131  # folds to itself, though its upper case is I


def word(code):
    category = unicodedata.category(chr(code))
    return category[0] in "LM" or category in ("Nl", "Nd", "Pc") or code in JOINERS or \
        any(first <= code <= last for first, last in OTHER)


def ranges(codes):
    out = []
    for code in codes:
        if out and out[-1][1] == code - 1:
            out[-1][1] = code
        else:
            out.append([code, code])
    return out


def folds():
    """{code: the least of the characters that differ from it by case alone}"""
    parent = {}

    def find(code):
        while parent.get(code, code) != code:
            code = parent[code]
        return code

    for code in range(LAST + 1):
        if code == DOTLESS or 0xD800 <= code <= 0xDFFF:
            continue
        for other in (chr(code).lower(), chr(code).upper()):
            if len(other) == 1 and other != chr(code):
                a, b = find(code), find(ord(other))
                parent[max(a, b)] = min(a, b)
    return {code: find(code) for code in parent if find(code) != code}


def runs(found):
    """[first, last, step, distance down to the representative]"""
    out = []
    for code, to in sorted(found.items()):
        run = out[-1] if out else None
        if run and run[3] == code - to and code - run[1] in (1, 2) and \
                (run[0] == run[1] or run[2] == code - run[1]):
            run[2] = code - run[1]
            run[1] = code
        else:
            out.append([code, code, 1, code - to])
    return out


def table(kind, name, rows):
    text = [f"static const {kind} phi__regex_tables_{name}_rows[] = {{"]
    text += ["    {" + ", ".join(hex(n) for n in row) + "}," for row in rows]
    text += ["};", "", f"PHI__FN const {kind} *phi__regex_tables_{name}(size_t *count) {{",
             f"    *count = PHI__COUNT(phi__regex_tables_{name}_rows);",
             f"    return phi__regex_tables_{name}_rows;", "}"]
    return "\n".join(text) + "\n"


def main():
    version = unicodedata.unidata_version
    codes = range(LAST + 1)
    parts = [
        f"/* regex_tables.c - characters by kind, of Unicode {version}. Written by\n"
        "   scripts/regex_tables.py. */\n#include \"tools/match_in.h\"\n",
        table("phi__range", "word", ranges(c for c in codes if word(c))),
        table("phi__range", "digit", ranges(c for c in codes if unicodedata.category(chr(c)) == "Nd")),
        table("phi__range", "space", ranges(SPACES)),
        table("phi__regex_fold", "folds", runs(folds())),
    ]
    with open(os.path.join(ROOT, "src/tools/regex_tables.c"), "w", encoding="utf-8") as file:
        file.write("\n".join(parts))


main()
