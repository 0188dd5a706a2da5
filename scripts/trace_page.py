#!/usr/bin/env python3
"""Writes src/trace/trace_page.c, the page of PHI_TRACE_HTML, from scripts/trace_page/: page.html with
page.css and page.js in it, each without its comments and most blanks, and their hashes in the page's
policy. --check writes nothing; exit code 1 when the file is stale."""
import base64
import hashlib
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "scripts", "trace_page")
OUT = os.path.join(ROOT, "src", "trace", "trace_page.c")
LITERAL = 4000  # bytes of a string literal: C99 promises 4,095
WIDTH = 92


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def lean(text):
    """Without comments that begin a line, indentation and empty lines."""
    text = re.sub(r"^\s*/\*.*?\*/\n", "", text, flags=re.M | re.S)
    return "".join(line.strip() + "\n" for line in text.split("\n") if line.strip())


def tight(js):
    """Without the blanks around its operators; strings stay as they are."""
    parts = re.split(r'("(?:\\.|[^"\\])*")', js)
    parts[::2] = [re.sub(r" ?(=>|[=!]==|&&|\|\||[=?:,{}]) ?", r"\1", part) for part in parts[::2]]
    return "".join(parts)


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page():
    css, js = "\n" + lean(read("page.css")), "\n" + tight(lean(read("page.js")))
    policy = (f"default-src 'none'; script-src {hash_of(js)}; style-src {hash_of(css)}; "
              "base-uri 'none'; form-action 'none'")
    html = lean(read("page.html")).replace("@CSP@", policy).replace("@CSS@", css).replace("@JS@", js)
    return html.split("@DATA@")


def escaped(text):
    """The text's bytes as they stand in a C string, one by one."""
    out = []
    for byte in text.encode():
        char = chr(byte)
        if char == "\n":
            out.append("\\n")
        elif char in '"\\':
            out.append("\\" + char)
        elif char == "?" and out and out[-1] in ("?", "\\?"):
            out.append("\\?")  # no trigraph
        elif 32 <= byte < 127:
            out.append(char)
        else:
            out.append(f"\\{byte:03o}")
    return out


def literal(units):
    lines, line = [], ""
    for unit in units:
        if len(line) + len(unit) > WIDTH:
            lines.append(line)
            line = ""
        line += unit
    return "\n".join(f'    "{line}"' for line in lines + [line])


def table(name, text):
    units = escaped(text)
    parts = [literal(units[at:at + LITERAL]) for at in range(0, len(units), LITERAL)]
    return (f"static const char *const phi__trace_page_{name}_parts[] = {{\n" + ",\n".join(parts) +
            f"}};\n\nPHI__FN const char *phi__trace_page_{name}(size_t i) {{\n"
            f"    return i < PHI__COUNT(phi__trace_page_{name}_parts) ? phi__trace_page_{name}_parts[i]\n"
            "           : NULL;\n}\n")


def source():
    head, tail = page()
    return ("/* trace_page.c - the page of PHI_TRACE_HTML before and after its data. Written by\n"
            "   scripts/trace_page.py from scripts/trace_page/. */\n"
            '#include "trace/trace_in.h"\n\n/* clang-format off */\n' +
            table("head", head) + "\n" + table("tail", tail) + "/* clang-format on */\n")


def main():
    text = source()
    if sys.argv[1:] != ["--check"]:
        with open(OUT, "w", encoding="utf-8") as file:
            file.write(text)
        return 0
    with open(OUT, encoding="utf-8") as file:
        if file.read() == text:
            return 0
    print("src/trace/trace_page.c is stale: run scripts/trace_page.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
