#!/bin/sh
# Holds phi's reading of command lines (src/permissions) against a parser that is not ours: the Go
# module mvdan.cc/sh/v3, on the table of tests/permissions and on 10,000 mutations of it (MUTATIONS,
# SEED). Part of make interop. The module is installed into build/interop; only that needs the
# network. Then bash runs what the rules allow: with stubs, and 2,000 lines (EFFECTS) of a grammar with
# the real programs. Exit code 1 where phi misses a command word that the module sees, or allows a
# line with which bash runs a program, reads a secret or writes a file that it should not.
set -eu

cd "$(dirname "$0")/.."
make=${MAKE:-make}
work=build/interop/shell
program=build/asan/tests/interop/prog_shell
verdicts=build/asan/tests/interop/prog_verdicts

command -v go >/dev/null || {
    echo "interop: needs go 1.22 or later; there is no go" >&2
    exit 1
}
mkdir -p "$work"
"$make" --no-print-directory V=asan "$program" "$verdicts" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
# Go's own words may name the proxy: they stay in the log.
if ! cmp -s tests/interop/shell/main.go "$work/main.go" || [ ! -x "$work/oracle" ]; then
    echo "interop: go builds mvdan.cc/sh/v3 in $work"
    cp tests/interop/shell/main.go tests/interop/shell/go.mod tests/interop/shell/go.sum "$work"
    root=$(pwd)
    (cd "$work" && GOFLAGS=-mod=mod GOMODCACHE="$root/build/interop/go" GOPATH="$root/build/interop/gopath" \
        go build -modcacherw -o oracle . >go.log 2>&1) || {
        echo "interop: mvdan.cc/sh/v3 could not be installed: see $work/go.log" >&2
        exit 1
    }
fi
"$work/oracle" "$program" tests/permissions/commands.txt "${MUTATIONS:-10000}" "${SEED:-1}"
python3 tests/interop/verdicts.py "$verdicts" tests/permissions/commands.txt "$work/bash" "${MUTATIONS:-10000}" "${SEED:-1}"
python3 tests/interop/bash_grammar.py "$program" tests/permissions/commands.txt "${MUTATIONS:-20000}" "${SEED:-1}"
python3 tests/interop/effects.py "$verdicts" "$work/effects" "${EFFECTS:-2000}" "${SEED:-1}"
