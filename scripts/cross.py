#!/usr/bin/env python3
"""phi on other machines: its tests under qemu-user, and the command phi as one static program over musl.

    cross.py [PART...]    all parts, or those named: s390x, aarch64, armv7, musl

A machine's part compiles src/ and the tests of ROOMS with clang and PHI_NO_CURL, links each test statically, and runs
it under qemu. LEFT_OUT lists what cannot pass without libcurl; an entry whose reason is no longer true is a failure.
The part musl builds zlib, Mbed TLS and libcurl with musl-gcc from crates that carry their sources, links the command
with them, prints its size, and sends a prompt over TLS. Everything is kept in build/cross. JOBS (default 2) is the number of
processes at a time. The last line is the sum: "N passed, N failed"."""
import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
sys.dont_write_bytecode = True
import run_tests  # noqa: E402
from crates import GiveUp, crate, curl as curl_source, quiet  # noqa: E402

WORK = "build/cross"
JOBS = int(os.environ.get("JOBS") or 2)
CLANG = os.environ.get("CLANG") or "clang"
MAKE = [os.environ.get("MAKE") or "make", "--no-print-directory", f"-j{JOBS}"]
MACHINES = {  # name: the words of compiler and binutils, the emulator, what the machine is
    "s390x": ("s390x-linux-gnu", "qemu-s390x", "64 bits, big-endian"),
    "aarch64": ("aarch64-linux-gnu", "qemu-aarch64", "64 bits, little-endian"),
    "armv7": ("arm-linux-gnueabihf", "qemu-arm", "32 bits, little-endian"),
}
ROOMS = "base text model wire codecs log persist loop agent features formats orchestrate record config".split()
TIMEOUT = 600  # seconds of one program; the emulator and a busy machine slow it by a factor of 20
# clang warns of long literals in several pieces and of CHECK(!"words"); tests have both.
FLAGS = "-O1 -DPHI_NO_CURL -Wno-string-concatenation -Wno-string-conversion"
WIDE = " -D_FILE_OFFSET_BITS=64"  # which the headers define themselves (amalgamate.py)

# Programs that are not built: what they need, and the line of their source that shows it.
NOT_BUILT = {
    "tests/base/test_url": ("compares addresses with libcurl", "#include <curl/curl.h>"),
    "tests/persist/test_sqlite_store": ("needs SQLite", "sqlite"),
    "tests/record/test_replay_http": ("records libcurl's transfers", "support/mock_server.h"),
}
# Tests that run and fail, as a runtime without libcurl and without a transport of the host cannot be made. PHI_NO_CURL.
NO_TRANSPORT = "uses libcurl's transport"
LEFT_OUT = {
    "tests/agent/test_features_missing": (NO_TRANSPORT, ("a_field_of_a_desc_that_needs_a_feature_names_it",
                                                         "a_snapshot_that_needs_a_feature_names_it")),
    "tests/agent/test_http": (NO_TRANSPORT, (
        "a_coding_that_nobody_asked_for_is_refused_before_it_is_undone", "a_header_line_without_end_is_refused",
        "a_host_s_own_event_loop_brings_a_run_to_its_end", "an_answer_whose_trailers_have_no_end_is_whole_all_the_same",
        "header_lines_without_end_are_refused", "interim_answers_without_end_are_refused",
        "trailers_without_end_are_refused")),
    "tests/agent/test_response": (NO_TRANSPORT, ("awaiting_ends_in_time_whatever_hangs_and_the_run_continues",)),
    "tests/agent/test_runtime": (NO_TRANSPORT, ("a_password_of_a_proxy_that_a_server_repeats_is_on_no_tape",
                                                "an_error_of_a_proxy_loses_the_password_it_was_asked_with")),
    "tests/agent/test_snapshot_all": (NO_TRANSPORT, ("facts_of_all_are_refused_by_a_runtime_without_facts",)),
    "tests/loop/test_fetch": (NO_TRANSPORT, (
        "a_redirect_is_an_answer_and_is_not_followed", "an_answer_that_is_cut_is_no_whole_one",
        "eight_megabytes_pass_through_a_small_buffer", "over_the_network_pieces_arrive_whole")),
    "tests/record/test_replay": (NO_TRANSPORT, ("a_tape_is_of_one_runtime",)),
}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# ---- a machine ----

# A failed check, and what a test left behind, begin with where it was and the test's name.
FAILING = re.compile(r"^(?:\S+\.[ch]:\d+: (\w+): |(\w+): left )", re.M)


def judge(name, result):
    """What a program's run says: passed, failed, left out, and the lines that tell of trouble."""
    _, passed, failed, skipped, trouble, text, _ = result
    reason, tests = LEFT_OUT.get(name, ("", ()))
    failing = {a or b for a, b in FAILING.findall(text)}
    if trouble or len(failing) != failed:
        tail = text.rstrip().split("\n")[-40:]
        return passed, max(failed, 1), skipped, [trouble or f"{failed} failed"] + tail
    now_true = [f"{test}: left out ({reason}), and passes" for test in tests if test not in failing]
    new = failing - set(tests)
    lines = [line for line in text.split("\n") if new.intersection(*(FAILING.findall(line) or [()]))]
    return passed - len(now_true), len(new) + len(now_true), skipped + failed - len(new), now_true + lines[:40]


def programs_of(name):
    """The test programs of ROOMS that are built, and the number of those that are not."""
    sources = sorted(p[:-2] for room in ROOMS for p in glob.glob(f"tests/{room}/test_*.c", root_dir=ROOT))
    for path, (reason, mark) in NOT_BUILT.items():
        if path not in sources or mark not in read(f"{ROOT}/{path}.c"):
            raise GiveUp(f"{name}: {path} is left out ({reason}), but has no {mark}")
    return [path for path in sources if path not in NOT_BUILT]


def part_machine(name):
    triple, qemu, words = MACHINES[name]
    b = f"{WORK}/{name}"
    programs = programs_of(name)
    library = f"{b}/libphi.a"
    print(f"cross: {name} ({words}): {len(programs)} programs", flush=True)
    quiet(f"{WORK}/{name}.log",
          [*MAKE, "-k", f"V={name}", f"BUILD={WORK}", f"CC={CLANG} --target={triple}", f"AR={triple}-ar",
           f"FLAGS_{name}={FLAGS}{WIDE if '32' in words else ''}", "LIBS=", "FAST_LINK=-static", f"LIBRARY={library}", f"BESIDE={library}",
           *(f"{b}/{path}" for path in programs)], f"{name}: phi or a test does not compile")
    env = {k: v for k, v in os.environ.items() if not run_tests.HIDDEN.match(k)}
    env["PHI_SEEDS"] = "10"  # every seed runs under the sanitizers
    args = argparse.Namespace(under=f"nice {qemu}", timeout=TIMEOUT, valgrind="", build=b)
    total = [0, 0, 0]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        runs = {pool.submit(run_tests.run, f"{b}/{path}", args, env): path for path in programs}
        for done in concurrent.futures.as_completed(runs):
            passed, failed, out, lines = judge(runs[done], done.result())
            total = [total[0] + passed, total[1] + failed, total[2] + out]
            if failed:
                print(f"FAIL {name} {runs[done]}\n" + "\n".join("     | " + line for line in lines), flush=True)
    print(f"{'FAIL' if total[1] else 'ok  '} {name:8} {len(programs)} programs: {total[0]} passed, {total[1]} failed, "
          f"{total[2]} left out", flush=True)
    return total[0], total[1]


def say_left_out():
    for path, (reason, _) in sorted(NOT_BUILT.items()):
        print(f"     left out: {path}: {reason}")
    for path, (reason, tests) in sorted(LEFT_OUT.items()):
        print(f"     left out: {len(tests)} of {path}: {reason}")


# ---- the command over musl ----

M = f"{WORK}/musl"
SMALL = "-Os -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fno-stack-protector -fno-pie".split()
NULLCLAW = 678  # KB of the static program that NullClaw's page names
# Mbed TLS for a client of TLS 1.2 over TCP.
NOT_OF_TLS = """SELF_TEST DEBUG_C VERSION_FEATURES GENPRIME SSL_SRV_C SSL_CACHE_C SSL_COOKIE_C SSL_TICKET_C
    SSL_PROTO_DTLS SSL_DTLS_CONNECTION_ID SSL_DTLS_CONNECTION_ID_COMPAT SSL_DTLS_ANTI_REPLAY SSL_DTLS_HELLO_VERIFY
    SSL_DTLS_CLIENT_PORT_REUSE SSL_CONTEXT_SERIALIZATION SSL_RENEGOTIATION KEY_EXCHANGE_PSK_ENABLED
    KEY_EXCHANGE_DHE_PSK_ENABLED KEY_EXCHANGE_ECDHE_PSK_ENABLED KEY_EXCHANGE_RSA_PSK_ENABLED
    KEY_EXCHANGE_DHE_RSA_ENABLED KEY_EXCHANGE_ECDH_ECDSA_ENABLED KEY_EXCHANGE_ECDH_RSA_ENABLED
    KEY_EXCHANGE_RSA_ENABLED CAMELLIA_C ARIA_C DES_C DHM_C ECJPAKE_C LMS_C NIST_KW_C PADLOCK_C PEM_WRITE_C PKCS7_C
    RIPEMD160_C SHA3_C TIMING_C X509_CREATE_C X509_CRT_WRITE_C X509_CSR_WRITE_C X509_CSR_PARSE_C
    ECP_DP_SECP192R1_ENABLED ECP_DP_SECP224R1_ENABLED ECP_DP_SECP192K1_ENABLED ECP_DP_SECP224K1_ENABLED
    ECP_DP_SECP256K1_ENABLED ECP_DP_BP256R1_ENABLED ECP_DP_BP384R1_ENABLED ECP_DP_BP512R1_ENABLED
    ECP_DP_CURVE448_ENABLED PSA_CRYPTO_STORAGE_C PSA_ITS_FILE_C""".split()
# libcurl for HTTP/1.1, over TLS and proxies.
NOT_OF_CURL = """ALTSVC AWS BEARER_AUTH COOKIES DIGEST_AUTH DOH FORM_API GETOPTIONS HEADERS_API HSTS IPFS KERBEROS_AUTH
    LIBCURL_OPTION MIME NEGOTIATE_AUTH NETRC PARSEDATE PROGRESS_METER SHA512_256 SHUFFLE_DNS VERBOSE_STRINGS
    WEBSOCKETS""".split()


def library(name, sources, flags):
    """An archive of these sources, compiled with musl-gcc; kept as long as the flags are the same."""
    archive, folder, mark = f"{M}/lib{name}.a", f"{ROOT}/{M}/{name}", f"{ROOT}/{M}/{name}.flags"
    command = ["musl-gcc", *SMALL, *flags]
    if os.path.exists(archive) and os.path.exists(mark) and read(mark) == " ".join(command):
        return archive
    print(f"cross: musl-gcc compiles {name}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        share = [sources[i::JOBS] for i in range(JOBS)]
        list(pool.map(lambda i: quiet(f"{M}/{name}.{i}.log", [*command, "-c", *(f"{ROOT}/{s}" for s in share[i])],
                                      f"{name} does not compile", cwd=folder), range(JOBS)))
    if os.path.exists(archive):
        os.remove(archive)
    quiet(f"{M}/{name}.log", ["ar", "rcs", archive, *sorted(glob.glob(f"{folder}/*.o"))], f"{name}: no archive")
    with open(mark, "w", encoding="utf-8") as file:
        file.write(" ".join(command))
    return archive


def tls_headers(vendor):
    """The headers of Mbed TLS with our configuration, in a folder whose name tells which it is."""
    text = "".join(f"#undef MBEDTLS_{name}\n" for name in NOT_OF_TLS)
    into = f"{M}/tls-{zlib.crc32(text.encode()):08x}"
    if not os.path.isdir(into):
        shutil.rmtree(f"{into}.part", ignore_errors=True)
        shutil.copytree(f"{vendor}/include", f"{into}.part")
        with open(f"{into}.part/mbedtls/mbedtls_config.h", "a", encoding="utf-8") as file:
            file.write(text)
        os.rename(f"{into}.part", into)
    return into


def curl(z_source, z, tls_include, tls):
    """libcurl by its CMake files."""
    source = f"{ROOT}/{curl_source(M)}"
    options = {
        "CMAKE_C_COMPILER": "musl-gcc", "CMAKE_BUILD_TYPE": "None", "CMAKE_C_FLAGS": " ".join(SMALL),
        "CMAKE_EXE_LINKER_FLAGS": "-static -no-pie", "BUILD_SHARED_LIBS": "OFF",
        "BUILD_CURL_EXE": "OFF", "BUILD_TESTING": "OFF", "BUILD_LIBCURL_DOCS": "OFF", "BUILD_MISC_DOCS": "OFF",
        "ENABLE_CURL_MANUAL": "OFF", "HTTP_ONLY": "ON", "ENABLE_UNIX_SOCKETS": "OFF", "CURL_USE_MBEDTLS": "ON",
        "CURL_USE_OPENSSL": "OFF", "CURL_USE_LIBPSL": "OFF", "CURL_USE_LIBSSH2": "OFF", "USE_NGHTTP2": "OFF",
        "USE_LIBIDN2": "OFF", "CURL_BROTLI": "OFF", "CURL_ZSTD": "OFF", "CURL_ZLIB": "ON",
        "CURL_CA_BUNDLE": "/etc/ssl/certs/ca-certificates.crt",
        "ZLIB_INCLUDE_DIR": f"{ROOT}/{z_source}", "ZLIB_LIBRARY": f"{ROOT}/{z}",
        "MBEDTLS_INCLUDE_DIR": f"{ROOT}/{tls_include}",
        **{f"{name}_LIBRARY": f"{ROOT}/{tls}" for name in ("MBEDTLS", "MBEDX509", "MBEDCRYPTO")},
        **{f"CURL_DISABLE_{name}": "ON" for name in NOT_OF_CURL},
    }
    command = ["cmake", source, *(f"-D{name}={value}" for name, value in options.items())]
    folder, archive, mark = f"{M}/curl", f"{M}/curl/lib/libcurl.a", f"{ROOT}/{M}/curl.flags"
    if not (os.path.exists(archive) and os.path.exists(mark) and read(mark) == " ".join(command)):
        print("cross: musl-gcc compiles libcurl", flush=True)
        shutil.rmtree(f"{ROOT}/{folder}", ignore_errors=True)
        os.makedirs(f"{ROOT}/{folder}")
        quiet(f"{M}/curl.cmake.log", command, "libcurl cannot be configured", cwd=f"{ROOT}/{folder}")
        quiet(f"{M}/curl.make.log", [*MAKE, "libcurl_static"], "libcurl does not compile", cwd=f"{ROOT}/{folder}")
        with open(mark, "w", encoding="utf-8") as file:
            file.write(" ".join(command))
    return f"{curl_source(M)}/include", archive


def parts_of(map_path):
    """The bytes that each library has in the program, by the linker's map."""
    text, sums = read(map_path), {}
    text = text[text.index("Linker script and memory map"):]
    for section, at, size, path in re.findall(r"^ (\.\S+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S+)$", text, re.M):
        if int(at, 16) == 0 or section.startswith((".bss", ".debug", ".comment", ".note")):
            continue
        found = re.search(r"lib(\w+)\.a\(", path)
        name = {"c": "musl", "curl": "libcurl", "mbedtls": "Mbed TLS", "z": "zlib"}.get(found and found.group(1), "phi")
        if found and found.group(1) not in ("c", "curl", "mbedtls", "z"):
            name = "musl"  # libgcc, and the like
        sums[name] = sums.get(name, 0) + int(size, 16)
    return sums


def command():
    """Builds the command, and returns its path."""
    z_source, vendor = f"{crate(M, 'libz-sys', '1.1.33')}/src/zlib", f"{crate(M, 'psa-crypto-sys', '0.13.0')}/vendor"
    tls_include = tls_headers(vendor)
    z = library("z", sorted(glob.glob(f"{z_source}/*.c", root_dir=ROOT)), ["-DHAVE_UNISTD_H", "-DHAVE_STDARG_H"])
    tls = library("mbedtls", sorted(glob.glob(f"{vendor}/library/*.c", root_dir=ROOT)),
                  [f"-I{ROOT}/{tls_include}", f"-I{ROOT}/{vendor}/library"])
    include, libcurl = curl(z_source, z, tls_include, tls)
    os.makedirs(f"{M}/include", exist_ok=True)
    quiet(f"{M}/amalgamate.log", [sys.executable, "amalgamate.py", "--out", f"{M}/include"], "no header")
    print("cross: musl-gcc compiles the command phi", flush=True)
    quiet(f"{M}/phi.log", ["musl-gcc", "-std=c99", *SMALL, "-D_GNU_SOURCE", "-DCURL_STATICLIB", f"-I{M}/include",
                           f"-I{include}", "-c", "examples/phi.c", "-o", f"{M}/phi.o"], "the command does not compile")
    quiet(f"{M}/link.log",
          ["musl-gcc", "-static", "-no-pie", "-s", f"-Wl,--gc-sections,-Map={M}/phi.map", "-Wl,--build-id=none",
           "-Wl,-z,noseparate-code,-z,norelro", f"{M}/phi.o", libcurl, tls, z, "-lm", "-o", f"{M}/phi"],
          "the command does not link")
    return f"{M}/phi"


def ask(phi, mock_url, authority):
    """The exit code and output of one prompt, trusting the certificates of a file."""
    env = {k: v for k, v in os.environ.items() if not run_tests.HIDDEN.match(k) and not k.startswith(("SSL_", "PHI_"))}
    env.update(PHI_BASE_URL=mock_url, PHI_MODEL="claude-sonnet-4-5", SSL_CERT_FILE=authority)
    done = subprocess.run([phi, "Say hello."], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120, text=True, check=False)
    return done.returncode, done.stdout.strip()


def over_tls(phi):
    """One prompt to tests/mock over TLS, and one whose server's certificate nobody vouches for."""
    certs = f"{M}/certs"
    os.makedirs(f"{ROOT}/{certs}", exist_ok=True)
    python = os.environ.get("PYTHON") or "scripts/python.sh"
    quiet(f"{M}/certs.log", [python, "tests/mock/certs.py", certs], "no certificates")
    mock = subprocess.Popen([python, "tests/mock/server.py", "--port", "0", "--default", "hello", "--tls",
                             f"{certs}/good.pem", f"{certs}/good.key"], cwd=ROOT, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    try:
        port = mock.stdout.readline().split()[-1]
        url = f"https://localhost:{port}"
        return ask(phi, url, f"{certs}/ca.pem"), ask(phi, url, f"{certs}/selfsigned.pem")
    except IndexError as e:
        raise GiveUp("tests/mock/server.py does not start") from e
    finally:
        mock.stdin.close()  # the mock ends with it
        mock.wait()


def part_musl(_):
    for tool in ("musl-gcc", "cmake", "cargo"):
        if shutil.which(tool) is None:
            raise GiveUp(f"musl: there is no {tool}")
    phi = command()
    size = os.path.getsize(f"{ROOT}/{phi}")
    parts = sorted(parts_of(f"{ROOT}/{phi}.map").items(), key=lambda part: -part[1])
    said = [subprocess.run([phi, word], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False) for word in
            ("--version", "--help")]
    headers = subprocess.run(["readelf", "-lW", phi], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False).stdout
    (code, answer), (refused, words) = over_tls(phi)
    checks = [
        ("it is static", "INTERP" not in headers and "LOAD" in headers, headers),
        ("--version", said[0].returncode == 0 and re.match(r"phi \d+\.\d+\.\d+\n$", said[0].stdout), said[0].stdout),
        ("--help", said[1].returncode == 0 and "--session" in said[1].stdout, said[1].stdout),
        ("a prompt over TLS", code == 0 and "Hello" in answer, f"exit code {code}: {answer}"),
        ("a certificate of nobody is refused", refused != 0 and "Hello" not in words, f"exit code {refused}: {words}"),
    ]
    for name, good, text in checks:
        print(f"{'ok  ' if good else 'FAIL'} musl     {name}")
        if not good:
            print("     | " + text.strip().replace("\n", "\n     | "))
    print(f"     {phi}: {size} bytes, {size / 1000:.0f} KB (" +
          ", ".join(f"{name} {n / 1000:.0f}" for name, n in parts) + f"); NullClaw publishes {NULLCLAW} KB")
    bad = sum(not good for _, good, _ in checks)
    return len(checks) - bad, bad


PARTS = {**{name: part_machine for name in MACHINES}, "musl": part_musl}


def main():
    os.chdir(ROOT)
    os.makedirs(WORK, exist_ok=True)
    names = sys.argv[1:] or list(PARTS)
    if any(name not in PARTS for name in names):
        print(f"cross.py [{' | '.join(PARTS)}]...", file=sys.stderr)
        return 2
    total = [0, 0]
    for name in names:
        try:
            passed, failed = PARTS[name](name)
        except (GiveUp, OSError, subprocess.TimeoutExpired) as e:
            print(f"FAIL {name}: {e}")
            passed, failed = 0, 1
        total = [total[0] + passed, total[1] + failed]
    if any(name in MACHINES for name in names):
        say_left_out()
    print(f"{total[0]} passed, {total[1]} failed")
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
