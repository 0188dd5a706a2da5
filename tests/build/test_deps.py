"""scripts/deps.sh on systems made of stubs: what it asks of whom when something is missing, and that it
asks nobody when nothing is.

The PATH of each test is one folder: the few real tools that the script itself uses, and stubs."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REAL = ["sh", "mktemp", "rm", "cat", "id", "sed", "env", "dirname", "mkdir", "chmod"]
TOOLS = ["gcc", "g++", "git", "make", "rg", "openssl", "tmux", "valgrind"]


class Deps(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        os.makedirs(os.path.join(self.dir, "scripts"))
        os.mkdir(os.path.join(self.dir, "bin"))
        for name in ("deps.sh", "python.sh"):
            shutil.copy(os.path.join(ROOT, "scripts", name), os.path.join(self.dir, "scripts"))
        for name in REAL:
            os.symlink(shutil.which(name), self.tool(name))
        for name in TOOLS:
            self.stub(name)
        self.stub("uname", "echo Linux")
        # A Python that has the module aiohttp once the file says so.
        self.stub("python", 'case "$*" in\n*find_spec*) [ -e "$ROOT/aiohttp" ] ;;\n'
                  '"-m venv "*) mkdir -p "$3/bin"; to=$3/bin/python3; cat "$0" >"$to"; chmod +x "$to" ;;\n'
                  '"-m pip "*) echo "pip $*" >>"$ROOT/log"; echo >"$ROOT/aiohttp" ;;\nesac')
        # The script looks for /usr/bin/python3, which is not ours to take away.
        path = os.path.join(self.dir, "scripts", "python.sh")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("/usr/bin/python3", self.tool("python")))
        self.put("aiohttp", "")

    def tool(self, name):
        return os.path.join(self.dir, "bin", name)

    def put(self, name, text):
        with open(os.path.join(self.dir, name), "w", encoding="utf-8") as file:
            file.write(text)

    def remove(self, name):
        os.remove(os.path.join(self.dir, name))

    def stub(self, name, text=":"):
        self.put(os.path.join("bin", name), f"#!{shutil.which('sh')}\n{text}\n")
        os.chmod(self.tool(name), 0o755)

    def manager(self, name):
        """A package manager that notes how it was called; of `install` the tool rg comes."""
        self.stub(name, f'echo "{name} $*" >>"$ROOT/log"\ncase "$*" in\n*install*rg* | *install*ripgrep*)'
                  f' echo "#!{shutil.which("sh")}" >"$ROOT/bin/rg"; chmod +x "$ROOT/bin/rg" ;;\nesac')

    def deps(self, *groups, **more):
        env = {"PATH": os.path.join(self.dir, "bin"), "ROOT": self.dir, **more}
        done = subprocess.run([os.path.join(self.dir, "scripts", "deps.sh"), *groups], env=env, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def log(self):
        path = os.path.join(self.dir, "log")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()

    def test_nothing_missing_is_silent_and_calls_no_package_manager(self):
        for name in ("apt-get", "brew", "sudo", "npm", "pip"):
            self.manager(name)
        self.assertEqual(self.deps("demo", "test"), (0, "", ""))
        self.assertEqual(self.log(), [])

    def test_one_line_names_what_apt_get_installs_and_nothing_else_is_installed(self):
        self.manager("apt-get")
        self.stub("sudo", 'exec "$@"')
        self.remove("bin/rg")
        code, out, err = self.deps("demo")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, "phi: installing what is missing: ripgrep (by apt-get)\n")
        self.assertEqual(self.log(), ["apt-get update -qq",
                                      "apt-get install -y -qq --no-install-recommends ripgrep"])

    def test_what_brew_installs_is_named_as_brew_names_it(self):
        self.manager("brew")
        self.stub("uname", "echo Darwin")
        self.remove("bin/rg")
        self.remove("bin/valgrind")  # there is none for it, and none is asked for
        code, out, err = self.deps("test")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, "phi: installing what is missing: ripgrep (by brew)\n")
        self.assertEqual(self.log(), ["brew install --quiet ripgrep"])

    def test_python_modules_come_by_apt_get_for_the_python_of_the_system(self):
        self.manager("apt-get")
        self.stub("sudo", 'exec "$@"')
        self.remove("aiohttp")
        code, out, err = self.deps("demo")
        self.assertEqual(code, 1)
        self.assertEqual(out, "phi: installing what is missing: python3-aiohttp (by apt-get)\n")
        self.assertEqual(err, "phi: still missing: python3-aiohttp\n")

    def test_python_modules_come_by_pip_where_there_is_no_apt_get(self):
        self.manager("brew")
        self.remove("aiohttp")
        code, out, err = self.deps("demo")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, "phi: installing what is missing: aiohttp (by pip, into build/venv)\n")
        self.assertEqual(len(self.log()), 1)
        self.assertRegex(self.log()[0], r"^pip -m pip install .* aiohttp$")
        self.assertEqual(self.deps("demo"), (0, "", ""))
        self.assertEqual(len(self.log()), 1)

    def test_a_python_of_ones_own_is_left_alone(self):
        self.manager("apt-get")
        self.remove("aiohttp")
        code, _, err = self.deps("demo", PYTHON=self.tool("python"))
        self.assertEqual(code, 1)
        self.assertIn("has no module aiohttp: install it there, or leave PYTHON unset", err)
        self.assertEqual(self.log(), [])

    def test_without_a_package_manager_it_says_what_to_install(self):
        self.remove("bin/rg")
        code, _, err = self.deps("demo")
        self.assertEqual(code, 1)
        self.assertEqual(err, "phi: neither apt-get nor brew is here; please install the equivalents of:"
                         " ripgrep\n")

    def test_a_package_manager_that_fails_is_heard(self):
        self.stub("apt-get", 'echo "E: no such package"; exit 100')
        self.stub("sudo", 'exec "$@"')
        self.remove("bin/rg")
        code, _, err = self.deps("demo")
        self.assertEqual(code, 1)
        self.assertIn("E: no such package", err)
        self.assertTrue(re.search(r"^phi: this failed: .*apt-get install .* ripgrep$", err, re.M), err)

    def test_a_compiler_that_was_named_is_the_one_that_is_looked_for(self):
        self.manager("brew")
        code, out, _ = self.deps("demo", CC="clang")
        self.assertEqual(code, 1)
        self.assertTrue(out.startswith("phi: installing what is missing: llvm"), out)


if __name__ == "__main__":
    unittest.main()
