#!/bin/sh
# Calls every operation of a server that FastAPI (PyPI) makes, and whose document it generates, by
# tests/interop/prog_calls.c: what arrives must be what was sent. What is needed is installed into
# build/interop/calls, with the versions of tests/interop/requirements.txt; only that needs the
# network. Exit code 1 where a check failed or something could not be installed.
set -eu

cd "$(dirname "$0")/.."
make=${MAKE:-make}
work=build/interop
venv=$work/calls
packages="fastapi starlette pydantic pydantic_core annotated-types annotated-doc typing_extensions
typing-inspection anyio idna uvicorn click h11 python-multipart
opentelemetry-api importlib_metadata zipp"

give_up() {
    echo "interop: $1" >&2
    exit 1
}

python=
fits='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'
for name in ${INTEROP_PYTHON:-python3.11 python3.12 python3.13 python3}; do
    if "$name" -c "$fits" 2>/dev/null; then
        python=$name
        break
    fi
done
[ -n "$python" ] || give_up "FastAPI needs Python 3.11 or later, with its module venv"

mkdir -p "$work"
for package in $packages; do
    grep "^$package==" tests/interop/requirements.txt || give_up "$package is not pinned"
done >"$work/calls.txt"
if ! cmp -s "$work/calls.txt" "$venv/installed"; then
    echo "interop: pip installs FastAPI into $venv"
    rm -rf "$venv"
    # pip's own words may name the registry: they stay in the log.
    "$python" -m venv "$venv" &&
        "$venv/bin/pip" install -q --disable-pip-version-check --no-deps -r "$work/calls.txt" \
            >"$work/calls.log" 2>&1 ||
        give_up "FastAPI could not be installed: see $work/calls.log"
    cp "$work/calls.txt" "$venv/installed"
fi

"$make" --no-print-directory V=asan build/asan/tests/interop/prog_calls >"$work/calls.log" 2>&1 || {
    cat "$work/calls.log" >&2
    give_up "tests/interop/prog_calls.c did not compile"
}
export PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/python" tests/interop/calls.py build/asan/tests/interop/prog_calls
