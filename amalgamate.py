#!/usr/bin/env python3
"""Writes phi_json.h, phi.h and phi_tools.h from src/.

    amalgamate.py                writes what is stale, beside this script
    amalgamate.py --out DIR      ... into DIR instead
    amalgamate.py --check        writes nothing; exit code 1 when a header is stale
    amalgamate.py --line         with #line directives, to debug in the terms of src/

A fragment is a folder of src/. FRAGMENTS is the whole manifest: the order of the layers, and of the
code in the headers. Inside a folder, files follow their own includes, then their names. The
declarations (name.h) come first, in the order of a reader: src/order_phi.h.txt lists them under
headings, with the text of each; a header without such a file has the order of the layers. What
phi_json.h shares with the others, and every run of declarations and every folder of code (name_in.h,
name.c), is under a guard whose value is a hash of its content: the second copy of the same part is
skipped, a different one is an #error. Nothing is written unless everything went well.
"""
import argparse
import hashlib
import os
import re
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))

FRAGMENTS = ["base", "text", "io", "model", "wire", "codecs", "log", "persist", "loop", "features", "agent",
             "formats", "system", "mock", "record", "orchestrate", "config", "tools", "permissions", "serve", "mcp",
             "openapi", "sections", "trace"]
# The interface of a room is room_in.h: no other internal header is included outside, but for these:
# the system's own, and what codecs are written with.
OPEN = {"io/os_in.h", "io/windows_in.h", "wire/codec_in.h"}
FOREIGN = {"WIN32_LEAN_AND_MEAN", "NOMINMAX"}  # macros that windows.h looks for; they stay defined
TOOLS = FRAGMENTS.index("formats")  # from here on: phi_tools.h

# A header, the header it includes, and its own fragments.
OUT = {
    "phi_json.h": (None, ["base", "text", "formats"]),
    "phi.h": (None, FRAGMENTS[:TOOLS]),
    "phi_tools.h": ("phi.h", FRAGMENTS[TOOLS:]),
}

HEADING = re.compile(r"^\[(.+)\]$")  # of src/order_phi.h.txt, as are these
LISTED = re.compile(r"^[a-z]+/[a-z0-9_]+\.h$")
# What a header needs as a file of its own, and not as a part of a larger one.
ONCE = re.compile(r"^#ifndef (PHI_\w+_H)\n#define \1\n\n?(.*)^#endif\n\Z", re.M | re.S)
EXTERN = re.compile(r'^#ifdef __cplusplus\n(?:extern "C" \{|\})\n#endif\n\n?', re.M)
OVERLOADS = re.compile(r"^#ifdef __cplusplus\n\}\n(inline .*?^)#endif\n", re.M | re.S)  # of C++, behind its end

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
#if defined(__linux__) && !defined(_FEATURES_H) && !defined(_FILE_OFFSET_BITS)
#define _FILE_OFFSET_BITS 64 /* 32-bit glibc: else readdir and stat fail on large numbers */
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE 1
#endif
#if defined(__NetBSD__) && !defined(_NETBSD_SOURCE)
#define _NETBSD_SOURCE 1
#endif
#if defined(_MSC_VER) && !defined(_CRT_SECURE_NO_WARNINGS)
#define _CRT_SECURE_NO_WARNINGS 1
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
            if name not in [f"{kind}_{out}.txt" for out in OUT for kind in ("head", "order")]:
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
        if inc.endswith("_in.h") and folder != mine and inc != f"{folder}/{folder}_in.h" and inc not in OPEN:
            raise Trouble(f'{path}: #include "{inc}": {folder} shows other rooms {folder}_in.h alone')
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
        if name in FOREIGN:
            continue
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
    if lines:
        return f'#line 1 "{path}"\n' + text + "\n"
    if path.endswith(".h"):
        text = ONCE.sub(r"\2", text)
        if not SYSTEM.search(text):
            text = EXTERN.sub("", text)
            text = OVERLOADS.sub(r'#ifdef __cplusplus\nextern "C++" {\n\1}\n#endif\n', text)
    return f"/* ---- {path} ---- */\n\n" + text.rstrip("\n") + "\n\n"


def parts(files, lines):
    """({public header: text}, {fragment: text of its code}), both in the order of the layers."""
    texts, macros = {}, set()
    for frag, names in files.items():
        for name in names:
            path = f"src/{frag}/{name}"
            texts[path] = read(path)
            if name.endswith(".h"):
                macros |= set(DEFINE.findall(texts[path])) - set(UNDEF.findall(texts[path]))
    public, code = {}, {}
    for frag in [f for f in FRAGMENTS if f in files]:
        paths = [f"src/{frag}/{name}" for name in files[frag]]
        needs = {p: {"src/" + i for i in includes(p, texts[p], files)} for p in paths}
        shown = ordered([p for p in paths if p.endswith(".h") and not p.endswith("_in.h")], needs)
        inner = ordered([p for p in paths if p.endswith("_in.h")], needs)
        public.update({p: body(p, texts[p], macros, lines) for p in shown})
        code[frag] = "".join(body(p, texts[p], macros, lines)
                             for p in inner + [p for p in paths if p.endswith(".c")])
    return public, code


def frag_of(path):
    return path.split("/")[1]


def reader_order(out, paths):
    """What `out` declares: headings (as comments) and paths, in the order of src/order_<out>.txt."""
    name = f"src/order_{out}.txt"
    if not os.path.exists(os.path.join(ROOT, name)):
        return paths
    said, text, listed = [], [], []
    for line in read(name).split("\n"):
        heading = HEADING.match(line)
        if (heading or LISTED.match(line)) and "".join(text).strip():
            said.append("\n".join(text).rstrip() + " */\n\n")
            text = []
        if heading:
            text = [f"/* ======== {heading[1]} ========", ""]
        elif LISTED.match(line):
            if f"src/{line}" in listed or f"src/{line}" not in paths:
                raise Trouble(f"{name}: {line}: listed twice, or no header of {out}")
            for need in INCLUDE.findall(read(f"src/{line}")):
                if f"src/{need}" in paths and f"src/{need}" not in listed:
                    raise Trouble(f"{name}: {line} comes before {need}, which it includes")
            said.append(f"src/{line}")
            listed.append(f"src/{line}")
        elif text:
            text.append("   " + line if line else "")
    lost = [p for p in paths if p not in listed]
    if lost:
        raise Trouble(f"{name}: does not list {', '.join(p[4:] for p in lost)}")
    return said


def blocks(out, paths, public):
    """[(name of the guard, text)]: a block for each header that is phi_json.h's, too, and one for
    each run of others."""
    made, run, runs = [], "", 0
    stem = out[:-2].upper()

    def end():
        nonlocal run, runs
        if run:
            runs += 1
            made.append((f"PUB_{stem}_{runs}", run))
        run = ""

    for item in reader_order(out, paths):
        if item in public and frag_of(item) in OUT["phi_json.h"][1]:
            end()
            made.append((f"PUB_{item[4:-2].replace('/', '_').upper()}", public[item]))
        else:
            run += public.get(item, item)
    end()
    return made


def hash_of(text):
    return "0x" + hashlib.sha256(text.encode()).hexdigest()[:8]


def guarded(key, text, plain, what):
    key, value = f"PHI__{key}", hash_of(plain)
    return (f"#ifdef {key}\n#if {key} != {value}\n"
            f'#error "phi: two versions of {what} in one file"\n#endif\n'
            f"#else\n#define {key} {value}\n\n{text}#endif /* {key} */\n\n")


def c_linkage(text):
    """Around declarations that C++ must find as C's; a system header does that itself."""
    if not text or SYSTEM.search(text) or 'extern "C"' in text:
        return text
    return ('#ifdef __cplusplus\nextern "C" {\n#endif\n\n' + text +
            '#ifdef __cplusplus\n}\n#endif\n')


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
    out, declared = {}, {}
    for name, (base, frags) in OUT.items():
        frags = [f for f in frags if f in plain[1]]
        paths = [p for p in plain[0] if frag_of(p) in frags]
        declared[name] = blocks(name, paths, plain[0])
        text = head_of(name, version)
        text += PRELUDE % (LATE.get(name) or LATE[None] % name)
        if base:
            text += f'#include "{base}"\n'
            for key, part in declared[base]:
                text += f"#if PHI__{key} != {hash_of(part)}\n"
                text += f'#error "phi: {name} and {base} are of different versions"\n#endif\n'
            text += "\n"
        text += QUIET
        for (key, part), (_, body_of) in zip(declared[name], blocks(name, paths, shown[0])):
            text += guarded(key, c_linkage(body_of), part, "phi's declarations")
        text += LOUD
        inner = "".join(guarded(f"IMP_{f.upper()}", shown[1][f], plain[1][f], f"src/{f}")
                        for f in frags if plain[1][f])
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
