#!/usr/bin/env python3
"""phi, the command: whose phi.toml is used, where keys go, and who may read what it writes."""
import hashlib
import os
import signal
import stat
import sys
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_phi  # noqa: E402

setUpModule = test_phi.setUpModule
tearDownModule = test_phi.tearDownModule
MODEL = 'model = "claude-haiku-4-5"\napi = "anthropic_messages"\n'


class Trust(test_phi.Folder):
    def setUp(self):
        super().setUp()
        self.home = test_phi.home()
        self.addCleanup(test_phi.shutil.rmtree, self.home, ignore_errors=True)
        self.work = os.path.realpath(self.folder)

    def more(self, **more):
        return dict({"SERVER": test_phi.mock.url, "XDG_CONFIG_HOME": self.home,
                     "ANTHROPIC_API_KEY": "sk-mine"}, **more)

    def file(self, text):
        self.write("phi.toml", text)

    def kept(self):
        with open(os.path.join(self.home, "phi/trusted"), encoding="utf-8") as file:
            return file.read()

    def trust(self):
        with open(os.path.join(self.folder, "phi.toml"), "rb") as file:
            line = "%s %s/phi.toml\n" % (hashlib.sha256(file.read()).hexdigest(), self.work)
        os.makedirs(os.path.join(self.home, "phi"), exist_ok=True)
        with open(os.path.join(self.home, "phi/trusted"), "w", encoding="utf-8") as file:
            file.write(line)
        os.chmod(os.path.join(self.home, "phi/trusted"), 0o600)
        return line

    def ask(self, *args):
        return self.phi(*args, "go", scenario="hello", **self.more())

    def test_without_a_terminal_a_file_that_nobody_has_trusted_is_refused_unless_it_is_named(self):
        self.file('[provider]\n%sbase_url = "${SERVER}/s/echo"\napi_key = "k"\n'
                  '[[mcp.instances]]\nname = "m"\ncommand = ["sh", "-c", "touch started"]\n' % MODEL)
        out, err, code = self.ask()
        self.assertEqual((out, code), ("", 2))
        self.assertIn("phi: nobody has trusted ./phi.toml", err)
        self.assertEqual(self.files(), ["phi.toml"])
        self.assertEqual(self.ask("-c", "phi.toml")[0::2], ("go\n", 0))
        self.assertIn("started", self.files())

    def test_a_trusted_file_is_used_until_it_changes(self):
        text = '[provider]\n%sbase_url = "${SERVER}/s/echo"\napi_key = "k"\n' % MODEL
        self.file(text)
        self.trust()
        self.assertEqual(self.ask(), ("go\n", "phi: using ./phi.toml\n", 0))
        self.assertEqual(self.ask("-q"), ("go\n", "", 0))
        self.file(text + "\n")
        self.assertEqual(self.ask()[2], 2)

    def test_what_others_may_write_is_no_list_of_what_is_trusted(self):
        self.file('[provider]\n%sbase_url = "${SERVER}/s/echo"\napi_key = "k"\n' % MODEL)
        self.trust()
        os.chmod(os.path.join(self.home, "phi/trusted"), 0o666)
        self.assertEqual(self.ask()[2], 2)

    def test_a_key_goes_to_no_server_that_a_found_file_names(self):
        other = test_phi.mock.url.replace("127.0.0.1", "localhost")  # PHI_BASE_URL names the other one
        for text in ('base_url = "%s/s/echo"\napi_key = "${ANTHROPIC_API_KEY}"\n' % other,
                     'base_url = "%s/s/${ANTHROPIC_API_KEY}"\n' % other,
                     'base_url = "${SERVER}/s/echo"\nheaders = { x = "${ANTHROPIC_API_KEY}" }\n',
                     'base_url = "${SERVER}1/s/echo"\napi_key = "${ANTHROPIC_API_KEY}"\n',
                     'base_url = "${SERVER:-http://e}/s/echo"\napi_key = "${ANTHROPIC_API_KEY}"\n',
                     'base_url = "example.com/x"\napi_key = "${ANTHROPIC_API_KEY}"\n',
                     'base_url = "${SERVER}/s/echo"\napi_key = "${ANTHROPIC_API_KEY}"\n'
                     '[agent]\nsystem_prompt = "${ANTHROPIC_API_KEY}"\n'):
            with self.subTest(text=text):
                self.file("[provider]\n" + MODEL + text)
                self.trust()
                test_phi.mock.asked()
                err, code = self.ask()[1:]
                self.assertEqual(code, 2, err)
                self.assertIn("ANTHROPIC_API_KEY", err)
                self.assertEqual(test_phi.mock.asked(), [])

    def test_a_key_is_given_to_a_model_and_to_nothing_else_that_has_a_member_of_that_name(self):
        base = '[provider]\n%sbase_url = "${SERVER}/s/system"\napi_key = "${ANTHROPIC_API_KEY}"\n' % MODEL
        for text in ('headers = { api_key = "${ANTHROPIC_API_KEY}" }\n',
                     '[agent.extra]\napi_key = "${ANTHROPIC_API_KEY}"\n', '[x_mine]\napi_key = "${ANTHROPIC_API_KEY}"\n',
                     '[[openapi.instances]]\nname = "shop"\nfile = "shop.json"\nkeys = { api_key = "${ANTHROPIC_API_KEY}" }\n',
                     '[[mcp.instances]]\nname = "m"\ncommand = "true"\nenv = { api_key = "${ANTHROPIC_API_KEY}" }\n',
                     '[agent]\nsystem_prompt = "${DATABASE_URL}"\n', 'headers = { x = "${DATABASE_URL}" }\n'):
            with self.subTest(text=text):
                self.file(base + text)
                self.trust()
                test_phi.mock.asked()
                err, code = self.phi("go", **self.more(DATABASE_URL="db://me:secret@example.com/x"))[1:]
                self.assertEqual(code, 2, err)
                self.assertRegex(err, "ANTHROPIC_API_KEY|DATABASE_URL")
                self.assertEqual(test_phi.mock.asked(), [])
        self.file(base.replace("/s/system", "/s/echo") + '[[sub_agents.instances]]\nname = "scout"\napi_key = "${ANTHROPIC_API_KEY}"\n'
                  '[[provider.instances]]\nid = "x"\n%sapi_key = "${ANTHROPIC_API_KEY}"\n' % MODEL)
        self.trust()
        self.assertEqual(self.ask()[0::2], ("go\n", 0))

    def test_a_server_that_a_found_file_starts_has_no_keys_in_its_environment(self):
        self.file('[provider]\n%sbase_url = "${SERVER}/s/echo"\napi_key = "${ANTHROPIC_API_KEY}"\n'
                  '[[mcp.instances]]\nname = "m"\nno_restart = true\ncommand = ["sh", "-c", "env > seen"]\n' % MODEL)
        self.trust()
        self.assertEqual(self.ask()[0::2], ("go\n", 0))
        with open(os.path.join(self.folder, "seen"), encoding="utf-8") as file:
            self.assertNotIn("sk-mine", file.read())
        self.assertEqual(self.ask("-c", "phi.toml")[0::2], ("go\n", 0))
        with open(os.path.join(self.folder, "seen"), encoding="utf-8") as file:
            self.assertIn("sk-mine", file.read())  # the user has named this one

    def test_a_link_to_a_trusted_file_is_another_file(self):
        self.file('[provider]\n%sbase_url = "${SERVER}/s/echo"\napi_key = "k"\n'
                  '[callbacks]\nbefore_loop = "./begin.sh"\n' % MODEL)
        self.trust()
        other = test_phi.home()
        self.addCleanup(test_phi.shutil.rmtree, other, ignore_errors=True)
        os.symlink(os.path.join(self.work, "phi.toml"), os.path.join(other, "phi.toml"))
        self.folder = other
        out, err, code = self.ask()
        self.assertEqual((out, code), ("", 2))
        self.assertIn("phi: nobody has trusted ./phi.toml", err)

    def test_a_command_does_not_read_a_found_file(self):
        self.file('[provider]\n%s[models]\nmine = "${ANTHROPIC_API_KEY}"\n' % MODEL)
        out, err, code = self.phi("models", **self.more())
        self.assertEqual((err, code), ("", 0))
        self.assertRegex(out, r"(?m)^anthropic .* ANTHROPIC_API_KEY \(set\)$")
        self.assertNotIn("sk-mine", out)

    def test_a_key_goes_to_a_server_that_the_user_names(self):
        other = test_phi.mock.url.replace("127.0.0.1", "localhost")
        named = '[provider]\n%sbase_url = "%s/s/echo"\napi_key = "${ANTHROPIC_API_KEY}"\n' % (MODEL, other)
        for text, servers in ((named.replace(other, "${SERVER}"), ""), (named, other + "\n")):
            with self.subTest(servers=servers):
                self.file(text)
                self.trust()
                with open(os.path.join(self.home, "phi/servers"), "w", encoding="utf-8") as file:
                    file.write(servers)
                os.chmod(os.path.join(self.home, "phi/servers"), 0o600)
                self.assertEqual(self.ask()[0::2], ("go\n", 0))

    def test_what_cannot_be_shown_is_refused(self):
        for text in ("".join("[a%d]\nb = 1\n" % i for i in range(300)), 'x = "%s"\n' % ("y" * 3000)):
            self.file(text)
            out, err, code = self.ask()
            self.assertEqual((out, code), ("", 2))
            self.assertRegex(err, r"phi: ./phi.toml is not used: .* too long to be shown")

    def test_what_holds_a_conversation_is_for_its_owner_alone(self):
        for name in ("old.tape", "old.html"):
            self.write(name, "x")
            os.chmod(os.path.join(self.folder, name), 0o644)
        mask = os.umask(0)
        try:
            for name in ("new", "old"):
                self.phi("--record", name + ".tape", "--trace", name + ".html", "go")
            self.phi("--session", "s.jsonl", "go")
        finally:
            os.umask(mask)
        for name in ("new.tape", "old.tape", "new.html", "old.html", "s.jsonl"):
            mode = stat.S_IMODE(os.stat(os.path.join(self.folder, name)).st_mode)
            self.assertEqual((name, oct(mode)), (name, "0o600"))


class Asked(test_phi.Pty):
    def begin_chat(self, answer):
        self.home = os.path.join(self.folder, "home")
        os.makedirs(self.home, exist_ok=True)
        self.start("hello", "go", SERVER=test_phi.mock.url, XDG_CONFIG_HOME=self.home)
        self.wait_for("yes or no: ")
        self.type(answer + "\n")

    def test_it_is_shown_and_asked_about_once(self):
        self.write("phi.toml", '[provider]\n%sbase_url = "${SERVER}/s/echo"\napi_key = "k"\n[permissions]\nmode = "all"\n'
                               '[callbacks]\nbefore_loop = "touch started\u200b"\n' % MODEL)
        for answer in ("no", "y", "yes please", ""):
            self.begin_chat(answer)
            self.wait_for("(./phi.toml is not used)")
            self.wait_for("scripted model")
            self.assertEqual(self.left(), (0, True))
        said = self.said.decode().replace("\r", "")
        for line in ('provider.base_url = "${SERVER}/s/echo"', 'permissions.mode = "all"',
                     'callbacks.before_loop = "touch started<U+200B>"'):
            self.assertIn("\n  | " + line + "\n", said)
        self.begin_chat("yes")
        self.wait_for("using ./phi.toml")
        self.assertEqual(self.left()[0], 0)
        trusted = os.path.join(self.home, "phi/trusted")
        self.assertEqual(stat.S_IMODE(os.stat(trusted).st_mode), 0o600)
        self.start("hello", "go", SERVER=test_phi.mock.url, XDG_CONFIG_HOME=self.home)
        self.assertEqual(self.left()[0], 0)
        self.assertEqual(os.listdir(os.path.dirname(trusted)), ["trusted"])


    def test_no_key_forges_a_line_and_no_empty_table_is_left_out(self):
        model = '[provider]\n%sbase_url = "${SERVER}/s/echo"\napi_key = "k"\n' % MODEL
        self.write("phi.toml", '"permissions.mode" = "ask"\n' + model + '[permissions]\n[tools]\nenabled = []\n'
                               '[x]\n"y\\npermissions.mode = \\"ask" = 1\n' + "".join("[a%d]\nb = 1\n" % i for i in range(30)))
        self.begin_chat("no")
        self.wait_for("(./phi.toml is not used)")
        said = self.said.decode().replace("\r", "")
        for line in ('"permissions.mode" = "ask"', "permissions = {}", "tools.enabled = []",
                     'x."y\\u000Apermissions.mode = \\u0022ask" = 1'):
            self.assertIn("\n  | " + line + "\n", said)
        self.assertNotIn("  | permissions.mode", said)
        self.assertIn("\nThese are 38 rows: scroll back to the first.\n", said)

    def test_what_was_typed_before_it_was_shown_is_no_answer(self):
        self.write("phi.toml", '[provider]\n%sbase_url = "${SERVER}/s/echo"\napi_key = "k"\n' % MODEL)
        self.start("hello", "go", SERVER=test_phi.mock.url, XDG_CONFIG_HOME=self.folder)
        termios.tcflow(self.slave, termios.TCOOFF)  # a terminal that takes its time
        time.sleep(1)
        self.type("yes\n")
        time.sleep(0.3)
        termios.tcflow(self.slave, termios.TCOON)
        self.wait_for("yes or no: ")
        time.sleep(0.3)
        self.assertIsNone(self.child.poll())
        self.type("yes\0\n")  # no word ends early
        self.wait_for("(./phi.toml is not used)")
        self.assertEqual(self.left()[0], 0)

    def test_it_is_shown_again_when_the_program_goes_on(self):
        self.write("phi.toml", '[provider]\n%sbase_url = "${SERVER}/s/echo"\napi_key = "k"\n' % MODEL)
        self.start("hello", "go", SERVER=test_phi.mock.url, XDG_CONFIG_HOME=self.folder)
        self.wait_for("yes or no: ")
        self.said = b""
        self.child.send_signal(signal.SIGSTOP)
        os.waitpid(self.child.pid, os.WUNTRACED)
        self.type("yes\n")
        self.child.send_signal(signal.SIGCONT)
        self.wait_for('  | provider.api_key = "k"')
        self.wait_for("yes or no: ")
        self.type("no\n")
        self.wait_for("(./phi.toml is not used)")
        self.assertEqual(self.left()[0], 0)

    def test_what_is_not_toml_is_not_asked_about(self):
        self.write("phi.toml", "[provider\n")
        self.start("hello", "go", SERVER=test_phi.mock.url, XDG_CONFIG_HOME=self.folder)
        self.wait_for("phi: ./phi.toml is not used: it is not TOML (look at it, and name it: -c\r\n    phi.toml)")
        self.assertEqual(self.left()[0], 2)


for name in [n for n in dir(test_phi.Pty) if n.startswith("test_")]:
    setattr(Asked, name, None)  # they are run where they stand


if __name__ == "__main__":
    unittest.main()
