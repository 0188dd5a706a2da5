#!/usr/bin/env python3
"""What a program pays for, in bytes: of README's first program by subject, and what each table of features adds to it.

The implementation is compiled once (gcc -Os -ffunction-sections -fdata-sections) and linked with --gc-sections, stripped;
a figure is the column `text` of size, but for those by subject, which are the sizes of symbols."""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)
import amalgamate  # noqa: E402  pylint: disable=wrong-import-position

# The first row that fits a file has it.
SUBJECTS = (
    ("failures and retry", r"wire/classify|base/utf8"),
    ("limits", r"loop/limits"),
    ("tools with their schema check", r"loop/(tools|toolset|cap|update)|text/schema|wire/(repair|strict)"),
    ("hooks", r"loop/hooks"),
    ("queues", r"loop/input"),
    ("cache marks", r"wire/encoder|features/caching"),
    ("compaction without a model", r"features/compact|log/(compact|prune|rewrite)"),
    ("forgetting at a memory limit", r"loop/forget|log/rebase"),
    ("Anthropic's protocol", r"codecs/"),
    ("what protocols share", r"wire/"),
    ("JSON and SSE", r"text/"),
    ("HTTP, clock, poller", r"io/"),
    ("memory, lists, hashes", r"base/"),
    ("history", r"log/|persist/"),
    ("runs, agents, events, messages", r"loop/|agent/|model/|features/"))


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, check=True).stdout


def files_of_names():
    """The file that defines each function and table of src."""
    where = {}
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, "src"))):
        for name in sorted(n for n in names if n.endswith(".c")):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for found in re.finditer(r"^(?:PHI__FN|PHI_API|static)[^;{}()=]*?\b(phi_\w+)\s*[(\[=]", file.read(), re.M):
                    where.setdefault(found[1], os.path.basename(folder) + "/" + name)
    return where


def features():
    with open(os.path.join(ROOT, "src/agent/runtime.c"), encoding="utf-8") as file:
        return re.findall(r"\b(phi_feature_\w+),", file.read().split("all[] =")[-1])


def link(where, objects, name):
    path = os.path.join(where, name)
    run("gcc", "-Wl,--gc-sections", *[os.path.join(where, o) for o in objects], "-o", path, "-lcurl")
    kept = run("nm", "-S", "--size-sort", path)
    run("strip", path)
    return int(run("size", path).split("\n")[1].split()[0]), kept


def main():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        hello = re.search(r"```c\n(.*?)```", file.read(), re.S).group(1)
    with tempfile.TemporaryDirectory() as where:
        def compiled(name, text):
            with open(os.path.join(where, name + ".c"), "w", encoding="utf-8") as file:
                file.write(text)
            run("gcc", "-Os", "-ffunction-sections", "-fdata-sections", "-I", where, "-c",
                os.path.join(where, name + ".c"), "-o", os.path.join(where, name + ".o"))
            return name + ".o"
        for name, text in amalgamate.build(False).items():
            with open(os.path.join(where, name), "w", encoding="utf-8") as file:
                file.write(text)
        phi = compiled("phi", '#define PHI_IMPLEMENTATION\n#include "phi.h"\n')
        plain = hello.replace("#define PHI_IMPLEMENTATION\n", "")
        base, kept = link(where, [compiled("hello", plain), phi], "hello.out")
        sums, known = {row[0]: 0 for row in SUBJECTS}, files_of_names()
        for size, kind, name in re.findall(r"^\w+ (\w+) (\w) (\S+)$", kept, re.M):
            file = known.get(name.split(".")[0])
            for subject, files in SUBJECTS:
                if file and kind not in "bB" and re.match(files, file):
                    sums[subject] += int(size, 16)
                    break
        print(f"README's first program: {base:,}")
        for subject, size in sorted(sums.items(), key=lambda row: -row[1]):
            print(f"  {size:7,} {subject}")
        print(f"  {base - sum(sums.values()):7,} texts, tables without a name, unwind tables, relocations")

        def adds(what, line, text=plain, more=""):
            text = text.replace("phi_runtime_new(NULL)", "phi_runtime_new(&has)").replace(
                "int main(void) {", "int main(void) {\n    phi_runtime_desc has = PHI_ZERO;\n    " + line)
            print(f"  {link(where, [compiled('more', more + text), phi], 'more.out')[0] - base:+7,} {what}")
        print("More, with:")
        for feature in features():
            adds(feature, f"const phi_feature_fn list[] = {{{feature}, NULL}};\n    has.features = list;")
        adds("PHI_ALL_FEATURES", "has.features = PHI_ALL_FEATURES;")
        adds("PHI_ALL_PROTOCOLS", "has.codecs = PHI_ALL_PROTOCOLS;")
        adds("a file store", "phi_store store = PHI_ZERO;\n    phi_file_store_desc at = PHI_ZERO;\n"
             "    (void)phi_file_store_open(&at, &store);")
        adds("snapshots", "phi_str text;\n    (void)phi_agent_snapshot(phi_agent_restore(NULL, NULL, phi_str_of(\"\"),"
             " PHI_RESTORE_RESUME), NULL, &text);")
    return 0


if __name__ == "__main__":
    sys.exit(main())
