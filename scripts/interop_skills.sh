#!/bin/sh
# The verdicts of skills-ref, the validator of the AgentSkills standard, and of phi on the same
# folders (tests/interop/skills.py), good ones, broken ones and mutations. Part of make interop.
# skills-ref is installed from PyPI into build/interop; only that needs the network. Exit code 1
# where a verdict is another one.
set -eu

cd "$(dirname "$0")/.."
make=${MAKE:-make}
work=build/interop
venv=$work/venv_skills
program=build/asan/tests/interop/prog_skills

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
[ -n "$python" ] || give_up "skills-ref needs Python 3.11 or later, with its module venv"

mkdir -p "$work"
"$make" --no-print-directory V=asan "$program" >"$work/log_skills" 2>&1 || {
    cat "$work/log_skills" >&2
    exit 1
}
if ! cmp -s tests/interop/skills_requirements.txt "$work/skills_requirements.installed"; then
    echo "interop: pip installs skills-ref into $venv"
    rm -rf "$venv" "$work/skills_requirements.installed"
    # pip's own words may name the registry: they stay in the log.
    "$python" -m venv "$venv" &&
        "$venv/bin/pip" install -q --disable-pip-version-check --no-deps \
            -r tests/interop/skills_requirements.txt >"$work/pip_skills.log" 2>&1 ||
        give_up "skills-ref could not be installed: see $work/pip_skills.log"
    cp tests/interop/skills_requirements.txt "$work/skills_requirements.installed"
fi
PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" tests/interop/skills.py "$program" "$work/skills"
