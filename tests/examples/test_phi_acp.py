#!/usr/bin/env python3
"""phi acp, for editors: the Agent Client Protocol, driven by its Python package as a client (agent-client-protocol of
PyPI), and by lines that no client would send."""
import asyncio
import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_phi  # noqa: E402
from test_examples import LONGEST, Mock, environment  # noqa: E402

try:
    import acp
    from acp import schema
except ImportError:
    acp = None

PNG = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def use(name, **given):
    return {"blocks": [{"type": "tool_use", "name": name, "input": given}]}


TOLD = {"blocks": [{"type": "text", "text": "I was told: ${last_tool_result}"}]}
SCENARIOS = {
    "thinks": [{"blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "So."}]}],
    "touch": [use("bash", command="touch one.txt"), TOLD],
    "again": [use("bash", command="touch one.txt"), use("bash", command="touch two.txt"), TOLD],
    "edit": [use("edit_file", path="notes.txt", old_text="shut", new_text="open"), TOLD],
    "write": [use("write_file", path="new.txt", content="by hand\n"), TOLD],
    "more": [use("write_file", path="new.txt", content="by hand\n", mode="append"), TOLD],
    "read": [use("read_file", path="notes.txt"), TOLD],
    "fails": [use("bash", command="cd nowhere-at-all"), TOLD],
    "hidden": [use("bash", command="touch one.txt # \u202e\u200b" + "x" * 300), TOLD],
    "sleeps": [use("bash", command="sleep 30"), TOLD],
    "cut": [{"blocks": [{"type": "text", "text": "It ends in the mid"}], "stop": "length"}],
    "plan": [use("todo_write", todos=[{"content": "Look", "status": "completed"}, {"content": "Mend", "status": "in_progress"}]),
             {"blocks": [{"type": "text", "text": "Done."}]}],
    "caller": [use("scout", task="Look"), TOLD],
    "page": [use("read_url", url="http://127.0.0.1:1/"), TOLD],
    "server": [use("island__plant", x=1, y=1), TOLD],
}


def setUpModule():
    folder = tempfile.mkdtemp(prefix="phi")
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "scenarios.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(SCENARIOS, file)
    test_phi.mock = Mock("--port", "0", "--scenario", path)


tearDownModule = test_phi.tearDownModule


class Folder(test_phi.Folder):
    def environment(self, scenario, **more):
        url = test_phi.mock.url + (scenario if scenario.startswith("/") else "/s/" + scenario)
        return environment(PHI_BASE_URL=url, XDG_STATE_HOME=os.path.join(self.folder, ".state"),
                           XDG_CONFIG_HOME=os.path.join(self.folder, ".config"), **more)


# ---- lines ----

class Lines(Folder):
    def begin(self, scenario="hello", *args, **more):
        child = subprocess.Popen([test_phi.PHI, "acp", *args], cwd=self.folder, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=self.environment(scenario, **more))
        self.addCleanup(self.end, child)
        return child

    @staticmethod
    def end(child):
        if child.poll() is None:
            child.kill()
        child.communicate()

    @staticmethod
    def send(child, *messages):
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            child.stdin.write(line + b"\n")
        child.stdin.flush()

    def ask(self, child, number, method, **params):
        """The answer to a request, and what came before it."""
        self.send(child, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return self.until(child, lambda message: message.get("id") == number and "method" not in message)

    @staticmethod
    def until(child, wanted):
        seen = []
        while True:
            line = child.stdout.readline()
            if not line:
                raise AssertionError("stdout ended after %r: %r" % (seen, child.stderr.read()))
            seen.append(json.loads(line))
            if wanted(seen[-1]):
                return seen[-1], seen[:-1]

    def session(self, child):
        answer, _ = self.ask(child, 1, "initialize", protocolVersion=1)
        self.assertEqual(answer["result"]["protocolVersion"], 1)
        answer, _ = self.ask(child, 2, "session/new", cwd=self.folder, mcpServers=[])
        return answer["result"]["sessionId"]

    def prompt(self, session, text="go", number=3):
        return {"jsonrpc": "2.0", "id": number, "method": "session/prompt",
                "params": {"sessionId": session, "prompt": [{"type": "text", "text": text}]}}

    def finish(self, child):
        """The rest of stdout, of which some may have been read ahead."""
        late = threading.Timer(LONGEST, child.kill)
        late.start()
        out, err = child.stdout.read(), child.stderr.read()
        child.wait()
        late.cancel()
        return [json.loads(line) for line in out.splitlines()], err.decode(), child.returncode

    def test_what_is_no_request_is_an_error_and_the_next_one_is_answered(self):
        child = self.begin()
        self.send(child, b"", b"  ", b"nonsense", b'{"jsonrpc":"2.0"', b"[]", b"7", b'{"id":{"a":1},"method":"x"}',
                  b'{"jsonrpc":"2.0","id":9,"result":{}}', b'{"jsonrpc":"2.0","method":"session/cancel"}',
                  b'{"jsonrpc":"2.0","id":"early","method":"session/new","params":{}}', b"\xff\xfe")
        answer, before = self.ask(child, 1, "initialize", protocolVersion=99)
        self.assertEqual(answer["result"]["protocolVersion"], 1)
        self.assertEqual([(m["id"], m["error"]["code"]) for m in before],
                         [(None, -32700), (None, -32700), (None, -32600), (None, -32600), (None, -32600),
                          ("early", -32600), (None, -32700)])
        for method, code, params in [
                ("session/set_mode", -32601, {}), ("fs/read_text_file", -32601, {}), ("authenticate", -32602, {}),
                ("session/prompt", -32002, {"sessionId": "0-1"}), ("session/new", -32602, {}),
                ("session/new", -32602, {"cwd": "."}), ("session/new", -32602, {"cwd": "/nowhere/at/all"}),
                ("session/new", -32602, {"cwd": self.folder + "\0/x"}),
                ("session/load", -32602, {"cwd": self.folder, "sessionId": "../../etc/passwd"}),
                ("session/load", -32602, {"cwd": self.folder, "sessionId": "20200101-000000-1-1"})]:
            with self.subTest(method=method, params=params):
                answer, before = self.ask(child, 5, method, **params)
                self.assertEqual((answer["error"]["code"], before), (code, []))
        child.stdin.close()
        child.stdin = None
        self.assertEqual(self.finish(child), ([], "", 0))

    def test_prompts_that_cannot_be_sent_are_refused(self):
        child = self.begin()
        session = self.session(child)
        for blocks in ([], [{"type": "text", "text": ""}], [{"type": "video"}], [{"type": "image"}], "go",
                       [{"type": "image", "mimeType": "image/png", "data": ""}],
                       [{"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}]):
            with self.subTest(blocks=blocks):
                answer, _ = self.ask(child, 3, "session/prompt", sessionId=session, prompt=blocks)
                self.assertEqual(answer["error"]["code"], -32602)
        self.assertEqual(self.ask(child, 4, "session/prompt", sessionId=session,
                                  prompt=[{"type": "text", "text": "go"}])[0]["result"], {"stopReason": "end_turn"})

    def test_a_second_prompt_of_a_session_is_refused(self):
        child = self.begin("slow-100")
        session = self.session(child)
        self.send(child, self.prompt(session), self.prompt(session, number=4))
        answer, _ = self.until(child, lambda message: message.get("id") == 4)
        self.assertEqual(answer["error"]["code"], -32602)
        self.send(child, {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 3}})
        answer, _ = self.until(child, lambda message: message.get("id") == 3)
        self.assertEqual(answer["result"], {"stopReason": "cancelled"})

    def test_the_end_of_stdin_cancels_what_runs(self):
        for scenario in ("slow-100", "sleeps"):
            with self.subTest(scenario=scenario):
                child = self.begin(scenario)
                session = self.session(child)
                self.send(child, self.prompt(session))
                message, _ = self.until(child, lambda message: "update" in message.get("params", {}) or
                                        message.get("method") == "session/request_permission")
                began = time.monotonic()
                child.stdin.close()
                child.stdin = None
                out, _, code = self.finish(child)
                self.assertEqual((out[-1]["id"], out[-1]["result"], code), (3, {"stopReason": "cancelled"}, 0))
                self.assertLess(time.monotonic() - began, 10)

    def test_all_requests_before_the_end_of_stdin_are_read(self):
        done = subprocess.run([test_phi.PHI, "acp"], cwd=self.folder, capture_output=True, check=False, timeout=LONGEST,
                              input=b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n'
                                    b'{"jsonrpc":"2.0","id":2,"method":"x"}', env=self.environment("hello"))
        self.assertEqual([json.loads(line)["id"] for line in done.stdout.splitlines()], [1, 2])
        self.assertEqual(done.returncode, 0)

    def test_a_signal_ends_it(self):
        child = self.begin("slow-100")
        session = self.session(child)
        self.send(child, self.prompt(session))
        self.until(child, lambda message: message.get("params", {}).get("update", {}).get("messageId"))
        child.send_signal(signal.SIGTERM)
        out, _, code = self.finish(child)
        self.assertEqual((out[-1]["result"], code), ({"stopReason": "cancelled"}, 130))

    def test_an_editor_that_dies_ends_it(self):
        child = self.begin("long-20000")
        session = self.session(child)
        self.send(child, self.prompt(session))
        child.stdout.close()
        self.assertEqual(child.wait(LONGEST), 0)
        child.stdout = None

    def test_an_editor_that_does_not_read_makes_the_run_wait(self):
        child = self.begin("long-200000")
        session = self.session(child)
        self.send(child, self.prompt(session))
        for i in range(3):  # more requests than anybody reads answers of
            self.send(child, *[{"jsonrpc": "2.0", "id": "x" * 900, "method": "no/such"}] * 20)
        time.sleep(2)
        with open("/proc/%d/status" % child.pid, encoding="utf-8") as file:
            kib = int(file.read().split("VmRSS:")[1].split()[0])
        child.stdin.close()
        child.stdin = None
        out, _, code = self.finish(child)
        self.assertEqual((code, len([m for m in out if m.get("error", {}).get("code") == -32601])), (0, 60))
        self.assertLess(kib, 600 << 10)  # the sanitizers take most of it

    def test_a_line_that_is_too_long_is_skipped(self):
        child = self.begin()
        self.send(child, b'{"x":"' + b"y" * (17 << 20) + b'"}')
        answer, before = self.ask(child, 1, "initialize", protocolVersion=1)
        self.assertEqual([m["error"]["code"] for m in before], [-32600])
        self.assertIn("result", answer)

    def test_options_that_it_does_not_take(self):
        for args in (("--json",), ("--session", "x.jsonl"), ("--continue",), ("--record", "x"), ("-a", "x")):
            with self.subTest(args=args):
                self.assertEqual(self.phi("acp", *args)[2], 2)

    def test_no_key_is_said_to_the_editor(self):
        child = self.begin("hello", "-m", "groq")
        self.ask(child, 1, "initialize", protocolVersion=1)
        answer, _ = self.ask(child, 2, "session/new", cwd=self.folder, mcpServers=[])
        self.assertIn("GROQ_API_KEY is not set", answer["error"]["message"])


# ---- the client of the protocol's package ----

class Editor:
    """What an editor keeps of a session; `answers` are the options that its user chooses."""
    def __init__(self, *answers):
        self.answers, self.asked, self.updates, self.came = list(answers), [], [], asyncio.Event()

    async def request_permission(self, session_id, tool_call, options, **_):
        self.asked.append((tool_call, options))
        self.came.set()
        kind = self.answers.pop(0) if self.answers else None
        if kind is None:
            await asyncio.sleep(LONGEST)
        if kind == "cancelled":
            return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        chosen = [option for option in options if option.kind == kind][0]
        return schema.RequestPermissionResponse(
            outcome=schema.AllowedOutcome(outcome="selected", option_id=chosen.option_id))

    async def session_update(self, session_id, update, **_):
        self.updates.append((session_id, update))
        self.came.set()

    def of(self, kind, session=None):
        return [u for s, u in self.updates if u.session_update == kind and session in (None, s)]

    def text(self, kind="agent_message_chunk", session=None):
        return "".join(u.content.text for u in self.of(kind, session))


@unittest.skipUnless(acp, "there is no agent-client-protocol (scripts/deps.sh test)")
class Client(Folder):
    def talk(self, scenario, editor, steps, *args, **more):
        """Runs `steps` with a connection to a phi of its own."""
        async def run():
            async with acp.spawn_agent_process(editor, test_phi.PHI, "acp", *args, cwd=self.folder,
                                               env=self.environment(scenario, **more)) as (connection, child):
                result = await asyncio.wait_for(steps(connection), LONGEST)
            self.stderr = (await child.stderr.read()).decode()
            self.assertEqual(child.returncode, 0, self.stderr)
            return result
        return asyncio.run(run())

    async def begin(self, connection, **more):
        self.first = await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
        return (await connection.new_session(cwd=self.folder, mcp_servers=more.pop("mcp_servers", []))).session_id

    def one(self, scenario, *answers, text="go", blocks=None, **more):
        """One prompt: what the editor has, and the stop reason."""
        editor = Editor(*answers)

        async def steps(connection):
            session = await self.begin(connection, **more)
            done = await connection.prompt(session_id=session, prompt=blocks or [acp.text_block(text)])
            return done.stop_reason
        return editor, self.talk(scenario, editor, steps)

    def test_it_says_what_it_can(self):
        self.one("hello")
        can = self.first.agent_capabilities
        self.assertTrue(can.load_session)
        self.assertEqual((can.prompt_capabilities.image, can.prompt_capabilities.embedded_context,
                          can.prompt_capabilities.audio), (True, True, False))
        self.assertEqual((self.first.agent_info.name, self.first.auth_methods), ("phi", []))

    def test_an_answer_and_its_thoughts_come_in_pieces(self):
        editor, stop = self.one("hello")
        self.assertEqual((editor.text(), stop), (test_phi.HELLO.strip(), "end_turn"))
        self.assertGreater(len(editor.of("agent_message_chunk")), 1)
        self.assertEqual(len({u.message_id for u in editor.of("agent_message_chunk")}), 1)
        editor, _ = self.one("thinks")
        self.assertEqual((editor.text("agent_thought_chunk"), editor.text()), ("Hm.", "So."))
        self.assertEqual(editor.of("usage_update")[0].size, 200000)

    def test_a_call_that_only_reads_is_not_asked_about(self):
        self.write("notes.txt", "the gate is shut\n")
        editor, _ = self.one("read")
        call = editor.of("tool_call")[0]
        self.assertEqual((call.title, call.kind, call.status, call.locations[0].path),
                         ("read_file notes.txt", "read", "pending", os.path.join(self.folder, "notes.txt")))
        self.assertEqual([u.status for u in editor.of("tool_call_update")], ["in_progress", "completed"])
        self.assertIn("the gate is shut", editor.of("tool_call_update")[1].content[0].content.text)
        self.assertEqual(editor.asked, [])

    def test_a_call_runs_once_it_is_allowed(self):
        editor, stop = self.one("touch", "allow_once")
        call, options = editor.asked[0]
        self.assertEqual((call.title, call.kind, call.tool_call_id),
                         ("touch one.txt", "execute", editor.of("tool_call")[0].tool_call_id))
        self.assertEqual([option.name for option in options],
                         ["Allow once", "Always allow: bash touch *, path: ./**", "Reject"])
        self.assertEqual([u.status for u in editor.of("tool_call_update")], ["in_progress", "completed"])
        self.assertEqual((stop, os.path.exists(self.folder + "/one.txt")), ("end_turn", True))

    def test_always_is_asked_once(self):
        editor, _ = self.one("again", "allow_always")
        self.assertEqual((len(editor.asked), os.path.exists(self.folder + "/two.txt")), (1, True))
        self.assertEqual(self.one("touch")[0].asked, [])  # it is kept for the directory

    def test_a_call_that_is_rejected_does_not_run(self):
        for answer in ("reject_once", "cancelled"):
            with self.subTest(answer=answer):
                editor, stop = self.one("touch", answer)
                self.assertEqual((editor.text(), stop), ("I was told: The user said no.", "end_turn"))
                self.assertEqual([u.status for u in editor.of("tool_call_update")], ["failed"])
                self.assertFalse(os.path.exists(self.folder + "/one.txt"))

    def test_a_command_that_fails_has_failed(self):
        editor, _ = self.one("fails", "allow_once")
        self.assertEqual([u.status for u in editor.of("tool_call_update")], ["in_progress", "failed"])

    def test_what_is_asked_about_hides_nothing(self):
        editor, _ = self.one("hidden", "reject_once")
        call, _ = editor.asked[0]
        self.assertIn("<U+202E><U+200B>", call.title)
        self.assertTrue(call.title.endswith("..."))
        self.assertEqual(call.content[0].content.text, "touch one.txt # <U+202E><U+200B>" + "x" * 300)

    def test_a_change_of_a_file_is_shown_as_one(self):
        self.write("notes.txt", "the gate is shut\n")
        for scenario, name, before, after in [("edit", "notes.txt", "shut", "open"), ("write", "new.txt", None, "by hand\n"),
                                              ("write", "new.txt", "by hand\n", "by hand\n")]:
            with self.subTest(scenario=scenario, before=before):
                editor, _ = self.one(scenario, "allow_once")
                for update in (editor.of("tool_call")[0], editor.asked[0][0], editor.of("tool_call_update")[-1]):
                    change = update.content[0]
                    self.assertEqual((change.type, change.path, change.old_text, change.new_text),
                                     ("diff", os.path.join(self.folder, name), before, after))
                self.assertEqual(editor.of("tool_call")[0].kind, "edit")
        with open(self.folder + "/notes.txt", encoding="utf-8") as file:
            self.assertEqual(file.read(), "the gate is open\n")
        self.assertIsNone(self.one("more", "reject_once")[0].of("tool_call")[0].content)  # it says more than a change

    def test_a_prompt_may_have_links_resources_and_images(self):
        test_phi.mock.asked()
        _, stop = self.one("echo", blocks=[
            acp.text_block("Look:"), acp.resource_link_block("a b.c", "file:///src/a%20b.c"), acp.resource_link_block("c", "file:///%+f%-1%2"),
            acp.resource_block(acp.embedded_text_resource("file:///src/d.c", "int d;\n")),
            acp.image_block(PNG, "image/png")])
        self.assertEqual(stop, "end_turn")
        sent = json.dumps(test_phi.mock.asked()[0]["messages"])
        for words in ("Look:", "[a b.c](/src/a b.c)", "[c](/%+f%-1%2)", "int d;", "/src/d.c", PNG):
            self.assertIn(words, sent)
        self.assertEqual(len(base64.b64decode(PNG)), 70)

    def test_a_prompt_is_cancelled(self):
        for scenario in ("slow-100", "sleeps", "touch"):
            with self.subTest(scenario=scenario):
                editor = Editor()

                async def steps(connection):
                    session = await self.begin(connection)
                    prompt = asyncio.create_task(connection.prompt(session_id=session, prompt=[acp.text_block("go")]))
                    while not (editor.of("agent_message_chunk") or editor.of("tool_call_update") or editor.asked):
                        editor.came.clear()
                        await editor.came.wait()
                    await connection.cancel(session_id=session)
                    return (await prompt).stop_reason
                self.assertEqual(self.talk(scenario, editor, steps), "cancelled")
                if scenario != "slow-100":
                    self.assertEqual(editor.of("tool_call_update")[-1].status, "failed")
                self.assertFalse(os.path.exists(self.folder + "/one.txt"))

    def test_other_ends_of_a_run(self):
        self.assertEqual(self.one("cut")[1], "max_tokens")
        self.assertEqual(self.one("refusal")[1], "refusal")
        self.write("limit.toml", '[provider]\nmodel = "m"\nbase_url = "${PHI_BASE_URL}"\napi_key = "k"\n'
                                 'api = "anthropic_messages"\n[execution]\nmax_turns = 1\n')

        async def steps(connection):
            session = await self.begin(connection)
            return (await connection.prompt(session_id=session, prompt=[acp.text_block("go")])).stop_reason
        self.assertEqual(self.talk("read", Editor(), steps, "-c", "limit.toml"), "max_turn_requests")

        async def fails(connection):
            session = await self.begin(connection)
            with self.assertRaises(acp.RequestError) as error:
                await connection.prompt(session_id=session, prompt=[acp.text_block("go")])
            return str(error.exception)
        self.assertIn("401", self.talk("/m/status=401/s/hello", Editor(), fails))

    def test_a_session_is_loaded_by_another_process(self):
        self.write("notes.txt", "the gate is shut\n")
        editor, again, brief = Editor(), Editor(), Editor()

        async def steps(connection):
            session = await self.begin(connection)
            await connection.prompt(session_id=session, prompt=[acp.text_block("Read it.")])
            return session

        async def load(connection):
            await connection.initialize(protocol_version=1)
            await connection.load_session(cwd=self.folder, session_id=session, mcp_servers=[])
            seen = again.text(), again.text("user_message_chunk"), len(again.of("tool_call")), \
                [u.status for u in again.of("tool_call_update")]
            await connection.prompt(session_id=session, prompt=[acp.text_block("And now?")])
            await connection.close_session(session_id=session)
            return seen

        async def resume(connection):
            await connection.initialize(protocol_version=1)
            await connection.resume_session(cwd=self.folder, session_id=session, mcp_servers=[])
            self.assertEqual(brief.text("user_message_chunk"), "")
            await connection.load_session(cwd=self.folder, session_id=session, mcp_servers=[])  # it is open
            listed = (await connection.list_sessions(cwd=self.folder)).sessions
            self.assertEqual([(one.session_id, one.cwd, one.title) for one in listed],
                             [(session, self.folder, "Read it.")])
            self.assertEqual((await connection.list_sessions(cwd="/")).sessions, [])
            return brief.text("user_message_chunk")
        session = self.talk("read", editor, steps)
        self.assertEqual(self.talk("echo", again, load), (editor.text(), "Read it.", 1, ["completed"]))
        self.assertEqual(self.talk("echo", brief, resume), "Read it.And now?")
        out = subprocess.run([test_phi.PHI, "sessions"], cwd=self.folder, env=self.environment("echo"), check=False,
                             capture_output=True, text=True, timeout=LONGEST).stdout
        self.assertIn(session + "  Read it.", out)

    def test_a_conversation_that_is_used_again_is_listed_once_and_first(self):
        async def steps(connection):
            first = await self.begin(connection)
            second = await self.begin(connection)
            for session, words in ((first, "One."), (second, "Two."), (first, "Three.")):
                await connection.prompt(session_id=session, prompt=[acp.text_block(words)])
            listed = (await connection.list_sessions(cwd=self.folder)).sessions
            self.assertEqual([(one.session_id, one.title) for one in listed], [(first, "One."), (second, "Two.")])
        self.talk("hello", Editor(), steps)

    def test_two_sessions_run_at_once(self):
        editor = Editor()
        other = os.path.join(self.folder, "other")
        os.mkdir(other)

        async def steps(connection):
            first = await self.begin(connection)
            second = (await connection.new_session(cwd=other, mcp_servers=[])).session_id
            slow = asyncio.create_task(connection.prompt(session_id=first, prompt=[acp.text_block("go")]))
            while not editor.of("agent_message_chunk", first):
                editor.came.clear()
                await editor.came.wait()
            fast = asyncio.create_task(connection.prompt(session_id=second, prompt=[acp.text_block("go")]))
            while not editor.of("agent_message_chunk", second):
                editor.came.clear()
                await editor.came.wait()
            self.assertFalse(slow.done() or fast.done())
            await connection.cancel(session_id=first)
            self.assertEqual((await slow).stop_reason, "cancelled")
            self.assertFalse(fast.done())
            await connection.close_session(session_id=second)
            self.assertEqual((await fast).stop_reason, "cancelled")
            self.assertNotEqual(first, second)
        self.talk("slow-500", editor, steps)

    def test_commands_of_the_chat(self):
        editor, stop = self.one("hello", text="/tools")
        self.assertEqual(stop, "end_turn")
        self.assertIn("read_file: Read a text file", editor.text())
        names = [c.name for c in editor.of("available_commands_update")[0].available_commands]
        self.assertIn("compact", names)
        self.assertNotIn("quit", names)
        self.assertEqual(self.one("hello", text="/etc/hosts")[0].text(), test_phi.HELLO.strip())

    def test_compact_ends_when_the_summary_is_written(self):
        editor = Editor()

        async def steps(connection):
            session = await self.begin(connection)
            for text in ["one " * 50, "two", "/compact"]:
                done = await connection.prompt(session_id=session, prompt=[acp.text_block(text)])
                self.assertEqual(done.stop_reason, "end_turn")
        self.talk("hello", editor, steps)
        self.assertIn("(4 messages became a summary; the log keeps them)", editor.text())

    def test_a_directorys_file_is_used_if_it_is_trusted(self):
        self.write("phi.toml", '[provider]\nmodel = "m"\nbase_url = "${PHI_BASE_URL}"\napi_key = "k"\n'
                               'api = "anthropic_messages"\n[agent]\nsystem_prompt = "You are a parrot."\n')
        test_phi.mock.asked()
        self.assertEqual(self.one("hello")[1], "end_turn")
        self.assertIn("phi.toml is not used: nobody has trusted it", self.stderr)
        self.assertNotIn("parrot", json.dumps(test_phi.mock.asked()))
        import hashlib
        os.makedirs(self.folder + "/.config/phi", exist_ok=True)
        with open(self.folder + "/phi.toml", "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        self.write(".config/phi/trusted", "%s %s/phi.toml\n" % (digest, os.path.realpath(self.folder)))
        self.assertEqual(self.one("hello")[1], "end_turn")
        self.assertIn("parrot", json.dumps(test_phi.mock.asked()))

    def test_the_name_of_a_directory_has_no_control_characters_on_stderr(self):
        place = os.path.join(self.folder, "\x1b[2Jx")
        os.mkdir(place)
        self.write("\x1b[2Jx/phi.toml", "")

        async def steps(connection):
            await self.begin(connection)
            await connection.new_session(cwd=place, mcp_servers=[])
        self.talk("hello", Editor(), steps)
        self.assertIn("<U+001B>[2Jx/phi.toml is not used", self.stderr)
        self.assertNotIn("\x1b", self.stderr)

    def test_the_rules_of_a_file_ask_and_a_sub_agents_calls_are_asked_about(self):
        model = 'model = "claude-haiku-4-5"\napi_key = "k"\napi = "anthropic_messages"\nbase_url = "${SERVER}/s/%s"\n'
        self.write("agent.toml", "[provider]\n" + model % "caller" + '[[provider.instances]]\nid = "scout"\n' +
                   model % "touch" + '[[sub_agents.instances]]\nname = "scout"\nprovider = "scout"\ntools = ["bash"]\n' +
                   '[permissions]\nrules = [{verdict = "allow", tool = "scout"}]\notherwise = "ask"\n')
        for answer, status in [("reject_once", "failed"), ("allow_always", "completed")]:
            with self.subTest(answer=answer):
                editor = Editor(answer)

                async def steps(connection):
                    session = await self.begin(connection)
                    await connection.prompt(session_id=session, prompt=[acp.text_block("go")])
                self.talk("caller", editor, steps, "-c", "agent.toml", SERVER=test_phi.mock.url)
                self.assertEqual([call.title for call, _ in editor.asked], ["A sub-agent: touch one.txt"])
                self.assertEqual([u.title for u in editor.of("tool_call")], ["scout Look", "A sub-agent: touch one.txt"])
                self.assertEqual([u.status for u in editor.of("tool_call_update")], ["in_progress", status, "completed"])
                self.assertEqual(os.path.exists(self.folder + "/one.txt"), answer != "reject_once")

    def test_tasks_are_the_editors_plan(self):
        editor, _ = self.one("plan")
        self.assertEqual([(entry.content, entry.status) for entry in editor.of("plan")[0].entries],
                         [("Look", "completed"), ("Mend", "in_progress")])
        self.assertEqual((editor.asked, editor.of("tool_call_update")[-1].status), ([], "completed"))

    def test_the_users_own_configuration_and_options_are_used(self):
        os.makedirs(self.folder + "/.config/phi")
        self.write(".config/phi/config.toml", '[agent]\nsystem_prompt = "You are a parrot."\n')
        test_phi.mock.asked()
        editor = Editor()

        async def steps(connection):
            session = await self.begin(connection)
            await connection.prompt(session_id=session, prompt=[acp.text_block("go")])
        self.talk("touch", editor, steps, "--yes")
        self.assertIn("parrot", json.dumps(test_phi.mock.asked()))
        self.assertEqual((editor.asked, os.path.exists(self.folder + "/one.txt")), ([], True))

    def test_a_url_that_the_person_typed_may_be_of_this_machine(self):
        for text, told in [("read http://127.0.0.1:1/.", "connect"), ("read it", "only if the user types the URL")]:
            with self.subTest(text=text):
                self.assertIn(told, self.one("page", "allow_once", text=text)[0].text())

    def test_mcp_servers_of_the_editor_are_started(self):
        server = os.path.join(os.path.dirname(test_phi.PHI), "mcp_server")
        editor, _ = self.one("server", "allow_once", mcp_servers=[
            schema.McpServerStdio(name="island", command=server, args=[], env=[]),
            schema.McpServerStdio(name="gone", command="/nowhere/at/all", args=[], env=[])])
        self.assertEqual(editor.of("tool_call")[0].kind, "other")
        for title in (editor.of("tool_call")[0].title, editor.asked[0][0].title):
            self.assertTrue(title.startswith("island__plant of island "), title)
        self.assertIn("an MCP server of the editor is not ready", self.stderr)


if __name__ == "__main__":
    unittest.main()
