#!/usr/bin/env python3
"""What it takes to compile phi.h with its implementation: CPU seconds of the compiler (the least of
three runs), and bytes of the object file, by compiler and level.

    bench_build.py DIR_OF_PHI_H OUT_DIR [OLD]

OLD is a revision whose phi.h is compiled in the same run, in turns with the other: build_old_..., and the new one's
CPU over the old one's.
"""
import os
import resource
import shutil
import subprocess
import sys

ROUNDS = 3


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compile_once(command):
    before = cpu_seconds()
    subprocess.run(command, check=True)
    return cpu_seconds() - before


def section_bytes(path):
    """Code and constants; data is nothing."""
    out = subprocess.run(["size", path], check=True, capture_output=True, text=True).stdout
    return int(out.splitlines()[1].split()[0])


def header_of(revision, out):
    folder = os.path.join(out, "old")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "phi.h"), "wb") as file:
        subprocess.run(["git", "show", revision + ":phi.h"], check=True, stdout=file)
    return folder


def main():
    out = sys.argv[2]
    folders = {"build": sys.argv[1]}
    if len(sys.argv) > 3:
        folders["build_old"] = header_of(sys.argv[3], out)
    source, target = os.path.join(out, "build.c"), os.path.join(out, "build.o")
    with open(source, "w", encoding="utf-8") as file:
        file.write('#define PHI_IMPLEMENTATION\n#include "phi.h"\n')
    for name, include in folders.items():
        with open(os.path.join(include, "phi.h"), encoding="utf-8") as file:
            print(f"{name}_phi_h_lines {sum(1 for _ in file)} lines")
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            continue
        for level in ("-O0", "-O2", "-Os"):
            seconds, code = {name: [] for name in folders}, {}
            for _ in range(ROUNDS):
                for name, include in folders.items():
                    command = [compiler, level, "-I", include, "-c", source, "-o", target]
                    seconds[name].append(compile_once(command))
                    code[name] = section_bytes(target)
            what = f"{compiler}_{level[1:].lower()}"
            for name in folders:
                print(f"{name}_{what}_compile {min(seconds[name]):.2f} s")
                print(f"{name}_{what}_code {code[name]} bytes", flush=True)
            if "build_old" in folders:
                over = min(seconds["build"]) / min(seconds["build_old"])
                print(f"build_{what}_over_old {over:.2f} times", flush=True)


main()
