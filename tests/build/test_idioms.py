"""What scripts/check_idioms.py refuses: a declaration of each kind that breaks its idiom."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHECK = os.path.join(ROOT, "scripts", "check_idioms.py")
GOOD = """
typedef struct phi_thing phi_thing;
typedef void (*phi_thing_fn)(void *user_data, phi_thing *thing);
/* Text: void phi_thing_free(int). */
typedef struct phi_thing_desc {
    const char *name;
    phi_thing_fn done_fn;
    void (*each_fn)(void *user_data, const char *name);
    void *user_data;
} phi_thing_desc;
PHI_API phi_thing *phi_thing_new(phi_runtime *rt, const phi_thing_desc *desc);
PHI_API void phi_thing_free(phi_thing *thing);
PHI_API const phi_str *phi_thing_at(const phi_thing *thing, size_t i);
PHI_API phi_status phi_thing_to_json(const phi_thing *thing, phi_arena *arena, phi_str *out);
PHI_API phi_status phi_thing_from_json(phi_str json, phi_arena *arena, phi_thing **out,
                                       phi_parse_error *error);
PHI_API phi_status phi_thing_save(const phi_thing *thing, char *message, size_t message_size);
PHI_API phi_thing *phi_thing_load(const char *path, phi_parse_error *error);
PHI_API phi_status phi_thing_say(phi_thing *thing, const char *format, ...) PHI_PRINTF(2, 3);
"""


def check(text, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made_up.h")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        run = subprocess.run([sys.executable, CHECK, *options, path], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout


class Idioms(unittest.TestCase):
    def refused(self, old, new, *said):
        self.assertIn(old, GOOD)
        self.assertEqual(check(GOOD.replace(old, new)), (1, "\n".join(said) + "\n"))

    def test_what_keeps_the_idioms_passes(self):
        self.assertEqual(check(GOOD), (0, "8 functions, 1 structs\n"))

    def test_a_free_returns_nothing_and_takes_one_thing(self):
        self.refused("void phi_thing_free", "phi_status phi_thing_free",
                     "phi_thing_free: returns phi_status, and not void")
        self.refused("free(phi_thing *thing)", "free(phi_thing *thing, bool now)",
                     "phi_thing_free: takes more than what it frees")

    def test_an_at_returns_a_pointer(self):
        self.refused("const phi_str *phi_thing_at", "phi_str phi_thing_at",
                     "phi_thing_at: returns phi_str, and no pointer")

    def test_functions_as_members_and_types_end_in_fn(self):
        self.refused("each_fn", "each", "phi_thing_desc.each: a member that is a function ends in _fn")
        self.refused("phi_thing_fn done_fn", "phi_thing_fn done",
                     "phi_thing_desc.done: a member that is a function ends in _fn")
        self.refused("(*phi_thing_fn)", "(*phi_thing_callback)", "phi_thing_callback: a type of functions ends in _fn")

    def test_what_a_constructor_is_told_ends_in_desc(self):
        told = GOOD.replace("phi_thing_desc", "phi_thing_options")
        self.assertEqual(check(told), (1, "phi_thing_new: phi_thing_options ends in _desc\n"))
        told = told.replace("*desc)", "*how)")
        self.assertEqual(check(told), (1, "phi_thing_new: phi_thing_options ends in _desc\n"))

    def test_json_goes_both_ways_in_one_shape(self):
        self.refused("phi_thing_from_json", "phi_thing_parse", "phi_thing_to_json: there is no phi_thing_from_json")
        self.refused("phi_thing_to_json", "phi_thing_write", "phi_thing_from_json: there is no phi_thing_to_json")
        self.refused("phi_arena *arena, phi_str *out)", "phi_str *out, phi_arena *arena)",
                     "phi_thing_to_json: returns phi_status, and has phi_str *out last")
        self.refused("from_json(phi_str json", "from_json(phi_str text", "phi_thing_from_json: reads phi_str json")
        self.refused("phi_thing **out,\n                                       phi_parse_error *error", "phi_thing **out",
                     "phi_thing_from_json: returns phi_status, and has phi_parse_error *error last")

    def test_what_is_saved_can_be_loaded(self):
        self.refused("phi_thing_load", "phi_thing_read", "phi_thing_save: there is no phi_thing_load")

    def test_a_text_of_an_error_is_a_message(self):
        self.refused("char *message", "char *words", "phi_thing_save: words is called message")
        self.refused("    const char *name;\n", "    const char *why;\n", "phi_thing_desc: why is called message")

    def test_a_constructor_returns_what_it_made_and_has_an_error(self):
        self.refused("phi_thing *phi_thing_new", "phi_status phi_thing_new",
                     "phi_thing_new: returns phi_status, and not what it made")
        self.refused("phi_thing_new(phi_runtime *rt, ", "phi_thing_new(",
                     "phi_thing_new: no phi_parse_error *error last, and no runtime")

    def test_the_program_gives_null_to_each_free(self):
        self.assertEqual(check(GOOD, "--program"), (0, "\n".join([
            '#include "phi_tools.h"', "int main(void) {", "    phi_thing_free(NULL);",
            "    return 0;", "}", ""])))


if __name__ == "__main__":
    unittest.main()
