#!/bin/sh
# Installs the npm packages of tests/interop/package.json into build/interop, unless they are there.
# Part of make interop; only this needs the network.
set -eu

cd "$(dirname "$0")/.."
work=build/interop

for tool in node npm; do
    command -v "$tool" >/dev/null || {
        echo "interop: needs node (20 or later) and npm; there is no $tool" >&2
        exit 1
    }
done

mkdir -p "$work"

# What is installed stays until the versions asked for are others. npm's own words may name the
# registry.
if ! cmp -s tests/interop/package-lock.json "$work/installed.json"; then
    echo "interop: npm installs the providers' packages into $work"
    rm -f "$work/installed.json"
    cp tests/interop/package.json tests/interop/package-lock.json "$work"
    (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) || {
        echo "interop: npm ci failed: $(sed -n 's/^npm error code //p' "$work/npm.log")" >&2
        exit 1
    }
    cp tests/interop/package-lock.json "$work/installed.json"
fi
