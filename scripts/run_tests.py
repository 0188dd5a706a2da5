"""Runs test programs, two more at a time than there are processors (some of them wait), and adds up what they say.

    run_tests.py [--jobs N] [--timeout S] [--build DIR] [--valgrind DIR] [--under COMMAND] program ...

A program is an executable, or a .py file that is run with this Python; $PHI_BUILD says where scripts find programs
(--build). Programs below the folder of --valgrind run under valgrind, and may take ten times as long. --under names an
emulator that runs each program. The last line of the form "N passed, N failed[, N skipped]" counts; for unittest, its
own closing lines do. A program that crashes, hangs or says nothing is one failure. One line is printed for each; what
a program printed is shown when it failed. The last line is the sum: "N passed, N failed[, N skipped]".
"""
import argparse
import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import time

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)
RAN = re.compile(r"^Ran (\d+) tests? in ", re.M)
VALGRIND = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full",
            "--errors-for-leak-kinds=definite,possible", "--trace-children=no"]
# What a developer's shell says about proxies is not part of the tests.
HIDDEN = re.compile(r"^(?:(?:https?|all|no|ftp)_proxy|(?:ANTHROPIC|OPENAI)_.*)$", re.I)


def counts_of(text):
    """The (passed, failed, skipped) a program reported, or None."""
    found = COUNTS.findall(text)
    if found:
        return tuple(int(n or 0) for n in found[-1])
    ran = RAN.search(text)
    if not ran:
        return None
    def of(word):
        m = re.search(word + r"=(\d+)", text[ran.end():])
        return int(m.group(1)) if m else 0
    bad, skipped = of("failures") + of("errors"), of("skipped")
    return max(0, int(ran.group(1)) - bad - skipped), bad, skipped


def inside(program, folder):
    return bool(folder) and os.path.abspath(program).startswith(os.path.abspath(folder) + os.sep)


def run(program, args, env):
    command, timeout = args.under.split() + [program if os.sep in program else "./" + program], args.timeout
    if program.endswith(".py"):
        command = [sys.executable, program]
    elif inside(program, args.valgrind):
        # The seeds were all run under the sanitizers, twenty times as fast.
        command, timeout, env = VALGRIND + command, 10 * timeout, {"PHI_SEEDS": "10", **env}
    start = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, env=env, start_new_session=True)
    try:
        out, _ = child.communicate(timeout=timeout)
        trouble = ""
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, _ = child.communicate()
        trouble = f"still running after {timeout} s"
    text = out.decode("utf-8", "replace")
    counts = counts_of(text)
    code = child.returncode
    if not trouble and code < 0:
        trouble = f"killed by signal {-code}"
    elif not trouble and counts is None:
        trouble = f"exit code {code}, and no count of its tests"
    elif not trouble and code != 0 and counts[1] == 0:
        trouble = f"exit code {code}"
    passed, failed, skipped = counts or (0, 0, 0)
    if trouble and failed == 0:
        failed = 1
    return program, passed, failed, skipped, trouble, text, time.monotonic() - start


def show(result, args):
    program, passed, failed, skipped, trouble, text, seconds = result
    name = os.path.relpath(program, args.build if inside(program, args.build) else None)
    if inside(program, args.valgrind):
        name = os.path.relpath(program, args.valgrind) + " (valgrind)"
    words = [f"{passed} passed"] + [f"{failed} FAILED"] * bool(failed)
    words += [f"{skipped} skipped"] * bool(skipped) + [trouble] * bool(trouble)
    print(f"{'FAIL' if failed else 'ok  '} {name:44} {seconds:6.2f} s  {', '.join(words)}")
    if failed:
        lines = text.rstrip().split("\n")
        if len(lines) > 150:
            lines = lines[:75] + [f"... {len(lines) - 150} lines ..."] + lines[-75:]
        print("\n".join("     | " + line for line in lines))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=(os.cpu_count() or 2) + 2)
    parser.add_argument("--timeout", type=int, default=180)
    parser.add_argument("--valgrind", default="")
    parser.add_argument("--build", default="")
    parser.add_argument("--under", default="")
    parser.add_argument("programs", nargs="*")
    args = parser.parse_args()
    # What a shell in the background ignores, the tests must not inherit: some press Ctrl+C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for quiet in (signal.SIGQUIT, signal.SIGCHLD, signal.SIGTSTP):
        signal.signal(quiet, signal.SIG_DFL)
    env = {k: v for k, v in os.environ.items() if not HIDDEN.match(k)}
    env.setdefault("ASAN_OPTIONS", "detect_stack_use_after_return=1:strict_string_checks=1")
    env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env.setdefault("PYTHON", sys.executable)  # for the mock server
    if args.build:
        env["PHI_BUILD"] = os.path.abspath(args.build)
    total = [0, 0, 0]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(run, program, args, env) for program in args.programs]
        for job in concurrent.futures.as_completed(jobs):
            result = job.result()
            show(result, args)
            total = [a + b for a, b in zip(total, result[1:4])]
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" * bool(total[2])))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
