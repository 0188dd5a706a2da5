#!/bin/sh
# make soak: what is too long for every day. The headers at each level of optimisation, all of the tests that can under valgrind, random stories of runs with thousands of seeds, every end-to-end
# test ten times over, an hour of a monkey that does anything at any moment, each fuzzer for five minutes. SOAK_SEEDS,
# SOAK_ROUNDS, SOAK_MINUTES and FUZZ_SECONDS change that.
set -eu
cd "$(dirname "$0")/.."
make=${MAKE:-make}
seeds=${SOAK_SEEDS:-20000}
rounds=${SOAK_ROUNDS:-10}
minutes=${SOAK_MINUTES:-60}

"$make" --no-print-directory V=asan programs > build/log_soak 2>&1 || { cat build/log_soak; exit 1; }
${PYTHON:-python3} scripts/check.py levels
"$make" --no-print-directory valgrind
echo "random stories, $seeds seeds"
PHI_SEEDS=$seeds build/asan/tests/loop/test_random
echo "everything at once, $seeds seeds"
PHI_SEEDS=$seeds build/asan/tests/loop/test_together
echo "random threads, $seeds seeds"
PHI_SEEDS=$seeds build/asan/tests/log/test_thread_props
echo "logs that leave memory and those that do not, $((seeds / 10)) seeds"
PHI_SEEDS=$((seeds / 10)) build/asan/tests/agent/test_twins
echo "random logs as sessions, $seeds seeds"
PHI_SEEDS=$seeds build/asan/tests/record/test_session_props
echo "worlds recorded and played, $seeds seeds"
PHI_SEEDS=$seeds build/asan/tests/record/test_replay_random
echo "sub-agents by the hundred, $((seeds / 40)) seeds"
PHI_SEEDS=$((seeds / 40)) build/asan/tests/orchestrate/test_many
echo "strategies, $((seeds / 10)) seeds"
PHI_SEEDS=$((seeds / 10)) build/asan/tests/orchestrate/test_strategy_random
echo "calls of operations, $((seeds / 10)) seeds"
PHI_SEEDS=$((seeds / 10)) build/asan/tests/openapi/test_random_calls
echo "tools of MCP servers, $((seeds / 10)) seeds"
PHI_SEEDS=$((seeds / 10)) build/asan/tests/mcp/test_mcp_random_tools
echo "MCP servers that die, hang and flood, 100 rounds"
PHI_SEEDS=100 build/asan/tests/mcp/test_mcp_deaths
echo "connections to MCP servers, and our server, $((seeds / 10)) seeds"
PHI_SEEDS=$((seeds / 10)) build/asan/tests/mcp/test_mcp_random
PHI_SEEDS=$((seeds / 4)) build/asan/tests/mcp/test_mcp_random_runs
PHI_SEEDS=$((seeds / 10)) build/asan/tests/mcp/test_mcp_serve_random
blocks=$((seeds * 50))
echo "blocks that phi does not know, $blocks over all wires"
PHI_BLOCKS=$((blocks / 2)) build/asan/tests/codecs/test_kept
PHI_BLOCKS=$((blocks / 4)) build/asan/tests/wire/test_opaque
round=1
while [ "$round" -le "$rounds" ]; do
    echo "end to end, round $round of $rounds"
    for program in build/asan/tests/e2e/test_*; do
        case $program in *.o | *.d | *.a) continue ;; esac
        "$program" > build/log_soak 2>&1 || { cat build/log_soak; exit 1; }
    done
    round=$((round + 1))
done
echo "a monkey, $minutes minutes"
# One that was ended goes on where it was: PHI_MONKEY_MINUTES=60 PHI_MONKEY_STATE=build/soak_monkey nohup ... &
PHI_MONKEY_MINUTES=$minutes PHI_MONKEY_STATE=build/soak_monkey build/asan/tests/soak/test_monkey
"$make" --no-print-directory FUZZ_SECONDS="${FUZZ_SECONDS:-300}" fuzz
