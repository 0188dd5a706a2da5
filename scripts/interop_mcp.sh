#!/bin/sh
# The Model Context Protocol with software that is not ours (tests/interop/mcp/run.py): the official
# conformance package, servers of npm, PyPI and the Rust SDK used by an agent of phi, and our server
# used by the official clients. Part of make interop; all is installed into build/interop/mcp, and
# only that needs the network. Arguments: names of parts (clients_mock, agents...). Exit code 1
# where a check failed or something could not be installed.
set -eu

cd "$(dirname "$0")/.."
make=${MAKE:-make}
work=build/interop/mcp
from=tests/interop/mcp
code=0

give_up() {
    echo "interop: $1" >&2
    exit 1
}

command -v npm >/dev/null || give_up "MCP needs node and npm; there is no npm"
command -v openssl >/dev/null || give_up "keys of the OAuth scenarios need the command openssl"
python=
fits='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'
for name in ${INTEROP_PYTHON:-python3.11 python3.12 python3.13 python3}; do
    if "$name" -c "$fits" 2>/dev/null; then
        python=$name
        break
    fi
done
[ -n "$python" ] || give_up "the Python SDK of MCP needs Python 3.11 or later, with its module venv"

mkdir -p "$work"
# Packages' own words may name the registry: they stay in the logs.
if ! cmp -s $from/package-lock.json "$work/installed.json"; then
    echo "interop: npm installs the official packages of MCP, and Node 22, into $work"
    rm -f "$work/installed.json"
    cp $from/package.json $from/package-lock.json "$work"
    (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) ||
        give_up "the packages could not be installed: see $work/npm.log"
    cp $from/package-lock.json "$work/installed.json"
fi
for n in 1 2; do
    cmp -s $from/requirements_$n.txt "$work/requirements_$n.installed" && continue
    echo "interop: pip installs the Python SDK of MCP into $work/venv_$n"
    rm -rf "$work/venv_$n" "$work/requirements_$n.installed"
    "$python" -m venv "$work/venv_$n" &&
        "$work/venv_$n/bin/pip" install -q --disable-pip-version-check --no-deps \
            -r $from/requirements_$n.txt >"$work/pip_$n.log" 2>&1 ||
        give_up "the Python SDK could not be installed: see $work/pip_$n.log"
    cp $from/requirements_$n.txt "$work/requirements_$n.installed"
done
rust=$work/rust/debug/mcp-rust
if ! cmp -s $from/rust/src/main.rs "$work/main.rs.built" || [ ! -x "$rust" ]; then
    echo "interop: cargo builds a server of the Rust SDK in $work/rust"
    if (cd $from/rust && cargo build -q --target-dir "../../../../$work/rust" \
        >"../../../../$work/cargo.log" 2>&1); then
        cp $from/rust/src/main.rs "$work/main.rs.built"
    else
        echo "interop: the Rust SDK could not be built: see $work/cargo.log" >&2
        rust=
        code=1
    fi
fi

"$make" --no-print-directory V=asan build/asan/examples/mcp build/asan/tests/interop/mcp/client \
    build/asan/tests/interop/mcp/server >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    code=1
}
export PYTHONDONTWRITEBYTECODE=1
"$python" $from/run.py build/asan "$work/node_modules" "$work/venv_1" "$work/venv_2" $rust -- "$@" || code=1
exit $code
