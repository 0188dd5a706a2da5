"""What a user of phi on Windows has: the examples, the command phi.exe, and a zip with both. For scripts/windows.py.

The headers are amalgamated and compiled as a user does it. tests/windows/user.py then runs demo.sh, phi.exe and a program
that is compiled out of the zip."""
import glob
import os
import re
import shutil
import subprocess
import sys
import zipfile

import run_tests
import windows  # which imports this: nothing of it is used before main()

WHOLE = "build/windows/phi_all.c"
README = """phi VERSION for Windows, 64 bits

phi.exe      the command: phi.exe --help
include/     phi.h, phi_tools.h and phi_json.h: one of them is all there is to compile; libcurl's headers
lib/         libcurl CURL for mingw-w64: static, with Schannel, HTTP/1.1
examples/    hello.c, the smallest program

With mingw-w64, in this folder:

    x86_64-w64-mingw32-gcc -O2 -DCURL_STATICLIB -Iinclude examples/hello.c -o hello.exe -static -Llib -lcurl -lws2_32 -lbcrypt -lcrypt32 -lsecur32 -liphlpapi -ladvapi32 -lnormaliz

With MSVC, in a developer prompt; its libcurl comes from vcpkg (vcpkg install curl[core,schannel]:x64-windows-static):

    cl /std:c11 /O2 /MT /DCURL_STATICLIB /Iinclude /I%VCPKG_INSTALLATION_ROOT%\\installed\\x64-windows-static\\include examples\\hello.c /link /LIBPATH:%VCPKG_INSTALLATION_ROOT%\\installed\\x64-windows-static\\lib libcurl.lib zlib.lib ws2_32.lib bcrypt.lib crypt32.lib secur32.lib iphlpapi.lib advapi32.lib normaliz.lib user32.lib

hello.exe asks the model of PHI_BASE_URL, of the first key in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, ...), or
of a local server on Ollama's port. All text is UTF-8.

LICENSE is phi's licence. licences/curl.txt is libcurl's, which is also inside phi.exe and hello.exe.
"""


def headers():
    """The amalgamated headers, and those that only declare: an example then takes the implementation that is compiled."""
    out = f"{windows.WORK}/include"
    os.makedirs(f"{windows.WORK}/declared", exist_ok=True)
    os.makedirs(out, exist_ok=True)
    os.makedirs(f"{out}.new", exist_ok=True)
    windows.quiet(f"{windows.WORK}/log_headers", [sys.executable, "amalgamate.py", "--out", f"{out}.new"], "there are no headers")
    for name in ("phi_json.h", "phi.h", "phi_tools.h"):
        if windows.read(f"{out}.new/{name}") != windows.read(f"{out}/{name}"):
            shutil.copy(f"{out}.new/{name}", f"{out}/{name}")
    shutil.rmtree(f"{out}.new")
    for path, text in [(WHOLE, '#define PHI_IMPLEMENTATION\n#include "phi_tools.h"\n')] + [
            (f"{windows.WORK}/declared/{h}", f'#undef PHI_IMPLEMENTATION\n#include "../include/{h}"\n') for h in ("phi.h", "phi_tools.h")]:
        if windows.read(path) != text:
            windows.write(path, text)


def link(bits, source, whole):
    """(program, "") or (None, what was said)."""
    built, said = windows.compile_one(bits, source)
    if built is None:
        return None, said
    program, compiler = built[:-2] + ".exe", "g++" if source.endswith(".cpp") else "gcc"
    done = windows.limited([f"{windows.TRIPLES[bits]}-{compiler}", "-static", "-s", built, whole,
                            f"{windows.WORK}/curl-{bits}/lib/libcurl.a", *windows.LIBS, "-lshell32", "-o", program],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return (program, "") if done.returncode == 0 else (None, done.stdout)


def examples(bits, entries, pool):
    """The sum of the examples, which are compiled and linked."""
    numbers = windows.Sum()
    headers()
    whole, said = windows.compile_one(bits, WHOLE)
    if whole is None:
        raise windows.GiveUp(f"the header in one piece does not compile for {bits} bits: {windows.first_error(said)}")
    sources = sorted(glob.glob("examples/*.c") + glob.glob("examples/*.cpp"))
    sources.append("tests/windows/console.c")
    for source, (program, said) in zip(sources, pool.map(lambda s: link(bits, s, whole), sources)):
        left = source in entries
        numbers.programs += 1
        numbers.built += program is not None
        numbers.left += left
        if left != (program is None):
            numbers.failed += 1
            print(f"FAIL {source}: " + ("it builds, but tests/windows.txt leaves it out" if left else
                                        f"does not build for {bits} bits: {windows.first_error(said)}"))
    print(f"{bits} bits: {numbers.built} of {numbers.programs} examples build, {numbers.left} left out")
    return numbers


def make_zip():
    """The path of the zip for 64 bits."""
    version = re.search(r'#define PHI_VERSION "([^"]+)"', windows.read(f"{windows.WORK}/include/phi.h")).group(1)
    curl = re.search(r'#define LIBCURL_VERSION "([^"]+)"', windows.read(f"{windows.WORK}/curl-64/include/curl/curlver.h")).group(1)
    folder, path = f"phi-{version}-windows-x64", f"{windows.WORK}/phi-{version}-windows-x64.zip"
    files = {f"include/{h}": f"{windows.WORK}/include/{h}" for h in ("phi.h", "phi_tools.h", "phi_json.h")}
    files.update({f"include/curl/{os.path.basename(h)}": h for h in sorted(glob.glob(f"{windows.WORK}/curl-64/include/curl/*.h"))})
    files.update({"lib/libcurl.a": f"{windows.WORK}/curl-64/lib/libcurl.a", "phi.exe": f"{windows.WORK}/64/examples/phi.exe",
                  "examples/hello.c": "examples/hello.c", "examples/pick_model.h": "examples/pick_model.h", "LICENSE": "LICENSE",
                  "licences/curl.txt": f"{windows.curl_source(windows.WORK + '/fetch')}/COPYING"})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        text = README.replace("VERSION", version, 1).replace("CURL", curl, 1)
        out.writestr(f"{folder}/README.txt", text.replace("\n", "\r\n"))
        for name, source in files.items():
            out.write(source, f"{folder}/{name}")
    print(f"{path}: {os.path.getsize(path):,} bytes")
    return path


def run(bits, env, archive):
    """(passed, failed, skipped) of tests/windows/user.py."""
    python = os.path.join(windows.ROOT, os.environ.get("PYTHON") or sys.executable)
    done = windows.limited([python, "tests/windows/user.py"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           errors="replace", env={**env, "PHI_BITS": str(bits), "PHI_ZIP": archive or "", "PYTHON": python})
    counts = run_tests.counts_of(done.stdout) or (0, 1, 0)
    print(f"{'FAIL' if counts[1] else 'ok  '} tests/windows/user.py: {counts[0]} passed, {counts[1]} failed, {counts[2]} skipped")
    if counts[1]:
        print("\n".join("     | " + line for line in done.stdout.rstrip().split("\n")[-80:]))
    return counts
