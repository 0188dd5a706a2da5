#!/usr/bin/env python3
"""What MSVC lacks is in src/ only where the preprocessor asks for the compiler, or for the system.

    gcc's words      __attribute__, __builtin_x, typeof, ({...}) and their like: inside an #if that names __GNUC__,
                     PHI__MSVC or another macro of a compiler (COMPILER)
    POSIX            headers, types and functions of the C library that Windows has not: inside an #if that names
                     PHI__OS_POSIX, or another macro of a system (SYSTEM)
    names            that <windows.h> takes for macros: near, far, small, interface...
    arrays           of no elements or of an open length as members
    initializers     .member = value, which MSVC's C++ takes from C++20 on alone

`make check` compiles the implementation with a stand-in for MSVC, too (scripts/check.py). Prints every breach; exit
code 1 on any."""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMPILER = re.compile(r"\b(?:__GNUC__|__clang__|__ATOMIC_ACQUIRE|__SIZEOF_INT128__|__has_feature|PHI__MSVC|PHI__JSON_SSE2|"
                      r"PHI__ARENA_ASAN|PHI__LATE|__MINGW32__|__STDC_NO_ATOMICS__)\b")
SYSTEM = re.compile(r"\b(?:PHI__OS_\w+|PHI__POLLER_\w+|__APPLE__|__linux__|__GLIBC__|__NetBSD__)\b")
GNU = re.compile(r"\b(?:__attribute__|__builtin_\w+|__sync_\w+|__atomic_\w+|__extension__|__typeof(?:__)?|typeof|__thread|"
                 r"__asm__|__auto_type|__label__|__int128|_Atomic|_Thread_local|_Noreturn|alloca)\b|\(\{|"
                 r"#\s*(?:include_next|warning|pragma\s+(?:GCC|clang))|#\s*include <(?:stdatomic|threads)\.h>")
POSIX = re.compile(r"\b(?:ssize_t|pid_t|uid_t|gid_t|mode_t|off_t|nlink_t|useconds_t|sigset_t|"
                   r"strn?casecmp|strtok_r|strsep|strcasestr|strndup|strnlen|stpn?cpy|memmem|memrchr|mempcpy|v?asprintf|"
                   r"gmtime_r|localtime_r|timegm|clock_gettime|gettimeofday|nanosleep|usleep|setenv|unsetenv|getline|"
                   r"ftruncate|fsync|lstat|realpath|mkstemp|opendir|readdir|waitpid|waitid|"
                   r"PATH_MAX|S_ISDIR|S_ISREG|S_ISLNK|M_PI|strerror_r|errno_t)\b(?=\s*[\w(*;,)]|$)|"
                   r"#\s*include <(?:unistd|dirent|strings|pthread|sched|poll|spawn|termios|alloca|libgen|glob|regex|"
                   r"sys/(?!stat\.h|types\.h)\w+|arpa/\w+|netinet/\w+)\.h>")
WINDOWS = re.compile(r"\b(?:near|far|small|interface|hyper|pascal|cdecl|huge|environ)\b")
ARRAY = re.compile(r"^\s+(?!return\b|case\b|goto\b)(?:const |struct |unsigned )*\w+[ *]+\w+\[0?\];")
NAMED = re.compile(r"[{,]\s*\.[a-z]\w*\s*=[^=]")
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'", re.S)
ROOMS = ("src/io/", "src/system/", "src/serve/")  # what touches the system


def plain(text):
    """The text without comments and the insides of strings, in the same lines."""
    def gone(found):
        word = found.group(0)
        return "\n" * word.count("\n") if word[0] == "/" else word[0] + word[0]
    return TOKEN.sub(gone, text)


def breaches(name, text):
    """(line number, words) of a file of src/."""
    stack = []  # the conditions of each open #if, with those of its branches before
    joined = re.sub(r"\\\n", "\x01", plain(text))
    number = 0
    for line in joined.split("\n"):
        number += 1
        here, number = number, number + line.count("\x01")
        asked = re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)", line)
        if asked and asked[1].startswith("if"):
            stack.append(asked[2])
        elif asked and asked[1] in ("elif", "else") and stack:
            stack[-1] += " " + asked[2]
        elif asked and stack:
            stack.pop()
        if asked:
            continue
        around, code = " ".join(stack), line.replace("\x01", " ")
        gnu, posix = GNU.search(code), POSIX.search(code)
        if gnu and not COMPILER.search(around):
            yield here, f"{gnu.group(0)}: MSVC lacks it: put it into an #if of the compiler, or behind a macro"
        if posix and not (name.startswith(ROOMS) and SYSTEM.search(around)):
            yield here, f"{posix.group(0)}: Windows lacks it: put it into an #if of PHI__OS_POSIX in src/io or src/system"
        taken = WINDOWS.search(code)
        if taken and not SYSTEM.search(around):
            yield here, f"{taken.group(0)}: a macro of <windows.h> has this name"
        if ARRAY.search(code):
            yield here, "an array without elements, or of an open length"
        if NAMED.search(code):
            yield here, "an initializer with the name of a member"


def main():
    bad, count = [], 0
    for path in sorted(glob.glob(os.path.join(ROOT, "src", "*", "*.[ch]"))):
        name = os.path.relpath(path, ROOT)
        with open(path, encoding="utf-8") as file:
            bad += [f"{name}:{number}: {words}" for number, words in breaches(name, file.read())]
        count += 1
    print("\n".join(bad[:60]) if bad else f"{count} files have nothing that MSVC lacks")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
