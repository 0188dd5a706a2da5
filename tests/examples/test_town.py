#!/usr/bin/env python3
"""The town, under Xvfb: some hundred frames, words that are typed, and the last picture. Skipped where SDL2 or Xvfb is
missing (make town installs them). $TOWN_PNG: where the picture is kept, for the README."""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_examples import BUILD, LONGEST, environment, program  # noqa: E402

FRAMES = 600
WIDE, HIGH, ZOOM = 1280, 800, 2
PAPER = 0xfffdf5  # of bubbles
ROOFS = (0xa8483a, 0x7a5a8c, 0x4f7a8c)


def pixels(path):
    """One number 0xRRGGBB for each pixel of the town, rows from the top; the picture is ZOOM times as large."""
    with open(path, "rb") as file:
        data = file.read()
    start, _, wide, high, _, bits = struct.unpack_from("<10xIIiiHH", data)
    if (wide, abs(high), bits) != (WIDE, HIGH, 32):
        raise AssertionError("a picture of %d x %d, %d bits" % (wide, high, bits))
    rows = []
    for y in range(0, HIGH, ZOOM):
        at = start + 4 * WIDE * (y if high < 0 else HIGH - 1 - y)
        rows.append([p & 0xffffff for p in struct.unpack_from("<%dI" % WIDE, data, at)[::ZOOM]])
    return rows


def regions(rows, colour):
    """The sizes of the connected regions of a colour."""
    left = {(x, y) for y, row in enumerate(rows) for x, p in enumerate(row) if p == colour}
    sizes = []
    while left:
        todo, size = [left.pop()], 0
        while todo:
            x, y = todo.pop()
            size += 1
            for at in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if at in left:
                    left.remove(at)
                    todo.append(at)
        sizes.append(size)
    return sizes


def write_png(path, rows):
    colours = sorted({p for row in rows for p in row})
    index = {p: i for i, p in enumerate(colours)}
    lines = b"".join(b"\0" + bytes(index[p] for p in row for _ in range(ZOOM))
                     for row in rows for _ in range(ZOOM))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDE, HIGH, 8, 3, 0, 0, 0)) +
                   chunk(b"PLTE", b"".join(struct.pack(">I", p)[1:] for p in colours)) +
                   chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))


@unittest.skipUnless(os.path.exists(program("town")), "there is no SDL2 (make town)")
@unittest.skipUnless(shutil.which("Xvfb"), "there is no Xvfb (make town)")
class Town(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="town", dir=BUILD)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        screen = subprocess.Popen(["Xvfb", "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(screen.stdout.close)
        self.addCleanup(screen.wait)
        self.addCleanup(screen.terminate)
        self.display = ":" + screen.stdout.readline().strip()

    def run_town(self, *args, **more):
        env = environment(**{"DISPLAY": self.display, "SDL_VIDEODRIVER": "x11", **more})
        # OpenGL without a graphics card takes six times as long.
        env.update(SDL_RENDER_DRIVER="software", SDL_FRAMEBUFFER_ACCELERATION="0")
        # The libraries below SDL keep what they have allocated once.
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        done = subprocess.run([program("town"), *args], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=LONGEST, check=False)
        return done.stdout, done.returncode

    def test_villagers_walk_talk_in_bubbles_and_answer(self):
        picture = os.path.join(self.folder, "town.bmp")
        said, code = self.run_town("frames", str(FRAMES), picture, "Where is the well?")
        self.assertEqual(code, 0, said)
        self.assertTrue(said.startswith('Ada: You say "Where is the well?"? I shall think about it, traveller.\n'),
                        said)
        found = re.search(r"^(\d+) frames, (\d+) answers, 0 errors; at most 4 thought at once; "
                          r"phi's longest part of a frame took [\d.]+ ms\n$", said, re.M)
        self.assertIsNotNone(found, said)
        self.assertEqual(int(found.group(1)), FRAMES)
        self.assertGreaterEqual(int(found.group(2)), 5)
        rows = pixels(picture)
        colours = {p for row in rows for p in row}
        self.assertGreater(len(colours), 25)
        self.assertTrue(colours.issuperset(ROOFS))
        bubbles = [size for size in regions(rows, PAPER) if size > 500]
        self.assertGreaterEqual(len(bubbles), 4)
        self.assertLess(sum(bubbles), WIDE * HIGH // ZOOM // ZOOM // 5)
        if os.environ.get("TOWN_PNG"):
            write_png(os.environ["TOWN_PNG"], rows)

    def test_without_a_screen_it_says_so(self):
        said, code = self.run_town(SDL_VIDEODRIVER="no such driver")
        self.assertEqual(code, 1, said)
        self.assertTrue(said.startswith("! "), said)


if __name__ == "__main__":
    unittest.main()
