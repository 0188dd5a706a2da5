"""What is documented where: every public function in its header, every page in the index, and the topics that
some pages must have."""
import glob
import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
sys.dont_write_bytecode = True
import check_pages  # noqa: E402

PROTOCOLS = ("Anthropic", "Chat", "Responses", "Azure", "Gemini", "Vertex", "Interactions", "Bedrock")


def read(*names):
    with open(os.path.join(ROOT, *names), encoding="utf-8") as file:
        return file.read()


def pages():
    return sorted(os.path.basename(path) for path in glob.glob(os.path.join(ROOT, "docs", "*.md")))


def undescribed(text):
    """Public functions whose paragraph has no comment: one describes the declarations below it up to a blank
    line, and one behind a declaration describes that."""
    text = re.sub(r"/\*.*?\*/", "/**/", text, flags=re.S)
    for paragraph in re.split(r"\n(?:[ \t]*\n)+", text):
        if "/**/" not in paragraph:
            yield from re.findall(r"PHI_API[^;]*?(phi_\w+)\(", paragraph)


class Headers(unittest.TestCase):
    def test_every_public_function_is_described_in_its_header(self):
        count, missing = 0, []
        for path in glob.glob(os.path.join(ROOT, "src", "*", "*.h")):
            if path.endswith("_in.h"):
                continue
            with open(path, encoding="utf-8") as file:
                text = file.read()
            count += text.count("PHI_API ")
            missing += [f"{os.path.basename(path)}: {name}" for name in undescribed(text)]
        self.assertGreater(count, 300)
        self.assertEqual([], missing)

    def test_openapi_is_for_programs_that_include_phi_tools_alone(self):
        self.assertTrue("PHI_API phi_openapi *phi_openapi_" in read("phi_tools.h"))
        self.assertFalse("phi_openapi_" in read("phi.h"))


class Pages(unittest.TestCase):
    def test_every_page_is_in_the_index_and_its_code_is_compiled(self):
        text = {page: read("docs", page) for page in pages()}
        for page in text:
            links = read("README.md") + "".join(text[other] for other in text if other != page)
            self.assertTrue(page in links, f"no page links to {page}")
        self.assertTrue('"docs", "*.md"' in read("scripts", "check_docs.py"))
        self.assertTrue("scripts/check_docs.py" in read("Makefile"))

    def test_the_runbook_says_what_to_see_and_set_for_five_troubles(self):
        sections = read("docs", "runbook.md").split("\n## ")[1:]
        for topic in ("retries", "too long", "provider is down", "MCP server dies", "slow"):
            found = [section for section in sections if topic in section.split("\n")[0]]
            self.assertEqual(1, len(found), topic)
            for part in ("*Symptom*", "*See it*", "*Set*"):
                self.assertTrue(part in found[0], f"{topic}: {part}")

    def test_the_page_on_sessions_has_its_topics(self):
        text = read("docs", "sessions.md")
        for words in ("explicit", "first_loop", "inactivity", "pending", "running", "completed", "rejected",
                      "aborted", "continuation", "config", "roots", "children", "siblings", "parent_spawn_ref",
                      "child_loop_refs", "parallel_group", "phi_recorder_new", "phi_session_save",
                      "phi_session_load", "phi_recorder_flush"):
            plain = text.lower().replace("_", "").replace(" ", "")
            self.assertTrue(words.replace("_", "") in plain, words)

    def test_the_pages_describe_the_types_and_functions_of_sessions(self):
        """A page says what each is; every function that a page names is declared in a header."""
        pages = read("docs", "sessions.md") + read("docs", "data_model.md") + read("docs", "stores.md")
        for name in ("phi_recorder", "phi_session", "phi_loop_record", "phi_store", "phi_agent_new_session",
                     "phi_session_of_thread", "phi_recorder_begin", "phi_recorder_resume",
                     "phi_recorder_drain", "phi_session_save", "phi_session_load"):
            self.assertTrue(re.search(rf"\b{name}\b", pages), name)
        headers = "".join(read("src", "record", name) for name in ("session.h", "session_context.h", "recorder.h")) + \
            read("src", "agent", "agent.h")
        for name in set(re.findall(r"\bphi_(?:recorder|session)_[a-z_]+(?=\()", read("docs", "sessions.md"))):
            self.assertTrue(re.search(rf"\b{name}\(", headers), name)
        row = next(line for line in read("docs", "data_model.md").split("\n") if line.startswith("| `loop_id` |"))
        self.assertIn("session_id.config_id.n", row)
        for page in ("sessions.md", "data_model.md", "stores.md"):
            self.assertIn(f"({page})", read("docs", "architecture.md") + read("docs", "pages.md"), page)

    def test_the_page_on_architecture_names_every_room(self):
        text = read("docs", "architecture.md")
        for room in sorted(os.listdir(os.path.join(ROOT, "src"))):
            if os.path.isdir(os.path.join(ROOT, "src", room)):
                self.assertTrue(re.search(rf"(?m)^{room} ", text), f"src/{room}")

    def test_the_page_on_providers_has_all_protocols(self):
        text = read("docs", "providers.md")
        for heading in ("## What each protocol does", "## Endpoints and shapes"):
            section = text.split(heading + "\n")[1].split("\n## ")[0]
            for name in PROTOCOLS:
                self.assertTrue(name in section, f"{heading}: {name}")

    def test_guides_begin_with_code_and_name_a_program(self):
        examples = read("tests", "examples", "test_examples.py")
        for guide, program in (("skills.md", "skills"), ("mcp.md", "mcp")):
            text = read("docs", guide)
            self.assertLess(text.index("```c\n"), text.index("\n## "), guide)
            self.assertTrue(f"examples/{program}.c" in text, guide)
            self.assertTrue(f'"{program}"' in examples, program)

    def test_tests_run_at_every_commit_and_live_ones_where_there_is_a_key(self):
        ci, live = read(".github", "workflows", "ci.yml"), read(".github", "workflows", "live.yml")
        self.assertIn("on: [push, pull_request]", ci)
        for command in ("make test", "make check", "make site"):
            self.assertIn(f"run: {command}", ci)
        self.assertNotIn("make live", ci)
        self.assertIn("on: workflow_dispatch", live)
        self.assertIn("secrets.", live)


class Checker(unittest.TestCase):
    """scripts/check_pages.py finds each kind of mistake."""

    @classmethod
    def setUpClass(cls):
        cls.functions, cls.macros, cls.header = check_pages.publics()

    def bad(self, page, old, new):
        """The complaints about a page in which one text was replaced."""
        changed = read(*page.split("/"))
        self.assertIn(old, changed)
        changed = changed.replace(old, new, 1)
        real, check_pages.BAD[:] = check_pages.read, []
        check_pages.read = lambda name: changed if name == page else real(name)
        try:
            check_pages.check_api(self.functions, self.macros)
            check_pages.check_events(self.header)
            check_pages.check_links(page)
            check_pages.check_llms()
            check_pages.check_named("AGENTS.md")
        finally:
            check_pages.read = real
        return "\n".join(check_pages.BAD)

    def test_nothing_is_wrong_with_the_pages_as_they_are(self):
        self.assertEqual("", self.bad("docs/api.md", "phi_stop(npc);", "phi_stop(npc);"))

    def test_a_function_without_a_line_with_two_or_of_another_header_is_found(self):
        self.assertIn("phi_stop of phi.h has no line", self.bad("docs/api.md", "phi_stop(npc);", "(void)npc;"))
        self.assertIn("phi_abort has two lines", self.bad("docs/api.md", "phi_stop(npc);", "phi_abort(npc);"))
        self.assertIn("phi_halt is no public function", self.bad("docs/api.md", "phi_stop(npc);", "phi_halt(npc);"))
        self.assertIn("phi_mock_new is declared in phi_tools.h",
                      self.bad("docs/api.md", "Header `phi_tools.h`: [testing.md]", "See [testing.md]"))

    def test_a_macro_without_a_row_is_found(self):
        self.assertIn("the macro PHI_ZERO is not named", self.bad("docs/api.md", "| `PHI_ZERO` |", "| |"))

    def test_an_event_without_its_row_name_or_fields_is_found(self):
        self.assertIn("PHI_EV_PAUSED is in 0 rows", self.bad("docs/loop.md", "| `PAUSED` |", "| |"))
        self.assertIn('PHI_EV_PAUSED is not "Halted"', self.bad("docs/loop.md", "| Paused ", "| Halted "))
        self.assertIn("phi_event has no frames", self.bad("docs/loop.md", "`elapsed_ms`", "`frames`"))
        self.assertIn("no event has the field elapsed_ms", self.bad("docs/loop.md", "`elapsed_ms`", "`text`"))

    def test_links_and_names_that_lead_nowhere_are_found(self):
        self.assertIn("there is no docs/gone.md", self.bad("docs/api.md", "(loop.md)", "(gone.md)"))
        self.assertIn("has no such heading", self.bad("docs/api.md", "(loop.md)", "(loop.md#gone)"))
        self.assertIn("there is no target in: make sight", self.bad("AGENTS.md", "`make site`", "`make sight`"))
        self.assertIn("there is no tests/support/gone.h", self.bad("AGENTS.md", "support/rig.h", "support/gone.h"))
        self.assertIn("expected - [name](link): words", self.bad("llms.txt", "- [Tools]", "[Tools]"))


if __name__ == "__main__":
    unittest.main()
