#!/bin/sh
# Names of blocks, events, stop reasons and parameters in the vendors' SDKs against the list of those
# that phi knows or passes through (scripts/vendors.py, tests/interop/vendors.json). Part of make
# interop. A new name in the pinned versions fails; those of the newest versions are printed.
set -eu

cd "$(dirname "$0")/.."
work=build/interop

scripts/interop_packages.sh
failed=0
scripts/python.sh scripts/vendors.py "$work" || failed=1

mkdir -p "$work/newest"
printf '{"name": "phi-interop-newest", "private": true}\n' >"$work/newest/package.json"
rm -f "$work/newest/package-lock.json"
if (cd "$work/newest" && npm install --ignore-scripts --no-audit --no-fund @anthropic-ai/sdk@latest \
    openai@latest @google/genai@latest @aws-sdk/client-bedrock-runtime@latest >npm.log 2>&1); then
    echo "interop: the newest versions"
    scripts/python.sh scripts/vendors.py --print "$work/newest"
else
    echo "interop: the newest versions could not be installed: npm error" \
        "$(sed -n 's/^npm error code //p' "$work/newest/npm.log")" >&2
fi
exit $failed
