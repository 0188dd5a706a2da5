#!/bin/sh
# phi against software that is not ours: the providers' npm packages, and servers from PyPI. A part
# that cannot be installed says so, and the other runs all the same; exit code 1 where a check
# failed or a part did not run.
set -eu

cd "$(dirname "$0")"
code=0
./interop_npm.sh || code=1
./interop_vendors.sh || code=1
./interop_servers.sh || code=1
./interop_openapi.sh || code=1
./interop_skills.sh || code=1
./interop_yaml.sh || code=1
./interop_toml.sh || code=1
./interop_config.sh || code=1
./interop_shell.sh || code=1
./interop_calls.sh || code=1
./interop_search.sh || code=1
./interop_mcp.sh || code=1
./interop_trace.sh || code=1
exit $code
