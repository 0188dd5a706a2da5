#!/usr/bin/env python3
"""What a folder of src/ may use: our folders above it, no system header or platform macro outside
src/io, src/system and src/serve, no memory but through the allocator, no output; and the rooms of phi.h name no function of
YAML or TOML. Prints every breach; exit code 1 on any."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)
sys.dont_write_bytecode = True
import amalgamate  # noqa: E402

PLAIN = {"assert.h", "errno.h", "ctype.h", "float.h", "limits.h", "math.h", "stdarg.h", "stdbool.h",
         "stdatomic.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "inttypes.h",
         "emmintrin.h", "arm_neon.h"}  # the last two: the processor, not the system
PUBLIC = {"stdbool.h", "stddef.h", "stdint.h"}
PLATFORM = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b.*\b(_WIN32|__linux__|__APPLE__|__unix__"
                      r"|__\w*BSD\w*__|_MSC_VER|__MINGW32__|_POSIX_\w+|__ANDROID__)\b", re.M)
COMPILERS = {"_MSC_VER", "__MINGW32__"}  # src/base knows what they lack; intrin.h is MSVC's, too
FEATURE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(_\w+_SOURCE)\b", re.M)
CALLS = re.compile(r"(?<![\w.>])(malloc|calloc|realloc|free|strdup|strndup|asprintf|printf|fprintf|puts|"
                   r"putchar|perror|atexit|exit|signal|sigaction|setlocale|rand|srand|fork|vfork|system|"
                   r"popen|alloca|gets|strtok|strcpy|strcat|sprintf|setenv|putenv)\s*\(")
# Where such a call is the point: file -> names.
ALLOWED = {"src/base/base.c": {"free", "realloc"}, "src/io": {"sigaction", "free"}, "src/system": {"sigaction", "free"}}
SYSTEM = ("io", "serve", "system")  # the folders that know the system
FORMATS = re.compile(r"\bphi_{1,2}(?:yaml|toml)_\w+|\bPHI_{1,2}(?:YAML|TOML)_\w+")
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'", re.S)


def blank(match):
    """A comment or a literal as blanks of the same lines."""
    return re.sub(r"[^\n]", " ", match.group(0))


def main():
    found = []
    order = amalgamate.FRAGMENTS
    try:
        files = amalgamate.scan()
    except amalgamate.Trouble as e:
        print(e)
        return 1
    for folder, names in files.items():
        for name in names:
            path = f"src/{folder}/{name}"
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                text = file.read()
            code = COMMENT.sub(blank, text)

            def breach(offset, words, path=path, text=text):
                found.append(f"{path}:{text.count(chr(10), 0, offset) + 1}: {words}")

            for inc in amalgamate.INCLUDE.finditer(text):
                to = inc.group(1).rpartition("/")[0]
                if to not in order:
                    breach(inc.start(), f'#include "{inc.group(1)}" is not of the form "folder/name.h"')
                elif order.index(to) > order.index(folder):
                    breach(inc.start(), f"{folder} may not use {to}, which is below it")
            public = name.endswith(".h") and not name.endswith("_in.h")
            allowed = PUBLIC if public else PLAIN
            for inc in amalgamate.SYSTEM.finditer(text):
                if folder == "base" and not public and inc.group(1) == "intrin.h":
                    continue
                if inc.group(1) not in allowed and (public or folder not in SYSTEM):
                    breach(inc.start(), f"<{inc.group(1)}> belongs in src/io, src/system or src/serve, or in no public header")
            if "//" in re.sub(r"https?://", "", code):
                breach(code.index("//"), "a // comment")
            for use in FEATURE.finditer(code):
                breach(use.start(), f"{use.group(1)} comes from the build")
            if folder not in SYSTEM:
                for use in PLATFORM.finditer(code):
                    if folder == "base" and use.group(1) in COMPILERS:
                        continue
                    breach(use.start(), f"{use.group(1)}: the platform is known in src/io, src/system and src/serve only")
            if order.index(folder) < amalgamate.TOOLS:
                for use in FORMATS.finditer(code):
                    breach(use.start(), f"{use.group(0)}: phi.h knows neither YAML nor TOML")
            fine = ALLOWED.get(path, set()) | ALLOWED.get(f"src/{folder}", set())
            for use in CALLS.finditer(code):
                if use.group(1) not in fine:
                    breach(use.start(), f"{use.group(1)}() is not used here")
    print("\n".join(found), end="\n" * bool(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
