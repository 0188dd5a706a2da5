#!/usr/bin/env python3
"""What it takes to compile phi.h with its implementation: CPU seconds of the compiler (the least of
three runs), and bytes of the object file, by compiler and level.

    bench_build.py DIR_OF_PHI_H OUT_DIR
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


def main():
    include, out = sys.argv[1:3]
    source, target = os.path.join(out, "build.c"), os.path.join(out, "build.o")
    with open(source, "w", encoding="utf-8") as file:
        file.write('#define PHI_IMPLEMENTATION\n#include "phi.h"\n')
    with open(os.path.join(include, "phi.h"), encoding="utf-8") as file:
        print(f"build_phi_h_lines {sum(1 for _ in file)} lines")
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            continue
        for level in ("-O0", "-O2", "-Os"):
            command = [compiler, level, "-I", include, "-c", source, "-o", target]
            seconds = min(compile_once(command) for _ in range(ROUNDS))
            name = f"build_{compiler}_{level[1:].lower()}"
            print(f"{name}_compile {seconds:.2f} s")
            print(f"{name}_code {section_bytes(target)} bytes", flush=True)


main()
