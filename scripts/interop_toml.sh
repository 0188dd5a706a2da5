#!/bin/sh
# Holds the reader and the writer of TOML against the official toml-test (a Go module) and Python's tomllib.
# Part of make interop. The suite is fetched into build/interop/toml, once; only that needs the network. Exit code 1
# where a check failed.
set -eu

cd "$(dirname "$0")/.."
make=${MAKE:-make}
work=build/interop/toml
program=build/asan/tests/interop/prog_toml
suite=2.2.0

for tool in go python3; do
    command -v "$tool" >/dev/null || {
        echo "interop: TOML needs go and python3 (3.11 or later); there is no $tool" >&2
        exit 1
    }
done

mkdir -p "$work"
"$make" --no-print-directory V=asan "$program" build/asan/tests/formats/test_toml_suite >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}

# go's own words may name the proxy.
if [ "$(cat "$work/installed" 2>/dev/null || true)" != "$suite" ]; then
    echo "interop: go fetches toml-test $suite into $work"
    rm -rf "$work/installed" "$work/suite"
    printf 'module toml\n\ngo 1.22\n' >"$work/go.mod"
    (cd "$work" && go mod download -json "github.com/toml-lang/toml-test/v2@v$suite" >go.log 2>&1) || {
        echo "interop: go mod download failed" >&2
        exit 1
    }
    from=$(sed -n 's/^[[:space:]]*"Dir": "\(.*\)".*/\1/p' "$work/go.log")
    mkdir -p "$work/suite"
    cp -R "$from/tests" "$from/LICENSE" "$work/suite/"
    chmod -R u+w "$work/suite"
    echo "$suite" >"$work/installed"
fi

failed=0
build/asan/tests/formats/test_toml_suite || failed=1
python3 tests/interop/toml_checks.py "$program" "$work/suite/tests" || failed=1
exit $failed
