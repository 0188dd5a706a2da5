"""Agents of phi over one libcurl: HTTP/2, TLS, proxies, and name lookups that take long.

    curl_checks.py PROGRAM WORK CHECK...    PROGRAM: prog_curl; WORK: a directory; CHECK: http2 tls proxy threads cares

The servers are Node's http2 (h2.mjs), tests/mock, tinyproxy, and a DNS server of this file. A line a check, a sum at the
end; exit code 1: one failed. `cares` runs in namespaces of its own, where /etc/resolv.conf names the DNS server: it needs
unshare, ip and the rights for them."""
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from talks import free_port  # noqa: E402

SLOW_MS = 1500
COUNT = "".join(f"{i} " for i in range(20))  # of the path "slow" of h2.mjs
tally = [0, 0]
# The preloaded library comes before that of the sanitizer.
ENV = {"PATH": os.environ["PATH"], "ASAN_OPTIONS": "verify_asan_link_order=0", "LC_ALL": "C.UTF-8",
       **{name: os.environ[name] for name in ("LD_LIBRARY_PATH", ) if name in os.environ}}


def check(name, good, seen):
    tally[not good] += 1
    print(f"{'ok  ' if good else 'FAIL'} {name}", flush=True)
    if not good:
        print(f"     | {seen}", flush=True)


class Server:
    """A child that prints its port as the last word of a line, and ends with its input."""
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line.split():
            sys.exit(f"{command[1]} did not start")
        self.port = int(line.split()[-1])

    def stop(self):
        self.process.stdin.close()
        self.process.wait(20)


def mock(*options):
    return Server(sys.executable, f"{HERE}/../mock/server.py", "--port", "0", "--default", "hello", *options)


def agents(program, urls, env=None, **settings):
    """What came of an agent for each URL, and of the steps. None: the program failed."""
    done = subprocess.run([program, *(f"{name}={value}" for name, value in settings.items()), "--", *urls], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**ENV, **(env or {})}, check=False)
    lines = done.stdout.strip().split("\n")
    if done.returncode != 0 or len(lines) != len(urls) + 1:
        sys.exit(f"{program} ended with {done.returncode}: {done.stdout}{done.stderr}")
    *spoken, steps = map(json.loads, lines)
    return spoken, steps


def answered(agent, text="Hello"):
    return agent["status"] == "ok" and text in agent["text"]


def said(agent, *words):
    return agent["status"] != "ok" and all(word in agent["failure"] for word in words)


def version(program):
    return tuple(int(n) for n in agents(program, [])[1]["libcurl"].split("/")[1].split("-")[0].split(".")[:2])


# ---- HTTP/2 ----

def stats(server, ca):
    done = subprocess.run(["curl", "-s", "--http2", "--cacert", ca, f"https://localhost:{server.port}/stats"],
                          stdout=subprocess.PIPE, text=True, env={"PATH": os.environ["PATH"]}, check=False)
    return json.loads(done.stdout)


def http2(program, certs, _):
    ca = f"{certs}/ca.pem"

    def case(name, words, good, **settings):
        server = Server("node", f"{HERE}/h2.mjs", f"{certs}/good.key", f"{certs}/good.pem")
        spoken, _ = agents(program, [f"https://localhost:{server.port}/{word}" for word in words.split()], http2=1, ca=ca,
                           **settings)
        seen = stats(server, ca)
        server.stop()
        check(f"http2: {name}", good(spoken, seen), (spoken, seen))
    case("an answer streams", "slow", lambda a, _: answered(a[0], COUNT))
    case("eight runs share one connection", "slow " * 8,
         lambda a, s: all(answered(x, COUNT) for x in a) and s["together"] == 8 and s["sessions"] == 2)
    most = 13 if version(program) < (7, 88) else 10  # libcurl 7.68 does not look at the limit
    case(f"thirteen runs are {most} on a connection", "slow " * 13,
         lambda a, s: all(answered(x, COUNT) for x in a) and s["together"] == most)
    case("GOAWAY in the midst: the streams end whole", "goaway slow",
         lambda a, s: all(answered(x, COUNT) for x in a) and s["goaways"] == 1)
    case("a refused stream is sent again", "refused slow", lambda a, _: all(answered(x, COUNT) for x in a), retries=2)
    case("RST_STREAM in the midst ends one run, not its neighbour", "reset slow",
         lambda a, _: said(a[0], "network") and a[0]["text"] == "0 1 2 " and answered(a[1], COUNT))
    case("a closed connection ends the run", "gone", lambda a, _: said(a[0], "network") and a[0]["text"] == "0 1 2 ")
    case("an answer of 900 KB waits for a host that reads nothing for a second", "large-900",
         lambda a, _: a[0]["status"] == "ok" and a[0]["bytes"] == 900 * 1024, hold_ms=1000)
    case("20 MB that the host does not read fail at a mebibyte", "large-20000",
         lambda a, s: said(a[0], "an HTTP/2 stream is not paused"), hold_ms=1000)


# ---- TLS ----

def tls(program, certs, _):
    for name, ca, words in (("good", "ca", None), ("expired", "ca", "no secure connection with"),
                            ("wronghost", "ca", "no secure connection with"),
                            ("good", "selfsigned", "no secure connection with")):
        server = mock("--tls", f"{certs}/{name}.pem", f"{certs}/{name}.key")
        (agent, ), _ = agents(program, [f"https://localhost:{server.port}"], ca=f"{certs}/{ca}.pem")
        server.stop()
        check(f"tls: the certificate {name} with the authority {ca}",
              said(agent, words) if words else answered(agent), agent)


# ---- proxies ----

class Proxy:
    def __init__(self, work, *lines):
        self.port, path = free_port(), f"{work}/tinyproxy.conf"
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([f"Port {self.port}", "Listen 127.0.0.1", "Allow 127.0.0.1", "MaxClients 20", "LogLevel Info",
                                  f'LogFile "{work}/tinyproxy.log"', *lines, ""]))
        open(f"{work}/tinyproxy.log", "w", encoding="utf-8").close()
        self.log = f"{work}/tinyproxy.log"
        self.process = subprocess.Popen(["tinyproxy", "-d", "-c", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while socket.socket().connect_ex(("127.0.0.1", self.port)) != 0:
            if time.monotonic() > end:
                sys.exit("tinyproxy does not start")
            time.sleep(0.05)

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()


def proxy(program, certs, work):
    plain, secure = mock(), mock("--tls", f"{certs}/good.pem", f"{certs}/good.key")
    http, https, ca = f"http://localhost:{plain.port}", f"https://localhost:{secure.port}", f"{certs}/ca.pem"

    def case(name, lines, url, good, env=None, **settings):
        server = Proxy(work, *lines)
        at = "127.0.0.1:%d" % server.port
        settings = {key: value.replace("PROXY", at) for key, value in settings.items()}
        env = {key: value.replace("PROXY", at) for key, value in (env or {}).items()}
        (agent, ), _ = agents(program, [url], env, ca=ca, **settings)
        log = server.stop()
        check(f"proxy: {name}", good(agent, log), (agent, log[-600:]))
    lock = ["BasicAuth kim s3cret"]
    case("plain HTTP", [], http, lambda a, log: answered(a) and "POST http://localhost" in log, proxy="http://PROXY")
    case("CONNECT for TLS", [], https, lambda a, log: answered(a) and "CONNECT localhost" in log, proxy="http://PROXY")
    for words, url in (("plain HTTP", http), ("CONNECT", https)):
        case(f"{words} with a user and password", lock, url, lambda a, _: answered(a), proxy="http://kim:s3cret@PROXY")
    # tinyproxy answers 407 to no password, and 401 to a wrong one.
    refused = "the proxy refused a secure connection with"
    for status, user in (("407", ""), ("401", "kim:wr0ng@")):
        case(f"plain HTTP is refused with {status}, which is an error of authentication", lock, http,
             lambda a, _: said(a, "auth: ", status) and "wr0ng" not in str(a), proxy=f"http://{user}PROXY", retries="2")
        case(f"CONNECT is refused with {status}, and not tried again", lock, https,
             lambda a, _: said(a, refused, status) and a["retries"] == 0 and "wr0ng" not in str(a),
             proxy=f"http://{user}PROXY", retries="2")
    case("CONNECT to a port that is forbidden: 403", ["ConnectPort 443"], https, lambda a, _: said(a, refused, "403"),
         proxy="http://PROXY")
    case("no proxy there", [], http, lambda a, _: said(a, "connection refused by"), proxy=f"http://127.0.0.1:{free_port()}")
    case("no such proxy host", [], http, lambda a, _: said(a, "no such proxy host"), proxy="http://nowhere.invalid:1")
    variables = {"http_proxy": "http://PROXY", "https_proxy": "http://PROXY"}
    case("the environment's, when it is asked for", [], http, lambda a, log: answered(a) and "POST http" in log, variables,
         environment="1")
    case("the environment's, when it is not asked for", [], http, lambda a, log: answered(a) and "POST http" not in log,
         variables)
    case("NO_PROXY", [], http, lambda a, log: answered(a) and "POST http" not in log, {**variables, "NO_PROXY": "localhost"},
         environment="1")
    plain.stop()
    secure.stop()


# ---- name lookups ----

def lookups(name, program, env, abort_waits):
    """Two agents: the name of one is looked up for SLOW_MS, the other's address is a number."""
    server = mock()
    urls = [f"http://slow.test:{server.port}", f"http://127.0.0.1:{server.port}"]
    spoken, steps = agents(program, urls, env)
    figures = f"{steps['steps']} steps in {spoken[0]['ms']} ms, the longest {steps['longest_us'] / 1000:.1f} ms"
    check(f"{name}: a lookup of {SLOW_MS} ms stops neither steps nor the other agent ({figures})",
          answered(spoken[0]) and spoken[0]["ms"] >= SLOW_MS and answered(spoken[1]) and spoken[1]["ms"] < SLOW_MS
          and steps["steps"] > 50 and steps["longest_us"] < SLOW_MS * 500, (spoken, steps))
    spoken, steps = agents(program, urls, env, abort_ms=300)
    free = f"the runtime is freed in {steps['free_us'] / 1000:.1f} ms"
    check(f"{name}: an abort in the midst returns in {steps['abort_us'] / 1000:.1f} ms; {free}",
          spoken[0]["status"] == "cancelled" and steps["abort_us"] < SLOW_MS * 500 and
          steps["longest_us"] < SLOW_MS * 500 and (abort_waits or steps["free_us"] < SLOW_MS * 500), (spoken, steps))
    server.stop()


def threads(program, _, work):
    """libcurl's threads, and a getaddrinfo that waits."""
    library = f"{work}/slow_lookup.so"
    subprocess.run([*(os.environ.get("CC") or "gcc").split(), "-shared", "-fPIC", "-D_GNU_SOURCE", f"-DSLOW_MS={SLOW_MS}",
                    f"{HERE}/slow_lookup.c", "-o", library, "-ldl"], check=True)
    lookups("threads", program, {"LD_PRELOAD": os.path.abspath(library)}, version(program) < (7, 87))


def answer_dns(server, delay):
    """Answers each question for an A record with 127.0.0.1, later, and others with no record."""
    def late(query, peer):
        time.sleep(delay)
        end = query.index(b"\0", 12) + 5
        record = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4\x7f\0\0\1" if query[end - 4:end - 2] == b"\0\1" else b""
        server.sendto(query[:2] + b"\x81\x80" + struct.pack(">HHHH", 1, 1 if record else 0, 0, 0) + query[12:end] + record,
                      peer)
    while True:
        query, peer = server.recvfrom(512)
        threading.Thread(target=late, args=(query, peer), daemon=True).start()


def cares(program, certs, work):
    """c-ares reads the DNS server's address from /etc/resolv.conf, and asks at port 53: both are made for this test."""
    if "PHI_APART" not in os.environ:
        with open(f"{work}/resolv.conf", "w", encoding="utf-8") as file:
            file.write("nameserver 127.0.0.1\n")
        words = [sys.executable, __file__, program, work, "cares"]
        script = f'ip link set lo up && mount --bind {work}/resolv.conf /etc/resolv.conf && exec "$@"'
        done = subprocess.run(["unshare", "--map-root-user", "--mount", "--net", "sh", "-c", script, "sh", *words],
                              env={**os.environ, "PHI_APART": "1"}, stdout=subprocess.PIPE, text=True, check=False)
        lines = done.stdout.split("\n")
        print("\n".join(lines[:-2]))
        passed, failed = (int(n) for n in lines[-2].replace(",", "").split()[::2]) if len(lines) > 1 else (0, 1)
        tally[0] += passed
        tally[1] += failed
        return
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))
    threading.Thread(target=answer_dns, args=(server, SLOW_MS / 1000), daemon=True).start()
    used = agents(program, [])[1]["libcurl"]
    check("c-ares: it is what looks names up", "c-ares/" in used, used)
    lookups("c-ares", program, {}, False)


CHECKS = {"http2": http2, "tls": tls, "proxy": proxy, "threads": threads, "cares": cares}


def main(program, work, *names):
    work = os.path.abspath(work)
    certs = f"{work}/certs"
    if not os.path.exists(f"{certs}/selfsigned.pem"):
        subprocess.run([sys.executable, f"{HERE}/../mock/certs.py", certs], check=True)
    for name in names:
        CHECKS[name](os.path.abspath(program), certs, work)
    print(f"{tally[0]} passed, {tally[1]} failed")
    return 1 if tally[1] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
