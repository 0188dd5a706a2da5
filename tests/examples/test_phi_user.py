#!/usr/bin/env python3
"""phi, the command: what belongs to its user: the own configuration, answers that are kept, prices, phi doctor; and what is
said when a model or a server fails."""
import json
import os
import stat
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_phi  # noqa: E402

setUpModule = test_phi.setUpModule
tearDownModule = test_phi.tearDownModule
PROVIDER = 'model = "claude-haiku-4-5"\napi_key = "k"\napi = "anthropic_messages"\nbase_url = "%s/%s"\n'
MCP = '[[mcp.instances]]\nname = "%s"\ncommand = [%s]\n'
DIES = MCP % ("tail", '"sh", "-c", "echo first >&2; echo no key file >&2; exit 3"') + "max_restarts = 1\nrestart_delay_ms = 1\n"


class Mine(test_phi.Pty):
    """With settings of its own."""
    def setUp(self):
        super().setUp()
        self.home = test_phi.home()
        self.addCleanup(test_phi.shutil.rmtree, self.home, ignore_errors=True)
        self.more = {"XDG_CONFIG_HOME": self.home}

    def provider(self, scenario):
        return PROVIDER % (test_phi.mock.url, scenario)

    def mine(self, text, mode=0o600, name="config.toml"):
        os.makedirs(os.path.join(self.home, "phi"), exist_ok=True)
        path = os.path.join(self.home, "phi", name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def ask(self, *args, **more):
        return self.phi(*args, **{**self.more, **more})

    def chat(self, scenario, *lines, **more):
        """What a chat without sequences says."""
        self.start(scenario, **{**self.more, "TERM": "dumb", **more})
        for line in lines:
            self.type(line + "\n")
        self.type("/quit\n")
        end = time.monotonic() + test_phi.LONGEST
        while self.child.poll() is None and time.monotonic() < end:  # the terminal holds only a few thousand bytes
            self.read(0.1)
        self.read(0.2)
        return self.said.decode().replace("\r\n", "\n"), self.child.wait(timeout=1)

    def read(self, seconds):
        while test_phi.select.select([self.master], [], [], seconds)[0]:
            self.said += os.read(self.master, 65536)


class Own(Mine):
    def test_it_serves_where_a_project_says_nothing(self):
        self.mine("[provider]\n" + self.provider("s/echo"))
        self.assertEqual(self.ask("from home"), ("from home\n", "", 0))
        self.mine('[agent]\nsystem_prompt = "I am mine."\n')
        test_phi.mock.asked()
        self.assertEqual(self.ask("x")[0::2], (test_phi.HELLO, 0))  # the model of the environment
        sent = test_phi.mock.asked()[-1]
        self.assertEqual(sent["system"][0]["text"] if isinstance(sent["system"], list) else sent["system"], "I am mine.")
        self.assertIn("bash", [tool["name"] for tool in sent["tools"]])

    def test_a_project_wins_table_by_table(self):
        self.mine('[provider]\n' + self.provider("s/hello") + '[agent]\nsystem_prompt = "I am mine."\n')
        for name, text in [("a.toml", "[provider]\n" + self.provider("s/echo")),
                           ("a.json", json.dumps({"provider": {
                               "model": "claude-haiku-4-5", "api_key": "k", "api": "anthropic_messages",
                               "base_url": test_phi.mock.url + "/s/echo"}})),
                           ("a.yaml", "provider:\n  model: claude-haiku-4-5\n  api_key: k\n  api: anthropic_messages\n"
                                      "  base_url: %s/s/echo\n" % test_phi.mock.url)]:
            with self.subTest(name=name):
                self.write(name, text)
                test_phi.mock.asked()
                self.assertEqual(self.ask("-c", name, "theirs"), ("theirs\n", "", 0))
                self.assertIn("I am mine.", str(test_phi.mock.asked()[-1]["system"]))
        self.write("b.toml", '[agent]\nsystem_prompt = "I am theirs."\n')
        test_phi.mock.asked()
        self.assertEqual(self.ask("-c", "b.toml", "x")[0::2], (test_phi.HELLO, 0))
        self.assertIn("I am theirs.", str(test_phi.mock.asked()[-1]["system"]))

    def test_tables_in_braces_and_plain_values_do_not_end_up_in_another_table(self):
        self.mine('tools = {enabled = ["bash"]}\ndefault_workspace = "/"\n')
        self.write("a.toml", "[provider]\n" + self.provider("s/echo"))
        test_phi.mock.asked()
        self.assertEqual(self.ask("-c", "a.toml", "x"), ("x\n", "", 0))
        self.assertEqual([tool["name"] for tool in test_phi.mock.asked()[-1]["tools"]], ["bash"])

    def test_one_that_does_not_fit_a_project_is_left_out(self):
        self.mine('[models]\nfast = "{{provider.quick}}"\n[provider]\n' + self.provider("s/hello") +
                  '[[provider.instances]]\nid = "quick"\n' + self.provider("s/hello"))
        self.assertEqual(self.ask("-m", ":fast", "x"), (test_phi.HELLO, "", 0))
        self.write("a.toml", "[provider]\n" + self.provider("s/echo"))
        out, err, code = self.ask("-c", "a.toml", "x")
        self.assertEqual((out, code), ("x\n", 0), err)
        self.assertEqual(err, "phi: your own configuration does not fit this one, and is left out\n")

    def test_one_that_others_can_write_is_not_used(self):
        self.mine("[provider]\n" + self.provider("s/echo"), mode=0o622)
        out, err, code = self.ask("x")
        self.assertEqual((out, code), (test_phi.HELLO, 0))
        self.assertIn("config.toml is not used: it is a link, or others can write it", err)

    def test_a_named_file_that_cannot_be_read_is_not_replaced_by_it(self):
        self.mine("[provider]\n" + self.provider("s/echo"))
        os.mkdir(os.path.join(self.folder, "folder.toml"))
        names = ["none.toml", "folder.toml"]
        if hasattr(os, "mkfifo"):
            os.mkfifo(os.path.join(self.folder, "pipe.toml"))
            names.append("pipe.toml")
        for name in names:
            with self.subTest(name=name):
                out, err, code = self.ask("-c", name, "x")
                self.assertEqual((out, code), ("", 2))
                self.assertIn(name, err)
                self.assertNotIn("does not fit", err)
                said, _, code = self.ask("doctor", "-c", name)
                self.assertNotRegex(said, r"(?m)^ok +.*" + name)
                self.assertEqual(code, 1)

    def test_its_faults_are_named_in_its_own_lines(self):
        self.mine("[provider]\nmodel = 7\n")
        self.write("a.toml", "[agent]\n")
        for args in ((), ("-c", "a.toml")):
            with self.subTest(args=args):
                out, err, code = self.ask(*args, "x")
                self.assertEqual((out, code), ("", 2))
                self.assertIn("phi/config.toml:2:", err)

    def test_a_file_with_an_unknown_server_gets_nothing_of_it(self):
        self.mine("[provider]\n" + self.provider("s/echo").replace('"k"', '"sk-mine"'))
        self.write("phi.toml", '[[sub_agents.instances]]\nname = "x"\nbase_url = "http://127.0.0.1:1/s/echo"\n')
        self.start("echo", "go", **self.more)
        self.wait_for("Trust it? yes or no: ")
        self.type("yes\n")
        self.wait_for("your own configuration is left out")
        self.child.kill()


class Always(Mine):
    def allowed(self):
        with open(os.path.join(self.home, "phi/allowed"), encoding="utf-8") as file:
            return file.read()

    def always(self):
        self.start("phi-one", "go", **self.more)
        self.wait_for("n: ")
        self.type("a\n")
        self.wait_for("(always, in this directory)")
        self.assertEqual(self.child.wait(timeout=test_phi.LONGEST), 0)

    def test_it_is_kept_for_this_directory_and_can_be_taken_back(self):
        self.always()
        self.assertEqual(self.allowed().count("\n"), 1)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.home, "phi/allowed")).st_mode), 0o600)
        os.remove(os.path.join(self.folder, "one.txt"))
        self.assertEqual(self.ask("go", scenario="phi-one")[2], 0)  # nobody is there, and none is needed
        self.assertEqual(self.files(), ["one.txt"])
        said, code = self.chat("echo", "/permissions")
        self.assertEqual(code, 0)
        self.assertRegex(said, r"1\. bash touch \*.*\n\d+ rules \(/permissions rules shows them\)\n")
        said, code = self.chat("echo", "/permissions forget 2", "/permissions forget x", "/permissions forget 1",
                               "/permissions rules")
        self.assertIn("! nothing was taken back", said)
        self.assertIn("! /permissions forget wants a number", said)
        self.assertIn("(taken back)", said)
        self.assertNotIn("1. bash touch *", said)
        self.assertNotIn('"command":"touch *"', said.split("(taken back)")[1])
        self.assertEqual(self.allowed(), "")
        self.assertIn("(not run: Nobody is there", self.ask("go", scenario="phi-one")[1])

    @unittest.skipUnless(hasattr(os, "symlink"), "there are no links")
    def test_a_file_that_cannot_be_read_is_not_replaced(self):
        self.mine("kept elsewhere\n", name="elsewhere")
        for name in ("allowed", "config.toml"):
            os.symlink("elsewhere", os.path.join(self.home, "phi", name))
        self.start("phi-one", "go", **self.more)
        self.wait_for("is not used: it is a link, or ")
        self.wait_for("n: ")
        self.type("a\n")
        self.wait_for("(always, until phi ends)")
        self.assertEqual(self.child.wait(timeout=test_phi.LONGEST), 0)
        self.assertTrue(os.path.islink(os.path.join(self.home, "phi/allowed")))
        self.assertEqual(self.allowed(), "kept elsewhere\n")

    def test_it_is_not_for_another_directory_nor_for_a_plan(self):
        self.always()
        os.remove(os.path.join(self.folder, "one.txt"))
        self.assertIn("(not run: ", self.ask("--plan", "go", scenario="phi-one")[1])
        self.write("a.toml", "[provider]\n" + self.provider("s/phi-one") + '[tools]\nenabled = ["bash"]\n[permissions]\nmode = "%s"\n')
        with open(os.path.join(self.folder, "a.toml"), encoding="utf-8") as file:
            form = file.read()
        for mode, made in (("plan", False), ("default", True)):
            self.write("a.toml", form % mode)
            self.ask("-c", "a.toml", "go")
            self.assertEqual(os.path.exists(os.path.join(self.folder, "one.txt")), made, mode)
        self.folder = test_phi.home()
        self.addCleanup(test_phi.shutil.rmtree, self.folder, ignore_errors=True)
        self.assertIn("(not run: Nobody is there", self.ask("go", scenario="phi-one")[1])

    def test_a_file_that_others_can_write_or_that_says_more_is_ignored(self):
        self.always()
        line = self.allowed()
        for text, mode in [(line, 0o622), ("\0" * 100, 0o600), (line[:-3], 0o600), (line.replace('"allow"', '"deny"'), 0o600),
                           ("x" * (1 << 20) + line, 0o600), (line.replace("{", "[", 1), 0o600)]:
            with self.subTest(text=text[-60:], mode=mode):
                self.mine(text, mode, "allowed")
                self.assertIn("(not run: Nobody is there", self.ask("go", scenario="phi-one")[1])

    def test_several_are_kept_one_after_another_also_after_a_torn_line(self):
        self.mine(self.folder + "\t{torn", name="allowed")
        self.start("phi-ask", "go", **self.more)
        for words in ("touch one.txt", "by hand"):
            self.wait_for(words)
            self.wait_for("n: ")
            self.said = b""
            self.type("a\n")
        self.wait_for("(always, in this directory)")
        self.assertEqual(self.child.wait(timeout=test_phi.LONGEST), 0)
        self.assertEqual(len(self.allowed().splitlines()), 3)
        for name in self.files():
            os.remove(os.path.join(self.folder, name))
        self.assertEqual(self.ask("go", scenario="phi-ask")[2], 0)
        self.assertEqual(self.files(), ["four.txt", "one.txt", "three.txt", "two.txt"])

    def test_where_nothing_can_be_kept_it_lasts_until_the_end(self):
        self.start("phi-one", "go", XDG_CONFIG_HOME="/dev/null/x")
        self.wait_for("n: ")
        self.type("a\n")
        self.wait_for("(always, until phi ends)")
        self.assertEqual(self.child.wait(timeout=test_phi.LONGEST), 0)


class Prices(Mine):
    def test_known_models_have_prices_at_their_own_server(self):
        said, _ = self.chat("echo", "/cost", PHI_BASE_URL="", ANTHROPIC_API_KEY="sk-mine")
        said = " ".join(said.split())
        self.assertIn("a million tokens: $3 in, $0.3 read from the cache, $3.75 written to it, $15 out (phi's table of 20", said)
        self.said = b""
        said, _ = self.chat("echo", "/cost")
        self.assertIn("no prices are known for claude-sonnet-4-5", said)

    def test_a_model_without_prices_is_not_taken_where_the_cost_has_a_limit(self):
        self.start("echo", "--max-cost", "1", **{**self.more, "TERM": "dumb", "PHI_BASE_URL": "", "ANTHROPIC_API_KEY": "k"})
        self.type("/model claude-9\n/quit\n")
        self.wait_for("no prices are known for this model, and --max-cost needs them")
        self.assertEqual(self.child.wait(timeout=test_phi.LONGEST), 0)


class Doctor(Mine):
    def doctor(self, *args, **more):
        return self.ask("doctor", *args, **more)

    def test_what_works(self):
        out, err, code = self.doctor()
        self.assertEqual((err, code), ("", 0), out)
        self.assertIn("ok  PHI_BASE_URL: 3 models at http://127.0.0.1", out)
        self.assertIn("--  no configuration", out)
        self.assertIn("ok  conversations: ", out)
        self.assertIn("ok  settings: %s/phi\n" % self.home, out)

    def test_a_key_that_is_refused_and_servers_that_do_not_start(self):
        self.write("a.toml", "[provider]\n" + PROVIDER.replace('"k"', '"bad-key"') % (test_phi.mock.url, "s/hello") + DIES +
                   MCP % ("here", '"%s", "%s"' % (sys.executable, os.path.join(test_phi.ROOT, "tests/mock/mcp_server.py"))))
        out, _, code = self.doctor("-c", "a.toml")
        self.assertEqual(code, 1)
        self.assertIn("no  {{provider.default}}: the key is refused: make another at the provider", out)
        self.assertIn("ok  configuration a.toml\n", out)
        self.assertIn("no  MCP server tail: failed, restarted 1 time: the server's program has ended with code 3", out)
        self.assertIn("| no key file\n", out)
        self.assertRegex(out, r"ok  MCP server here: ready, \d+ tools")

    def test_a_configuration_with_faults_and_folders_that_cannot_be_written(self):
        self.write("a.toml", "[provider]\nmodel = 7\n")
        out, _, code = self.doctor("-c", "a.toml", XDG_STATE_HOME="/dev/null/x", XDG_CONFIG_HOME="/dev/null/y")
        self.assertEqual(code, 1)
        self.assertIn("a.toml:2:", out)
        self.assertIn("no  configuration a.toml: see above\n", out)
        self.assertIn("no  conversations: their folder cannot be written", out)
        self.assertIn("no  settings: their folder cannot be written", out)

    def test_a_file_that_nobody_has_trusted_starts_nothing(self):
        self.write("phi.toml", "[provider]\n" + self.provider("s/hello") + MCP % ("m", '"sh", "-c", "touch started"'))
        out, _, _ = self.doctor()
        self.assertIn("--  ./phi.toml is not trusted yet: its MCP servers are not started\n", out)
        self.assertEqual(self.files(), ["phi.toml"])


class Failures(Mine):
    def test_a_failover_says_why(self):
        self.write("a.toml", "[provider]\n" + self.provider("m/status=529/s/hello") + '[[provider.instances]]\nid = "other"\n' +
                   self.provider("s/echo").replace("haiku-4-5", "sonnet-4-5") +
                   '[failover]\nmodels = ["{{provider.other}}"]\n[execution.retry]\nmax_retries = 0\n')
        out, err, code = self.ask("-c", "a.toml", "again")
        self.assertEqual((out, code), ("again\n", 0), err)
        self.assertRegex(err, r"anthropic/claude-haiku-4-5 failed \(529: .+\): continues with anthropic/claude-sonnet-4-5\n")

    def test_a_server_that_dies_shows_its_last_words_and_mcp_lists_all(self):
        self.write("a.toml", "[provider]\n" + self.provider("s/echo") + DIES +
                   MCP % ("here", '"%s", "%s"' % (sys.executable, os.path.join(test_phi.ROOT, "tests/mock/mcp_server.py"))))
        out, err, code = self.ask("-c", "a.toml", "x")
        self.assertEqual((out, code), ("x\n", 0))
        self.assertIn("MCP server tail said before it ended:\n      | first\n      | no key file\n", err)
        self.start("echo", "-c", "a.toml", **{**self.more, "TERM": "dumb"})
        self.type("/mcp\n/quit\n")
        self.wait_for("tail: failed, restarted 1 time: the server's program has ended with code 3")
        self.wait_for("here: ready, ")
        self.assertEqual(self.child.wait(timeout=test_phi.LONGEST), 0)

    def test_a_server_that_dies_while_it_is_called_says_so(self):
        self.write("a.toml", "[provider]\n" + self.provider("s/mcp-die") + MCP % (
            "bad", '"%s", "%s", "--m", "bad"' % (sys.executable, os.path.join(test_phi.ROOT, "tests/mock/mcp_server.py"))) +
            "restart_delay_ms = 1\n")
        out, err, code = self.ask("-c", "a.toml", "--allow", "die", "x")
        self.assertEqual((out, code), ("Oh.\n", 0), err)
        self.assertIn("MCP server bad has ended and is started again: the server's program has ended with code 3\n", err)

    def test_without_servers_mcp_says_so(self):
        self.assertIn("(this agent has no MCP servers)", self.chat("echo", "/mcp")[0])


for name in [n for n in dir(test_phi.Pty) if n.startswith("test_")]:
    setattr(Mine, name, None)

if __name__ == "__main__":
    unittest.main(verbosity=1)
