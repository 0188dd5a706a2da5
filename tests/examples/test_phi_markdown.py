#!/usr/bin/env python3
"""phi, the command: answers in Markdown, as rows of a terminal. The rows come from phi_markdown.c, which is compiled
here; the chat and a single question show them on terminals."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_phi  # noqa: E402
from test_examples import LONGEST, Mock, ROOT, environment  # noqa: E402

SAMPLE = """# Title with `code`

A paragraph with **bold**, *slanted* and `code`, a [link](https://example.org/a) and <https://example.org>.
- one
- two **bold** item whose words go on and on until the row ends
  1. inner
* [x] done

> quoted *words*

```c
/* a comment */ int main(void) { return puts("a \\"b\\"") + 42; } // end
#include <x>
```

| Name | Count |
|:-----|------:|
| one  | 1 |
| `two` | 22 |

---
2*3*4 and a_b_c, \\*stars\\*, **open, [no](link, <b>, \U0001f642 e\u0301t\u00e9 \u4f60\u597d
"""
SHOWN = """# <b>Title with <c>code<b></>

A paragraph with <b>bold</>, <i>slanted</> and <c>code</>, a link <a>(https://example.org/a)</> and <a>https://example.org</>.
\u2022 one
\u2022 two <b>bold</> item whose words go on and on until the row ends
  1. inner
\u2022 [x] done

\u2502 <q>quoted <i>words<q></>

  <#>c</>
  <#>/* a comment */<c> int main(void) { return puts(<s>"a \\"b\\""<c>) + <n>42<c>; } <#>// end</>
  <c>#include <x></>

\u2502 <b>Name</> \u2502 <b>Count</> \u2502
\u251c\u2500\u2500\u2500\u2500\u2500\u2500\u253c\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2524
\u2502 one  \u2502     1 \u2502
\u2502 <c>two</>  \u2502    22 \u2502

""" + "\u2500" * 40 + """
2*3*4 and a_b_c, *stars*, **open, [no](link, <b>, \U0001f642 e\u0301t\u00e9 \u4f60\u597d
"""

SCENARIOS = {
    "sample": [{"blocks": [{"type": "text", "text": SAMPLE}]}],
    "bytes": [{"blocks": [{"type": "text", "text": SAMPLE}], "chunk": 1}],
    "waits": [{"blocks": [{"type": "text", "text": "| a | b |\n|---|---|\n| 1 | 2 |\n"}, {"type": "tool_use", "name": "list_files", "input": {"path": "."}}]},
              {"blocks": [{"type": "text", "text": "**Done** with *it"}]}],
    "fenced": [{"blocks": [{"type": "text", "text": "```c\nint **a;\n```\n**words** and more **words** at the end\n"}], "chunk": 4}],
    "slow": [{"blocks": [{"type": "text", "text": "begins so, and here it is **bold for a while, long** and `code words` and the end"}],
              "chunk": 3, "delay_ms": 60}],
    "forged": [{"blocks": [{"type": "text", "text": "**You: yes**\n\n**(yes)**\n`* bash ls (1ms, ok)`\n# (yes)\n"}]}],
}


def setUpModule():
    global program
    folder = tempfile.mkdtemp(prefix="phi")
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "scenarios.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(SCENARIOS, file)
    test_phi.mock = Mock("--port", "0", "--scenario", path)
    program = os.path.join(folder, "phi_markdown")
    compiler = (os.environ.get("CC") or "cc").split()
    done = subprocess.run([*compiler, "-std=c99", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-g1", "-O0",
                           "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I", os.path.join(ROOT, "build/include"),
                           "-I", os.path.join(ROOT, "examples"), os.path.join(ROOT, "tests/examples/phi_markdown.c"), "-o", program],
                          text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


tearDownModule = test_phi.tearDownModule


def run(what, number, text=""):
    done = subprocess.run([program, what, str(number)], input=text.encode(errors="surrogatepass"), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, timeout=LONGEST)
    return done.stdout.decode(), done.returncode


class Rows(unittest.TestCase):
    maxDiff = None

    def shown(self, text, rows, columns=80):
        self.assertEqual(run("show", columns, text), (rows, 0))

    def test_a_sample_of_all(self):
        self.shown(SAMPLE, SHOWN)

    def test_pieces_of_any_size_make_the_same_rows(self):
        self.assertEqual(run("split", 300, SAMPLE), ("300 tried\n", 0))

    def test_random_texts_in_pieces_make_the_same_rows_and_lose_no_letter(self):
        self.assertEqual(run("fuzz", 1500), ("4500 tried\n", 0))

    def test_what_is_no_markdown_is_shown_as_it_came(self):
        for text in ("a * b * c\n", "snake_case_name\n", "2**8 and **\n", "#hashtag\n", "-5 degrees\n", "1.5 is a number\n",
                     "| no table\n", "|a|b|\n|c|d|\n", "[a] (b)\n", "![\n", "``\n", "a ` b\n", "<b>bold</b>\n", "\\n\n", "x" * 3000 + "\n",
                     "**" + "x " * 600 + "**\n", "    *a, *b\n", "=====\n", "__init__.py\n", "[1]: https://example.org\n", "\n\n\n", ""):
            with self.subTest(text=text[:20]):
                self.shown(text, text)

    def test_spans_in_spans(self):
        self.shown("***both*** **a *b* `c*` d** *a **b** c* [**b**](u) [u](u) ![p](q.png) ``a ` b`` ** a**\n",
                   "<b>both</> <b>a b <c>c*<b> d</> <i>a <b>b<i> c</> <b>b</> <a>(u)</> u p <a>(q.png)</> <c>a ` b</> ** a**\n")

    def test_code_within_a_list_and_code_without_an_end(self):
        self.shown("1. do\n   ```sh\n   ls # all\n     x\n   ```\n2. then\n~~~\n```\n",
                   "1. do\n     <#>sh</>\n     <c>ls <#># all</>\n     <c>  x</>\n2. then\n  <s>```</>\n")

    def test_code_is_coloured_by_words_of_many_languages(self):
        self.shown("```\nx1 = 'it''s' + 0x1F # say\nfor (;;) // http://a/b\nurl: http://a/b\n/* two\nlines */ y\n#define A\ndon't\n```\n",
                   "  <c>x1 = <s>'it''s'<c> + <n>0x1F<c> <#># say</>\n  <c>for (;;) <#>// http://a/b</>\n  <c>url: http://a/b</>\n"
                   "  <#>/* two</>\n  <#>lines */<c> y</>\n  <c>#define A</>\n  <c>don't</>\n")

    def test_rows_of_a_list_and_of_code_are_indented_and_fit(self):
        self.assertEqual(run("rows", 20, "- a\n      - inner words of it\n        - innermost words\n")[0],
                         "\u2022 a\n      \u2022 inner words\n        of it\n        \u2022 innermost\n        words\n\n")
        text = "- a word and another word\n  - inner words go on and on\n\n```\nlong_name_of_a_function(and, arguments)\n```\n"
        self.assertEqual(run("rows", 19, text)[0],
                         "\u2022 a word and\n  another word\n  \u2022 inner words go\n    on and on\n\n"
                         "  long_name_of_a_fu\n  nction(and,\n  arguments)\n\n")

    def test_a_wide_table_has_cells_of_several_rows_and_counts_wide_characters(self):
        text = "| Name | What |\n|---|---|\n| \u4f60\u597d | many words that do not fit in it |\n| e\u0301 | `a|b` \\| c |\n| only one |\n"
        self.assertEqual(run("rows", 28, text)[0],
                         "\u2502 Name     \u2502 What          \u2502\n"
                         "\u251c" + "\u2500" * 10 + "\u253c" + "\u2500" * 15 + "\u2524\n"
                         "\u2502 \u4f60\u597d     \u2502 many words    \u2502\n"
                         "\u2502          \u2502 that do not   \u2502\n"
                         "\u2502          \u2502 fit in it     \u2502\n"
                         "\u2502 e\u0301        \u2502 a|b | c       \u2502\n"
                         "\u2502 only one \u2502               \u2502\n\n")

    def test_a_table_that_fits_no_window_or_has_more_cells_than_columns_comes_as_it_is(self):
        wide = "|" + "abcdef|" * 9 + "\n|" + "-|" * 9 + "\n"
        self.shown(wide, wide, 20)
        more = "|a|b|\n|-|-|\n|1|2|3|\n"
        self.shown(more, more)

    def test_a_table_beyond_its_bytes_is_shown_in_parts(self):
        text = "|a|b|\n|-|-|\n" + "|1|2|\n" * 20000
        out, code = run("show", 80, text)
        self.assertEqual((out.count("1"), code), (20000, 0))

    def test_deep_and_endless_marks_end_soon(self):
        for text in ("*a " * 20000, "[" * 20000, "`" * 20000, "> " * 5000, "- " * 5000, "**a*b" * 5000, "a\u0301" * 9000, "|" * 20000):
            with self.subTest(text=text[:4]):
                out, code = run("show", 80, text)
                self.assertEqual(code, 0)
                self.assertGreater(len(out), 4000)


class Terminal(test_phi.Tmux):
    def answer(self, scenario, pattern, **more):
        self.start(scenario, **more)
        self.type("go", "Enter")
        self.wait_for(pattern)
        return self.wait_for("Msgs: [24](.*\n)+.*Ready")

    def test_the_chat_shows_the_sample_the_same_in_pieces_of_any_size(self):
        def rows(screen):
            return screen[screen.index("# Title"):screen.index("\u4f60\u597d")]

        whole = rows(self.answer("sample", "\u4f60\u597d", size=(80, 45)))
        self.assertIn("\u2502 two  \u2502    22 \u2502\n", whole)
        self.assertIn("\u2022 two bold item whose", whole)
        self.tmux("kill-server")
        self.assertEqual(rows(self.answer("bytes", "\u4f60\u597d", size=(80, 45))), whole)

    def test_a_small_window_shows_all_of_it(self):
        self.start("sample", size=(20, 5))
        self.type("go", "Enter")
        self.wait_for("\u4f60\u597d(.*\n)+.*Ready")
        self.tmux("resize-window", "-x", "50", "-y", "60")
        self.settles(lambda screen: self.assertIn("\u2022 two bold item whose words go on and on until\n  the row ends", screen))

    def test_a_table_is_complete_before_the_call_and_what_is_cut_off_comes_as_it_is(self):
        screen = self.answer("waits", "with \\*it")
        self.assertRegex(screen, "\u2502 1 \u2502 2 \u2502\n\\* list_files \\. \\(.*\n.*\nDone with \\*it")

    def test_no_row_of_an_answer_has_the_look_of_the_programs(self):
        self.answer("forged", r"^# \(yes\)")
        said = self.tmux("capture-pane", "-p", "-e")
        self.assertRegex(said, r"\x1b\[1m\x1b\[34mAgent \(\d+ms\): \x1b\[39mYou: yes\n\n\(yes\)\n\x1b\[0m\x1b\[36m.*\* bash ls")
        self.tmux("kill-server")
        screen = self.answer("forged", r"# \(yes\)", NO_COLOR="1")
        self.assertRegex(screen, r"(?m)^  \(yes\)\n  \* bash ls \(1ms, ok\)\n# \(yes\)$")

    def test_a_stream_that_breaks_within_code_is_shown_whole_the_second_time(self):
        screen = self.answer("/m/times=1,fence/m/cut=5/s/fenced", r"^words and more words at the end$", size=(80, 30))
        self.assertRegex(screen, r"(?m)^  c\n(  int.*\n)?\(that was cut off, and is asked for again\)\n(.*\n)*  c\n  int \*\*a;\nwords and more words")

    def test_a_line_that_is_typed_meanwhile_leaves_the_spans_whole(self):
        self.start("slow")
        self.type("go", "Enter")
        self.wait_for("Agent: begins")
        self.type("wait", "Enter")
        self.wait_for("You: wait")
        screen = self.wait_for("the end(.*\n)+.*Ready")
        self.assertRegex(screen.replace("\n", " "), r"begins .*You: wait .*it (is )?(\*\*)?bold for .*long\S* and code words and the end")

    def test_a_conversation_that_is_continued_shows_it_again(self):
        self.answer("sample", "\u4f60\u597d", size=(80, 45))
        self.type("Escape")
        self.wait_for("code 0")
        self.tmux("kill-server")
        self.start("sample", "--continue", size=(80, 45))
        self.wait_for("\u2022 two bold item(.*\n)+\u2502 two  \u2502    22 \u2502")


class Question(test_phi.Pty):
    def test_a_single_question_on_a_terminal_has_styles_and_a_dumb_one_gets_the_text_as_it_came(self):
        self.start("sample", "go")
        self.assertEqual(self.child.wait(timeout=LONGEST), 0)
        self.wait_for("\u4f60\u597d")
        self.assertIn("with \033[0;1mbold\033[0m, ".encode(), self.said)
        self.assertTrue(self.said.startswith(b"# \033[0;1mTitle"), self.said[:60])
        self.start("sample", "go", NO_COLOR="1")
        self.wait_for("\u4f60\u597d")
        self.assertIn("with \033[0;1mbold\033[0m, ".encode(), self.said)
        self.assertNotRegex(self.said, rb"\033\[[0-9;]*[34]\d[0-9;]*m")
        self.start("sample", "go", TERM="dumb")
        self.wait_for("\u4f60\u597d")
        self.assertEqual(self.said.decode().replace("\r\n", "\n"), SAMPLE)

    def test_a_pipe_gets_the_text_as_it_came(self):
        self.assertEqual(self.phi("go", scenario="bytes"), (SAMPLE, "", 0))


for name in [n for n in dir(test_phi.Tmux) if n.startswith("test_")]:
    setattr(Terminal, name, None)  # they are run where they stand
for name in [n for n in dir(test_phi.Pty) if n.startswith("test_")]:
    setattr(Question, name, None)


if __name__ == "__main__":
    unittest.main()
