#!/bin/sh
# Holds the tool `search` without a program against ripgrep: random patterns over random lines (and
# Python's re as a third opinion), random trees with ignore files (and git for what is left out), the
# sources of phi, and ten thousand files. Part of make interop; installs nothing: where rg or git is
# missing it says so. SEARCH_SEEDS: so many random trees (default 200). Exit code 1 where a check failed.
set -eu

cd "$(dirname "$0")/.."
make=${MAKE:-make}
work=build/interop
programs=build/asan/tests

for tool in rg git python3; do
    command -v "$tool" >/dev/null || {
        echo "interop: search needs ripgrep, git and Python; there is no $tool" >&2
        exit 1
    }
done

mkdir -p "$work"
"$make" --no-print-directory V=asan "$programs/match/prog_match" "$programs/tools/prog_search" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
failed=0
count=${SEARCH_SEEDS:-200}
python3 tests/interop/search_patterns.py "$programs/match/prog_match" 1 $((count * 10)) || failed=1
python3 tests/interop/search_trees.py "$programs/tools/prog_search" 1 "$count" || failed=1
python3 tests/interop/search_many.py "$programs/tools/prog_search" || failed=1
exit $failed
