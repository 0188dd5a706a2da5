#!/usr/bin/env python3
"""phi for Windows, built with mingw-w64 and run with Wine: `make windows`.

    windows.py [--bits 64|32] [--build-only] [--jobs N] [NAME...]    all tests, or files and folders such as tests/base
                                                                    "examples": step 4 alone, "zip": the zip alone
    windows.py --bench     bench/bench_many.c under Wine, with AFD and with WSAPoll, and on this system

1. libcurl is built from the sources that the crate curl-sys brings: static, with Schannel, HTTP/1 alone; and SQLite, for
   the tests of its store, from those of libsqlite3-sys. Once a version; only that needs the network.
2. src/, tests/support/ and the test programs are compiled with phi's warnings as errors, for 64 and for 32 bits.
3. The programs run under Wine. One that needs a server connects to the launcher of this script, which starts the server
   outside of Wine (tests/support/os.h).
4. What a user has (scripts/windows_user.py): the examples and the command phi.exe, out of the amalgamated headers, and a
   zip. tests/windows/user.py runs them.

tests/windows.txt says which programs and tests are left out, and why. They are tried all the same: an entry that is not
true any more fails the run, as a failed test does. A run of all tests also fails if more than 3 % of them are left out
or skip themselves. Everything is in build/windows, the Wine prefix too: its drive Z: is this repository alone, so that
a test cannot harm another file by a path such as /etc/passwd."""
import argparse
import concurrent.futures
import glob
import os
import re
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
sys.dont_write_bytecode = True
import run_tests  # noqa: E402
import windows_user  # noqa: E402
from crates import CURL, GiveUp, crate, curl as curl_source, limited, quiet  # noqa: E402

WORK = "build/windows"
SQLITE = "0.30.1"  # of libsqlite3-sys: SQLite 3.46.0
TRIPLES = {64: "x86_64-w64-mingw32", 32: "i686-w64-mingw32"}
PROCESSORS = {64: "x86_64", 32: "x86"}
PYTHON = os.path.join(ROOT, os.environ.get("PYTHON") or sys.executable)
JOBS = min(2, os.cpu_count() or 2)
SECONDS = 1200      # for one program: each call of Wine costs a millisecond
SECONDS_LEFT = 30    # for one that is left out
MOST_LEFT = 3        # percent of the tests
CACHE = ["ccache"] if os.environ.get("CC", "").startswith("ccache ") else []
WARN = (os.environ.get("WARN") or "-Wall -Wextra").split() + ["-Werror"]
# Windows 10, for which curl is built, too.
COMMON = ["-D_WIN32_WINNT=0x0A00", "-DCURL_STATICLIB", "-DPHI__FN=", "-DPHI__TESTED", "-DPHI__PROCESS_LAST_MS=5000", "-Isrc",
          "-Itests"]
FLAGS_SRC = ["-std=c99", "-O1", "-g1", "-DPHI__SEGMENT_BYTES=512"]
# GNU: with the names of POSIX that the C library has. Its types have other sizes, and its isnan converts to float.
FLAGS_TEST = ["-std=gnu99", "-O0", "-g1", "-Wno-conversion", "-Wno-float-conversion", "-include",
              "tests/support/posix_on_windows.h"]
FLAGS_POSIX = ["-isystem", "tests/support/windows"]  # not for tests of Windows itself
# An example, and the header in one piece, as a user compiles them; gcc looks that one warning up for a long time.
FLAGS_USER = ["-D_WIN32_WINNT=0x0A00", "-DCURL_STATICLIB", "-O2", "-Wno-misleading-indentation"]
C_ONLY = ("-Wstrict-prototypes", "-Wmissing-prototypes")
LIBS = ["-lws2_32", "-lbcrypt", "-lcrypt32", "-lsecur32", "-liphlpapi", "-ladvapi32", "-lnormaliz", "-lm", "-lpthread"]
CURL_OFF = ("BUILD_CURL_EXE BUILD_SHARED_LIBS BUILD_LIBCURL_DOCS BUILD_MISC_DOCS ENABLE_CURL_MANUAL BUILD_TESTING "
            "BUILD_EXAMPLES CURL_USE_LIBPSL CURL_USE_LIBSSH2 CURL_ZLIB CURL_BROTLI CURL_ZSTD USE_NGHTTP2 USE_LIBIDN2 "
            "USE_WIN32_IDN CURL_USE_PKGCONFIG CURL_USE_CMAKECONFIG").split()
CURL_ON = "BUILD_STATIC_LIBS CURL_DISABLE_INSTALL HTTP_ONLY CURL_USE_SCHANNEL ENABLE_THREADED_RESOLVER".split()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


# ---- libcurl and SQLite ----

def sqlite(bits):
    """The folder of SQLite for so many bits: sqlite3.h and sqlite3.o."""
    out = f"{WORK}/sqlite-{bits}"
    if read(f"{out}/version") != SQLITE:
        source = f"{crate(WORK + '/fetch', 'libsqlite3-sys', SQLITE)}/sqlite3"
        os.makedirs(out, exist_ok=True)
        shutil.copy(f"{source}/sqlite3.h", out)
        quiet(f"{WORK}/log_sqlite_{bits}", [f"{TRIPLES[bits]}-gcc", "-O1", "-w", "-c", f"{source}/sqlite3.c", "-o",
                                            f"{out}/sqlite3.o"], "SQLite does not compile")
        write(f"{out}/version", SQLITE)
    return out


def curl(bits):
    """The folder of libcurl for so many bits."""
    triple, out, build, log = TRIPLES[bits], f"{WORK}/curl-{bits}", f"{WORK}/curl-build-{bits}", f"{WORK}/log_curl_{bits}"
    if read(f"{out}/version") == CURL:
        return out
    source = curl_source(f"{WORK}/fetch")
    print(f"windows: CMake builds libcurl for {bits} bits in {out}")
    for folder in (out, build):
        shutil.rmtree(folder, ignore_errors=True)
    quiet(log, ["cmake", "-S", source, "-B", build, "-DCMAKE_SYSTEM_NAME=Windows", "-DCMAKE_BUILD_TYPE=Release",
                f"-DCMAKE_SYSTEM_PROCESSOR={PROCESSORS[bits]}", f"-DCMAKE_C_COMPILER={triple}-gcc",
                f"-DCMAKE_RC_COMPILER={triple}-windres", "-DCMAKE_C_FLAGS=-D_WIN32_WINNT=0x0A00",
                *[f"-D{name}=OFF" for name in CURL_OFF], *[f"-D{name}=ON" for name in CURL_ON]], "libcurl cannot be configured")
    quiet(log, ["cmake", "--build", build, f"-j{JOBS}"], "libcurl does not compile")
    shutil.copytree(f"{source}/include/curl", f"{out}/include/curl")
    os.mkdir(f"{out}/lib")
    shutil.copy(f"{build}/lib/libcurl.a", f"{out}/lib")
    shutil.rmtree(build)
    write(f"{out}/version", CURL)
    return out


# ---- compiling ----

def fresh(target, key):
    """True if it is newer than all that its list of dependencies names, and was made by the same command."""
    if not os.path.exists(target) or read(target + ".key") != key:
        return False
    made, names = os.path.getmtime(target), read(target + ".d").replace("\\\n", " ").split()[1:]
    return bool(names) and all(os.path.exists(name) and os.path.getmtime(name) <= made for name in names)


def command_of(bits, source):
    """The compiler and its flags for a file."""
    curl_headers, gcc = f"-I{WORK}/curl-{bits}/include", [*CACHE, f"{TRIPLES[bits]}-gcc", *WARN]
    if source.startswith("src/"):
        return [*gcc, *COMMON, *FLAGS_SRC, curl_headers]
    if source.endswith(".cpp"):
        plain = [w for w in WARN if w not in C_ONLY]
        return [*CACHE, f"{TRIPLES[bits]}-g++", *plain, "-std=c++17", *FLAGS_USER, f"-I{WORK}/declared", "-Iextras", curl_headers]
    if source == windows_user.WHOLE:
        return [*gcc, "-std=c99", *FLAGS_USER, f"-I{WORK}/include", curl_headers]
    if source.startswith("examples/") or source == "tests/windows/console.c":
        return [*gcc, "-std=c99", "-D_GNU_SOURCE", *FLAGS_USER, f"-I{WORK}/declared", "-Iexamples", curl_headers]
    return [*gcc, *COMMON, *FLAGS_TEST, *([] if source.startswith("tests/windows/") else FLAGS_POSIX), curl_headers,
            *([f"-isystem{sqlite(bits)}"] if "sqlite" in source else [])]


def compile_one(bits, source):
    """(object file, "") or (None, what the compiler said)."""
    target, command = f"{WORK}/{bits}/{os.path.splitext(source)[0]}.o", command_of(bits, source)
    key = " ".join(command)
    if fresh(target, key):
        return target, ""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    done = limited([*command, "-MMD", "-MF", target + ".d", "-c", source, "-o", target], stdout=subprocess.PIPE,
                   stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != 0:
        if os.path.exists(target):
            os.remove(target)
        return None, done.stdout
    write(target + ".key", key)
    return target, ""


def archive(bits, name, objects):
    path = f"{WORK}/{bits}/{name}"
    if not os.path.exists(path) or read(path + ".key") != " ".join(objects) or \
            any(os.path.getmtime(o) > os.path.getmtime(path) for o in objects):
        if os.path.exists(path):
            os.remove(path)
        quiet(f"{WORK}/log_ar", [f"{TRIPLES[bits]}-ar", "rcs", path, *objects], f"{path} cannot be made")
        write(path + ".key", " ".join(objects))
    return path


def link(bits, source, libraries):
    """(program, "") or (None, what was said)."""
    built, said = compile_one(bits, source)
    if built is None:
        return None, said
    if "sqlite" in source:
        libraries = [*libraries, f"{sqlite(bits)}/sqlite3.o"]
    program = built[:-2] + ".exe"
    if os.path.exists(program) and all(os.path.getmtime(f) <= os.path.getmtime(program) for f in [built, *libraries]):
        return program, ""
    # A test may stand in for a function of tests/support/os_windows.c.
    done = limited([f"{TRIPLES[bits]}-gcc", "-static", "-s", "-Wl,--allow-multiple-definition", built, *libraries, *LIBS,
                    "-o", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return (program, "") if done.returncode == 0 else (None, done.stdout)


def first_error(said):
    lines = [line for line in said.split("\n") if re.search(r"error:|undefined reference|No such file", line)]
    return re.sub(r"^\S*/(\w+-w64-mingw32-)?ld: (\S+?:)?(\S+?: )?", "", lines[0]) if lines else said.strip()[-200:]


# ---- servers beside the tests ----

class Launcher:
    """Listens for words, each ended by a zero byte, and one more at the end: `name`, and a program to start, whose stdin and
    stdout are the connection. It gets the end of its input when the test does not write any more, or is gone. The word
    "@bridge" in place of the program is that of a bridge: see Bridge. The name is the port and a random token, which only
    the programs of this run have in their environment: another user of this machine starts nothing."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.name = f"{self.port}:{secrets.token_hex(16)}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            try:
                (name, *words), rest = self.words(connection, b"")
                if not secrets.compare_digest(name.encode("utf-8", "replace"), self.name.encode()):
                    return
                if words and words[0] == "@bridge":
                    variables, rest = self.words(connection, rest)
                    Bridge(words[1:], variables, connection, rest).run()
                elif words:
                    self.run(words, connection, rest)
            except OSError:
                pass  # the test is gone

    @staticmethod
    def words(connection, data):
        """(a list of words, the bytes after it). Z: is the root of this repository, and its python.exe is python."""
        while b"\0\0" not in data:
            got = connection.recv(1 << 16)
            if not got:
                return [""], b""
            data += got
        head, rest = data.split(b"\0\0", 1)
        head = re.sub(r"\b[Zz]:(?=[/\\])", lambda _: ROOT, head.decode("utf-8", "surrogateescape"))
        head = re.sub(rf"{re.escape(ROOT)}/{WORK}/bridges-\d\d/python\.exe", lambda _: PYTHON, head)
        return ["" if w == "@empty" else w for w in head.split("\0")], rest

    @staticmethod
    def run(words, connection, rest):
        with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              start_new_session=True) as program:
            answer = threading.Thread(target=Launcher.answer, args=(program, connection), daemon=True)
            answer.start()
            while True:
                part, rest = rest or connection.recv(4096), b""
                if not part:
                    break
                try:
                    program.stdin.write(part)
                    program.stdin.flush()
                except BrokenPipeError:
                    break
            try:
                program.stdin.close()
            except BrokenPipeError:
                pass
            program.wait()
            answer.join()

    @staticmethod
    def answer(program, connection):
        try:
            while got := program.stdout.read1(4096):
                connection.sendall(got)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Bridge:
    """A program that a bridge (tests/support/windows/bridge.c) stands for: frames of stdin come, frames of stdout, stderr
    and the exit code go. A program that a signal ended has the signal's number as its code, as one that TerminateProcess
    ended may have. Its group is killed when the bridge is gone."""
    STDIN_CLOSED, STDOUT, STDERR, EXIT = range(4)
    MOST = 1 << 16  # bytes that wait for the program

    def __init__(self, words, variables, connection, rest):
        folder, name, *arguments = words
        name = name.lower().removesuffix(".exe")
        path = PYTHON if name.startswith("python") else "/bin/" + name
        given = dict(v.split("=", 1) for v in variables if "=" in v)
        env = {**{k: os.environ[k] for k in ("HOME",) if k in os.environ},
               **{k: v for k, v in given.items() if k.upper() not in ("PATH", "PWD", "TEMP", "TMP")},
               "PATH": os.environ["PATH"]}
        self.connection, self.frames, self.waiting = connection, rest, b""
        self.ended = self.deaf = False
        self.lock = threading.Lock()
        self.program = subprocess.Popen([path, *arguments], cwd=folder.replace("\\", "/"), env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def say(self, kind, part):
        """What the program says after it closed its stdin comes after the word of that."""
        with self.lock:
            if not self.deaf and not self.program.stdin.closed:
                poll = select.poll()
                poll.register(self.program.stdin, 0)
                self.deaf = bool(poll.poll(0))
                if self.deaf:
                    self.connection.sendall(bytes([self.STDIN_CLOSED, 0, 0]))
            if kind != self.STDIN_CLOSED:
                self.connection.sendall(bytes([kind, len(part) >> 8, len(part) & 255]) + part)

    def run(self):
        pumps = [threading.Thread(target=self.pump, args=(stream, kind), daemon=True)
                 for stream, kind in ((self.program.stdout, self.STDOUT), (self.program.stderr, self.STDERR))]
        for thread in (*pumps, threading.Thread(target=self.end, args=(pumps,), daemon=True)):
            thread.start()
        try:
            self.feed()
        finally:
            try:
                os.killpg(self.program.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def pump(self, stream, kind):
        try:
            part = b"first"
            while part:
                part = stream.read1(1 << 15)
                self.say(kind, part)
        except OSError:
            pass

    def end(self, pumps):
        code = self.program.wait()
        for thread in pumps:
            thread.join(0.3)  # another process may still have the streams
        try:
            self.say(self.EXIT, abs(code).to_bytes(4, "big"))
        except OSError:
            pass

    def feed(self):
        """Until the bridge is gone."""
        to = self.program.stdin.fileno()
        os.set_blocking(to, False)
        while True:
            self.take_frames()
            if self.ended and not self.waiting:
                self.close_stdin()
            poll = select.poll()
            poll.register(self.connection, select.POLLRDHUP | (select.POLLIN if len(self.waiting) < self.MOST else 0))
            if not self.program.stdin.closed:
                poll.register(to, select.POLLOUT if self.waiting else 0)
            for fd, events in poll.poll():
                if fd == to and events & (select.POLLERR | select.POLLHUP):
                    self.say(self.STDIN_CLOSED, b"")
                    self.close_stdin()
                    self.waiting = b""
                elif fd == to:
                    try:
                        self.waiting = self.waiting[os.write(to, self.waiting):]
                    except BrokenPipeError:
                        pass  # the poll says so next
                elif events & select.POLLIN:
                    got = self.connection.recv(1 << 16)
                    if not got:
                        return
                    self.frames += got
                elif events:
                    return

    def take_frames(self):
        while len(self.frames) >= 2:
            size = self.frames[0] << 8 | self.frames[1]
            if len(self.frames) < 2 + size:
                return
            if not self.program.stdin.closed:
                self.waiting += self.frames[2:2 + size]
            self.ended = self.ended or size == 0
            self.frames = self.frames[2 + size:]

    def close_stdin(self):
        with self.lock:
            if not self.program.stdin.closed:
                self.program.stdin.close()


# ---- running ----

def wine(env, command, seconds):
    """(output, words of trouble). The output is a file: a pipe would stay open in the wineserver that a program starts."""
    code, trouble = 0, ""
    with tempfile.TemporaryFile() as file:
        try:
            code = limited(["wine", *command], seconds, stdout=file, stderr=subprocess.STDOUT, env=env).returncode
        except GiveUp as e:
            trouble = str(e)
        file.seek(0)
        out = file.read()
    text = out.decode("utf-8", "replace").replace("\r", "")
    counts = run_tests.counts_of(text)
    if not trouble and counts is None:
        trouble = f"exit code {code}, and no count of its tests"
    elif not trouble and code != 0 and counts[1] == 0:
        trouble = f"exit code {code}"
    passed, failed, skipped = counts or (0, 0, 0)
    return text, passed, max(failed, 1 if trouble else 0), skipped, trouble


def wine_environment(launcher):
    # Paths of this machine, such as that of its certificates, are not there in Wine.
    env = {k: v for k, v in os.environ.items() if not run_tests.HIDDEN.match(k) and k not in ("DISPLAY", "SSL_CERT_FILE")}
    env.update(WINEDEBUG="-all", PHI_LAUNCHER=launcher.name, PYTHONDONTWRITEBYTECODE="1")
    env.setdefault("PHI_SEEDS", "10")  # as for valgrind: the seeds are all run on Linux
    prefix = env["WINEPREFIX"] = f"{ROOT}/{WORK}/wine"
    # No questions about other runtimes, no menus, and no debugger for a program that crashes.
    env["WINEDLLOVERRIDES"] = "mscoree,mshtml=;winemenubuilder.exe,winedbg.exe=d"
    if not os.path.exists(f"{prefix}/system.reg"):
        print(f"windows: Wine makes its prefix {WORK}/wine")
        os.makedirs(prefix, exist_ok=True)
        quiet(f"{WORK}/log_wine", ["wine", "wineboot", "-i"], "Wine does not start", **env)
        quiet(f"{WORK}/log_wine", ["wineserver", "-w"], "Wine does not end", **env)
    for drive in glob.glob(f"{prefix}/dosdevices/[d-z]:"):
        os.unlink(drive)
    os.symlink(ROOT, f"{prefix}/dosdevices/z:")
    return env


def runs(bits, env):
    """True if this Wine runs programs of so many bits."""
    source, program = f"{WORK}/hello.c", f"{WORK}/hello-{bits}.exe"
    write(source, "int main(void) { return 42; }\n")
    quiet(f"{WORK}/log_hello", [f"{TRIPLES[bits]}-gcc", source, "-o", program], "the compiler does not work")
    return limited(["wine", program], 600, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 42


def bridges(bits, env):
    """The environment with python.exe, bash.exe and others in the search path of programs."""
    folder = f"{WORK}/bridges-{bits}"
    os.makedirs(folder, exist_ok=True)
    quiet(f"{WORK}/log_bridge", [f"{TRIPLES[bits]}-gcc", "-municode", "-Wall", "-O1", "-s", "tests/support/windows/bridge.c",
                                 "-D_WIN32_WINNT=0x0A00", "-lws2_32", "-o", f"{folder}/python.exe"],
          "the bridge does not compile")
    for name in ("python3.exe", "bash.exe", "sh.exe", "cat.exe", "env.exe", "true.exe"):
        shutil.copy(f"{folder}/python.exe", f"{folder}/{name}")
    return {**env, "WINEPATH": "Z:\\" + folder.replace("/", "\\"), "PYTHON": f"Z:/{folder}/python.exe"}


def left_out():
    """{program: {test or "": reason}}, of tests/windows.txt"""
    out = {}
    for line in read("tests/windows.txt").split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        name, reason = line.split(None, 1)
        program, _, test = name.partition(":")
        if not os.path.exists(program):
            raise GiveUp(f"tests/windows.txt: there is no {program}")
        out.setdefault(program, {})[test] = reason
    return out


def tests_of(source):
    """How many tests a program has, with those of files that it includes."""
    text = read(source)
    names = re.findall(r'^#include "(?:(?!support/)(\w+/\w+\.h)|(test_\w+\.c))"', text, re.M)
    return text.count("TEST_ENTRY(") + sum(tests_of(f"tests/{header}" if header else f"{os.path.dirname(source)}/{program}")
                                           for header, program in names)


class Sum:
    """Numbers of one room: of programs (built and run, too) and of tests."""
    FIELDS = "programs built run passed failed skipped left".split()

    def __init__(self):
        for name in self.FIELDS:
            setattr(self, name, 0)

    def add(self, other):
        for name in self.FIELDS:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def part_left(self):
        """Percent of the tests that say nothing: left out, or skipped by themselves."""
        return 100 * (self.left + self.skipped) / max(1, self.passed + self.failed + self.skipped + self.left)


def try_left(env, source, program, tests):
    """The entries of a program that are not true any more: what they name passes."""
    stale = []
    for test in tests if program is not None else []:
        _, passed, failed, _, _ = wine(env, [program, test] if test else [program], SECONDS_LEFT)
        if failed == 0 and passed > 0:
            stale.append(f"{source}:{test}" if test else source)
    return stale


def one(bits, source, libraries, env, tests):
    """(Sum, lines to print) of one test program; env None: it is only built."""
    numbers, lines, start = Sum(), [], time.monotonic()
    numbers.programs = 1
    program, said = link(bits, source, libraries)
    numbers.built = program is not None
    whole = "" in tests
    if whole:
        numbers.left = tests_of(source)
    elif program is None:
        numbers.failed = 1
        lines.append(f"FAIL {source}: does not build: {first_error(said)}")
        lines += ["     | " + line for line in said.rstrip().split("\n")[:8]]
    if env is None or (program is None and not whole):
        return numbers, lines
    if not whole:
        text, passed, failed, skipped, trouble = wine({**env, "PHI_LEFT_OUT": " ".join(tests)}, [program], SECONDS)
        numbers.run, numbers.passed, numbers.failed = 1, passed, failed
        numbers.left, numbers.skipped = len(tests), max(0, skipped - len(tests))
        words = [f"{passed} passed"] + [f"{failed} FAILED"] * bool(failed) + [f"{numbers.skipped} skipped"] * bool(numbers.skipped)
        words += [f"{len(tests)} left out"] * bool(tests) + [trouble] * bool(trouble)
        lines.append(f"{'FAIL' if failed else 'ok  '} {source:44} {time.monotonic() - start:6.2f} s  {', '.join(words)}")
        if failed:
            lines += ["     | " + line for line in text.rstrip().split("\n")[-60:]]
    for entry in try_left(env, source, program, tests):
        numbers.failed += 1
        lines.append(f"FAIL {entry}: it passes, but tests/windows.txt leaves it out: {tests[entry.partition(':')[2]]}")
    return numbers, lines


def table(rooms):
    print(f"     {'room':14} {'programs':>8} {'built':>6} {'run':>5} {'passed':>7} {'failed':>7} {'skipped':>8} {'left out':>9}")
    total = Sum()
    for room, numbers in [*sorted(rooms.items()), ("all", total)]:
        if room != "all":
            total.add(numbers)
        print(f"     {room:14} {numbers.programs:8} {numbers.built:6} {numbers.run:5} {numbers.passed:7} {numbers.failed:7} "
              f"{numbers.skipped:8} {numbers.left:9}")
    return total


def build_and_run(bits, sources, env, entries, pool):
    """The sum of one word size."""
    library = f"{curl(bits)}/lib/libcurl.a"
    ours = {"src": sorted(glob.glob("src/*/*.c")), "support": sorted(glob.glob("tests/support/*.c"))}
    objects, bad = {}, 0
    for name, files in ours.items():
        done = list(pool.map(lambda source: compile_one(bits, source), files))
        objects[name] = [target for target, _ in done if target is not None]
        for source, (target, said) in zip(files, done):
            if target is None:
                bad += 1
                print(f"FAIL {source}: does not compile: {first_error(said)}")
    libraries = [archive(bits, "libsupport.a", objects["support"]), archive(bits, "libphi.a", objects["src"]), library]
    rooms = {}
    jobs = {pool.submit(one, bits, s, libraries, env, entries.get(s, {})): s for s in sources}
    for job in concurrent.futures.as_completed(jobs):
        numbers, lines = job.result()
        for line in lines:
            print(line, flush=True)
        rooms.setdefault(jobs[job].split("/")[1], Sum()).add(numbers)
    print(f"{bits} bits: {len(objects['src'])} of {len(ours['src'])} files of src/ compile" +
          ("" if env is not None else "; the programs are not run"))
    total = table(rooms)
    total.failed += bad
    if env is not None:
        print(f"{bits} bits: {total.passed + total.failed} tests run, {total.passed} passed, "
              f"{total.part_left():.1f} % left out or skipped")
    return total


USER = ("examples", "zip")


def user(bits, names, env, entries, pool):
    """The sum of what a user has."""
    total = windows_user.examples(bits, entries, pool)
    archive = windows_user.make_zip() if bits == 64 and total.failed == 0 else None
    if env is not None and total.failed == 0 and "zip" not in names:
        total.passed, total.failed, total.skipped = windows_user.run(bits, env, archive)
    return total


def bench(bits, env):
    """Runs bench/bench_many.c here and under Wine; its server runs here for all."""
    sys.path.insert(0, "bench")
    import run as programs  # pylint: disable=import-outside-toplevel
    library, results = f"{curl(bits)}/lib/libcurl.a", {}
    gcc = [*CACHE, f"{TRIPLES[bits]}-gcc", "-std=c99", "-O2", *COMMON[:2]]
    os.makedirs(programs.OUT, exist_ok=True)
    programs.build_libraries()
    print("this system", flush=True)
    programs.run_many(results)
    for name, flags in ("AFD", []), ("WSAPoll", ["-DPHI_USE_POLL"]):
        program = f"{WORK}/bench_many_{name}.exe"
        quiet(f"{WORK}/log_bench", [*gcc, *flags, "-DPHI_IMPLEMENTATION", f"-I{WORK}/curl-{bits}/include", "-x", "c", "-c",
                                    f"{programs.INCLUDE}/phi.h", "-o", f"{WORK}/bench.o"], "phi does not compile")
        quiet(f"{WORK}/log_bench", [*gcc, "-static", f"-I{programs.INCLUDE}", "bench/bench_many.c", "bench/kit.c",
                                    f"{WORK}/bench.o", library, *LIBS, "-o", program], "bench_many does not compile")
        print(f"Wine, {name}", flush=True)
        with programs.Server(programs.SERVER) as server:
            programs.stream(["wine", program, server.port], results, env)
    return 1 if "failed" in results else 0


def chosen(names):
    """The test programs that the names mean."""
    everything = sorted(glob.glob("tests/*/test_*.c"))
    out = [s for s in everything if not names or any(s == n or s.startswith(n.rstrip("/") + "/") for n in names)]
    if not out and not set(names) & set(USER):
        raise GiveUp(f"no test is called {' '.join(names)}")
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bits", type=int, choices=(64, 32))
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--bench", action="store_true")
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    os.chdir(ROOT)
    os.makedirs(WORK, exist_ok=True)
    sources, entries = chosen(args.names), left_out()
    env = None if args.build_only else wine_environment(Launcher())
    if args.bench:
        return bench(args.bits or 64, env)
    passed = failed = skipped = most_left = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for bits in [args.bits] if args.bits else (64, 32):
            if shutil.which(TRIPLES[bits] + "-gcc") is None:
                print(f"windows: {bits} bits are left out: there is no {TRIPLES[bits]}-gcc")
                continue
            runnable = env is not None and runs(bits, env)
            if env is not None and not runnable:
                print(f"windows: this Wine does not run programs of {bits} bits (Debian: wine32:i386): they are only built")
            inside = bridges(bits, env) if runnable else None
            total = build_and_run(bits, sources, inside, entries, pool) if sources else Sum()
            if not args.names or set(args.names) & set(USER):
                curl(bits)
                total.add(user(bits, args.names, inside, entries, pool))
            passed, failed, skipped = passed + total.passed, failed + total.failed, skipped + total.skipped
            if runnable and not args.names:  # a folder alone may have more
                most_left = max(most_left, total.part_left())
    for source in entries if not args.names else sources:
        for test, reason in entries.get(source, {}).items():
            print(f"left out: {source}{':' * bool(test)}{test}: {reason}")
    if env is not None:
        limited(["wineserver", "-k"], 60, env=env)  # that of this prefix
    print(f"{passed} passed, {failed} failed" + f", {skipped} skipped" * bool(skipped))
    if most_left > MOST_LEFT:
        print(f"windows: more than {MOST_LEFT} % of the tests are left out or skipped")
    return 1 if failed or most_left > MOST_LEFT else 0


if __name__ == "__main__":
    import windows  # the module that windows_user has
    try:
        sys.exit(windows.main())
    except windows.GiveUp as e:
        print(f"windows: {e}", file=sys.stderr)
        sys.exit(1)
