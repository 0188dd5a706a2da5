#!/usr/bin/env python3
"""Builds and runs all benchmarks: `name value unit` lines as they come, then a table of the aims.

    run.py [WORD...]     only the programs whose names contain one of the words

Everything goes to build/. What each program measures, and how, is said at its top;
docs/performance.md says what came out.
"""
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUT = os.path.join(ROOT, "build", "bench")
INCLUDE = os.path.join(ROOT, "build", "include")
SERVER = os.path.join(OUT, "stream_server")
INSIDE = os.path.join(OUT, "inside.o")
PYTHON = os.environ.get("PYTHON", "scripts/python.sh")
MAKE = os.environ.get("MAKE", "make")
C = ["gcc", "-std=c99", "-O2", "-D_GNU_SOURCE"]
CPP = ["g++", "-std=c++17", "-O2"]
LINE = re.compile(r"^(\w+) (-?[\d.]+|inf|nan) (\S+)$")

# (what is aimed at, the value's name, "most" or "least", the aim)
AIMS = [
    ("CPU of a delta, one by one, over bare libcurl", "delta_one_by_one_over_bare_bytes", "most", 1.2),
    ("  the same, asleep between them", "delta_asleep_over_bare_bytes", "most", 1.2),
    ("CPU of a delta, back to back, over libcurl and the fastest tree",
     "delta_back_to_back_over_bare_fastest_tree", "most", 1.2),
    ("a step with 1 MB of history, p99.9 of CPU: request", "step_request_1mb_cpu_p999", "most", 250),
    ("  deltas one by one", "step_stream_1mb_cpu_p999", "most", 250),
    ("  deltas back to back", "step_flood_1mb_cpu_p999", "most", 250),
    ("first request byte, later than bare libcurl's: cold", "first_byte_cold_more", "most", 100),
    ("  warm", "first_byte_warm_more", "most", 100),
    ("  warm, 1 MB of history", "first_byte_warm_1mb_more", "most", 300),
    ("system calls of looking for descriptors, a start, 1,000 agents in one frame",
     "starts_1000_looks_a_run", "most", 13),
    ("bytes of ours, idle agent, 10,000 of them", "memory_idle_agent_ours_at_10000", "most", 4096),
    ("bytes of ours, streaming agent, 1", "memory_streaming_agent_ours_at_1", "most", 16384),
    ("  100", "memory_streaming_agent_ours_at_100", "most", 16384),
    ("  1,000", "memory_streaming_agent_ours_at_1000", "most", 16384),
    ("  10,000", "memory_streaming_agent_ours_at_10000", "most", 16384),
    ("resident bytes in all, streaming agent, 10,000", "memory_streaming_agent_rss_at_10000", "most",
     49152),
    ("CPU of a delta of 100 KB arguments, second half over first",
     "arguments_100k_second_over_first", "most", 1.2),
    ("  over that of 10 KB", "arguments_100k_over_10k", "most", 1.2),
    ("last 100 of 1,000 turns over the bare loop", "turns_last_100_over_bare", "most", 1.2),
    ("frame_loop: phi_step, worst frame", "frame_loop_step_worst", "most", 1000),
    ("a delta of 200 bytes by path", "json_pull_delta_find_openai", "most", 150),
    ("decoding a stream over parsing its JSON: Anthropic", "decode_anthropic_over_json_parse",
     "most", 2),
    ("  Chat", "decode_chat_over_json_parse", "most", 2),
    ("  Responses", "decode_responses_over_json_parse", "most", 2),
    ("  Azure", "decode_azure_over_json_parse", "most", 2),
    ("  Gemini", "decode_gemini_over_json_parse", "most", 2),
    ("  Vertex", "decode_vertex_over_json_parse", "most", 2),
    ("  Bedrock", "decode_bedrock_over_json_parse", "most", 2),
    ("  Bedrock, a byte of its frames over one of JSON", "decode_bedrock_byte_over_json_byte", "most",
     2),
    ("a turn with a policy: 10,000th over 100th, the thread alone", "project_turn_at_10000_over_100",
     "most", 1.2),
    ("  a whole run, 10,000th over 400th", "project_run_at_10000_over_400", "most", 1.2),
    ("  100,000 entries, cold, over parsing their JSON", "project_cold_over_parse", "most", 2),
    ("JSON tree of a conversation over cJSON", "json_read_conversation_over_cjson", "least", 1.2),
    ("JSON tree of a delta over cJSON: Chat", "json_read_delta_openai_over_cjson", "least", 2.7),
    ("  Anthropic", "json_read_delta_anthropic_over_cjson", "least", 2.7),
    ("JSON tree, bytes a byte of text", "json_tree_bytes_conversation", "most", 2.5),
    ("reading a thread of 100 MB, over checksumming and parsing it in memory",
     "stores_read_over_checksum_and_parse", "most", 1.5),
    ("  opening it as a thread, over checksumming and making its messages",
     "stores_open_over_checksum_and_messages", "most", 1.5),
    ("  the same with memory that the process has used before",
     "stores_open_over_checksum_and_messages_again", "most", 1.5),
    ("loading a thread of 4 MB over parsing its bytes: switches",
     "load_thread_switches_4mb_over_parse", "most", 4),
    ("  rewrites that switch", "load_thread_switch_to_4mb_over_parse", "most", 4),
    ("  lanes", "load_thread_lanes_4mb_over_parse", "most", 4),
    ("  rewrites and what revokes them", "load_thread_rewrites_4mb_over_parse", "most", 4),
    ("  4 MB over 1 MB: switches", "load_thread_switches_4mb_over_1mb", "most", 4.4),
    ("  rewrites that switch", "load_thread_switch_to_4mb_over_1mb", "most", 4.4),
    ("  lanes", "load_thread_lanes_4mb_over_1mb", "most", 4.4),
    ("  rewrites and what revokes them", "load_thread_rewrites_4mb_over_1mb", "most", 4.4),
    ("loading a snapshot of 4 MB over parsing its bytes: switches",
     "load_snapshot_switches_4mb_over_parse", "most", 4),
    ("  rewrites that switch", "load_snapshot_switch_to_4mb_over_parse", "most", 4),
    ("  lanes", "load_snapshot_lanes_4mb_over_parse", "most", 4),
    ("  rewrites and what revokes them", "load_snapshot_rewrites_4mb_over_parse", "most", 4),
    ("loading a session of 4 MB over parsing its bytes", "load_session_4mb_over_parse", "most", 4),
    ("  4 MB over 1 MB", "load_session_4mb_over_1mb", "most", 4.4),
    ("bytes a branch, 1,000 of a thread of 1,000 entries", "thread_branch_bytes", "most", 4096),
    ("  with a question and an answer of its own", "thread_branch_with_a_turn_bytes", "most", 4096),
    ("most memory of a run with a file store, up to turn 1,000 over up to turn 200",
     "thread_run_peak_at_1000_over_200", "most", 1.05),
    ("bytes an exchange of 175 bytes of text", "talk_exchange_bytes", "most", 1200),
    ("an exchange at a memory limit of 64 KB, over a policy of 8 turns: compact",
     "talk_compact_64k_over_policy", "most", 2),
    ("  forget", "talk_forget_64k_over_policy", "most", 2),
    ("JSON write over cJSON", "json_write_conversation_over_cjson", "least", 2),
    ("MCP, 100 servers and 1,000 calls in flight: a step in which nothing happens", "mcp_idle_step_p99", "most", 5),
    ("  bytes of ours, a connection", "mcp_bytes_a_server", "most", 16384),
    ("  CPU of a call", "mcp_cpu_a_call", "most", 50),
    ("YAML tree of an OpenAPI document of 13 MB", "yaml_read_phi_13mb", "most", 1000),
    ("  over libyaml", "yaml_read_over_libyaml", "least", 2),
    ("  bytes a byte of text", "yaml_tree_bytes", "most", 2.5),
]


def sh(command, **more):
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"bench: failed: {shlex.join(command)}\n{done.stdout}")
    return done.stdout


def has(header):
    return subprocess.run(["g++", "-x", "c++", "-E", "-"], input=f"#include <{header}>\n", text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


# ---- building ----

def json_libs():
    libs = [("cjson/cJSON.h", "-lcjson"), ("json-c/json.h", "-ljson-c"),
            ("simdjson.h", "-lsimdjson"), ("yyjson.h", "-lyyjson")]
    return [lib for header, lib in libs if has(header)] + ["-ldl"]


def build_libraries():
    """As a user compiles it; and so, but with private functions that can be called, for the programs that look inside."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    sh([MAKE, "--no-print-directory", "V=normal", "build/normal/libphi_all.a", "build/normal/examples/frame_loop"], env=env)
    sh(C + ["-DPHI__FN=", "-DPHI_IMPLEMENTATION", "-x", "c", "-c", os.path.join(INCLUDE, "phi.h"), "-o", INSIDE])
    sh(C + ["bench/stream_server.c", "-o", SERVER])


def build(name):
    target = os.path.join(OUT, name)
    user = ["bench/kit.c", "bench/bare.c", "build/normal/libphi_all.a", "-lcurl", "-lm"]
    if name == "bench_json":
        sh(CPP + ["-I" + INCLUDE, "bench/bench_json.cpp"] + json_libs() + ["-o", target])
    elif name == "bench_yaml":
        peer = ["-DBENCH_LIBYAML", "-lyaml"] if has("yaml.h") else []
        sh(C + ["-I" + INCLUDE, "bench/bench_yaml.c", "-lm"] + peer + ["-o", target])
    elif name == "bench_toml":
        sh(C + ["-I" + INCLUDE, "bench/bench_toml.c", "-lm", "-o", target])
    elif name == "bench_mcp":
        sh(C + ["-I" + INCLUDE, "bench/bench_mcp.c", "build/normal/libphi_all.a", "-lcurl", "-lm", "-o", target])
    elif name == "bench_decode":
        peer = ["-DBENCH_CJSON", "-lcjson"] if has("cjson/cJSON.h") else []
        sh(C + ["-Isrc", "-Itests", "bench/bench_decode.c", INSIDE, "-lcurl", "-lm"] + peer +
           ["-o", target])
    elif name in ("bench_http", "bench_wire", "bench_project", "bench_stores"):
        sh(C + ["-Isrc", "-Itests", f"bench/{name}.c", INSIDE, "-lcurl", "-lm", "-o", target])
    else:
        more = []
        if name == "bench_delta":
            trees = os.path.join(OUT, "trees.o")
            sh(CPP + ["-c", "bench/trees.cpp", "-o", trees])
            more = [trees] + json_libs() + ["-lstdc++"]
        elif name == "bench_step":
            more = ["-Wl,--wrap=curl_multi_socket_action"]
        elif name == "bench_starts":
            more = ["-Wl,--wrap=fcntl,--wrap=close"]
        sh(C + ["-I" + INCLUDE, f"bench/{name}.c"] + user + more + ["-o", target])
    return target


# ---- running ----

class Server:
    """A server that says its port at the end of a line; it ends when its stdin closes."""
    def __init__(self, *command):
        self.child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        words = self.child.stdout.readline().split()
        if not words:
            sys.exit(f"bench: {shlex.join(command)} does not start")
        self.port = words[-1]

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.child.stdin.close()
        self.child.wait()


def mock(*options):
    """The mock of the tests."""
    return Server(PYTHON, "tests/mock/server.py", "--port", "0", *options)


def stream(command, results, env=None):
    """Runs a program and shows its lines as they come."""
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=env)
    for line in child.stdout:
        found = LINE.match(line)
        if not found:
            continue
        print(line, end="", flush=True)
        results[found[1]] = (float(found[2]), found[3])
    if child.wait() != 0:
        print(f"bench: failed: {shlex.join(command)}", file=sys.stderr)
        results["failed"] = (1, "programs")


def run_program(name, results):
    program = build(name)
    command = [program]
    if name not in ("bench_json", "bench_wire", "bench_decode", "bench_stores", "bench_project",
                    "bench_thread", "bench_load", "bench_strategies",
                    "bench_subagents", "bench_yaml", "bench_toml", "bench_mcp"):
        command.append(SERVER)
    if name != "bench_step":
        stream(command, results)
        return
    certs = os.path.join(OUT, "certs")
    os.makedirs(certs, exist_ok=True)
    sh([PYTHON, "tests/mock/certs.py", certs])
    with mock("--tls", f"{certs}/good.pem", f"{certs}/good.key") as server:
        stream(command + [f"https://127.0.0.1:{server.port}", f"{certs}/ca.pem"], results)


def run_many(results):
    with Server(SERVER) as server:
        stream([build("bench_many"), server.port], results)


def run_build(results):
    stream([sys.executable, "bench/bench_build.py", INCLUDE, OUT], results)


def run_frame_loop(results):
    """60 frames a second, an NPC whose tool takes 300 of them."""
    with mock("--default", "npc") as server:
        env = dict(os.environ, PHI_BASE_URL=f"http://127.0.0.1:{server.port}", PHI_MODEL="claude-npc")
        out = sh(["build/normal/examples/frame_loop"], env=env, stdin=subprocess.DEVNULL)
    found = re.search(r"worst ([\d.]+) us, p99.9 ([\d.]+) us, median ([\d.]+) us", out)
    if not found:
        sys.exit("bench: frame_loop says nothing:\n" + out)
    for name, value in zip(("worst", "p999", "median"), found.groups()):
        print(f"frame_loop_step_{name} {value} us", flush=True)
        results[f"frame_loop_step_{name}"] = (float(value), "us")


PROGRAMS = ["bench_memory", "bench_delta", "bench_step", "bench_arguments", "bench_first_byte",
            "bench_turns", "bench_starts", "bench_http", "bench_wire", "bench_decode", "bench_project",
            "bench_thread", "bench_load", "bench_stores", "bench_strategies", "bench_subagents", "bench_json",
            "bench_yaml", "bench_toml", "bench_mcp"]
OTHERS = {"bench_many": run_many, "bench_build": run_build, "bench_frame_loop": run_frame_loop}


def print_table(results):
    rows = [("aim", "measured", "aimed at", "")]
    for what, name, side, aim in AIMS:
        if name not in results:
            continue
        value, unit = results[name]
        met = value <= aim if side == "most" else value >= aim
        off = "" if met else f" by {abs(value / aim - 1):.0%}"
        rows.append((what, f"{value:g} {unit}", f"{side} {aim:g}",
                     ("met" if met else "MISSED") + off))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    print()
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main():
    words = sys.argv[1:]
    results = {}
    os.makedirs(OUT, exist_ok=True)
    build_libraries()
    for name in PROGRAMS:
        if not words or any(word in name for word in words):
            run_program(name, results)
    for name, run in OTHERS.items():
        if not words or any(word in name for word in words):
            run(results)
    print_table(results)
    sys.exit(1 if "failed" in results else 0)


if __name__ == "__main__":
    main()
