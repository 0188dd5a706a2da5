#!/bin/sh
# The Python that make's recipes run: that of build/venv, which deps.sh makes where no system package
# brings a module; else the system's own, which has the modules of system packages.
here=$(dirname "$0")/..
for python in "$here/build/venv/bin/python3" /usr/bin/python3; do
    if [ -x "$python" ]; then exec "$python" "$@"; fi
done
exec python3 "$@"
