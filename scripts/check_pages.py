#!/usr/bin/env python3
"""What the pages must name, and what they may link to.

    docs/api.md      has one line for each public function of the headers, in a section that names its header, and
                     every macro that a user writes. A line is a line of a C block that ends with a comment, and is
                     about the first public function in it.
    docs/loop.md     has each event of phi_event_kind with the name that phi_event_name gives, and each field.
    mkdocs.yml       has every page of docs/ once.
    llms.txt         has the form of llmstxt.org.
    links            of README.md, docs/*.md and the files of the root (AGENTS.md, llms.txt...) lead to files and
                     headings that exist; so do the make targets, files and folders that the files of the root name.
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)
sys.dont_write_bytecode = True
import amalgamate  # noqa: E402

HEADERS = ("phi_json.h", "phi.h", "phi_tools.h")
TOP = ("AGENTS.md", "CONTRIBUTING.md", "SECURITY.md", "llms.txt")
NOT_WRITTEN = re.compile(r"PHI__|PHI_X$|PHI_PRINTF$|PHI_API$")  # macros of the headers themselves
FAMILY = re.compile(r"`(PHI_[A-Z]+_)\.\.\.`")  # `PHI_QUIRK_...`: each macro that begins so
FENCE = re.compile(r"^ *```.*?^ *```[ \t]*$", re.M | re.S)
BAD = []


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def publics():
    """{function: header}, {macro} and the members of phi_event."""
    functions, macros, texts = {}, set(), {}
    for header, text in amalgamate.build(False).items():
        texts[header] = text.split("\n#ifdef PHI_IMPLEMENTATION\n#ifndef PHI__FN")[0]
    for header in HEADERS:
        for name in re.findall(r"^PHI_API [^;{]*?\b(phi_\w+)\(", texts[header], re.M):
            functions.setdefault(name, header)
        macros |= set(re.findall(r"^#define (PHI_\w+)", texts[header], re.M))
        options = texts[header].split("\n   OPTIONS", 1)[1].split("\n   MEMORY", 1)[0]
        macros |= set(re.findall(r"^     (PHI_[A-Z_]+)", options, re.M))
    return functions, {m for m in macros if not NOT_WRITTEN.match(m) or m == "PHI_API"}, texts["phi.h"]


def check_api(functions, macros):
    page, seen = read("docs/api.md"), {}
    for section in re.split(r"^(?=## )", page, flags=re.M):
        title = section.split("\n")[0].lstrip("# ")
        named = re.search(r"^Header `(\w+\.h)`", section, re.M)
        for line in "\n".join(re.findall(r"^```c\n(.*?)^```", section, re.M | re.S)).split("\n"):
            code, _, words = line.partition("/*")
            if not words:
                continue
            first = next((n for n in re.findall(r"\bphi_\w+\b", code) if n in functions), None)
            if first is None:
                BAD.append(f"docs/api.md: {title}: no public function in: {line.strip()}")
                continue
            if first in seen:
                BAD.append(f"docs/api.md: {first} has two lines, in \"{seen[first]}\" and \"{title}\"")
            seen[first] = title
            header = functions[first]
            if header not in (named[1] if named else "phi.h", (words.split(":")[0].strip())):
                BAD.append(f"docs/api.md: {title}: {first} is declared in {header}, which the section does not name")
    for name in sorted(set(functions) - set(seen)):
        BAD.append(f"docs/api.md: {name} of {functions[name]} has no line")
    for name in sorted(set(re.findall(r"\b(phi_\w+)\(", page)) - set(functions)):
        BAD.append(f"docs/api.md: {name} is no public function")
    families = tuple(FAMILY.findall(page))
    for name in sorted(macros):
        if f"`{name}`" not in page and f"`{name}(" not in page and not name.startswith(families):
            BAD.append(f"docs/api.md: the macro {name} is not named")
    return len(seen)


def check_events(header):
    kinds = set(re.findall(r"^    PHI_EV_(\w+)", re.search(r"typedef enum phi_event_kind \{(.*?)\}", header, re.S)[1], re.M))
    names = dict(re.findall(r'case PHI_EV_(\w+): return "(\w+)"', read("src/model/event.c")))
    struct = re.sub(r"/\*.*?\*/", "", re.search(r"typedef struct phi_event \{(.*?)\} phi_event;", header, re.S)[1], flags=re.S)
    members = {m for line in struct.split(";") for m in re.findall(r"(\w+)(?=,|$)", line.strip())}
    section = read("docs/loop.md").split("## Every event\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([A-Z_]+)` \| (\w+?)(?: \\\*)? \| (.*?) \|", section, re.M)
    for kind, name, fields in rows:
        if names.get(kind) != name:
            BAD.append(f"docs/loop.md: PHI_EV_{kind} is not \"{name}\": {names.get(kind, 'there is no such event')}")
        BAD.extend(f"docs/loop.md: PHI_EV_{kind}: phi_event has no {f}" for f in re.findall(r"`(\w+)`", fields) if f not in members)
    listed = [kind for kind, _, _ in rows]
    BAD.extend(f"docs/loop.md: PHI_EV_{k} is in {listed.count(k)} rows of \"Every event\"" for k in sorted(kinds) if listed.count(k) != 1)
    unnamed = members - set(re.findall(r"`(\w+)`", section)) - {"messages"}  # which only events from JSON have
    BAD.extend(f"docs/loop.md: no event has the field {m} of phi_event" for m in sorted(unnamed))
    return len(rows)


def check_site():
    listed = re.findall(r"^ +- (?:[^#:\n]+: )?(\w+\.md)$", read("mkdocs.yml"), re.M)
    pages = {os.path.basename(p) for p in glob.glob(os.path.join(ROOT, "docs", "*.md"))}
    BAD.extend(f"mkdocs.yml: {p} is listed {listed.count(p)} times in nav" for p in sorted(pages) if listed.count(p) != 1)
    BAD.extend(f"mkdocs.yml: there is no docs/{p}" for p in sorted(set(listed) - pages - {"index.md"}))


def anchors(name, known={}):
    """The ids that GitHub, and the site, give to the headings of a page."""
    if name not in known:
        known[name] = found = []
        for title in re.findall(r"^#{1,6} +(.*?) *$", FENCE.sub("", read(name)), re.M):
            title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)
            slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            found.append(slug if slug not in found else f"{slug}-{sum(f.startswith(slug) for f in found)}")
    return known[name]


def check_links(name):
    count, text = 0, FENCE.sub("", read(name))
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        if re.match(r"[a-z]+:", target):
            continue
        count += 1
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
        if not os.path.exists(os.path.join(ROOT, path)):
            BAD.append(f"{name}: a link to {target}: there is no {path}")
        elif anchor and anchor not in anchors(path):
            BAD.append(f"{name}: a link to {target}: {path} has no such heading")
    return count


def check_named(name):
    """The make targets, files and folders that a page of the root names in code."""
    targets = set(re.findall(r"^([\w-]+)(?: [\w-]+)*:(?!=)", read("Makefile"), re.M))
    text = read(name)
    code = re.findall(r"`([^`\n]+)`", FENCE.sub("", text)) + re.findall(r"^    (\S.*)$", text, re.M) + \
        "\n".join(re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)).split("\n")
    for words in code:
        made = re.match(r"make ([a-z][\w-]*)", words)
        if made and made[1] not in targets:
            BAD.append(f"{name}: there is no target in: {words}")
        for path in re.findall(r"(?<![\w./*<-])(?:src|docs|scripts|tests|examples|extras|bench)/[\w./-]*\w/?(?![\w*<])", words):
            if not os.path.exists(os.path.join(ROOT, path)):
                BAD.append(f"{name}: there is no {path}, in: {words}")


def check_llms():
    """The form of llms.txt (llmstxt.org): a title, a quote that sums it up, text, then lists of links under headings."""
    parts = re.split(r"^## .*\n", read("llms.txt"), flags=re.M)
    if not re.match(r"# \S.*\n\n> \S.*\n", parts[0]):
        BAD.append("llms.txt: expected a title, an empty line and a quote at its beginning")
    for line in "\n".join(parts[1:]).split("\n"):
        if line and not re.fullmatch(r"- \[[^]]+\]\([^)]+\): \S.*", line):
            BAD.append(f"llms.txt: expected - [name](link): words: {line}")


def main():
    functions, macros, header = publics()
    lines, events = check_api(functions, macros), check_events(header)
    check_site()
    pages = ["README.md", *TOP] + sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "docs", "*.md")))
    missing = [p for p in pages if not os.path.exists(os.path.join(ROOT, p))]
    BAD.extend(f"there is no {p}" for p in missing)
    links = sum(check_links(p) for p in pages if p not in missing)
    for name in TOP:
        if name not in missing:
            check_named(name)
    if "llms.txt" not in missing:
        check_llms()
    print("\n".join(BAD), end="\n" * bool(BAD))
    print(f"{lines} functions, {events} events, {links} links, {len(BAD)} wrong")
    return 1 if BAD else 0


if __name__ == "__main__":
    sys.exit(main())
