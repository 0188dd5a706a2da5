"""Sources that Rust crates carry, and commands whose output goes to a log: shared by interop.py, windows.py and cross.py."""
import glob
import os
import shutil
import subprocess
import tarfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CURL = "0.4.91+curl-8.22.0"  # of curl-sys: the newest libcurl that phi is tried with


class GiveUp(Exception):
    pass


def quiet(log, command, words, cwd=ROOT, **env):
    """Runs a command with its output in a log; a failure says where that is."""
    with open(os.path.join(ROOT, log), "w", encoding="utf-8") as file:
        done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                              env={**os.environ, **env}, check=False)
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
