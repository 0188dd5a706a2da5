#!/bin/sh
# Runs each fuzzer named on the command line for FUZZ_SECONDS, keeping its corpus in build/corpus/.
# What crashes one is left beside it, and its path is printed. Exit code 1 when any crashed.
set -u
[ $# -gt 0 ] || { echo "fuzz: there is no tests/fuzz/fuzz_*.c" >&2; exit 1; }
code=0
for program in "$@"; do
    name=$(basename "$program")
    corpus=build/corpus/$name
    mkdir -p "$corpus"
    seeds=
    [ -d "tests/fuzz/corpus/$name" ] && seeds=tests/fuzz/corpus/$name
    # shellcheck disable=SC2086
    if "$program" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 \
        -artifact_prefix="$corpus." -print_final_stats=1 "$corpus" $seeds \
        </dev/null >"$corpus.log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$corpus.log")
        echo "ok   $name: ${runs:-?} runs, $(find "$corpus" -type f | wc -l) inputs kept"
    else
        echo "FAIL $name:"
        tail -n 40 "$corpus.log"
        code=1
    fi
done
exit $code
