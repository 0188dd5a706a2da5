"""Sources that Rust crates carry, and commands with a limit of time: shared by interop.py, windows.py, cross.py and
packages.py."""
import contextlib
import glob
import os
import shutil
import signal
import subprocess
import tarfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CURL = "0.4.91+curl-8.22.0"  # of curl-sys: the newest libcurl that phi is tried with
SECONDS = 3600  # for one command: on a busy machine a build may take ten times its CPU time


class GiveUp(Exception):
    pass


def limited(command, seconds=SECONDS, stdin=subprocess.DEVNULL, **options):
    """subprocess.run, but after so many seconds the command and its children are killed, and GiveUp says so."""
    with subprocess.Popen(command, stdin=stdin, start_new_session=True, **options) as child:
        try:
            out, err = child.communicate(timeout=seconds)
        except BaseException as e:  # Ctrl+C, too, which the session of the child does not get
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            if isinstance(e, subprocess.TimeoutExpired):
                raise GiveUp(f"{os.path.basename(command[0])}: still running after {seconds} s") from e
            raise
    return subprocess.CompletedProcess(command, child.returncode, out, err)


def quiet(log, command, words, cwd=ROOT, seconds=SECONDS, **env):
    """Runs a command with its output in a log; a failure says where that is."""
    with open(os.path.join(ROOT, log), "w", encoding="utf-8") as file:
        done = limited(command, seconds, cwd=cwd, stdout=file, stderr=subprocess.STDOUT, env={**os.environ, **env})
    if done.returncode != 0:
        raise GiveUp(f"{words}: see {log}")


def crate(work, name, version):
    """The folder of a crate's sources below `work`, fetched once by cargo."""
    into = f"{work}/{name}-{version}"
    if not os.path.isdir(f"{ROOT}/{into}"):
        if shutil.which("cargo") is None:
            raise GiveUp("there is no cargo")
        print(f"cargo brings {name} {version} to {into}", flush=True)
        os.makedirs(f"{ROOT}/{work}", exist_ok=True)
        quiet(f"{work}/cargo.log", ["cargo", "info", f"{name}@{version}"], f"no crate {name}")
        home = os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")
        found = glob.glob(f"{home}/registry/cache/*/{name}-{version}.crate")
        if not found:
            raise GiveUp(f"cargo has not kept {name}-{version}.crate")
        with tarfile.open(found[0]) as file:
            file.extractall(f"{ROOT}/{work}/part", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        os.rename(f"{ROOT}/{work}/part/{name}-{version}", f"{ROOT}/{into}")
    return into


def curl(work, version=CURL):
    """The folder of libcurl's sources. The crate leaves out folders that CMake enters."""
    source = f"{crate(work, 'curl-sys', version)}/curl"
    for folder in ("docs", "docs/examples"):
        if not os.path.exists(f"{ROOT}/{source}/{folder}/CMakeLists.txt"):
            os.makedirs(f"{ROOT}/{source}/{folder}", exist_ok=True)
            with open(f"{ROOT}/{source}/{folder}/CMakeLists.txt", "w", encoding="utf-8"):
                pass
    return source
