"""mend.py - the configurations of tests/config/broken, for a reader who mends them.

    mend.py expect            writes tests/config/broken/expected.txt: what phi says now
    mend.py give DIRECTORY    writes NAME and NAME.error of each: all that the reader may look at
    mend.py count DIRECTORY   says which of the mended files NAME phi takes without a word,
                              and how many they are

A mended file must say nearly what the broken one said: one that lost more than half of its lines,
or is as it was, does not count. Needs the program build/asan/tests/config/prog_config_check
(make V=asan build/asan/tests/config/prog_config_check); PROG names another one.
"""

import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BROKEN = os.path.join(ROOT, "tests", "config", "broken")
PROG = os.environ.get("PROG", os.path.join(ROOT, "build/asan/tests/config/prog_config_check"))


def names():
    """The broken files."""
    return sorted(name for name in os.listdir(BROKEN)
                  if os.path.isfile(os.path.join(BROKEN, name)) and name != "expected.txt")


def said(directory, files):
    """What phi says of each file of a directory that ends in /."""
    out = subprocess.run([PROG, directory, *files], check=True, cwd=ROOT,
                         stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")
    found = {}
    for part in ("\n" + out).split("\n== ")[1:]:
        name, _, words = part.partition("\n")
        found[name] = words if words.endswith("\n") else words + "\n"
    return out, found


def read(path):
    """The file's bytes; b"" where it is not there."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def lines_of(text):
    """Lines that say something."""
    if text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = text.decode("utf-16").encode()
    return [line for line in text.splitlines() if line.strip()]


def expect():
    """Writes expected.txt."""
    out, found = said("tests/config/broken/", names())
    for name, words in found.items():
        if words == "OK\n":
            print("nothing is said of", name)
    with open(os.path.join(BROKEN, "expected.txt"), "w", encoding="utf-8") as file:
        file.write(out)
    print(len(found), "files")


def companions(directory):
    """Puts the directories that the files name beside them."""
    for name in ("files", "skills"):
        shutil.copytree(os.path.join(BROKEN, name), os.path.join(directory, name),
                        dirs_exist_ok=True)


def give(directory):
    """Writes the files and their messages."""
    _, found = said("tests/config/broken/", names())
    os.makedirs(directory, exist_ok=True)
    for name in names():
        shutil.copy(os.path.join(BROKEN, name), os.path.join(directory, name))
        with open(os.path.join(directory, name + ".error"), "w", encoding="utf-8") as file:
            file.write(found[name])
    companions(directory)
    print(len(found), "files with their messages are in", directory)


def mended_name(directory, name):
    """A file of the wrong extension may be mended by another name."""
    stem = name.rpartition(".")[0]
    if name.endswith(".conf") or name.endswith(".ini"):
        for other in (".toml", ".yaml", ".yml", ".json"):
            if os.path.exists(os.path.join(directory, stem + other)):
                return stem + other
    return name


def count(directory):
    """Prints what is still said of mended files, and the count of those that are good."""
    companions(directory)
    files = {name: mended_name(directory, name) for name in names()}
    _, found = said(os.path.join(os.path.abspath(directory), ""), sorted(set(files.values())))
    good = 0
    for name, mended in files.items():
        before = read(os.path.join(BROKEN, name))
        after = read(os.path.join(directory, mended))
        words = found.get(mended, "it is not there\n")
        if words != "OK\n":
            print(f"{name}: {words}", end="")
        elif before == after and mended == name:
            print(f"{name}: is as it was")
        elif len(lines_of(after)) * 2 < len(lines_of(before)):
            print(f"{name}: lost {len(lines_of(before)) - len(lines_of(after))} lines")
        else:
            good += 1
    print(f"{good} of {len(files)} are mended")


if __name__ == "__main__":
    if sys.argv[1:] == ["expect"]:
        expect()
    elif len(sys.argv) == 3 and sys.argv[1] == "give":
        give(sys.argv[2])
    elif len(sys.argv) == 3 and sys.argv[1] == "count":
        count(sys.argv[2])
    else:
        sys.exit(__doc__)
