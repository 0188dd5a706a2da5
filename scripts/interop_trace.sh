#!/bin/sh
# Opens pages of PHI_TRACE_HTML in headless Chromium (npm): nothing is loaded, keyboard, search, axe-core, attacks, 10,000
# entries timed, pictures; and reads spans of PHI_TRACE_OTEL by the OpenTelemetry collector's own reader (Go). Part of make
# interop. All is installed into build/interop/trace, and only that needs the network. CHROMIUM=path: another Chromium. Exit
# code 1 where a check failed or a part did not run.
set -eu

cd "$(dirname "$0")/.."
make=${MAKE:-make}
work=build/interop/trace
from=tests/interop/trace
program=build/asan/tests/interop/prog_trace
code=0

give_up() {
    echo "interop: $1" >&2
    exit 1
}

for tool in node npm; do
    command -v "$tool" >/dev/null || give_up "the page of a trace needs node (20 or later) and npm; there is no $tool"
done
mkdir -p "$work/pages" "$work/tmp" "$work/go"
"$make" --no-print-directory V=asan "$program" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
# npm's own words may name the registry: they stay in the log.
if ! cmp -s $from/package-lock.json "$work/installed.json"; then
    echo "interop: npm installs Chromium, puppeteer-core and axe-core into $work"
    rm -f "$work/installed.json"
    cp $from/package.json $from/package-lock.json "$work"
    (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) ||
        give_up "the packages could not be installed: see $work/npm.log"
    cp $from/package-lock.json "$work/installed.json"
fi

"$program" "$work/pages"
cp $from/page.mjs "$work"
(cd "$work" && TMPDIR="$PWD/tmp" node page.mjs pages) || code=1

if ! command -v go >/dev/null; then
    echo "interop: the spans need go; there is none" >&2
    code=1
else
    # each run has the same sources: built once, offline afterwards
    if ! cmp -s $from/otlp.go "$work/go/otlp.go" || [ ! -x "$work/go/otlp" ]; then
        cp $from/otlp.go $from/go.mod $from/go.sum "$work/go"
        (cd "$work/go" && go build -o otlp . >go.log 2>&1) || {
            rm -f "$work/go/otlp"
            echo "interop: the reader of spans could not be built: see $work/go/go.log" >&2
            code=1
        }
    fi
    if [ -x "$work/go/otlp" ]; then
        (cd "$work/pages" && ../go/otlp story.json content.json hostile.json odd.json) || code=1
    fi
fi
exit $code
