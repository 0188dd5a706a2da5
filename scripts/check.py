#!/usr/bin/env python3
"""All of `make check`, in parallel: one line for each group with its seconds of CPU, what failed in full, exit
code 1 on any failure. check.py WORD... runs only the jobs whose names contain one of the words; -v times each.

Every compile test calls a function of the header it is about, so that it cannot pass by compiling
nothing; the linked ones take the address of every public function."""
import concurrent.futures
import glob
import itertools
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)
sys.dont_write_bytecode = True
import amalgamate  # noqa: E402

OUT = os.path.join(ROOT, "build", "check")
INC = os.path.join(OUT, "include")
HEADERS = list(amalgamate.OUT)
C = ["c99", "c11", "c17", "c2x"]
CPP = ["c++11", "c++14", "c++17", "c++20"]
COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}
OPTIMISED, SMALL = ("gcc", "c2x"), ["-Os", "-ffunction-sections", "-fdata-sections"]
# They have no atomics. What is not NEEDED is compiled with where it is there.
OTHERS = ("tcc", "pcc")
NEEDED = ("tcc",)
LEVELS = [("gcc", "c99", "-O2"), ("gcc", "c99", "-O1"), ("gcc", "c99", "-O3"), ("gcc", "c++17", "-O3"), ("clang", "c99", "-O3"),
          ("clang", "c++17", "-Os")]
ASKED_FOR = {"levels"}  # groups that run if they are named: make soak does it
WARN_C = ["-Werror", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wundef",
          "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wvla"]
# On a file as long as a header, cc1 spends more on this one warning than on all the rest (it reads the file again from
# its start). g++ and clang give it cheaply, for every dialect; the files of src/ are compiled with it.
SLOW = {("gcc", False): ["-Wno-misleading-indentation"]}
WARN_CPP = ["-Werror", "-Wall", "-Wextra", "-Wmissing-declarations"]
SHOWN = 3  # failed jobs of a group that are shown
CALL = "int call(void);\nint call(void) { return phi_status_text(PHI_NO_MEMORY)[0]; }\n"

# What the object file of a profile must not ask for.
CURL = r"curl_\w+"
PROCESS = (r"posix_spawn\w*|v?fork|_Fork|exec[lv]\w*|fexecve|wait|waitid|waitpid|wait[34]|kill|killpg|"
           r"pidfd_\w+|popen|system")
FILES = (r"open(at)?(64)?|__open\w*|creat(64)?|fopen(64)?|freopen(64)?|fdopen|rename\w*|mkdir\w*|rmdir|"
         r"unlink\w*|remove|opendir|fdopendir|readdir(64)?|f?l?stat(at)?(64)?|statx|realpath|fsync|"
         r"fdatasync|flock|pread(64)?|f?truncate(64)?|mkstemp\w*|mkdtemp|link(at)?|symlink\w*|readlink\w*|access|"
         r"ftw|nftw|glob|scandir|f?ch(mod|own|dir)\w*")
LISTEN = r"socket|bind|listen|accept4?|shutdown|[gs]etsockopt|getsockname|inet_\w+|recv\w*|send(to|msg)?"
NEVER = (r"printf|fprintf|puts|fputs|putchar|perror|exit|_exit|atexit|signal|system|popen|fork|vfork|"
         r"pthread_create|thrd_create|srand|rand|gets|strtok|setlocale|longjmp|setenv|putenv|"
         r"getaddrinfo|gethostbyname|sleep|usleep")
# The one global of ours: that curl_global_init was called (src/io/http.c).
ONCE = r"state(\.\d+)?"
PROFILES = {"": NEVER, "PHI_NO_CURL": CURL, "PHI_NO_PROCESS": PROCESS, "PHI_NO_FILES": FILES, "PHI_NO_LISTEN PHI_NO_CURL": LISTEN}
# What a program for a system without this does not define.
FEATURES = {"PHI_NO_LISTEN": "src/serve/*.c"}  # macro: the files that are left out whole
# Of the programs whose size is printed: what they do not name, and so do not link.
NOT_NAMED = (r"phi__(?:gemini|bedrock|interactions|openai_\w+|chat|resp|facts?|failover_do|effects|deferred|capture|fields|caching|"
             r"summary|yaml|toml|recorder|tape|config|cfg|mcp|openapi|permissions|trace|dry|ahead|queries|tfile|doc)_\w+")


class Failed(Exception):
    pass


CPU = threading.local()  # seconds that the commands of this thread's job have taken


def run(command, code=0, cwd=ROOT):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.STDOUT, cwd=cwd, errors="replace")
    with process.stdout:
        said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    CPU.seconds = getattr(CPU, "seconds", 0.0) + usage.ru_utime + usage.ru_stime
    if code is not None and (process.returncode != 0) != (code != 0):
        lines = said.strip().split("\n")
        more = [f"... {len(lines) - 60} more lines"] if len(lines) > 60 else []
        raise Failed("\n".join(["$ " + " ".join(command)] + lines[:60] + more))
    return said


def source(name, text):
    path = os.path.join(OUT, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def includes(headers, implement=False):
    define = "#define PHI_IMPLEMENTATION\n" if implement else ""
    return define + "".join(f'#include "{h}"\n' for h in headers)


def compiler(cc, std):
    """The command that compiles for a dialect, with its warnings as errors."""
    cpp = std.startswith("c++")
    return [COMPILERS[cc][cpp], f"-std={std}", "-x", "c++" if cpp else "c", "-I", INC] + \
        (WARN_CPP if cpp else WARN_C) + SLOW.get((cc, cpp), [])


def tag(*words):
    name = re.sub(r"\W+", "_", "_".join(words))
    return name if len(name) <= 120 else f"{name[:100]}_{zlib.crc32(name.encode()):08x}"  # a file's name has an end


def public_functions(headers, defines=()):
    """The names of every function the headers declare, where these macros are defined."""
    path = source(tag("declared", *headers, *defines) + ".c", includes(headers))
    text = run(["gcc", "-E", "-P", "-I", INC, "-DPHI_API=PHI__PUBLIC"] + ["-D" + d for d in defines] + [path])
    return list(dict.fromkeys(re.findall(r"\bPHI__PUBLIC\b[^;{}()]*?\b(phi_\w+)\s*\(", text)))


def user_program(std, defines=()):
    """A main that needs every public function (C), or calls one of each header's (C++)."""
    names = public_functions(HEADERS, defines)
    text = includes(HEADERS)
    if std.startswith("c++"):
        return text + "int main() {\n    phi_memory memory = PHI_ZERO;\n" \
            "    phi_memory_init(&memory, NULL, 0);\n" \
            "    return phi_status_text(PHI_OK)[0] == 'o' ? 0 : 1;\n}\n"
    rows = "".join(f"    (any)(void (*)(void)){name},\n" for name in names)
    return "#include <string.h>\n" + text + "typedef void (*any)(void);\n" + \
        "int main(void) {\n    any all[] = {\n" + rows + \
        "        0};\n    size_t i, n = 0;\n    for (i = 0; i + 1 < sizeof all / sizeof all[0]; i++)\n" \
        f"        n += all[i] != 0;\n    return n == {len(names)} &&" \
        " phi_status_text(PHI_OK)[0] == 'o' ? 0 : 1;\n}\n"


# ---- jobs ----

def job_declarations(cc, std, header):
    path = source(tag("decl", cc, std, header) + ".c", includes([header, header]) + CALL)
    run(compiler(cc, std) + ["-fsyntax-only", path])


def job_implementation(cc, std, header):
    path = source(tag("impl", cc, std, header) + ".c", includes([header, header], True) + CALL)
    run(compiler(cc, std) + ["-fsyntax-only", path])


_objects, _objects_lock = {}, threading.Lock()


def once(key, make):
    """What make() returns, made by the first job that asks for it: several jobs look at one object file."""
    with _objects_lock:
        first = key not in _objects
        if first:
            _objects[key] = concurrent.futures.Future()
    if first:
        try:
            _objects[key].set_result(make())
        except Exception as e:
            _objects[key].set_exception(e)
    return _objects[key].result()


def implementation(cc, std):
    """The object file of all headers, not optimised, so that it names what dead code would call, too. It is for programs
    that stay in their place (-no-pie): a constant is in no section that is written to."""
    def make():
        path = source(tag("all", cc, std) + ".c", includes(HEADERS, True))
        run(compiler(cc, std) + ["-fno-pic", "-c", path, "-o", path + ".o"])
        return path + ".o"
    return once((cc, std), make)


def tcc_objects(defines):
    """The two objects of a program of one thread that calls every function of a build with these macros."""
    def make():
        name = tag("tcc", *defines)
        paths = [source(name + "_impl.c", includes(HEADERS, True)), source(name + "_user.c", user_program("c99", defines))]
        for path in paths:
            compile_shifted(["tcc"], ["-DPHI_NO_THREADS", *["-D" + d for d in defines], "-c", path, "-o", path + ".o"])
        return [path + ".o" for path in paths]
    return once(("tcc", *defines), make)


def link(name, command, impl, user, libs, execute=True):
    """Two files of one program: the implementation (its text, or an object), and its user."""
    program = os.path.join(OUT, name)
    if impl.endswith(".o"):
        one = impl
    else:
        one = program + "_impl.o"
        run(command + ["-c", source(name + "_impl.c", impl), "-o", one])
    two = source(name + "_user.c", user)
    run(command + ["-c", two, "-o", program + "_user.o"])
    driver = [w for w in command if not w.startswith(("-x", "-W", "-std", "-I")) and
              w not in ("c", "c++", INC)]
    run(driver + [one, program + "_user.o", "-o", program] + libs)
    if execute:
        run([program])


def job_link(cc, std, order):
    """Headers in this order, each twice. One dialect is optimised for size: with what the optimiser warns of, and the
    size of a program that names every function (make test has -O2, file by file)."""
    level = SMALL if (cc, std) == OPTIMISED else []
    impl = implementation(cc, std) if std == C[0] else includes(order + order, True)
    name = tag("link", cc, std)
    link(name, compiler(cc, std) + level, impl, user_program(std), ["-lcurl"] + ["-no-pie"] * impl.endswith(".o") +
         ["-Wl,--gc-sections"] * bool(level))
    return f"text of everything {text_of(os.path.join(OUT, name)):,} bytes" if level else None


def job_order(order, implement):
    path = source(tag("order", *order, str(implement)) + ".c", includes(order, implement) + CALL)
    run(compiler("gcc", "c99") + ["-fsyntax-only", path])


def job_later(order):
    """First the declarations, as through another header; then the implementation."""
    text = includes(order) + includes(order, True) + CALL
    path = source(tag("later", *order) + ".c", text)
    run(compiler("gcc", "c99") + ["-D_GNU_SOURCE", "-fsyntax-only", path])


def job_optimised(cc, std, level, headers):
    """What an optimiser finds, which warns of other things at each of its levels."""
    path = source(tag("opt", cc, std, level, headers[0]) + ".c", includes(headers, True))
    run(compiler(cc, std) + [level, "-c", path, "-o", path + ".o"])


def job_everything(std):
    """All warnings there are, about the declarations alone."""
    path = source(tag("everything", std) + ".c", includes(HEADERS) + CALL)
    run(compiler("clang", std) + ["-Weverything", "-fsyntax-only", path])


def job_padded(std):
    path = source(tag("padded", std) + ".c", includes(HEADERS) + CALL)
    run(compiler("gcc", std) + ["-Wpadded", "-fsyntax-only", path])


def compile_shifted(command, rest):
    """Compiles, if need be once more with 64 blanks before each header: pcc's preprocessor writes a stray
    "?" where an #include's line meets the end of its buffer, so that it takes a few bytes more or less to
    fail. What is wrong with the headers is wrong with both."""
    try:
        run(command + ["-I", INC] + rest)
    except Failed:
        shifted = INC + "_shifted"
        os.makedirs(shifted, exist_ok=True)
        for header in HEADERS:
            with open(os.path.join(INC, header), encoding="utf-8") as file:
                text = file.read()
            with open(os.path.join(shifted, header), "w", encoding="utf-8") as file:
                file.write(" " * 63 + "\n" + text)
        run(command + ["-I", shifted] + rest)


def job_other_compiler(cc):
    """A compiler without atomics, as far as it is there: declarations, then a program of one thread."""
    if shutil.which(cc) is None:
        if cc in NEEDED:
            raise Failed(f"{cc} is missing: make deps")
        return f"no {cc}"
    path = source(tag("decl", cc) + ".c", includes(HEADERS + HEADERS) + CALL)
    compile_shifted([cc], ["-c", path, "-o", path + ".o"])
    program = os.path.join(OUT, tag("link", cc))
    if cc == "tcc":
        objects = tcc_objects([])
    else:
        objects = [source(program + "_impl.c", includes(HEADERS, True)), source(program + "_user.c", user_program("c99"))]
        for path in objects:
            compile_shifted([cc], ["-DPHI_NO_THREADS", "-c", path, "-o", path + ".o"])
        objects = [path + ".o" for path in objects]
    run([cc, *objects, "-o", program, "-lcurl"])
    run([program])
    return None


def job_atomics(cc, std, define):
    """Without the builtins: C11's atomics, or none. clang's program also runs; gcc would take long."""
    command, name = compiler(cc, std) + ["-D" + define], tag("atomics", cc, std, define)
    if cc == "clang":
        link(name, command, includes(HEADERS, True), user_program(std), ["-lcurl"])
    else:
        run(command + ["-fsyntax-only", source(name + ".c", includes(HEADERS, True))])


def job_refused(std, define, words):
    """A dialect or a compiler that cannot do it is told so in words."""
    path = source(tag("refused", std, define) + ".c", includes(["phi.h"], True))
    said = run(["gcc", f"-std={std}", "-w", "-I", INC, "-D" + define, "-E", path, "-o", os.devnull], code=1)
    if words not in said:
        raise Failed(f"expected the words: {words}\n{said[:500]}")


def job_static(cc, std):
    name = tag("static", cc, std)
    path = source(name + ".c", "#define PHI_STATIC\n" + includes(HEADERS, True) +
                  user_program("c++").split(includes(HEADERS))[1].replace("main()", "main(void)"))
    program = os.path.join(OUT, name)
    run(compiler(cc, std) + ["-c", path, "-o", program + ".o"])
    run([COMPILERS[cc][std.startswith("c++")], program + ".o", "-o", program, "-lcurl"])
    run([program])
    seen = [line for line in run(["nm", "-g", "--defined-only", program + ".o"]).split("\n")
            if " phi" in line]
    if seen:
        raise Failed("PHI_STATIC, and yet exported:\n" + "\n".join(seen))


def job_32bit(std):
    command = compiler("gcc", std) + ["-m32", "-DPHI_NO_CURL"]
    link(tag("m32", std), command, includes(HEADERS, True), user_program(std), [])


def cross(cc, std):
    """The command of a compiler for Windows, or None where its C++ half is not there."""
    cpp = std.startswith("c++")
    if cc.startswith("clang"):  # which would search this system's headers, too
        bits = cc[6:] or "x86_64"
        mingw = once(("mingw", bits), lambda: folder_of([f"{bits}-w64-mingw32-gcc-posix"], "windows.h"))
        return compiler("clang", std) + [f"--target={bits}-pc-windows-gnu", "-nostdlibinc", "-isystem", mingw]
    name = f"{cc}-w64-mingw32-{'g++' if cpp else 'gcc'}-posix"
    if shutil.which(name):
        return [name] + compiler("gcc", std)[1:]
    if cpp:
        return None
    raise Failed(f"{name} is missing: make deps")


def job_mingw(cc, std, headers):
    """The declarations for Windows; each header alone by the 64-bit compiler, and by the others after all macros of
    <windows.h>."""
    command = cross(cc, std)
    if command is None:
        return f"no C++ compiler for {cc}"
    before = "" if cc == "x86_64" else "#include <winsock2.h>\n#include <windows.h>\n"
    path = source(tag("mingw", cc, std, *headers) + ".c", before + includes(headers) + CALL)
    run(command + ["-fsyntax-only", path])
    return None


def job_msvc(std, header):
    """The declarations for the other ABI of Windows, whose own headers are not needed for that."""
    path = source(tag("msvc", std, header) + ".c", includes([header]) + CALL)
    run(compiler("clang", std) + ["--target=x86_64-pc-windows-msvc", "-fms-extensions", "-ffreestanding",
                                  "-fsyntax-only", path])


def folder_of(command, header):
    """The folder in which a compiler finds a header."""
    said = run(command + ["-M", "-x", "c", source(tag("where", command[0], header) + ".c", f"#include <{header}>\n")])
    return re.search(rf"(\S+)/{re.escape(header)}\b", said).group(1)


def curl_headers():
    """A folder with libcurl's headers and no other of this system: they are the same for every system."""
    def make():
        folder = os.path.join(OUT, "curl_include")
        os.makedirs(folder)
        os.symlink(os.path.join(folder_of(["gcc"], "curl/curl.h"), "curl"), os.path.join(folder, "curl"))
        return folder
    return once("curl_headers", make)


def job_windows(cc, std):
    """The implementation for Windows."""
    command = cross(cc, std)
    if command is None:
        return f"no C++ compiler for {cc}"
    path = source(tag("windows", cc, std) + ".c", includes(HEADERS, True) + CALL)
    run(command + ["-isystem", curl_headers(), "-fsyntax-only", path])
    return None


# What a stand-in for MSVC includes before it forgets which compiler it is. The first two come before <windows.h>.
MSVC_HAS = ["winsock2.h", "ws2tcpip.h", "windows.h", "bcrypt.h", "direct.h", "fcntl.h", "io.h", "process.h", "share.h", "sys/stat.h",
            "sys/types.h", "assert.h", "ctype.h", "errno.h", "float.h", "inttypes.h", "limits.h", "locale.h", "math.h",
            "signal.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "time.h",
            "wchar.h", "emmintrin.h", "x86intrin.h", "curl/curl.h"]
# mingw-w64 has these, and MSVC has not.
MSVC_LACKS = ["unistd.h", "dirent.h", "strings.h", "pthread.h", "sched.h", "sys/time.h", "sys/param.h", "getopt.h", "stdatomic.h",
              "libgen.h"]
NOT_MSVC = ["__GNUC__", "__clang__", "__MINGW32__", "__MINGW64__", "__ATOMIC_ACQUIRE", "__SIZEOF_INT128__", "__SSE2__",
            "__attribute__", "__extension__", "strcasecmp", "strncasecmp", "S_ISDIR", "S_ISREG", "PATH_MAX", "ftruncate",
            "strtok_r", "gmtime_r", "localtime_r", "M_PI", "F_OK", "R_OK", "W_OK", "X_OK", "alloca"]
NAMES_LACKED = ["__attribute__", "__extension__", "ssize_t", "pid_t", "mode_t", "useconds_t", "sigset_t", "strcasecmp", "strncasecmp",
                "strtok_r", "gmtime_r", "localtime_r", "usleep", "S_ISDIR", "S_ISREG", "PATH_MAX", "ftruncate", "M_PI", "F_OK",
                "R_OK", "W_OK", "X_OK", "alloca", "clock_gettime", "gettimeofday", "nanosleep", "opendir", "readdir", "closedir"]


def job_stand_in(std, bits):
    """The implementation as MSVC would read it: clang with mingw's headers, which then forgets its own names and those
    of mingw that MSVC lacks. It is no proof, but it compiles what only MSVC compiles."""
    folder = os.path.join(OUT, "msvc_include")
    os.makedirs(os.path.join(folder, "sys"), exist_ok=True)
    for name in MSVC_LACKS:
        source(os.path.join("msvc_include", name), f'#pragma GCC system_header\n#ifdef _MSC_VER\n#error "MSVC has no <{name}>"\n'
               f"#else\n#include_next <{name}>\n#endif\n")
    source(os.path.join("msvc_include", "intrin.h"), "")  # clang has these intrinsics built in
    prefix = "".join(f"#include <{name}>\n" for name in MSVC_HAS) + "".join(f"#undef {name}\n" for name in NOT_MSVC) + \
        "#undef _M_X64\n#undef _M_IX86\n#undef _M_IX86_FP\n#define _MSC_VER 1940\n#define __STDC_NO_ATOMICS__ 1\n" + \
        ("#define _M_X64 100\n" if bits == 64 else "#define _M_IX86 600\n#define _M_IX86_FP 2\n") + \
        f"#pragma GCC poison {' '.join(NAMES_LACKED)}\n" \
        "_invalid_parameter_handler _set_thread_local_invalid_parameter_handler(_invalid_parameter_handler);\n"
    before = source(tag("msvc", std, str(bits)) + "_before.h", prefix)
    path = source(tag("stand_in", std, str(bits)) + ".c", includes(HEADERS, True) + CALL)
    run(cross({64: "clang", 32: "clang i686"}[bits], std) +
        ["-fms-extensions", "-Wno-language-extension-token", "-Wno-unused-function", "-I", folder, "-isystem", curl_headers(), "-include", before,
         "-fsyntax-only", path])


def nothing_left(path, defines):
    """None of the functions of the features that these macros leave out is in the object file."""
    there = run(["nm", "--defined-only", path])
    out = set()
    for path in [p for d in defines if d in FEATURES for p in glob.glob(os.path.join(ROOT, FEATURES[d]))]:
        with open(path, encoding="utf-8") as file:
            out |= set(re.findall(r"^(?:PHI__FN|static)[^;{}()=]*?\b(phi__\w+)\([^;{}]*?\)\s*\{", file.read(), re.M))
    bad = sorted(out & set(re.findall(r"^[0-9a-f]+ \w (\w+)$", there, re.M)))
    if bad:
        raise Failed("left out, and yet there: " + " ".join(bad))


def job_profile(defines):
    """A build with less: what gcc, clang and g++ say of it (clang looks for unused and missing functions and at the ends
    of functions without generating code), and a program of one thread that calls all there is. tcc makes that within
    a second, and keeps the functions that nobody calls."""
    name, macros = tag("profile", *defines), ["-D" + d for d in defines]
    one = source(name + "_impl.c", includes(HEADERS, True))
    for cc, std in (("gcc", "c99"), ("clang", "c99"), ("gcc", "c++17")):
        run(compiler(cc, std) + macros + ["-fsyntax-only", one])
    program, objects = os.path.join(OUT, name), tcc_objects(defines)
    run(["tcc", *objects, "-o", program] + ([] if "PHI_NO_CURL" in defines else ["-lcurl"]))
    run([program])
    nothing_left(objects[0], defines)


def readme_program():
    """The first program of README.md."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        return re.search(r"```c\n(.*?)```", file.read(), re.S).group(1)


def text_of(program):
    """Bytes of code and constants: the column `text` of size."""
    return int(run(["size", program]).split("\n")[1].split()[0])


def sizes_of(name, text, mains):
    """[(bytes, file)] of the programs that begin in these functions of a file, each without what it does not reach."""
    path, sizes = source(tag("size", name) + ".c", text), []
    run(["gcc", "-I", INC, *SMALL, "-c", path, "-o", path + ".o"])
    for main in mains:
        program = f"{path}.{main}"
        run(["gcc", "-Wl,--gc-sections", f"-Wl,--defsym=main={main}", path + ".o", "-o", program, "-lcurl"])
        sizes.append((text_of(program), program))
    return sizes


def with_tools(hello):
    """The same program, with two tools."""
    tools = hello.replace("int main(", """static phi_flow start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data, (void)arguments;
    (void)phi_call_reply(call, "done");
    return PHI_DONE;
}
int main(""")
    return tools.replace("desc.system_prompt =", """phi_tool tools[2] = {PHI_ZERO, PHI_ZERO};
    tools[0].name = "look", tools[1].name = "go";
    tools[0].description = tools[1].description = "?";
    tools[0].schema = tools[1].schema = "{\\"type\\":\\"object\\"}";
    tools[0].start = tools[1].start = start;
    desc.tools = tools, desc.tool_count = 2;
    desc.system_prompt =""", 1)


HELLO_MOST = 371_100  # bytes; where they go: scripts/sizes.py


def job_sizes():
    """What a program pays for: README's program, and the same with two tools. scripts/sizes.py and docs/embedding.md
    have more."""
    hello = readme_program().replace("int main(", "int hello(")
    tools = with_tools(readme_program()).split("#include <stdlib.h>")[1].replace("int main(", "int tools(")
    (hello, program), (tools, _) = sizes_of("hello", hello + tools, ["hello", "tools"])
    if hello > HELLO_MOST:
        raise Failed(f"README's program has {hello:,} bytes of text, at most {HELLO_MOST:,}")
    there = run(["nm", "--defined-only", program])
    named = sorted(set(re.findall(rf"^[0-9a-f]+ [tTrRdD] ({NOT_NAMED})$", there, re.M)))
    # gcc folds functions of equal code into one, whose name may be anyone's: three of a kind are no accident
    kinds = [re.match(r"phi__[a-z]+", name)[0] for name in named]
    named = [name for name, kind in zip(named, kinds) if kinds.count(kind) > 2]
    slices = "int slices(void);\nint slices(void) {\n    phi_arena arena;\n    phi_arena_init(&arena, NULL, 0);\n" \
        "    return phi_reader_advance(phi_json_reader_new(&arena, phi_str_of(\"1\"), 0), 9);\n}\n"
    (_, reader), = sizes_of("reader", includes(["phi_json.h"], True) + slices, ["slices"])
    other = re.findall(r"phi__(?:yaml|toml)_\w+", run(["nm", "--defined-only", reader]))
    if other:
        raise Failed("a program that reads JSON in slices names none of these, and has them: " + " ".join(other))
    if named:
        raise Failed("README's program names none of these, and has them: " + " ".join(named))
    return f"text of hello {hello:,} bytes, with two tools {tools:,}"


# What a reader of a header has before him may not grow again.
MOST = {"phi.h lines": 69_900, "files of src": 420, "lines of src": 142_500,
        "phi_step": 999, "phi_prompt": 1_799, "phi_agent_desc fields": 35, "PHI_NO_ macros": 5,
        "phi_tools.h functions": 134,
        # a reader of phi.h has so many
        "phi.h functions": 210}


def job_counts():
    """What a reader of a header has before him, against MOST."""
    said, seen = [], {}
    for header in HEADERS:
        with open(os.path.join(INC, header), encoding="utf-8") as file:
            text = file.read()
        public = text.split("\n#ifdef PHI_IMPLEMENTATION\n#ifndef PHI__FN")[0]
        functions = len(set(re.findall(r"^PHI_API [^;{]*?\b(phi_\w+)\(", public, re.M)))
        structs = len(re.findall(r"^(?:typedef )?struct phi_\w+ \{", public, re.M))
        said.append(f"{header} {functions} functions, {structs} structs, {text.count(chr(10)):,} lines")
        seen[f"{header} functions"], seen[f"{header} lines"] = functions, text.count(chr(10))
        for name in ("phi_step", "phi_prompt"):
            at = re.search(rf"^PHI_API phi_status {name}\(|^PHI_API int {name}\(", public, re.M)
            if at:
                seen[name] = public.count(chr(10), 0, at.start()) + 1
                said.append(f"{name} in line {seen[name]:,}")
    with open(os.path.join(INC, "phi.h"), encoding="utf-8") as file:
        text = file.read()
    desc = re.sub(r"/\*.*?\*/", "", re.search(r"typedef struct phi_agent_desc \{(.*?)\n\} phi_agent_desc;", text, re.S)[1],
                  flags=re.S)
    fields = sum(len(line.split(",")) for line in desc.split(";") if line.strip())
    with open(os.path.join(INC, "phi_tools.h"), encoding="utf-8") as file:
        text += file.read()
    macros = sorted(set(re.findall(r"\bPHI_NO_\w+", "\n".join(re.findall(r"^#\s*if.*", text, re.M)))))
    seen["phi_agent_desc fields"], seen["PHI_NO_ macros"] = fields, len(macros)
    sources = [p for p in glob.glob(os.path.join(ROOT, "src/**"), recursive=True) if os.path.isfile(p)]
    seen["files of src"], seen["lines of src"] = len(sources), 0
    for path in sources:
        with open(path, encoding="utf-8") as file:
            seen["lines of src"] += file.read().count(chr(10))
    said.append(f"src {len(sources)} files, {seen['lines of src']:,} lines")
    over = [f"{name}: {seen.get(name, 10 ** 9)}, at most {most}" for name, most in MOST.items()
            if seen.get(name, 10 ** 9) > most]
    if over:
        raise Failed("the headers grew:\n" + "\n".join(over))
    return "; ".join(said + [f"phi_agent_desc {fields} fields", f"{len(macros)} PHI_NO_ macros"])


def job_audit(profile):
    """What the object file of a profile asks for; of all there is, the one with threads, too."""
    name = profile or "full"
    needed = run(["nm", "-u", tcc_objects(profile.split())[0]])
    if not profile:
        needed += run(["nm", "-u", implementation("clang", "c99")])
    bad = [m.group(0) for m in re.finditer(rf"^ +[Uw] (?:{PROFILES[profile]})(?:@\S+)?$", needed, re.M)]
    if bad:
        raise Failed(f"{name}: these should not be needed:\n" + "\n".join(bad))
    if not profile and glob.glob(os.path.join(ROOT, "src/io/http*.c")) and \
            "curl_multi" not in needed:
        raise Failed("the full build does not use libcurl: this audit proves nothing")


def job_names():
    """What is exported is public and a function; nothing is a variable, exported or not."""
    listing = run(["nm", implementation("gcc", "c99")])
    bad = []
    for line in listing.split("\n"):
        found = re.match(r"^[0-9a-f]+ (\w) (\S+)$", line)
        if not found:
            continue
        kind, name = found.groups()
        if kind in "TDBCRVW" and not re.fullmatch(r"phi_[a-z0-9]\w*", name):
            bad.append(f"exported: {name}")
        elif kind in "DBCRV":
            bad.append(f"exported variable: {name}")
        elif kind in "db" and not re.fullmatch(ONCE, name):
            bad.append(f"a global: {name}")
    declared = set(public_functions(HEADERS))
    exported = set(re.findall(r"^[0-9a-f]+ T (\S+)$", listing, re.M))
    bad += [f"exported, but in no header: {name}" for name in sorted(exported - declared)]
    bad += [f"declared, but not there: {name}" for name in sorted(declared - exported)]
    if bad:
        raise Failed("\n".join(bad))


def job_files(paths):
    """Programs that `make test` does not compile (what it compiles, it compiles with warnings as errors)."""
    run(["gcc", "-std=c99", "-D_GNU_SOURCE", "-I", INC, "-Isrc", "-Itests"] + WARN_C + SLOW["gcc", False] +
        ["-fsyntax-only"] + paths)


def job_extra(cc, std, header):
    """An opt-in header, alone, twice and with its implementation, where what it needs is there."""
    call = "int call(void);\nint call(void) { phi_store s;\n    return phi_sqlite_store_open(NULL, &s, NULL, 0); }\n"
    name = os.path.basename(header)
    path = source(tag("extra", cc, std, name) + ".c", f"#define {name[:-2].upper()}_IMPLEMENTATION\n" +
                  includes([name, name]) + call)
    run(compiler(cc, std) + ["-I", os.path.join(ROOT, "extras"), "-fsyntax-only", path])


def job_cpp(cc, std, path):
    """extras/*.hpp twice, after the header it builds on, and the programs that use it; with exceptions and, but for what
    throws itself, without."""
    text = f'#include "phi_tools.h"\n#include "{os.path.join(ROOT, path)}"\n' * 2 if path.endswith(".hpp") else \
        f'#include "{os.path.join(ROOT, path)}"\n'
    name = source(tag("cpp", cc, std, path) + ".cpp", text)
    throws = path.endswith(".cpp") and not path.endswith("_plain.cpp")
    strict = [] if path.startswith("examples/") else ["-Wpedantic", "-Wshadow", "-Wconversion"]  # it has the implementation
    for more in ([], ["-fno-exceptions"])[:1 if throws else 2]:
        run([COMPILERS[cc][1], f"-std={std}", "-Werror", "-Wall", "-Wextra", "-Wno-unused-function", "-I", INC, "-I",
             os.path.join(ROOT, "extras"), "-I", os.path.join(ROOT, "examples"), "-fsyntax-only", name] + strict + more)


def project_files():
    done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    names = done.stdout.split("\n") if done.returncode == 0 else [
        os.path.relpath(os.path.join(base, f), ROOT)
        for base, _, files in os.walk(ROOT) for f in files if not re.search(r"/(\.git|build)(/|$)", base)]
    return [n for n in names if n and os.path.isfile(os.path.join(ROOT, n))]


COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'", re.S)
RIDDLE = re.compile(r"\b(?:what(?:ever)? (?:it )?(?:is|was|are|were|has|had|have)|whoever|"
                    r"(?:is|are|was|were|be) told|lets? go of)\b", re.I)


def prose(name, text):
    """(place, words) of each comment of a C file, of each paragraph of a page; without code."""
    if name.endswith(".md"):
        text = re.sub(r"^ *```.*?^ *```|<!--.*?-->", lambda m: "\n" * m.group(0).count("\n"), text,
                      flags=re.S | re.M)
        return [(m.start(), re.sub(r"`[^`]*`", "", m.group(0)))
                for m in re.finditer(r"(?:.+\n)+", text)]
    return [(m.start(), m.group(0)) for m in COMMENT.finditer(text) if m.group(0)[0] == "/"]


def job_riddles():
    """Comments and pages name things: no "what is shown", no "whoever" (house style, Words)."""
    bad = []
    for name in project_files():
        if not re.match(r"src/.*\.(?:c|h|txt)$|docs/.*\.md$|README\.md$", name):
            continue
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            text = file.read()
        for place, words in prose(name, text):
            said = RIDDLE.search(re.sub(r"\s+", " ", words))
            if said:
                number = text.count("\n", 0, place) + 1
                bad.append(f"{name}:{number}: \"{said.group(0)}\": name the thing")
    if bad:
        raise Failed("\n".join(bad[:60]))


def job_words():
    """No note to self, no path of the machine this was written on, and none out of the clone."""
    common = {"", "/", "/tmp", "/home", "/usr", "/usr/src", "/var", "/var/tmp", "/src", "/build"}
    here = {ROOT, os.path.dirname(ROOT), os.path.expanduser("~")} - common
    notes = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
    paths = re.compile(r"(?<![\w.-])(?:" + "|".join(re.escape(p) for p in sorted(here)) + r")/[\w.]")
    outside = re.compile(r"\.\./shared\b")
    bad = []
    for name in project_files():
        if name == "scripts/check.py":
            continue
        with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                if (notes.search(line) and name.endswith((".c", ".h", ".py", ".sh", ".md"))) or \
                        paths.search(line) or outside.search(line):
                    bad.append(f"{name}:{number}: {line.strip()[:100]}")
    if bad:
        raise Failed("\n".join(bad[:60]))


def job_format(files):
    version = re.search(r"version (\d+)", run(["clang-format", "--version"]))
    if not version or version.group(1) != "14":
        return f"not checked: needs clang-format 14, there is {version.group(1) if version else 'none'}"
    said = run(["clang-format", "--dry-run", "-Werror", "--style=file"] + files, code=None)
    bad = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error: code should be clang-formatted", said, re.M)))
    if bad:
        raise Failed("make format would change: " + " ".join(bad))
    if said.strip():
        raise Failed(said)
    return None


def job_script(name, *arguments):
    said = run([sys.executable, os.path.join(ROOT, "scripts", name), *arguments]).strip()
    return said.split("\n")[-1] or None


def job_idioms():
    """One idiom each in the declarations; and each function that frees takes NULL."""
    command = [sys.executable, os.path.join(ROOT, "scripts", "check_idioms.py")] + [os.path.join(INC, h) for h in HEADERS]
    said = run(command).strip()
    path = source("idioms.c", run(command + ["--program"]))
    run(["gcc", "-w", "-I", INC, path, implementation("gcc", "c99"), "-no-pie", "-o", path + ".out", "-lcurl"])
    run([path + ".out"])
    return said


def job_conformance():
    return run([sys.executable, os.path.join("scripts", "conformance.py")]).strip().removeprefix("conformance: ")


def job_manual():
    """The manual page, where there is a tool that reads one strictly."""
    if shutil.which("mandoc"):
        run(["mandoc", "-T", "lint", "-W", "warning", os.path.join(ROOT, "docs", "phi.1")])
        return None
    if not shutil.which("man"):
        return "not checked: there is neither mandoc nor man"
    said = run(["man", "--warnings", "-l", os.path.join(ROOT, "docs", "phi.1")])
    wrong = re.findall(r"^.*<standard input>.*$", said, re.M)
    if wrong:
        raise Failed("\n".join(wrong))
    return None


def job_circles():
    """Who uses whom, from the objects of the development build, which are made where they are not there."""
    run(["make", "-s", "V=asan", "objects"])
    run([sys.executable, os.path.join(ROOT, "scripts", "check_circles.py"), os.path.join(ROOT, "build", "asan", "src")])


def job_columns(header):
    """What a reader of a header sees fits his window; check_functions.py looks at src/ itself."""
    with open(os.path.join(INC, header), encoding="utf-8") as file:
        lines = file.read().split("\n#ifdef PHI_IMPLEMENTATION\n#ifndef PHI__FN")[0].split("\n")
    bad = [f"{header}:{i}: {len(line)} columns" for i, line in enumerate(lines, 1) if len(line) > 100]
    if bad:
        raise Failed("\n".join(bad))


def job_stale():
    run([sys.executable, os.path.join(ROOT, "amalgamate.py"), "--check"])


def jobs():
    """(group, name, function, arguments); long ones first within the pool's order."""
    c_files = sorted(glob.glob("src/*/*.[ch]", root_dir=ROOT) + glob.glob("tests/**/*.[ch]", root_dir=ROOT,
                     recursive=True) + glob.glob("examples/**/*.[ch]", root_dir=ROOT, recursive=True) +
                     glob.glob("extras/*.h", root_dir=ROOT))
    cpp_files = [f for pattern in ("extras/*.hpp", "examples/*.cpp", "tests/*/*.cpp")
                 for f in sorted(glob.glob(pattern, root_dir=ROOT))]
    orders = [list(o) for o in itertools.permutations(HEADERS)]
    yield "headers are fresh", "stale", job_stale, ()
    yield "headers are fresh", "trace page", job_script, ("trace_page.py", "--check")
    yield "layers", "layers", job_script, ("check_layers.py",)
    yield "dead code", "dead", job_script, ("check_dead.py",)
    yield "circles", "circles", job_circles, ()
    yield "lengths", "functions", job_script, ("check_functions.py",)
    yield "idioms", "idioms", job_idioms, ()
    yield "msvc", "what MSVC lacks", job_script, ("check_msvc.py",)
    for header in HEADERS:
        yield "columns", f"columns {header}", job_columns, (header,)
    yield "conformance", "conformance", job_conformance, ()
    yield "documented code", "docs", job_script, ("check_docs.py",)
    yield "pages", "pages", job_script, ("check_pages.py",)
    yield "words", "words", job_words, ()
    yield "words", "plain words", job_riddles, ()
    yield "manual page", "manual", job_manual, ()
    for i in range(0, len(c_files), 150):
        yield "format", f"format {i // 150}", job_format, (c_files[i:i + 150],)
    yield "format", "format C++", job_format, (cpp_files,)
    yield "names", "names", job_names, ()
    for profile in PROFILES:
        yield "symbols", f"audit {profile or 'full'}", job_audit, (profile,)
    for std in ("c99", "c++17"):
        yield "32 bits", f"m32 {std}", job_32bit, (std,)
        for cc in COMPILERS:
            yield "PHI_STATIC", f"static {cc} {std}", job_static, (cc, std)
        for header in HEADERS:
            yield "mingw", f"mingw {std} {header}", job_mingw, ("x86_64", std, [header])
            yield "msvc", f"msvc {std} {header}", job_msvc, (std, header)
        for cc in ("i686", "clang"):
            yield "mingw", f"mingw {cc} {std}", job_mingw, (cc, std, HEADERS)
    for cc, std in (("x86_64", "c99"), ("i686", "c99"), ("clang", "c11")):
        yield "windows", f"windows {cc} {std}", job_windows, (cc, std)
    for std, bits in (("c11", 64), ("c++17", 32)):
        yield "windows", f"stand-in for MSVC {std} {bits}", job_stand_in, (std, bits)
    less = ["PHI_NO_CURL", "PHI_NO_PROCESS", "PHI_NO_FILES", "PHI_NO_LISTEN"]
    for defines in [[macro] for macro in less] + [less]:
        yield "profiles", tag("profile", *defines), job_profile, (defines,)
    yield "sizes", "sizes", job_sizes, ()
    yield "counts", "counts", job_counts, ()
    for cc, std, level in LEVELS:
        yield "levels", f"level {cc} {std} {level}", job_optimised, (cc, std, level, HEADERS)
    for cc, level in itertools.product(COMPILERS, ("-O1", "-O2", "-O3", "-Os")):
        yield "levels", f"level {cc} c99 {level} phi_json.h", job_optimised, (cc, "c99", level, ["phi_json.h"])
    for std in C + CPP:
        yield "every warning", f"everything {std}", job_everything, (std,)
        yield "every warning", f"padded {std}", job_padded, (std,)
    for cc in OTHERS:
        yield "other compilers", f"compiler {cc}", job_other_compiler, (cc,)
    for cc, std, define in (("gcc", "c11", "PHI__NO_BUILTINS"), ("clang", "c11", "PHI__NO_BUILTINS"),
                            ("gcc", "c99", "PHI_NO_THREADS"), ("clang", "c++17", "PHI_NO_THREADS")):
        yield "atomics", f"atomics {cc} {std} {define}", job_atomics, (cc, std, define)
    yield "atomics", "no atomics", job_refused, ("c99", "PHI__NO_BUILTINS", "or define PHI_NO_THREADS")
    yield "atomics", "C89", job_refused, ("gnu89", "PHI_NO_THREADS", "C99 or newer is needed")
    for number, (cc, std) in enumerate(itertools.product(COMPILERS, C + CPP)):
        if std in (C[0], C[-1], CPP[0], CPP[-1]):
            yield "two files, one program", f"link {cc} {std}", job_link, (cc, std, orders[number % 6])
        for header in HEADERS:
            yield "declarations", f"declarations {cc} {std} {header}", job_declarations, (cc, std, header)
            yield "implementation", f"implementation {cc} {std} {header}", job_implementation, (cc, std, header)
        for header in glob.glob("extras/*.h", root_dir=ROOT):
            yield "extras", f"extra {cc} {std} {header}", job_extra, (cc, std, header)
        for path in cpp_files if std in ("c++17", "c++20") else []:
            yield "extras", f"cpp {cc} {std} {path}", job_cpp, (cc, std, path)
    for order in orders:
        for implement in (False, True):
            yield "any order", tag("order", *order, str(implement)), job_order, (order, implement)
        yield "any order", tag("later", *order), job_later, (order,)
    yield "benches", "benches", job_files, (sorted(glob.glob("bench/*.c", root_dir=ROOT)) + ["scripts/trace.c"],)


def main():
    words = [w for w in sys.argv[1:] if w != "-v"]
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(INC)
    try:
        for name, text in amalgamate.build(False).items():
            source(os.path.join("include", name), text)
    except (amalgamate.Trouble, OSError) as e:
        print(f"FAIL amalgamate.py: {e}")
        return 1
    start, groups, said_before = time.monotonic(), {}, set()

    def timed(job):
        began, CPU.seconds = time.thread_time(), 0.0
        try:
            said, failed = job[2](*job[3]), None
        except Failed as e:
            said, failed = None, str(e)
        except OSError as e:
            said, failed = None, f"{e}: make deps"
        except Exception as e:  # a mistake in a job is that job's failure
            said, failed = None, f"{type(e).__name__}: {e}"
        return job, said, failed, time.thread_time() - began + CPU.seconds

    wanted = [j for j in jobs() if any(w in j[0] or w in j[1] for w in words) or (not words and j[0] not in ASKED_FOR)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for job, said, failed, seconds in pool.map(timed, wanted):
            group = groups.setdefault(job[0], [0, 0, 0.0, None])
            group[0] += failed is None
            group[1] += failed is not None
            group[2] += seconds
            group[3] = said or group[3]
            if "-v" in sys.argv:
                print(f"     {job[1]:60} {seconds:6.2f} s")
            if failed and group[1] <= SHOWN:
                first = re.search(r"error: (.*)", failed)
                known = first is not None and first.group(1) in said_before
                said_before.add(first.group(1) if first else failed)
                text = f"again: {first.group(1)}" if known else failed
                print(f"FAIL {job[0]}: {job[1]}\n" + "\n".join("     | " + l for l in text.split("\n")))
            sys.stdout.flush()
    for name, (good, bad, seconds, said) in groups.items():
        words = [f"{good} good"] + [f"{bad} FAILED"] * bool(bad) + [said] * bool(said)
        print(f"{'FAIL' if bad else 'ok  '} {name:24} {seconds:6.1f} s  {', '.join(words)}")
    bad = sum(group[1] for group in groups.values())
    print(f"check: {sum(g[0] for g in groups.values())} good, {bad} failed, "
          f"{time.monotonic() - start:.0f} s, {sum(g[2] for g in groups.values()):.0f} s of CPU")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
