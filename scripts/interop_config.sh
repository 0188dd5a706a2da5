#!/bin/sh
# The verdicts of jsonschema by docs/phi.schema.json, and of phi's own reader, on the same configurations
# (tests/interop/config_schema.py). Part of make interop. jsonschema is installed from PyPI into
# build/interop; only that needs the network. Exit code 1 where the two disagree.
set -eu

cd "$(dirname "$0")/.."
make=${MAKE:-make}
work=build/interop
venv=$work/venv_config
program=build/asan/tests/interop/prog_config_check

give_up() {
    echo "interop: $1" >&2
    exit 1
}

python=
fits='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'
for name in ${INTEROP_PYTHON:-python3.11 python3.12 python3.13 python3}; do
    if "$name" -c "$fits" 2>/dev/null; then
        python=$name
        break
    fi
done
[ -n "$python" ] || give_up "jsonschema needs Python 3.11 or later, with its module venv"

mkdir -p "$work"
"$make" --no-print-directory V=asan "$program" >"$work/log_config" 2>&1 || {
    cat "$work/log_config" >&2
    exit 1
}
if ! cmp -s tests/interop/config_requirements.txt "$work/config_requirements.installed"; then
    echo "interop: pip installs jsonschema into $venv"
    rm -rf "$venv" "$work/config_requirements.installed"
    # pip's own words may name the registry: they stay in the log.
    "$python" -m venv "$venv" &&
        "$venv/bin/pip" install -q --disable-pip-version-check --no-deps \
            -r tests/interop/config_requirements.txt >"$work/pip_config.log" 2>&1 ||
        give_up "jsonschema could not be installed: see $work/pip_config.log"
    cp tests/interop/config_requirements.txt "$work/config_requirements.installed"
fi
PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" tests/interop/config_schema.py "$program"
