#!/bin/sh
# Looks for what the named groups need (demo test check coverage bench fuzz windows cross site packages town interop), by
# looking at the tools and headers themselves. All there: silent, and no package manager is called. Else one line says
# what is missing and what installs it: apt-get or brew; pip, into build/venv, for Python modules where that is not apt-get.
set -eu

cd "$(dirname "$0")/.."
python=${PYTHON:-scripts/python.sh}
cc=${CC:-gcc}
venv=build/venv
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

have() { command -v "$1"; }
manager=none
if have apt-get >/dev/null; then
    manager=apt-get
elif have brew >/dev/null; then
    manager=brew
fi
linux() { [ "$(uname -s)" = Linux ]; }

# add LIST NAME: a name that is not in the list yet.
add() {
    eval "list=\$$1"
    case " $list " in
    *" $2 "*) ;;
    *) eval "$1=\"\$list $2\"" ;;
    esac
}

# need DEBIAN_PACKAGE BREW_FORMULA CHECK...: notes the package when the check fails.
need() {
    debian=$1
    formula=$2
    shift 2
    "$@" >"$tmp/log" 2>&1 && return
    if [ "$manager" = brew ]; then add packages "$formula"; else add packages "$debian"; fi
}

# need_module DEBIAN_PACKAGE MODULE. Debian's packages are those of its own Python alone.
need_module() {
    module "$2" >"$tmp/log" 2>&1 && return
    if [ "$manager" = apt-get ] && [ -z "${PYTHON:-}" ] && [ ! -x "$venv/bin/python3" ]; then
        add packages "$1"
    else
        add modules "$2"
    fi
}

compiles() { echo 'int x;' | $cc -fsyntax-only -x c -; }
sanitizes() { echo 'int main(void) { return 0; }' | $cc -fsanitize=address -x c - -o "$tmp/a"; }
header() { echo "#include <$1>" | $cc -E -x c -; }
module() { $python -I -c "import importlib.util as u, sys; sys.exit(u.find_spec('$1') is None)"; }
wide32() {
    echo '#include <string>' >"$tmp/a.cc" && g++ -m32 -E "$tmp/a.cc" &&
        test -e "$(gcc -m32 -print-file-name=libgcc.a)" &&
        test -e "$(gcc -m32 -print-file-name=crti.o)"
}
fuzzer() { ls "$(clang -print-resource-dir)"/lib/*/libclang_rt.fuzzer*; }
clang_major() { clang -dumpversion | sed 's/\..*//'; }
makes_venv() { python3 -c 'import ensurepip'; }
runs_python() { $python -c ''; }

needs_common() {
    case $cc in
    *clang*) need clang llvm compiles ;;
    *) need gcc gcc compiles ;;
    esac
    need libc6-dev gcc header stdlib.h
    need make make have make
    need libcurl4-openssl-dev curl header curl/curl.h
    need python3 python3 runs_python
}
needs_demo() {
    needs_common
    if runs_python 2>/dev/null; then need_module python3-aiohttp aiohttp; else add packages python3; fi
    need ripgrep ripgrep have rg
}
needs_test() {
    needs_demo
    need g++ gcc have g++
    if linux; then need valgrind valgrind have valgrind; fi
    case $cc in
    *clang*) if have clang >/dev/null; then need "libclang-rt-$(clang_major)-dev" llvm sanitizes; fi ;;
    esac
    need openssl openssl have openssl
    need tmux tmux have tmux
    need git git have git
    need libsqlite3-dev sqlite header sqlite3.h
    # of tests/examples/test_phi_acp.py; no system package has it
    if runs_python 2>/dev/null && ! module acp >"$tmp/log" 2>&1; then add modules agent-client-protocol; fi
}
needs_check() {
    needs_common
    need g++ gcc have g++
    need clang llvm have clang
    need clang-format clang-format have clang-format
    need tcc tcc have tcc
    need gcc-multilib gcc wide32
    need g++-multilib gcc wide32
    need libsqlite3-dev sqlite header sqlite3.h
    need gcc-mingw-w64-x86-64-posix mingw-w64 have x86_64-w64-mingw32-gcc-posix
    need gcc-mingw-w64-i686-posix mingw-w64 have i686-w64-mingw32-gcc-posix
}
needs_coverage() { need gcovr gcovr have gcovr; }
needs_fuzz() {
    needs_common
    need clang llvm have clang
    if have clang >/dev/null; then need "libclang-rt-$(clang_major)-dev" llvm fuzzer; fi
}
# Debian's wine32 is of another architecture, so it is not asked for: without it, 32 bits are built and not run.
needs_windows() {
    if runs_python 2>/dev/null; then need_module python3-aiohttp aiohttp; else add packages python3; fi
    need gcc-mingw-w64-x86-64 mingw-w64 have x86_64-w64-mingw32-gcc
    need gcc-mingw-w64-i686 mingw-w64 have i686-w64-mingw32-gcc
    need wine wine-stable have wine
    need wine64 wine-stable have wineserver
    need cmake cmake have cmake
    need cargo rust have cargo
}

# Debian's cross compilers of gcc cannot be installed next to gcc-multilib, which the group check needs. clang needs the
# other machines' linker and libraries only.
machine() { echo 'int main(void) { return 0; }' | clang --target="$1" -static -x c - -o "$tmp/a"; }
needs_cross() {
    needs_demo
    need clang llvm have clang
    gcc_major=$(gcc -dumpversion 2>/dev/null | sed 's/\..*//')
    for names in s390x:s390x-linux-gnu arm64:aarch64-linux-gnu armhf:arm-linux-gnueabihf; do
        triple=${names#*:}
        for package in "binutils-$triple" "libgcc-$gcc_major-dev-${names%:*}-cross" "libc6-dev-${names%:*}-cross"; do
            need "$package" "$package" machine "$triple"
        done
    done
    need qemu-user qemu have qemu-s390x
    need musl-tools musl have musl-gcc
    need cmake cmake have cmake
    need cargo rust have cargo
    need openssl openssl have openssl
}
# The theme is not taken from Debian, whose version is older.
needs_site() {
    if ! runs_python 2>/dev/null; then
        add packages python3
    elif ! module material >"$tmp/log" 2>&1; then
        add modules 'mkdocs-material<10'
    fi
}
# Conan comes by pip, into build/packages/venv (scripts/packages.py).
needs_packages() {
    needs_fuzz
    need pkgconf pkgconf have pkg-config
    need cmake cmake have cmake
    need ninja-build ninja have ninja
    need meson meson have meson
    if [ "$manager" = apt-get ]; then
        need dpkg-dev dpkg have dpkg-buildpackage
        need debhelper debhelper have dh
        need lintian lintian have lintian
        need python3-venv python3 makes_venv
    fi
}
# Xvfb is for systems with X11.
needs_town() {
    need libsdl2-dev sdl2 have sdl2-config
    if linux; then need xvfb xvfb have Xvfb; fi
}
# For the part curl. Others bring their packages themselves.
needs_interop() {
    needs_demo
    need cmake cmake have cmake
    need cargo rust have cargo
    need libssl-dev openssl header openssl/ssl.h
    need libgnutls28-dev gnutls header gnutls/gnutls.h
    need libmbedtls-dev mbedtls header mbedtls/ssl.h
    need libnghttp2-dev libnghttp2 header nghttp2/nghttp2.h
    need libc-ares-dev c-ares header ares.h
    need zlib1g-dev zlib header zlib.h
    need openssl openssl have openssl
    need tinyproxy tinyproxy have tinyproxy
    need curl curl have curl
    need util-linux util-linux have unshare
    need iproute2 iproute2mac have ip
}
needs_bench() {
    need g++ gcc have g++
    need libcjson-dev cjson header cjson/cJSON.h
    need libjansson-dev jansson header jansson.h
    need libjson-c-dev json-c header json-c/json.h
    need rapidjson-dev rapidjson test -e /usr/include/rapidjson/document.h
    need libyaml-dev libyaml header yaml.h
    need libsimdjson-dev simdjson test -e /usr/include/simdjson.h
}

# quietly COMMAND...: its output is shown where it fails.
quietly() {
    "$@" >"$tmp/log" 2>&1 || {
        cat "$tmp/log" >&2
        echo "phi: this failed: $*" >&2
        exit 1
    }
}

install_packages() {
    case $manager in
    brew)
        # shellcheck disable=SC2086
        quietly brew install --quiet $packages
        return
        ;;
    none)
        echo "phi: neither apt-get nor brew is here; please install the equivalents of:$packages" >&2
        exit 1
        ;;
    esac
    sudo=
    if [ "$(id -u)" != 0 ]; then
        have sudo >/dev/null || {
            echo "phi: neither root nor sudo; run as root: apt-get install$packages" >&2
            exit 1
        }
        sudo=sudo
    fi
    # Lists that cannot be renewed may do all the same.
    $sudo apt-get update -qq >"$tmp/log" 2>&1 || cat "$tmp/log" >&2
    # shellcheck disable=SC2086
    quietly $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends $packages
}

install_modules() {
    if [ -n "${PYTHON:-}" ] && [ "$PYTHON" != scripts/python.sh ]; then
        echo "phi: $PYTHON has no module$modules: install it there, or leave PYTHON unset" >&2
        exit 1
    fi
    [ -x "$venv/bin/python3" ] || quietly "$python" -m venv "$venv"
    # pip's own words may name the registry: shown where it fails alone.
    # shellcheck disable=SC2086
    quietly "$venv/bin/python3" -m pip install -q --disable-pip-version-check $modules
}

install() {
    said=
    [ -z "$packages" ] || said="$packages (by $manager)"
    [ -z "$modules" ] || said="$said$modules (by pip, into $venv)"
    echo "phi: installing what is missing:$said"
    [ -z "$packages" ] || install_packages
    [ -z "$modules" ] || install_modules
}

look() {
    packages=
    modules=
    for group in "$@"; do needs_"$group"; done
}

look "$@"
[ -n "$packages$modules" ] || exit 0
install
before=$packages$modules
look "$@"
# A tool that came in the first round may tell of another that is missing.
if [ -n "$packages$modules" ] && [ "$packages$modules" != "$before" ]; then
    install
    look "$@"
fi
[ -z "$packages$modules" ] || {
    echo "phi: still missing:$packages$modules" >&2
    exit 1
}
