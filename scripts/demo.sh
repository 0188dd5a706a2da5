#!/bin/sh
# The main job, seen at work: examples/quickstart.c asks a model what is in a directory. The model
# is a scripted one behind real HTTP (tests/mock), or with LIVE=1 the first provider whose key is in
# the environment, or else a local server on Ollama's port. QUICKSTART: a built one to run.
set -eu

cd "$(dirname "$0")/.."
python=${PYTHON:-scripts/python.sh}
make=${MAKE:-make}
program=${QUICKSTART:-build/normal/examples/quickstart}
directory=examples
unset PHI_BASE_URL

tmp=$(mktemp -d)
mock=
tidy() {
    exec 9>&- # the mock ends when its stdin does
    if [ -n "$mock" ]; then wait "$mock" 2>/dev/null || :; fi
    rm -rf "$tmp"
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
exec 9>/dev/null

build() {
    [ -z "${QUICKSTART:-}" ] || return 0
    echo "demo: building examples/quickstart.c"
    "$make" --no-print-directory V=normal "$program" >"$tmp/log" 2>&1 || {
        cat "$tmp/log" >&2
        echo "demo: it does not build" >&2
        exit 1
    }
}

# The stdin of the mock is a pipe whose other end only this shell holds.
start_mock() {
    mkfifo "$tmp/stdin"
    "$python" tests/mock/server.py --port 0 --default demo \
        <"$tmp/stdin" >"$tmp/port" 2>"$tmp/log" 9>&- &
    mock=$!
    exec 9>"$tmp/stdin"
    tries=0
    while [ ! -s "$tmp/port" ]; do
        tries=$((tries + 1))
        if [ "$tries" -gt 200 ] || ! kill -0 "$mock" 2>/dev/null; then
            cat "$tmp/log" >&2
            echo "demo: the scripted model (tests/mock/server.py) does not start" >&2
            exit 1
        fi
        sleep 0.05
    done
    port=$(sed -n 's/^listening [0-9.]* //p' "$tmp/port")
}

# What examples/pick_model.h looks for, in its order.
keys() { sed -n 's/^ *{"[a-z]*", "\([A-Z]*_API_KEY\)".*/\1/p' examples/pick_model.h; }

# The first of them that is set; empty: none.
first_key() {
    for name in $(keys); do
        eval "value=\${$name:-}"
        if [ -n "$value" ]; then
            echo "$name"
            return
        fi
    done
}

# A model of the server on Ollama's port; nothing there: fails.
local_model() {
    "$python" - <<'END'
import json, sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    with opener.open("http://localhost:11434/v1/models", timeout=3) as answer:
        models = json.load(answer).get("data") or []
    print(models[0]["id"] if models else "")
except urllib.error.HTTPError:
    print("")
except (OSError, ValueError, AttributeError, KeyError):
    sys.exit(1)
END
}

run() {
    echo
    "$program" "$directory" 9>&- || {
        echo "demo: the run failed, see above" >&2
        exit 1
    }
}

if [ -n "${LIVE:-}" ] && [ "$LIVE" != 0 ]; then
    key=$(first_key)
    if [ -n "$key" ]; then
        build
        echo "demo: a real provider, by $key; PHI_MODEL ${PHI_MODEL:-would name another model}"
    elif id=$(local_model); then
        build
        if [ -n "$id" ]; then export PHI_MODEL="${PHI_MODEL:-$id}"; fi
        echo "demo: no key in the environment: the local server on port 11434"
    else
        echo "demo: LIVE=1 needs a model, and there is none: no server on Ollama's port" >&2
        echo "      (localhost:11434), and none of these keys in the environment:" >&2
        echo "      $(keys | tr '\n' ' ')" >&2
        exit 1
    fi
    run
else
    build
    start_mock
    echo "demo: a scripted model on 127.0.0.1:$port, over real HTTP; real tools, in $directory/"
    export PHI_BASE_URL="http://127.0.0.1:$port" PHI_MODEL=claude-demo
    run
fi
