#!/bin/sh
# Looks for what the named groups need (demo test check bench fuzz) and installs what is missing
# through the system's package manager, saying so. Silent and quick when all is there.
set -eu

missing=
python=${PYTHON:-/usr/bin/python3}
cc=${CC:-gcc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# need PACKAGE CHECK...: notes the package when the check fails.
need() {
    package=$1
    shift
    "$@" >"$tmp/log" 2>&1 || case " $missing " in
    *" $package "*) ;;
    *) missing="$missing $package" ;;
    esac
}
have() { command -v "$1"; }
header() { echo "#include <$1>" | $cc -E -x c -; }
module() { $python -I -c "import importlib.util as u, sys; sys.exit(u.find_spec('$1') is None)"; }
wide32() {
    echo '#include <string>' >"$tmp/a.cc" && g++ -m32 -E "$tmp/a.cc" &&
        test -e "$(gcc -m32 -print-file-name=libgcc.a)" &&
        test -e "$(gcc -m32 -print-file-name=crti.o)"
}
fuzzer() { ls "$(clang -print-resource-dir)"/lib/*/libclang_rt.fuzzer*; }
clang_major() { clang -dumpversion | sed 's/\..*//'; }

needs_common() {
    need gcc have gcc
    need libc6-dev header stdlib.h
    need make have make
    need libcurl4-openssl-dev header curl/curl.h
    need python3 have "$python"
}
needs_demo() {
    needs_common
    need python3-aiohttp module aiohttp
    need ripgrep have rg
}
needs_test() {
    needs_demo
    need g++ have g++
    need valgrind have valgrind
    need openssl have openssl
    need libsqlite3-dev header sqlite3.h
}
needs_check() {
    needs_common
    need g++ have g++
    need clang have clang
    need clang-format have clang-format
    need tcc have tcc
    need gcc-multilib wide32
    need g++-multilib wide32
    need libsqlite3-dev header sqlite3.h
    need gcc-mingw-w64-x86-64-posix have x86_64-w64-mingw32-gcc-posix
}
needs_fuzz() {
    needs_common
    need clang have clang
    if have clang >/dev/null; then need "libclang-rt-$(clang_major)-dev" fuzzer; fi
}
needs_bench() {
    need g++ have g++
    need libcjson-dev header cjson/cJSON.h
    need libjansson-dev header jansson.h
    need libjson-c-dev header json-c/json.h
    need rapidjson-dev test -e /usr/include/rapidjson/document.h
    need libsimdjson-dev test -e /usr/include/simdjson.h
}

install() {
    echo "phi: installing what is missing:$missing"
    if ! have apt-get >/dev/null; then
        echo "phi: this system has no apt-get; please install the equivalents of:$missing" >&2
        echo "     (python3-aiohttp is the Python package aiohttp, for $python)" >&2
        exit 1
    fi
    sudo=
    if [ "$(id -u)" != 0 ]; then
        have sudo >/dev/null || {
            echo "phi: neither root nor sudo; run as root: apt-get install$missing" >&2
            exit 1
        }
        sudo=sudo
    fi
    $sudo apt-get update -qq
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
}

look() {
    missing=
    for group in "$@"; do needs_"$group"; done
}

look "$@"
[ -n "$missing" ] || exit 0
install
before=$missing
look "$@"
# A tool that came in the first round may tell of another that is missing.
if [ -n "$missing" ] && [ "$missing" != "$before" ]; then
    install
    look "$@"
fi
[ -z "$missing" ] || {
    echo "phi: still missing:$missing" >&2
    exit 1
}
