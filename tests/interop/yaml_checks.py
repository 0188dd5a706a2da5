"""phi's reader and writer of YAML against ruamel.yaml (typ safe, pure): yaml_checks.py PROGRAM WORK [COUNT [SEED]].

Documents of a seeded generator, in every style, must give equal trees; so must what phi writes of random trees. The
generator keeps to what both call YAML 1.2: no dates, underscores or binary numbers, which ruamel.yaml resolves by
older rules; no "! 12", which it reads as a number, and no "?x" inside of brackets, which it reads as a key."""
import json
import math
import os
import random
import subprocess
import sys

from ruamel.yaml import YAML

WORDS = ["alpha", "beta gamma", "x", "yes", "on", "a:b", "http://host/p?q=1#f", "50%", "it's", "say \"hi\"", "#no",
         "- dash", "? q", ": c", "&a", "*b", "!c", "|", ">", "@at", "`tick", "%p", "[1]", "{2}", "a, b", "null", "true",
         "~", "12", "1.5", "0x1F", "0o17", "-7", "+3", ".5", "1e3", "key: value", "trailing ", " leading", "tab\there",
         "caf\u00e9", "\u65e5\u672c\u8a9e", "\U0001f600", "", "...", "---x", "a #b", "a# b", "back\\slash", "<<", "="]
PLAIN = ["alpha", "beta gamma", "x y  z", "a:b", "http://host/p?q=1#f", "50%", "it's", "say \"hi\"", "a#b", "-x", "?x", ":x",
         "caf\u00e9", "\u65e5\u672c\u8a9e", "yes", "No", "off", "12abc", "1.2.3", "0x", "0o8", "e5", ".", "--", "a -b",
         "null1", "True!", "back\\slash", "$ref", "/p/{id}" , "a|b", "a>b", "a&b", "a*b", "a@b", "a`b"]
FLOW_PLAIN = [word for word in PLAIN if not set(word) & set("{}[],") and word not in ("--", "?x")]
NUMBERS = ["0", "12", "-7", "+3", "007", "0x1F", "0xdead", "0o17", "1.5", "-0.25", "+.5", "1.", "1e3", "1E-3", "1.5e+10", ".inf",
           "-.Inf", ".NAN", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "0.1", "null", "~", "Null",
           "true", "True", "FALSE", "false"]


class Writer:
    """Writes one random document."""

    def __init__(self, rng):
        self.rng = rng
        self.anchors = []
        self.serial = 0

    def pick(self, values):
        return self.rng.choice(values)

    def chance(self, one_in):
        return self.rng.randrange(one_in) == 0

    def comment(self):
        return "  # " + self.pick(["a comment", "key: value", "- x", "'\""]) if self.chance(8) else ""

    def key(self, used):
        while True:
            self.serial += 1
            word = self.pick(["k", "key", "two words", "a-b", "x.y", "200", "/p/{id}", "$ref"]) + \
                ("" if self.chance(2) else str(self.serial))
            if word not in used:
                used.add(word)
                break
        form = self.rng.randrange(4)
        return json.dumps(word) if form == 0 else "'" + word + "'" if form == 1 and "'" not in word else word

    def double(self, text):
        out = '"'
        for char in text:
            if char in '"\\':
                out += "\\" + char
            elif char == "\n":
                out += "\\n"
            elif char == "\t":
                out += self.pick(["\\t", "\t"])
            elif self.chance(12):
                code = ord(char)
                out += f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
            else:
                out += char
        return out + '"'

    def inline(self, flow):
        """A scalar on one line."""
        form = self.rng.randrange(5)
        if form == 0:
            return self.pick(NUMBERS)
        if form == 1:
            return "'" + self.pick(WORDS).replace("'", "''") + "'"
        if form == 2:
            return self.double(self.pick(WORDS) + ("\n" + self.pick(WORDS) if self.chance(3) else ""))
        if form == 3 and self.chance(3):
            return self.pick(["!!str 12", "!!str true", "!!int 7", "!!float 3", "!!bool true", "!!null null",
                              "!!str 'x'", '!!int "5"'])
        return self.pick(FLOW_PLAIN if flow else PLAIN)

    def lines(self, indent):
        """A quoted or plain scalar over several lines; what follows the first is indented."""
        pad = "\n" + " " * indent
        parts = [self.pick(["alpha beta", "gamma", "it is", "x y"]) for _ in range(self.rng.randint(2, 4))]
        text = parts[0]
        for part in parts[1:]:
            text += self.pick(["", " ", "  "]) + "\n" * self.pick([0, 0, 1, 2]) + pad + self.pick(["", " ", "\t"]) + part
        form = self.rng.randrange(3)
        if form == 0:
            return '"' + text + self.pick(["", " ", "\\\n" + " " * indent + "end"]) + '"'
        return "'" + text + "'" if form == 1 else text.replace("\t", "")  # ruamel.yaml knows no tab there

    def block_text(self, parent, root):
        """A literal or folded scalar; the text is indented under its parent's column."""
        extra = self.rng.randint(1, 4)
        indent = (0 if root else parent) + extra
        first = self.pick(["text", "more text", "# text", "- x", "key: value", "a\ttab"])
        lines = [first]
        for _ in range(self.rng.randint(0, 5)):
            lines.append(self.pick(["", "", "text", " indented", "  more", "\ttab", "last", "'quoted'", "   "]))
        indicator = ""
        if self.chance(4):
            indicator = str(extra)
            if self.chance(2):
                lines.insert(0, "  deep")
        chomp = self.pick(["", "-", "+"])
        header = self.pick("|>") + (indicator + chomp if self.chance(2) else chomp + indicator)
        out = header + self.comment() + "\n"
        for line in lines:
            out += (" " * indent + line if line.strip(" ") or self.chance(3) and line else "") + "\n"
        return out + "\n" * self.pick([0, 0, 1, 2])

    def flow(self, depth, indent):
        gap = self.pick(["", " ", "\n" + " " * indent, " # c\n" + " " * indent])
        count = self.rng.randint(0, 4)
        if self.chance(2):
            items = [self.flow_value(depth, indent) for _ in range(count)]
            if count and self.chance(5):
                items[-1] = "pair" + str(self.serial) + ": " + self.inline(True)
            return "[" + gap + ("," + (gap or " ")).join(items) + ("," if count and self.chance(4) else "") + \
                (gap if "#" not in gap else " ") + "]"
        used = set()
        items = []
        for _ in range(count):
            key = self.key(used)
            if any(char in key for char in "{}[],") and key[0] not in "\"'":
                key = json.dumps(key)
            form = self.rng.randrange(5)
            items.append(key if form == 0 else f"? {key} : 1" if form == 1 else
                         f"{key}{self.pick(['', ' '])}: {self.flow_value(depth, indent)}")
        return "{" + gap + ("," + (gap or " ")).join(items) + " }"

    def flow_value(self, depth, indent):
        if depth > 0 and self.chance(4):
            return self.flow(depth - 1, indent)
        if self.anchors and self.chance(10):
            return "*" + self.pick(self.anchors) + " "
        return self.inline(True)

    def value(self, depth, indent, behind_key, root=False):
        """What stands behind "key:" or "-" in a collection of that column, and its line break."""
        anchor = ""
        name = None
        if self.chance(10):
            self.serial += 1
            name = "a" + str(self.serial)
            anchor = " &" + name
        form = self.rng.randrange(12)
        if depth > 0 and form < 4:
            out = self.block(depth - 1, indent, behind_key, anchor, root)
        elif form == 4:
            out = anchor + " " + self.flow(2, indent + 1) + self.comment() + "\n"
        elif form == 5:
            out = anchor + " " + self.block_text(indent, root)
        elif form == 6:
            out = anchor + self.pick([" ", "\n" + " " * (indent + 1)]) + self.lines(indent + self.rng.randint(1, 3)) + "\n"
        elif form == 7 and self.anchors:
            return " *" + self.pick(self.anchors) + self.comment() + "\n"
        elif form == 8 and not root:
            return self.comment() + "\n"
        else:
            out = anchor + self.pick([" ", " ", "  ", "\n" + " " * (indent + 1)]) + self.inline(False) + self.comment() + "\n"
        if name is not None:
            self.anchors.append(name)
        return out

    def block(self, depth, indent, behind_key, anchor, root):
        sequence = self.chance(2)
        step = self.rng.randint(1, 4)
        column = 0 if root else indent if sequence and behind_key and self.chance(3) else indent + step
        compact = not behind_key and not anchor and not root and self.chance(2)
        if compact:
            column = indent + 1 + step
        out = " " * step if compact else anchor + self.comment() + "\n"
        used = set()
        for index in range(self.rng.randint(1, 4)):
            if not compact or index > 0:
                out += "\n" if self.chance(10) else ""
                out += " " * self.rng.randint(0, 9) + "# comment\n" if self.chance(12) else ""
                out += " " * column
            if sequence:
                out += "-" + self.value(depth, column, False)
                continue
            key = self.key(used)
            if key[0] in "'\"" or not self.chance(8):
                out += key + self.pick(["", "", " "]) + ":" + self.value(depth, column, True)
            else:
                out += "? " + key + "\n" + " " * column + ":" + self.value(depth, column, True)
        return out

    def document(self):
        head = self.pick(["", "", "", "# head\n", "%YAML 1.2\n---\n", "---\n"])
        body = self.value(self.rng.randint(1, 4), -1, True, True)
        if body.startswith(" "):
            body = body.lstrip(" ")
        text = head + body.lstrip("\n") + self.pick(["", "", "...\n", "# tail\n"])
        if self.chance(4):
            text = text.rstrip(" \t\n")
        return text.replace("\n", "\r\n") if self.chance(6) else text


def plain(value):
    """As phi's JSON has it: keys are text, what is not finite is null."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return type(a) is type(b) and a == b or isinstance(a, (int, float)) and isinstance(b, (int, float)) and a == b


def ruamel(text):
    return plain(YAML(typ="safe", pure=True).load(text))


def run(program, mode, paths):
    out = subprocess.run([program, mode], input="".join(path + "\n" for path in paths), capture_output=True, text=True,
                         encoding="utf-8", check=True).stdout
    return [json.loads(line) for line in out.split("\n") if line]


def show(path, text, ours, theirs):
    print(f"not so: {path}:\n{text}\n  phi:         {ours}\n  ruamel.yaml: {theirs}")


def check_read(program, work, count, seed):
    rng = random.Random(seed)
    documents, refused = [], 0
    while len(documents) < count:
        text = Writer(rng).document()
        try:
            theirs = ruamel(text)
        except Exception as error:  # not a document, or beyond ruamel.yaml: shown when phi disagrees
            refused += 1
            if refused > count:
                raise SystemExit(f"the generator writes what is refused: {error}\n{text}") from error
            continue
        documents.append((text, theirs))
    paths = []
    for index, (text, _) in enumerate(documents):
        paths.append(os.path.join(work, f"made_{index}.yaml"))
        with open(paths[-1], "w", encoding="utf-8", newline="") as file:
            file.write(text)
    failed = 0
    for path, (text, theirs), ours in zip(paths, documents, run(program, "read", paths)):
        if not same(ours, theirs):
            failed += 1
            show(path, text, ours, theirs)
    print(f"ruamel.yaml: {count - failed} of {count} documents of the generator (seed {seed}) are equal; "
          f"{refused} more were none for ruamel.yaml")
    return count - failed, failed


def tree(rng, depth):
    form = rng.randrange(8) if depth > 0 else rng.randrange(2, 8)
    if form == 0:
        return [tree(rng, depth - 1) for _ in range(rng.randrange(5))]
    if form == 1:
        return {"".join(rng.choices(WORDS, k=rng.randrange(1, 3))): tree(rng, depth - 1) for _ in range(rng.randrange(5))}
    if form == 2:
        return rng.choice([None, True, False, 0, -1, 2 ** 64 - 1, -2 ** 63, 1.5, 1e300, 5e-324, 1e22, 123456.789])
    if form == 3:
        return rng.uniform(-1e6, 1e6) * 10.0 ** rng.randrange(-20, 20)
    return rng.choice(["", " ", "\n"]).join(rng.choices(WORDS + ["\n", "\u0085", "\u2028", "\ufeff", "\x7f", "\x07"],
                                                        k=rng.randrange(4)))


def check_written(program, work, count, seed):
    rng = random.Random(seed)
    trees = [tree(rng, 4) for _ in range(count)]
    paths = []
    for index, value in enumerate(trees):
        paths.append(os.path.join(work, f"tree_{index}.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump(value, file)
    run(program, "write", paths)
    failed = 0
    for path, value in zip(paths, trees):
        with open(path + ".yaml", encoding="utf-8", newline="") as file:
            text = file.read()
        try:
            theirs = ruamel(text)
        except Exception as error:
            theirs = error
        if not same(value, theirs):
            failed += 1
            show(path, text, value, theirs)
    print(f"ruamel.yaml: reads {count - failed} of {count} trees that phi wrote")
    return count - failed, failed


def main():
    program, work = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 500
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 15
    passed, failed = map(sum, zip(check_read(program, work, count, seed), check_written(program, work, count, seed)))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
