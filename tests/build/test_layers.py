"""What scripts/check_layers.py refuses, in a copy of the sources: a room of phi.h uses no YAML and no TOML."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def check(path=None, text=""):
    """Exit code and output of the check, of the sources with one more file."""
    with tempfile.TemporaryDirectory() as copy:
        os.mkdir(os.path.join(copy, "scripts"))
        shutil.copytree(os.path.join(ROOT, "src"), os.path.join(copy, "src"))
        for name in ("amalgamate.py", "LICENSE", "scripts/check_layers.py"):
            shutil.copy(os.path.join(ROOT, name), os.path.join(copy, name))
        if path:
            with open(os.path.join(copy, "src", path), "w", encoding="utf-8") as file:
                file.write(text)
        run = subprocess.run([sys.executable, os.path.join(copy, "scripts", "check_layers.py")],
                             capture_output=True, text=True, check=False)
        return run.returncode, run.stdout


class Layers(unittest.TestCase):
    def test_the_sources_as_they_are_pass(self):
        self.assertEqual(check(), (0, ""))

    def test_a_room_of_phi_h_may_not_include_yaml(self):
        code, out = check("agent/made_up.c", '/* made_up.c - a test. */\n#include "formats/yaml.h"\n')
        self.assertEqual(code, 1)
        self.assertIn("src/agent/made_up.c:2: agent may not use formats, which is below it", out)

    def test_a_room_of_phi_h_may_not_name_toml_without_an_include(self):
        code, out = check("loop/made_up.c", '/* made_up.c - a test, not of phi_toml_parse. */\n#include "text/json.h"\n\n'
                          'int phi_toml_parse(void);\n')
        self.assertEqual(code, 1)
        self.assertEqual(out, "src/loop/made_up.c:4: phi_toml_parse: phi.h knows neither YAML nor TOML\n")

    def test_a_room_of_phi_tools_h_may(self):
        self.assertEqual(check("config/made_up.c", '/* made_up.c - a test. */\n#include "formats/yaml.h"\n'), (0, ""))


if __name__ == "__main__":
    unittest.main()
