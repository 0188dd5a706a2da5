#!/usr/bin/env python3
"""Writes phi_json.h, phi.h and phi_tools.h from src/.

    amalgamate.py                writes what is stale, beside this script
    amalgamate.py --out DIR      ... into DIR instead
    amalgamate.py --check        writes nothing; exit code 1 when a header is stale
    amalgamate.py --line         with #line directives, to debug in the terms of src/

A fragment is a folder of src/. FRAGMENTS is the whole manifest: the order of the layers, which is
also the order in the headers. Inside a folder, files follow their own includes, then their names.
Each fragment has a public part (name.h) and an implementation part (name_in.h, name.c), each under
a guard whose value is a hash of its content: the second copy of the same part is skipped, a
different one is an #error. Nothing is written unless everything went well.
"""
import argparse
import hashlib
import os
import re
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))

FRAGMENTS = ["base", "text", "io", "model", "wire", "codecs", "log", "history", "persist", "loop", "features", "agent",
             "formats", "mock", "record", "subagents", "evaluate", "strategy", "config",
             "match", "permissions", "tools", "serve", "mcp", "openapi", "skills", "sections", "trace"]
TOOLS = FRAGMENTS.index("formats")  # from here on: phi_tools.h

# A header, the header it includes, and its own fragments.
OUT = {
    "phi_json.h": (None, ["base", "text", "formats"]),
    "phi.h": (None, FRAGMENTS[:TOOLS]),
    "phi_tools.h": ("phi.h", FRAGMENTS[TOOLS:]),
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]*)".*$', re.M)
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
UNDEF = re.compile(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", re.M)
SYSTEM = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>\n]+)>", re.M)

# Before the first system include: what the implementation needs of the system's headers. phi_json.h
# needs nothing of it, and only makes sure that a later phi.h finds it.
PRELUDE = """#ifdef PHI_IMPLEMENTATION
#if defined(__GLIBC__) && !defined(__USE_GNU)
#define PHI__LATE 1
#elif defined(_FEATURES_H) && !defined(_GNU_SOURCE)
#define PHI__LATE 1
#endif
#ifdef PHI__LATE
#undef PHI__LATE
%s
#else
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE 1
#endif
#if defined(__NetBSD__) && !defined(_NETBSD_SOURCE)
#define _NETBSD_SOURCE 1
#endif
#endif

"""
LATE = {
    "phi_json.h": "/* phi_json.h works without; a phi.h after it will say what to do. */",
    None: '#error "phi: a system header was included before PHI_IMPLEMENTATION and %s: put these" \\\n'
          '    "two lines first, or alone into a file, or compile with -D_GNU_SOURCE"',
}


# Around the declarations: what clang's -Weverything and gcc's -Wpadded would tell a user of structs
# and names that are as they are on purpose.
QUIET = """#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpadded"
#pragma clang diagnostic ignored "-Wc++98-compat-pedantic"
#if __has_warning("-Wreserved-identifier")
#pragma clang diagnostic ignored "-Wreserved-identifier"
#pragma clang diagnostic ignored "-Wreserved-macro-identifier"
#endif
#elif defined(__GNUC__) && __GNUC__ >= 5
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpadded"
#endif

"""
LOUD = """#if defined(__clang__)
#pragma clang diagnostic pop
#elif defined(__GNUC__) && __GNUC__ >= 5
#pragma GCC diagnostic pop
#endif

"""


class Trouble(Exception):
    pass


def read(path):
    with open(os.path.join(ROOT, path), "rb") as file:
        raw = file.read()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as e:
        raise Trouble(f"{path}: not UTF-8: {e}") from e
    if "\r" in text or "\t" in text:
        raise Trouble(f"{path}: a tab or a carriage return")
    if not text.endswith("\n"):
        raise Trouble(f"{path}: no newline at its end")
    return text


def scan():
    """{fragment: [file name]}; every file under src/ must have its place."""
    found = {}
    for name in sorted(os.listdir(os.path.join(ROOT, "src"))):
        path = f"src/{name}"
        if not os.path.isdir(os.path.join(ROOT, path)):
            if name not in [f"head_{out}.txt" for out in OUT]:
                raise Trouble(f"{path}: not in the manifest")
            continue
        if name not in FRAGMENTS:
            raise Trouble(f"{path}/: not in the manifest (FRAGMENTS in amalgamate.py)")
        files = sorted(os.listdir(os.path.join(ROOT, path)))
        for file in files:
            if not re.fullmatch(r"[a-z0-9_]+\.[ch]", file):
                raise Trouble(f"{path}/{file}: neither name.h, name_in.h nor name.c")
        found[name] = files
    return found


def includes(path, text, files):
    """The paths this file includes, each checked to exist and to lie in this layer or above."""
    mine = path.split("/")[1]
    paths = INCLUDE.findall(text)
    for inc in paths:
        folder, _, name = inc.rpartition("/")
        if name not in files.get(folder, ()) or not name.endswith(".h"):
            raise Trouble(f'{path}: #include "{inc}": there is no src/{inc}')
        if FRAGMENTS.index(folder) > FRAGMENTS.index(mine):
            raise Trouble(f'{path}: #include "{inc}": {folder} is below {mine}')
        if inc.endswith("_in.h") and path.endswith(".h") and not path.endswith("_in.h"):
            raise Trouble(f'{path}: #include "{inc}": a public header includes an internal one')
    return paths


def ordered(names, needs):
    """Names in the order of their needs, then of the alphabet."""
    out, open_names = [], []

    def visit(name):
        if name in out:
            return
        if name in open_names:
            circle = open_names[open_names.index(name):] + [name]
            raise Trouble("these include each other: " + " > ".join(circle))
        open_names.append(name)
        for need in sorted(needs[name]):
            if need in names:
                visit(need)
        open_names.pop()
        out.append(name)

    for name in sorted(names):
        visit(name)
    return out


def body(path, text, header_macros, lines):
    """A file as it stands in a header: without our includes, its local macros undefined."""
    own = []
    for name in DEFINE.findall(text):
        if not re.match(r"_?_?PHI_", name) and not name.startswith("phi_"):
            raise Trouble(f"{path}: macro {name}: its name should start with PHI_ or PHI__")
        own.append(name)
    if path.endswith(".c"):
        for name in own:
            if name in header_macros:
                raise Trouble(f"{path}: macro {name} is also a header's; local macros are undefined at"
                              " the end of the file")
    text = INCLUDE.sub("\0", text)
    text = text.replace("\0", "") if lines else re.sub(r"\0\n", "", text)
    if path.endswith(".c"):
        gone = set(UNDEF.findall(text))
        text += "".join(f"#undef {name}\n" for name in dict.fromkeys(own) if name not in gone)
    where = f'#line 1 "{path}"\n' if lines else f"/* ---- {path} ---- */\n\n"
    return where + text + "\n"


def parts(files, lines):
    """{fragment: (public text, implementation text)}"""
    texts, macros = {}, set()
    for frag, names in files.items():
        for name in names:
            path = f"src/{frag}/{name}"
            texts[path] = read(path)
            if name.endswith(".h"):
                macros |= set(DEFINE.findall(texts[path])) - set(UNDEF.findall(texts[path]))
    out = {}
    for frag, names in files.items():
        paths = [f"src/{frag}/{name}" for name in names]
        needs = {p: {"src/" + i for i in includes(p, texts[p], files)} for p in paths}
        public = [p for p in paths if p.endswith(".h") and not p.endswith("_in.h")]
        inner = [p for p in paths if p.endswith("_in.h")]
        source = [p for p in paths if p.endswith(".c")]
        out[frag] = tuple("".join(body(p, texts[p], macros, lines) for p in group)
                          for group in (ordered(public, needs), ordered(inner, needs) + source))
    return out


def hash_of(text):
    return "0x" + hashlib.sha256(text.encode()).hexdigest()[:8]


def guarded(kind, frag, text, plain):
    if not text:
        return ""
    key, value = f"PHI__{kind}_{frag.upper()}", hash_of(plain)
    return (f"#ifdef {key}\n#if {key} != {value}\n"
            f'#error "phi: two versions of src/{frag} in one file"\n#endif\n'
            f"#else\n#define {key} {value}\n\n{text}#endif /* {key} */\n\n")


def head_of(out, version):
    path = f"src/head_{out}.txt"
    if not os.path.exists(os.path.join(ROOT, path)):
        raise Trouble(f"{path}: missing: the text at the top of {out}")
    text = read(path)
    if text.count("\n") > 250:
        raise Trouble(f"{path}: over 250 lines")
    if "@VERSION@" not in text or not text.startswith("/* ") or not text.endswith("*/\n"):
        raise Trouble(f"{path}: should be one C comment that says @VERSION@")
    return text.replace("@VERSION@", version)


def licence():
    return "/*\n" + read("LICENSE") + "*/\n"


def version_of(files):
    found = re.search(r'^#define PHI_VERSION "([\d.]+)"$', read("src/base/base.h"), re.M)
    if not found or "base.h" not in files.get("base", ()):
        raise Trouble("src/base/base.h: no PHI_VERSION")
    return found.group(1)


def build(lines):
    files = scan()
    version, plain = version_of(files), parts(files, False)
    shown = parts(files, True) if lines else plain
    out = {}
    for name, (base, frags) in OUT.items():
        frags = [f for f in frags if f in plain]
        text = head_of(name, version)
        text += PRELUDE % (LATE.get(name) or LATE[None] % name)
        if base:
            text += f'#include "{base}"\n'
            for frag in [f for f in OUT[base][1] if f in plain and plain[f][0]]:
                text += f"#if PHI__PUB_{frag.upper()} != {hash_of(plain[frag][0])}\n"
                text += f'#error "phi: {name} and {base} are of different versions"\n#endif\n'
            text += "\n"
        text += QUIET + "".join(guarded("PUB", f, shown[f][0], plain[f][0]) for f in frags) + LOUD
        inner = "".join(guarded("IMP", f, shown[f][1], plain[f][1]) for f in frags)
        if inner:
            text += ("#ifdef PHI_IMPLEMENTATION\n#ifndef PHI__FN\n#ifdef __GNUC__\n"
                     "#define PHI__FN static __attribute__((unused))\n#else\n"
                     "#define PHI__FN static\n#endif\n#endif\n\n" + inner +
                     "#endif /* PHI_IMPLEMENTATION */\n\n")
        out[name] = text + licence()
    return out


def write(headers, folder):
    temporary = []
    try:
        for name, text in headers.items():
            temporary.append(os.path.join(folder, f".{name}.{os.getpid()}.tmp"))
            with open(temporary[-1], "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
        for name, path in zip(headers, temporary):
            os.replace(path, os.path.join(folder, name))
            print(f"wrote {name}: {headers[name].count(chr(10))} lines")
    finally:
        for path in temporary:
            if os.path.exists(path):
                os.remove(path)


def main():
    parser = argparse.ArgumentParser(description="writes phi's headers from src/")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--line", action="store_true")
    parser.add_argument("--out", default=ROOT)
    args = parser.parse_args()
    try:
        headers, stale = build(args.line), {}
        for name, text in headers.items():
            path = os.path.join(args.out, name)
            old = None
            if os.path.exists(path):
                with open(path, encoding="utf-8", newline="") as file:
                    old = file.read()
            if old != text:
                stale[name] = text
        if args.check:
            if stale:
                raise Trouble("stale: " + ", ".join(stale) + ": run make")
        else:
            write(stale, args.out)
    except (Trouble, OSError, UnicodeError) as e:
        print(f"amalgamate.py: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
