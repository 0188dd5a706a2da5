#!/usr/bin/env python3
"""phi's releases, and a program against phi of each package manager.

    packages.py [PART...]    all parts, or those named: `make packages`
    packages.py release      the archives of a release, in build/release: `make release`

A release needs one version everywhere (src/base/base.h has it; `disagreements` lists the copies), a section of
CHANGELOG.md with a date, fresh headers and a clean tree. Its archives are the same bytes each time they are made. The
files of packaging/ are templates: the words @VERSION@, @URL@, @SHA256@ and others are filled in for a release.

A part makes phi's package of the working tree in a fresh folder outside of it, then builds and runs the program of
packaging/consumer/ against this package. Only Conan needs the network, once, for pip. REPOSITORY is the address that
releases have; archives are at REPOSITORY/releases/download/vVERSION."""
import email.utils
import glob
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [ROOT, os.path.join(ROOT, "scripts")]
sys.dont_write_bytecode = True
import amalgamate  # noqa: E402
from crates import GiveUp, limited  # noqa: E402

LOGS = os.path.join(ROOT, "build", "packages")
CONAN = "conan==2.34.0"
NOT_RUN = ["vcpkg", "Homebrew"]  # written for other machines
ANSWER = "For ten gold pieces.\n"
FUZZ_FLAGS = ("-O1 -fno-omit-frame-pointer -gline-tables-only -fsanitize=address -fsanitize-address-use-after-scope "
              "-fsanitize=fuzzer-no-link")  # of OSS-Fuzz' base image
CC = os.environ.get("CC") or "gcc"
CLANG = os.environ.get("CLANG") or "clang"
MAKE = [os.environ.get("MAKE") or "make", "--no-print-directory", f"CC={CC}"]


class Missing(Exception):
    pass


def read(*names):
    with open(os.path.join(*names), encoding="utf-8") as file:
        return file.read()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout


# ---- the version ----

def version():
    return re.search(r'^#define PHI_VERSION "(\d+\.\d+\.\d+)"$', read(ROOT, "src/base/base.h"), re.M)[1]


def disagreements():
    """Each place that names another version than src/base/base.h."""
    now = version()
    major, minor, patch = (int(n) for n in now.split("."))
    number = str(major * 10000 + minor * 100 + patch)
    bad = []
    for name, pattern, wanted in (("src/base/base.h", r"^#define PHI_VERSION_NUMBER (\d+)", number),
                                  ("docs/phi.1", r'^\.TH PHI 1 \S+ "phi (\S+)"', now),
                                  ("docs/phi.md", r"^phi (\d\S*) - ", now),
                                  ("CHANGELOG.md", r"^## (\d+\.\d+\.\d+)", now),
                                  ("phi.h", r'^#define PHI_VERSION "(\S+)"', now),
                                  ("phi_json.h", r'^#define PHI_VERSION "(\S+)"', now)):
        found = re.search(pattern, read(ROOT, name), re.M)
        if not found or found[1] != wanted:
            bad.append(f"{name}: {found[1] if found else 'no version'}, should be {wanted} (src/base/base.h: {now})")
    return bad


def obstacles(headers):
    """What keeps the tree from being a release."""
    bad, now = disagreements(), version()
    first = re.search(r"^## .*", read(ROOT, "CHANGELOG.md"), re.M)
    if not first or not re.fullmatch(rf"## {re.escape(now)} \(\d{{4}}-\d\d-\d\d\)", first[0]):
        bad.append(f'CHANGELOG.md: the first section is "{first[0] if first else ""}", '
                   f'should be "## {now} (YYYY-MM-DD)"')
    bad += [f"{name}: stale: run make" for name, text in headers.items() if read(ROOT, name) != text]
    if git("status", "--porcelain"):
        bad.append("the tree is not clean: git status")
    if git("tag", "-l", f"v{now}"):
        bad.append(f"there is a tag v{now} already")
    return bad


# ---- archives ----

def zip_of(files, when):
    """A zip of {path: (bytes, is it a program)}, the same bytes each time."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, (data, program) in sorted(files.items()):
            entry = zipfile.ZipInfo(path, time.gmtime(when)[:6])
            entry.create_system = 3  # Unix, so that modes count
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return out.getvalue()


def tar_of(files, when):
    """A tar.gz of the same."""
    out = io.BytesIO()
    with gzip.GzipFile("", "wb", 6, out, mtime=when) as packed, tarfile.open(fileobj=packed, mode="w",
                                                                             format=tarfile.USTAR_FORMAT) as archive:
        for path, (data, program) in sorted(files.items()):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mtime, entry.mode = len(data), when, 0o755 if program else 0o644
            entry.uname = entry.gname = "root"
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def files_in(folder, words):
    """The files of packaging/ below a folder, filled: {path below it: (bytes, is it a program)}."""
    files, top = {}, os.path.join(ROOT, "packaging", folder)
    for base, _, names in os.walk(top):
        for path in (os.path.join(base, name) for name in names):
            text = re.sub(r"@(\w+)@", lambda m: words.get(m[1], m[0]), read(path))
            files[os.path.relpath(path, top)] = text.encode(), os.access(path, os.X_OK)
    return files


def release(to, repository, headers, url=None):
    """Writes the archives, their checksums and the filled files of packaging/."""
    now = version()
    when = int(git("log", "-1", "--format=%ct") or 1577836800)
    words = {"VERSION": now, "REPOSITORY": repository, "URL": url or f"{repository}/releases/download/v{now}",
             "DATE": email.utils.formatdate(when), "YEAR": time.strftime("%Y", time.gmtime(when))}
    top = f"phi-{now}/"

    small = {name: (text.encode(), False) for name, text in headers.items()}
    for name in ["LICENSE", "README.md", "CHANGELOG.md", "packaging/phi.pc", *glob.glob("extras/*", root_dir=ROOT),
                 *glob.glob("packaging/cmake/*", root_dir=ROOT)]:
        small[name] = read(ROOT, name).encode(), False
    filled = files_in("", words)
    for name in ("CMakeLists.txt", "meson.build"):
        small[name] = filled[name]

    whole = {}
    for name in git("ls-files", "-co", "--exclude-standard", "-z").split("\0"):
        path = os.path.join(ROOT, name)
        if name and os.path.isfile(path):
            with open(path, "rb") as file:
                whole[name] = file.read(), os.access(path, os.X_OK)
    whole.update((name, (text.encode(), False)) for name, text in headers.items())

    archives = {f"phi-{now}.zip": zip_of({top + name: file for name, file in small.items()}, when),
                f"phi-{now}-source.tar.gz": tar_of({top + name: file for name, file in whole.items()}, when)}
    sums = [hashlib.sha256(data).hexdigest() for data in archives.values()]
    words["SHA256"], words["SOURCE_SHA256"] = sums
    words["SHA512"] = hashlib.sha512(archives[f"phi-{now}.zip"]).hexdigest()
    shutil.rmtree(to, ignore_errors=True)
    for name, data in archives.items():
        write(os.path.join(to, name), data)
    write(os.path.join(to, "SHA256SUMS"), "".join(f"{value}  {name}\n" for value, name in zip(sums, archives)))
    for name, (data, program) in files_in("", words).items():
        path = os.path.join(to, "packaging", name)
        write(path, data)
        os.chmod(path, 0o755 if program else 0o644)
    # Conan's test is the program of the other parts; each needs a file that holds the implementation.
    for name in ("main.c", "CMakeLists.txt"):
        shutil.copy(os.path.join(to, "packaging/consumer", name), os.path.join(to, "packaging/conan/test_package"))
    for folder in ("consumer", "conan/test_package"):
        shutil.copy(os.path.join(to, "packaging/cmake/phi_implementation.c"),
                    os.path.join(to, "packaging", folder, "implementation.c"))
    return archives


def make_release(repository):
    try:
        headers = amalgamate.build(False)
        bad = obstacles(headers)
    except amalgamate.Trouble as e:
        bad = [str(e)]
    if bad:
        print("\n".join("release: " + line for line in bad), file=sys.stderr)
        return 1
    to = os.path.join(ROOT, "build", "release")
    for name, data in release(to, repository, headers).items():
        print(f"wrote build/release/{name}: {len(data):,} bytes")
    print("wrote build/release/SHA256SUMS, and build/release/packaging/: the files for package managers")
    print(f"now: git tag -a v{version()} -m 'phi {version()}' {git('rev-parse', '--short', 'HEAD').strip()}")
    return 0


# ---- packages ----

class Trial:
    """What the parts share: archives, the unpacked sources, and phi as `make install-headers` installs it."""

    def __init__(self, folder):
        self.folder = folder
        self.version = version()
        self.release = f"{folder}/release"
        self.files = f"{self.release}/packaging"
        self.log = None
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith(("MAKE", "MFLAGS", "DESTDIR"))}
        self.env.update(CC=CC, LC_ALL="C.UTF-8")
        self.archives = self.pack(self.release)
        self.source = f"{folder}/phi-{self.version}"
        self.unpack(self.folder, "-source.tar.gz")
        self.installed = f"{folder}/usr"

    def pack(self, to):
        return release(to, os.environ.get("REPOSITORY") or "https://example.org/phi", amalgamate.build(False),
                       f"file://{self.release}")

    def unpack(self, to, kind):
        shutil.unpack_archive(f"{self.release}/phi-{self.version}{kind}", to)

    def run(self, *command, cwd=None, **env):
        """What the command printed to stdout; all else is in the log of the part."""
        self.log.write("$ " + " ".join(map(str, command)) + "\n")
        self.log.flush()
        done = limited([str(word) for word in command], cwd=cwd or self.folder, stdout=subprocess.PIPE,
                       stderr=self.log, text=True, errors="replace", env={**self.env, **env})
        self.log.write(done.stdout)
        self.log.flush()
        if done.returncode != 0:
            raise GiveUp(f"{os.path.basename(str(command[0]))} failed with {done.returncode}")
        return done.stdout

    def install(self):
        if not os.path.exists(self.installed):
            self.run(*MAKE, "install-headers", f"PREFIX={self.installed}", cwd=self.source)

    def consumer(self, name):
        """A fresh folder with the program."""
        shutil.copytree(f"{self.files}/consumer", f"{self.folder}/{name}")
        return f"{self.folder}/{name}"

    def answers(self, *program, **env):
        said = self.run(*program, **env)
        if said != ANSWER:
            raise GiveUp(f'{program[0]} printed "{said}"')

    def compile(self, folder, *flags, files=("main.c", "implementation.c")):
        self.run(*CC.split(), *files, *flags, "-o", "consumer", cwd=folder)


def tool(name, *words):
    """The version of a tool."""
    if shutil.which(name) is None:
        raise Missing(f"there is no {name}")
    done = limited([name, *words], 60, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.search(r"\d+(\.\d+)+", done.stdout)
    return f"{name} {found[0] if found else ''}".strip()


def part_zip(t):
    """The archive of a release: its checksum, the same bytes again, and the headers as a user copies them."""
    t.run("sha256sum", "-c", "SHA256SUMS", cwd=t.release)
    if t.pack(f"{t.folder}/again") != t.archives:
        raise GiveUp("the archives differ when they are made again")
    folder = t.consumer("zip")
    t.unpack(folder, ".zip")
    t.compile(folder, f"-Iphi-{t.version}", "-lcurl")
    t.answers(f"{folder}/consumer")
    return f"{len(t.archives[f'phi-{t.version}.zip']):,} bytes"


def part_pkg_config(t):
    used = tool("pkg-config", "--version")
    t.install()
    folder, path = t.consumer("pkg-config"), f"{t.installed}/share/pkgconfig"
    if t.run("pkg-config", "--modversion", "phi", PKG_CONFIG_PATH=path).strip() != t.version:
        raise GiveUp("phi.pc has another version")
    t.compile(folder, *t.run("pkg-config", "--cflags", "--libs", "phi", PKG_CONFIG_PATH=path).split())
    t.answers(f"{folder}/consumer")
    return used


def cmake(t, folder, *options, programs=("headers", "linked")):
    t.run("cmake", "-S", folder, "-B", f"{folder}/build", *options)
    t.run("cmake", "--build", f"{folder}/build", "--target", *programs, "-j2")
    for name in programs:
        t.answers(f"{folder}/build/{name}")


def part_cmake(t):
    """find_package, of what make installs and of what CMake installs, which are the same files."""
    used = tool("cmake", "--version")
    t.install()
    t.run("cmake", "-S", f"{t.source}/packaging", "-B", f"{t.folder}/cmake-build",
          f"-DCMAKE_INSTALL_PREFIX={t.folder}/cmake-usr")
    t.run("cmake", "--install", f"{t.folder}/cmake-build")
    listed = [sorted(os.path.relpath(path, prefix) for path in glob.glob(f"{prefix}/**", recursive=True))
              for prefix in (t.installed, f"{t.folder}/cmake-usr")]
    if listed[0] != listed[1]:
        raise GiveUp(f"CMake installs other files than make: {set(listed[0]) ^ set(listed[1])}")
    for name in ("phi.h", "phi_tools.h"):
        if read(t.installed, "include", name) != read(f"{t.folder}/cmake-usr/include", name):
            raise GiveUp(f"CMake installs another {name}")
    cmake(t, t.consumer("cmake"), f"-DCMAKE_PREFIX_PATH={t.folder}/cmake-usr")
    return used


def part_fetch_content(t):
    """The sources, as from a Git repository, and the archive of a release."""
    used = tool("cmake", "--version")
    cmake(t, t.consumer("fetch-source"), f"-DPHI_FETCH=SOURCE_DIR;{t.source};SOURCE_SUBDIR;packaging",
          programs=("linked",))
    url = f"file://{t.release}/phi-{t.version}.zip"
    digest = hashlib.sha256(t.archives[f"phi-{t.version}.zip"]).hexdigest()
    cmake(t, t.consumer("fetch-zip"), f"-DPHI_FETCH=URL;{url};URL_HASH;SHA256={digest}", programs=("headers",))
    return used


def meson(t, folder, *options, **env):
    t.run("meson", "setup", *options, "build", cwd=folder, **env)
    t.run("meson", "compile", "-C", "build", cwd=folder)
    t.answers(f"{folder}/build/consumer")


def part_meson(t):
    used = tool("meson", "--version")
    t.install()
    meson(t, t.consumer("meson"), PKG_CONFIG_PATH=f"{t.installed}/share/pkgconfig")
    return used


def part_meson_wrap(t):
    used = tool("meson", "--version")
    folder = t.consumer("meson-wrap")
    os.mkdir(f"{folder}/subprojects")
    shutil.copy(f"{t.files}/phi.wrap", f"{folder}/subprojects")
    meson(t, folder, "--wrap-mode=forcefallback")
    return used


def part_conan(t):
    """The recipe and its test_package; libcurl is that of the system, so that no remote is asked."""
    venv = f"{LOGS}/venv"
    conan = f"{venv}/bin/conan"
    mark = f"{venv}/installed"
    if not os.path.exists(mark) or read(mark) != CONAN:
        shutil.rmtree(venv, ignore_errors=True)
        try:
            t.run("python3", "-m", "venv", venv)
            t.run(f"{venv}/bin/pip", "install", "-q", "--disable-pip-version-check", CONAN)
        except GiveUp:
            raise Missing("pip could not install Conan")
        write(mark, CONAN)
    home = {"CONAN_HOME": f"{t.folder}/conan", "CC": CC.split()[-1], "CCACHE_DISABLE": "1"}
    t.run(conan, "profile", "detect", **home)
    curl = t.run("pkg-config", "--modversion", "libcurl").strip()
    profile = f"{t.folder}/conan/profiles/default"
    write(profile, read(profile) + f"[platform_requires]\nlibcurl/{curl}\n")
    t.run(conan, "create", f"{t.files}/conan", "--no-remote", "--build=missing",
          "--settings=build_type=Debug", **home)  # twice the implementation: not optimised
    if read(t.log.name).count("\n" + ANSWER) != 2:  # Conan passes its output on to stderr
        raise GiveUp("the programs of test_package did not print the answer")
    return f"conan {CONAN.split('==')[1]}"


def part_debian(t):
    """The source package and its two binary packages; lintian has no error and no warning."""
    used = tool("dpkg-buildpackage", "--version")
    for needed in ("dh", "lintian"):
        tool(needed, "--version")
    work = f"{t.folder}/debian"
    os.mkdir(work)
    shutil.copy(f"{t.release}/phi-{t.version}-source.tar.gz", f"{work}/phi_{t.version}.orig.tar.gz")
    t.unpack(work, "-source.tar.gz")
    tree, root = f"{work}/phi-{t.version}", f"{work}/root"
    shutil.copytree(f"{t.files}/debian", f"{tree}/debian")
    t.run("dpkg-buildpackage", "-us", "-uc", cwd=tree, CC="")
    t.run("lintian", "--allow-root", "--fail-on", "error,warning", *glob.glob(f"{work}/*.changes"))
    for package in glob.glob(f"{work}/*.deb"):
        if "-dbgsym_" not in package:
            t.run("dpkg-deb", "-x", package, root)
    if t.run(f"{root}/usr/bin/phi", "--version") != f"phi {t.version}\n":
        raise GiveUp("the command phi has another version")
    folder = t.consumer("debian-consumer")
    cmake(t, folder, f"-DCMAKE_PREFIX_PATH={root}/usr", programs=("headers",))
    return used


def part_libphi(t):
    """The shared and the static library; each symbol that the shared one exports is a function of phi's headers."""
    prefix = f"{t.folder}/libphi-usr"
    t.run(*MAKE, "install-libphi", f"PREFIX={prefix}", cwd=t.source)
    shared = glob.glob(f"{prefix}/lib/libphi.so.*")
    said = t.run("nm", "-D", "--defined-only", shared[0])
    exported = set(re.findall(r"^\S+ \w (\S+)$", said, re.M))
    text = read(prefix, "include/phi.h") + read(prefix, "include/phi_tools.h")
    declared = set(re.findall(r"^PHI_API [^;{]*?\b(phi_\w+)\(", text, re.M))
    if not exported or [name for name in exported if name.startswith("phi__") or not name.startswith("phi_")]:
        raise GiveUp("libphi.so exports other symbols than phi_*")
    if declared - exported:
        raise GiveUp(f"libphi.so lacks {sorted(declared - exported)[:5]}")
    folder = t.consumer("libphi")
    include = f"-I{prefix}/include"
    t.compile(folder, include, f"-L{prefix}/lib", "-lphi", f"-Wl,-rpath,{prefix}/lib", files=("main.c",))
    t.answers(f"{folder}/consumer")
    if os.path.basename(shared[0]) not in t.run("readelf", "-d", f"{folder}/consumer"):
        raise GiveUp("the program does not name the library's SONAME")
    t.compile(folder, include, f"{prefix}/lib/libphi.a", "-lcurl", files=("main.c",))
    t.answers(f"{folder}/consumer")
    return f"{os.path.basename(shared[0])}, {len(exported)} functions"


def part_oss_fuzz(t):
    """build.sh with the flags of OSS-Fuzz' base image; each fuzzer reads its corpus, then tries 500 inputs."""
    used = tool(CLANG.split()[-1], "--version")
    src, out = f"{t.folder}/oss/src", f"{t.folder}/oss/out"
    os.makedirs(out)
    t.unpack(src, "-source.tar.gz")
    os.rename(f"{src}/phi-{t.version}", f"{src}/phi")
    cache = CC.split()[:-1]  # ccache, if the compiler has it
    t.run("bash", "-eu", f"{t.files}/oss-fuzz/build.sh", CC=" ".join([*cache, CLANG]), CXX=f"{CLANG}++", SRC=src,
          OUT=out, CFLAGS=FUZZ_FLAGS, CXXFLAGS=FUZZ_FLAGS, LIB_FUZZING_ENGINE="-fsanitize=fuzzer")
    count = 0
    for source in sorted(glob.glob("tests/fuzz/fuzz_*.c", root_dir=ROOT)):
        name = os.path.basename(source)[:-2]
        corpus = f"{t.folder}/oss/{name}"
        os.mkdir(corpus)
        if os.path.exists(f"{out}/{name}_seed_corpus.zip"):
            shutil.unpack_archive(f"{out}/{name}_seed_corpus.zip", corpus)
        t.run(f"{out}/{name}", "-runs=500", "-seed=1", "-timeout=20", corpus, cwd=out)
        count += 1
    return f"{used}, {count} fuzzers"


PARTS = {"zip": part_zip, "pkg-config": part_pkg_config, "cmake": part_cmake, "fetchcontent": part_fetch_content,
         "meson": part_meson, "meson-wrap": part_meson_wrap, "conan": part_conan, "debian": part_debian,
         "libphi": part_libphi, "oss-fuzz": part_oss_fuzz}


def make_packages(names):
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"packages: no part {unknown[0]}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 1
    os.makedirs(LOGS, exist_ok=True)
    failed = False
    with tempfile.TemporaryDirectory(prefix="phi-packages-") as folder:
        trial = Trial(folder)
        for name in names or PARTS:
            log = os.path.join(LOGS, f"log_{name}")
            start = time.monotonic()
            with open(log, "w", encoding="utf-8") as trial.log:
                try:
                    state, words = "ok", PARTS[name](trial)
                except Missing as e:
                    state, words = "not tried", str(e)
                except (GiveUp, OSError) as e:
                    state, words, failed = "FAILED", f"{e}; see {os.path.relpath(log, ROOT)}", True
            print(f"{name:14} {state:10} {time.monotonic() - start:6.0f} s  {words}", flush=True)
    for name in [] if names else NOT_RUN:
        print(f"{name:14} written, not run")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["release"]:
        sys.exit(make_release(os.environ.get("REPOSITORY") or "https://example.org/phi"))
    sys.exit(make_packages(sys.argv[1:]))
