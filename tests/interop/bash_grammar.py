"""Holds phi's grammar of command lines against bash's: bash_grammar.py PROGRAM TABLE COUNT SEED

COUNT lines that are mostly wrong go through prog_shell: random tokens of the grammar, and lines of the table with
pieces put in and cut out. Each line that phi takes for known must be one that `bash -n` takes: what bash refuses it
ends at the error, and runs the lines after it. Nothing is run. Exit code 1 where bash refuses one."""
import concurrent.futures
import random
import shutil
import subprocess
import sys

TOKENS = """ls|x=(|a=(1|b=(1)|(|)|; |;|&|&&|'||'|'|'|if|then|elif|else|fi|do|done|while|until|for x in|select|case x in|in
esac|a)|;;|;&|{|}|{ |; }|f()|function f|function g()|coproc|time|!|[[|]]|[[ |-f|-eq|=|==|=~|(a|b)|<|>|>>|>&|>||<>|<<<|<&-|>&-|3<&4-
2>|{x}>|<<F|$(|`|${|}|((|))|$((|#|\\|"|'|1|x|$x| |declare|export|local|'\\n'|'\\nF\\n'|'\\\\\\n'"""
NEWLINES = ["\n", "\nF\n", "\\\n", "||", "|", "|&"]


def tokens():
    found = [t for t in TOKENS.replace("\n", "|").split("|") if t and not t.startswith("'")]
    return found + NEWLINES + ["'", '"']


def line_of(table, parts):
    if random.random() < 0.5:
        return " ".join(random.choice(parts) for _ in range(random.randint(2, 9)))
    line = random.choice(table)
    for _ in range(random.randint(1, 4)):
        at = random.randint(0, len(line))
        if random.random() < 0.7:
            line = line[:at] + random.choice(["", " "]) + random.choice(parts) + random.choice(["", " "]) + line[at:]
        else:
            line = line[:at] + line[at + random.randint(1, 4):]
    return line


def refuses(line):
    said = subprocess.run([shutil.which("bash"), "-n", "-c", "--", line], stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)
    return said.returncode != 0


def main():
    program, table_path, count, seed = sys.argv[1:5]
    random.seed(int(seed))
    with open(table_path, encoding="utf-8") as file:
        table = [line[7:].rstrip("\n").replace("<NL>", "\n") for line in file if line.strip() and line[0] != "#"]
    parts = tokens()
    lines = [line_of(table, parts) for _ in range(int(count))]
    lines = [line for line in lines if "\0" not in line]
    said = subprocess.run([program], input="".join(line + "\0" for line in lines).encode(), capture_output=True,
                          check=True).stdout.decode().splitlines()
    known = [line for line, words in zip(lines, said) if words.startswith("K")]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        wrong = [line for line, bad in zip(known, pool.map(refuses, known)) if bad]
        refused = sum(pool.map(refuses, lines[:1000]))
    for line in wrong:
        print("known to phi, and no command line to bash: %r" % line)
    print("%d lines, of the first thousand bash refuses %d; %d known to phi: %d passed, %d failed"
          % (len(lines), refused, len(known), len(known) - len(wrong), len(wrong)))
    sys.exit(1 if wrong or len(said) != len(lines) or not known or refused < 300 else 0)


main()
