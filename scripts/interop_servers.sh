#!/bin/sh
# Plays conversations of phi, compiled from phi.h as a user does, with server software of others on
# 127.0.0.1 (tests/interop/servers.py): LiteLLM's proxy and LLMock from PyPI; with LLAMA=1
# llama.cpp's own server, too, which takes half an hour to build, once. What is needed is installed
# into build/interop; only that needs the network. Exit code 1 where a check failed or something
# could not be installed.
set -eu

cd "$(dirname "$0")/.."
make=${MAKE:-make}
work=build/interop
venv=$work/venv
flags="-std=c99 -Wall -Wextra -g -fsanitize=address,undefined"

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
[ -n "$python" ] || give_up "LiteLLM and LLMock need Python 3.11 or later, with its module venv"

mkdir -p "$work/servers"
if ! cmp -s tests/interop/requirements.txt "$work/requirements.installed"; then
    echo "interop: pip installs LiteLLM and LLMock into $venv"
    rm -rf "$venv" "$work/requirements.installed"
    # pip's own words may name the registry: they stay in the log.
    "$python" -m venv "$venv" &&
        "$venv/bin/pip" install -q --disable-pip-version-check --no-deps \
            -r tests/interop/requirements.txt >"$work/pip.log" 2>&1 ||
        give_up "LiteLLM and LLMock could not be installed: see $work/pip.log"
    cp tests/interop/requirements.txt "$work/requirements.installed"
fi

"$make" --no-print-directory build/include/.stamp >"$work/log" 2>&1 &&
    ${CC:-gcc} $flags -Ibuild/include tests/interop/user.c -lcurl -lm -o "$work/user" \
        >>"$work/log" 2>&1 || {
    cat "$work/log" >&2
    give_up "tests/interop/user.c did not compile"
}

servers="litellm llmock"
code=0
if [ "${LLAMA:-}" = 1 ]; then
    # Without it the others run all the same.
    if scripts/interop_llama.sh "$venv/bin/pip" "$work/llama"; then
        servers="$servers llama"
    else
        echo "interop: llama.cpp's server could not be built" >&2
        code=1
    fi
fi
export PYTHONDONTWRITEBYTECODE=1
"$venv/bin/python" tests/interop/servers.py "$work/user" "$work/servers" "$venv" $servers || code=1
exit $code
