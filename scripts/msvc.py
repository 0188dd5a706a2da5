#!/usr/bin/env python3
"""phi with MSVC, on Windows: msvc.py [--arch x64|x86] [NAME...]

    python scripts/msvc.py               the headers, the examples, and the tests of ROOMS
    python scripts/msvc.py tests/base    ... and these tests

1. The public headers alone, as C11 and as C++17; then the implementation, as both.
2. examples/hello.c and others (EXAMPLES), linked with libcurl.
3. src/ file by file, and the test programs; they run. Those of tests/windows.txt are left out, those with headers or
   calls that MSVC lacks, and those with servers (tests/support/os_msvc.c).

It needs Visual Studio 2022 with C++, Python 3.9, and libcurl from vcpkg (VCPKG_INSTALLATION_ROOT):
    vcpkg install curl[core,schannel]:x64-windows-static"""
import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = "build/msvc"
ROOMS = ["tests/base", "tests/text", "tests/formats", "tests/model", "tests/codecs", "tests/wire", "tests/log", "tests/loop",
         "tests/agent", "tests/io", "tests/system"]
EXAMPLES = ["hello", "own_model", "custom_strategy"]
SECONDS = 300  # for one test program
LACKS = re.compile(r'#include <(?:unistd|dirent|strings|pthread|sched|poll|spawn|fcntl|signal|sys/\w+|arpa/\w+|netinet/\w+)\.h>|'
                   r'#include "support/mock_server\.h"|\btest_os_\w+|\b(?:setenv|mkdtemp|symlink)\(')
FLAGS = ["/nologo", "/utf-8", "/MT", "/Zi", "/FS", "/DCURL_STATICLIB", "/D_CRT_SECURE_NO_WARNINGS",
         "/D_CRT_NONSTDC_NO_WARNINGS", "/D_WIN32_WINNT=0x0A00", "/I."]
STRICT = ["/W3", "/WX"]
DIALECTS = {"C11": ["/std:c11"], "C++17": ["/TP", "/std:c++17", "/Zc:__cplusplus", "/EHsc"]}
LIBS = ["ws2_32", "bcrypt", "crypt32", "secur32", "iphlpapi", "advapi32", "normaliz", "user32"]
CALL = "int call(void);\nint call(void) { return phi_status_text(PHI_NO_MEMORY)[0]; }\n"


class GiveUp(Exception):
    pass


def environment(arch):
    """The environment of a developer prompt."""
    where = os.path.expandvars(r"%ProgramFiles(x86)%\Microsoft Visual Studio\Installer\vswhere.exe")
    found = subprocess.run([where, "-latest", "-products", "*", "-property", "installationPath"], stdout=subprocess.PIPE,
                           text=True, check=True).stdout.strip()
    if not found:
        raise GiveUp("there is no Visual Studio")
    batch = os.path.join(found, "VC", "Auxiliary", "Build", "vcvarsall.bat")
    said = subprocess.run(f'"{batch}" {arch} >nul && set', shell=True, stdout=subprocess.PIPE, text=True, check=True).stdout
    return dict(line.split("=", 1) for line in said.splitlines() if "=" in line)


class Build:
    def __init__(self, arch):
        self.env, self.failed = environment(arch), 0
        self.path = self.env.get("Path") or self.env.get("PATH")
        self.curl = os.path.join(os.environ.get("VCPKG_INSTALLATION_ROOT", r"C:\vcpkg"), "installed", f"{arch}-windows-static")
        if not os.path.exists(os.path.join(self.curl, "include", "curl", "curl.h")):
            raise GiveUp(f"there is no libcurl: vcpkg install curl[core,schannel]:{arch}-windows-static")
        self.libs = [f"{name}.lib" for name in LIBS] + glob.glob(os.path.join(self.curl, "lib", "*.lib"))

    def run(self, command):
        """(exit code, what it said)"""
        os.environ["PATH"] = self.path  # where Windows looks for the program
        done = subprocess.run(command, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        return done.returncode, done.stdout

    def step(self, words, command):
        """True if the command went well; else prints what it said."""
        code, said = self.run(command)
        print(f"{'ok  ' if code == 0 else 'FAIL'} {words}", flush=True)
        if code != 0:
            self.failed += 1
            print("\n".join("     | " + line for line in said.rstrip().split("\n")[:40]), flush=True)
        return code == 0

    def cl(self, words, source, target, *more):
        return self.step(words, ["cl", *FLAGS, *STRICT, f"/I{os.path.join(self.curl, 'include')}", *more, "/c", source, f"/Fo{target}",
                                 f"/Fd{target}.pdb"])

    def headers(self):
        for dialect, flags in DIALECTS.items():
            for header in ("phi_json.h", "phi.h", "phi_tools.h"):
                path = write(f"{WORK}/user_{header[:-2]}.c", f'#include "{header}"\n#include "{header}"\n' + CALL)
                self.cl(f"{header} as {dialect}", path, f"{path}.obj", *flags)
            path = write(f"{WORK}/after_windows.c", '#include <winsock2.h>\n#include <windows.h>\n#include "phi_tools.h"\n' + CALL)
            self.cl(f"the headers after windows.h as {dialect}", path, f"{path}.obj", *flags)
            path = write(f"{WORK}/all.c", '#define PHI_IMPLEMENTATION\n#include "phi_tools.h"\n')
            self.cl(f"the implementation as {dialect}", path, f"{WORK}/all_{dialect}.obj", *flags)

    def examples(self):
        for name in EXAMPLES:
            target = f"{WORK}/{name}.obj"
            if self.cl(f"examples/{name}.c", f"examples/{name}.c", target, *DIALECTS["C11"], "/Iexamples"):
                self.step(f"examples/{name}.exe", ["link", "/nologo", target, *self.libs, f"/OUT:{WORK}/{name}.exe"])

    def sources(self, pool):
        """The objects of src/ and tests/support/."""
        def one(source):
            target = f"{WORK}/{source[:-2].replace('/', '.')}.obj"
            test = source.startswith("tests/")
            return target, self.run(["cl", *FLAGS, *DIALECTS["C11"], "/O1", "/DPHI__TESTED", "/DPHI__PROCESS_LAST_MS=5000", "/Isrc",
                                     "/Itests", *(["/W1"] if test else STRICT), f"/I{os.path.join(self.curl, 'include')}", "/c", source,
                                     f"/Fo{target}", f"/Fd{target}.pdb"])
        sources = [s.replace("\\", "/") for s in sorted(glob.glob("src/*/*.c") + glob.glob("tests/support/*.c"))]
        objects, bad = [], 0
        for source, (target, (code, said)) in zip(sources, pool.map(one, sources)):
            if code == 0:
                objects.append(target)
                continue
            bad += 1
            print(f"FAIL {source}\n" + "\n".join("     | " + line for line in said.rstrip().split("\n")[:8]), flush=True)
        print(f"{'FAIL' if bad else 'ok  '} src/ and tests/support/: {len(objects)} of {len(sources)} files compile")
        self.failed += bad
        return objects

    def test(self, source, library):
        """(words, output) of one program; output None: it went well."""
        target = f"{WORK}/{source[:-2].replace('/', '.')}"
        code, said = self.run(["cl", *FLAGS, "/W1", *DIALECTS["C11"], "/DPHI__TESTED", "/Isrc", "/Itests", source, f"/Fo{target}.obj",
                               f"/Fd{target}.pdb", f"/Fe{target}.exe", "/link", library, *self.libs])
        if code != 0:
            return "does not build", said
        try:
            done = subprocess.run([os.path.abspath(f"{target}.exe")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"still running after {SECONDS} s", ""
        last = done.stdout.rstrip().split("\n")[-1]
        return last, None if done.returncode == 0 else done.stdout

    def tests(self, names, pool):
        library = f"{WORK}/phi.lib"
        with open(f"{WORK}/objects", "w", encoding="utf-8") as file:
            file.write("\n".join(self.sources(pool)))
        if not self.step("the library", ["lib", "/nologo", f"@{WORK}/objects", f"/OUT:{library}"]):
            return
        left = left_out()
        sources = [s.replace("\\", "/") for name in names for s in
                   ([name] if name.endswith(".c") else sorted(glob.glob(f"{name}/test_*.c")))]
        chosen = [s for s in sources if s not in left and not LACKS.search(read(s))]
        for source, (words, said) in zip(chosen, pool.map(lambda s: self.test(s, library), chosen)):
            print(f"{'ok  ' if said is None else 'FAIL'} {source:44} {words}", flush=True)
            if said is not None:
                self.failed += 1
                print("\n".join("     | " + line for line in said.rstrip().split("\n")[-30:]), flush=True)
        print(f"{len(sources) - len(chosen)} programs of {len(sources)} are left out")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def left_out():
    """The test programs that tests/windows.txt names, even for one of their tests."""
    lines = [line for line in read("tests/windows.txt").split("\n") if line.strip() and not line.startswith("#")]
    return {line.split()[0].partition(":")[0] for line in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--arch", choices=("x64", "x86"), default="x64")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    os.chdir(ROOT)
    os.makedirs(WORK, exist_ok=True)
    build = Build(args.arch)
    build.headers()
    build.examples()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        build.tests(args.names or ROOMS, pool)
    print(f"msvc: {build.failed} failed")
    return 1 if build.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (GiveUp, OSError, subprocess.CalledProcessError) as e:
        print(f"msvc: {e}", file=sys.stderr)
        sys.exit(1)
