#!/usr/bin/env python3
"""phi, the command: the tool read_url, against a server of this machine."""
import http.server
import json
import os
import shutil
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_phi  # noqa: E402
from test_examples import Mock  # noqa: E402

PAGE = """<!DOCTYPE html><html><head><title>The &amp; gate</title><style>p { color: red }</style>
<script>if (a < b) hidden();</script></head><body><!-- a <p>comment</p> --><h1>News</h1>
<p>It is   <b>shut</b> &#x2013; see <a href="/more?a=1">more</a>.</p><ul><li>one</li><li>two</li></ul>
<pre>a  b
  c</pre><table><tr><td>1</td><td>2</td></tr></table>\x1b[2J &lt;tag&gt;</body></html>"""
TEXT = "The & gate\n\n# News\n\nIt is shut \u2013 see [more](/more?a=1).\n\n- one\n- two\n\na  b\n  c\n\n| 1 | 2\n\n<U+001B>[2J <tag>\n"


class Pages(http.server.BaseHTTPRequestHandler):
    asked = []

    def do_GET(self):
        Pages.asked.append(self.path)
        kinds = {"/page": ("text/html; charset=utf-8", PAGE.encode()), "/bytes": ("application/zip", b"PK\x03\x04"),
                 "/big": ("text/plain", b"0123456789\n" * 400000), "/empty": ("text/plain", b""),
                 "/latin": ("text/plain", b"caf\xe9")}
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/page")
            self.end_headers()
        elif self.path in kinds:
            self.send_response(200)
            self.send_header("Content-Type", kinds[self.path][0])
            self.end_headers()
            try:
                self.wfile.write(kinds[self.path][1])
            except ConnectionError:
                pass  # it has read enough
        elif self.path == "/slow":
            time.sleep(30)
        else:
            self.send_error(404, "No such page")

    def log_message(self, *args):
        pass


server = None


def setUpModule():
    global server
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder = tempfile.mkdtemp(prefix="phi")
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    urls = {name: at("/" + name) for name in ("page", "bytes", "big", "empty", "latin", "moved", "slow", "none")}
    urls.update({"user": at("/page").replace("//", "//good@"), "file": "file:///etc/hosts", "blank": at("/a b"),
                 "local": at("/page").replace("127.0.0.1", "localhost"), "six": "http://[::ffff:127.0.0.1]/",
                 "nothing": "http://0.0.0.0/", "link": "http://169.254.1.1/"})
    path = os.path.join(folder, "scenarios.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({name: [{"blocks": [{"type": "tool_use", "name": "read_url", "input": {"url": url}}]},
                          {"blocks": [{"type": "text", "text": "I read: ${last_tool_result}"}]}]
                   for name, url in urls.items()}, file)
    test_phi.mock = Mock("--port", "0", "--scenario", path)


def tearDownModule():
    test_phi.tearDownModule()
    server.shutdown()
    server.server_close()


def at(path):
    return "http://127.0.0.1:%d%s" % (server.server_address[1], path)


class Url(test_phi.Tmux):
    def read(self, name, typed, always=None, after=""):
        """What the model was told, after somebody has allowed the call."""
        self.start(name, size=(110, 50))
        test_phi.mock.asked()
        self.type("-l", "Read " + (at("/" + name) + after if typed else "it"))
        self.type("Enter")
        self.wait_for(r"read_url wants to run:\n  \| [hf]")
        if always is not None:
            self.wait_for(always)
        time.sleep(0.3)
        self.type("y")
        self.wait_for(r"Msgs: 4(.*\n)+.*Status: Ready")
        self.tmux("kill-server")
        result = test_phi.mock.asked()[-1]["messages"][-1]["content"][0]
        content = result["content"]
        return content if isinstance(content, str) else content[0]["text"]

    def test_a_page_becomes_text_and_its_host_is_asked_about(self):
        self.assertEqual(self.read("page", True, r"always would allow:\n  \| read_url 127\.0\.0\.1"), TEXT)

    def test_a_url_may_end_a_sentence_but_not_go_on(self):
        self.assertEqual(self.read("latin", True, after="."), "caf\ufffd")
        self.assertIn("of this machine or of a private network", self.read("latin", True, after=".html"))

    def test_what_is_no_text_or_too_long_or_elsewhere(self):
        self.assertEqual(self.read("bytes", True), "The page is no text.")
        self.assertEqual(self.read("empty", True), "(the page is empty)")
        self.assertEqual(self.read("latin", True), "caf\ufffd")
        self.assertEqual(self.read("moved", True), "HTTP 302: the page is at " + at("/page"))
        big = self.read("big", True)
        self.assertLess(len(big), 49000)
        self.assertRegex(big, r"\n\[\.\.\. cut: the text has \d+ bytes \.\.\.\]\Z")
        self.assertRegex(self.read("none", True), r"\AHTTP 404\n(.*\n)*.*No such page")

    def test_an_address_of_this_machine_is_read_only_if_a_person_typed_it(self):
        for name in ("page", "local", "six", "nothing", "link"):
            with self.subTest(name=name):
                Pages.asked.clear()
                self.assertIn("of this machine or of a private network", self.read(name, False))
                self.assertEqual(Pages.asked, [])

    def test_a_url_that_could_be_read_in_two_ways_is_refused(self):
        for name, words in [("user", "the URL has a user's name"), ("blank", "the URL has a blank"),
                            ("file", "the URL must begin with http:// or https://")]:
            with self.subTest(name=name):
                self.assertIn(words, self.read(name, False))

    def test_esc_stops_a_page_that_does_not_come(self):
        self.start("slow")
        self.type("-l", "Read " + at("/slow"))
        self.type("Enter")
        self.wait_for(r"read_url wants to run")
        time.sleep(0.3)
        self.type("y")
        self.wait_for(r"[-|/\\] read_url")
        self.type("Escape")
        self.wait_for(r"\(stopped\)(.*\n)+.*Ready")


class Allowed(test_phi.Folder):
    def test_a_pattern_of_allow_is_one_of_hosts(self):
        for pattern, runs in [("read_url 127.0.0.1", True), ("read_url docs.example.org", False)]:
            with self.subTest(pattern=pattern):
                out, err, _ = self.phi("--allow", pattern, "go", scenario="page")
                self.assertEqual(("of this machine or of a private" in out, "not run: " in err), (runs, not runs), out + err)


class Leaves(test_phi.Pty):
    def test_nothing_is_left_of_a_page_that_came_was_stopped_or_is_awaited_at_the_end(self):
        for name, after, words in [("page", "\x04", "I read: "), ("slow", "\x1b\x04", "read_url"), ("slow", "\x04", "read_url")]:
            with self.subTest(name=name, after=after):
                self.start(name)
                self.wait_for("Ready")
                self.type("Read " + at("/" + name) + "\r")
                self.wait_for("y: once")
                time.sleep(0.3)
                self.type("y")
                self.wait_for("(yes)")
                self.said = b""
                self.wait_for(words)
                for key in after:
                    self.type(key)
                    time.sleep(0.3)
                self.assertIn(self.left(), [(0, True), (130, True)])


for name in [n for n in dir(test_phi.Pty) if n.startswith("test_")]:
    setattr(Leaves, name, None)
for name in [n for n in dir(test_phi.Tmux) if n.startswith("test_")]:
    setattr(Url, name, None)  # they are run where they stand


if __name__ == "__main__":
    unittest.main()
