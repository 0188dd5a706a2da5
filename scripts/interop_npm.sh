#!/bin/sh
# Holds what phi sends and reads against the providers' own npm packages (tests/interop/check.mjs),
# and plays conversations with a mock model server that is not ours (tests/interop/aimock.mjs; what
# is wrong with it stands there). Part of make interop. The packages are installed into
# build/interop; only that needs the network. A line for each check; exit code 1 where one failed.
set -eu

cd "$(dirname "$0")/.."
make=${MAKE:-make}
work=build/interop
programs=build/asan/tests/interop

scripts/interop_packages.sh
"$make" --no-print-directory V=asan "$programs/prog_requests" "$programs/prog_frames" \
    "$programs/prog_talk" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}

rm -rf "$work/requests"
mkdir "$work/requests"
"$programs/prog_requests" "$work/requests"
cp tests/interop/check.mjs tests/interop/aimock.mjs "$work"
root=$(pwd)
cd "$work"
export NODE_NO_WARNINGS=1
failed=0
node check.mjs requests "$root/$programs/prog_frames" || failed=1
node aimock.mjs "$root/$programs/prog_talk" || failed=1
exit $failed
