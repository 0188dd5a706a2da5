"""scripts/packages.py: one version everywhere, and releases that are made or refused.

`make packages` tries the packages themselves."""
import hashlib
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
sys.dont_write_bytecode = True
import crates  # noqa: E402
import packages  # noqa: E402

PARTS = ["src", "packaging", "extras", "docs/phi.1", "docs/phi.md", "scripts/packages.py", "scripts/crates.py",
         "amalgamate.py", "phi.h", "phi_json.h", "phi_tools.h", "LICENSE", "README.md", "CHANGELOG.md", "Makefile"]


class Version(unittest.TestCase):
    def test_every_place_names_the_version_of_base_h(self):
        self.assertEqual([], packages.disagreements())

    def test_each_file_with_a_version_of_its_own_is_a_template(self):
        """A package file has no version in digits, so that nobody must remember to change it."""
        for name, (data, _) in packages.files_in("", {}).items():
            self.assertNotIn(packages.version(), data.decode(), f"packaging/{name}")

    def test_the_page_has_each_part_and_each_one_that_was_not_run(self):
        page = packages.read(ROOT, "docs", "packages.md").lower()
        for name in [*packages.PARTS, *packages.NOT_RUN]:
            self.assertIn({"zip": "release", "meson-wrap": "meson, wrap"}.get(name, name.lower()), page)


class Limited(unittest.TestCase):
    def test_a_command_that_hangs_is_killed_with_its_children(self):
        read_end, write_end = os.pipe()
        with self.assertRaisesRegex(packages.GiveUp, "^sh: still running after 0.3 s$"):
            crates.limited(["sh", "-c", "sleep 100 & wait"], 0.3, pass_fds=[write_end])
        os.close(write_end)
        ready = select.select([read_end], [], [], 50)[0]
        self.assertEqual(([read_end], b""), (ready, os.read(read_end, 1)))  # nobody has the other end
        os.close(read_end)

    def test_a_command_that_ends_in_time_gives_its_output_and_its_exit_code(self):
        done = crates.limited(["sh", "-c", "cat; echo out; exit 3"], 100, stdout=subprocess.PIPE, text=True)
        self.assertEqual(("out\n", 3), (done.stdout, done.returncode))


@unittest.skipUnless(shutil.which("git"), "needs git")
class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        for name in PARTS:
            to = os.path.join(cls.dir, name)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            (shutil.copytree if os.path.isdir(os.path.join(ROOT, name)) else shutil.copy)(os.path.join(ROOT, name), to)
        subprocess.run([sys.executable, "amalgamate.py"], cwd=cls.dir, check=True, stdout=subprocess.DEVNULL)

    def setUp(self):
        self.kept = {name: self.read(name) for name in ("CHANGELOG.md", "docs/phi.1", "phi.h", "README.md")}
        self.changes = re.sub(r"^## .*", f"## {packages.version()} (2026-01-02)", self.read("CHANGELOG.md"), count=1,
                              flags=re.M)
        self.write(".gitignore", "build/\n")
        self.git("init", "-q")

    def tearDown(self):
        for name, text in self.kept.items():
            self.write(name, text)
        shutil.rmtree(os.path.join(self.dir, ".git"))

    def read(self, name):
        return packages.read(self.dir, name)

    def write(self, name, text):
        packages.write(os.path.join(self.dir, name), text)

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], cwd=self.dir, check=True,
                       stdout=subprocess.DEVNULL)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")

    def release(self):
        done = subprocess.run([sys.executable, "scripts/packages.py", "release"], cwd=self.dir, text=True, check=False,
                              capture_output=True, env={**os.environ, "REPOSITORY": "https://example.org/x"})
        return done.returncode, done.stdout, done.stderr

    def made(self):
        folder, found = os.path.join(self.dir, "build", "release"), {}
        for base, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(base, name), "rb") as file:
                    found[os.path.relpath(os.path.join(base, name), folder)] = file.read()
        return found

    def test_a_release_is_the_same_bytes_twice_with_checksums_and_a_command_for_the_tag(self):
        self.write("CHANGELOG.md", self.changes)
        self.commit()
        code, out, err = self.release()
        self.assertEqual((0, ""), (code, err))
        now = packages.version()
        self.assertRegex(out.split("\n")[-2], rf"^now: git tag -a v{now} -m 'phi {now}' [0-9a-f]+$")
        first = self.made()
        shutil.rmtree(os.path.join(self.dir, "build"))
        os.utime(os.path.join(self.dir, "README.md"), (1, 1))
        self.assertEqual(0, self.release()[0])
        self.assertEqual(first, self.made())
        archive = f"phi-{now}.zip"
        digest = hashlib.sha256(first[archive]).hexdigest()
        self.assertIn(f"{digest}  {archive}\n", first["SHA256SUMS"].decode())
        wrap = first["packaging/phi.wrap"].decode()
        self.assertIn(f"source_url = https://example.org/x/releases/download/v{now}/{archive}\n", wrap)
        self.assertIn(f"source_hash = {digest}\n", wrap)
        for name, data in first.items():
            if name.startswith("packaging/") and not name.endswith("phi.pc"):  # PREFIX is known when it is installed
                left = re.search(r"@[A-Z][A-Z0-9_]+@", data.decode())
                self.assertTrue(left is None or name == "packaging/CMakeLists.txt", f"{name}: {left}")
        path = os.path.join(self.dir, "build", "release", archive)
        names = subprocess.run([sys.executable, "-m", "zipfile", "-l", path], stdout=subprocess.PIPE, text=True,
                               check=True).stdout
        for name in ("phi.h", "phi_tools.h", "phi_json.h", "extras/phi.hpp", "LICENSE", "README.md", "CHANGELOG.md",
                     "CMakeLists.txt", "meson.build", "packaging/cmake/phi-config.cmake"):
            self.assertIn(f"phi-{now}/{name} ", names)

    def test_a_release_says_what_is_in_its_way(self):
        now = packages.version()
        self.write("CHANGELOG.md", re.sub(r"^## .*", "## Unreleased", self.changes, count=1, flags=re.M))
        self.write("docs/phi.1", self.read("docs/phi.1").replace(f"phi {now}", "phi 9.8.7", 1))
        self.write("phi.h", self.read("phi.h") + "\n")
        self.commit()
        self.git("tag", f"v{now}")
        self.write("README.md", "changed\n")
        code, out, err = self.release()
        self.assertEqual((1, ""), (code, out))
        self.assertEqual(err.split("\n"), [
            f"release: docs/phi.1: 9.8.7, should be {now} (src/base/base.h: {now})",
            f'release: CHANGELOG.md: the first section is "## Unreleased", should be "## {now} (YYYY-MM-DD)"',
            "release: phi.h: stale: run make",
            "release: the tree is not clean: git status",
            f"release: there is a tag v{now} already",
            ""])


if __name__ == "__main__":
    unittest.main()
