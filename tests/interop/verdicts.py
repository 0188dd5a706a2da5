"""Runs what phi allows, in bash: verdicts.py PROGRAM TABLE SCRATCH COUNT SEED

COUNT random lines that hold the word EVIL, or write to a file, go through prog_verdicts. Those that the
rules allow are run by bash, in a directory with one file, with a PATH that has harmless programs alone and
EVIL, which leaves a mark, also under names that look like assignments. A line that leaves the mark, makes a
file or changes the one that is there ran a program or wrote to a file that phi did not see. Exit code 1
where one does.
"""
import os
import random
import shutil
import subprocess
import sys

PIECES = """EVIL|EVIL p| EVIL |ls|echo|cat|echo a|x=1|x=|a=|a[0]=|(|)|$(|)|`|`|${|}|${x:-|${x#|${!x|${#x|$((|))|((
[[|]]|[ | ]|{ |; }|{|"|"|'|'|$'|$"|\\|\\\\|\\"|\\'|\\`|\\$| | |;|&&|&|!|#| #|<|>|>>|<<|<<-|<<<|<(|>(|&>|>&|2>|2>&1|3<
0<|&<|/dev/null|x|y|E|if |then |else |fi|for x in |do |done|while |case | in |esac|;;|a) |(a) |function |f() |f|f()
time |coproc |eval |exec |command |builtin |env |bash -c |sh -c |bash |sh |xargs |find . -exec |\\;| + |{}|trap |EXIT
-eq |-v |-n |=~ |==|=|$x|$f|"$x"|$@|$1|*|?|[a]|{a,b}|~|-|--|a|b|1|@P|[@]|[0]|[x]|%|^|/|:|,|..|.|true|test |nice
<&|<&-|>&-|1<f|<f|>/dev/stdin|/dev/stdout|x+=|time x=|$"EVIL"|a[0]=EVIL|sh -c 'x+=EVIL'|f <f|3<&0
source |. |-c |-s |export |local |declare |!x|$!|$-|$$|$_|$*|$#""".replace("\n", "|").split("|")
PIECES += ["||", "|", "|&", "\n", "\n", "\\\n", "E\n", "\nE\n", "<<E\n", "<<-E\n", "<<'E'\n", '<<"E"\n', "\t"]
QUOTES = ['"', "'", "$'", "`", "$(", ")", "${x:-", "}", "\\", "\n", "#", "<<E\n", "\nE\n", "((", "))", " ",
          ";", "\\\n", "$", "[[", "]]", "|", "<("]
# Of the table, lines with these stay out: nothing outside of the directory is named, nothing is sent.
LEFT_OUT = ["/etc", "rm ", "rm\t", "~/", "HOME", "/dev/sd", "dd ", "mv ", "cp ", "kill", "curl", "ssh", "git",
            "docker", "sudo", "wget", "chmod", "chown", "mkdir", "npm", "make", "python", "/work", "/tmp", "mkfs",
            "/*", " /"]
FILE = "f"
NAMES = ["EVIL", "x+=EVIL", "x=EVIL", "a0=EVIL", "a[0]=EVIL", "$EVIL"]
STUBS = ["bash", "sh", "find", "xargs", "env", "cat", "true", "timeout", "nice", "ls", "wc", "sort", "head", "tr",
         "grep", "time"]


def left_out(line):
    return any(part in line for part in LEFT_OUT) or not 0 < len(line) < 1000


def piece_of(table, chance):
    if chance < 0.4:
        return "".join(random.choice(PIECES) for _ in range(random.randint(3, 14)))
    if chance < 0.75:
        line = random.choice(table)
        for _ in range(random.randint(1, 4)):
            at, way = random.randint(0, len(line)), random.random()
            other = random.choice(table)
            begin = random.randint(0, len(other))
            if way < 0.6:
                line = line[:at] + random.choice(PIECES) + line[at:]
            elif way < 0.8:
                line = line[:at] + line[at + random.randint(1, 3):]
            else:
                line = line[:at] + other[begin:begin + random.randint(1, 12)] + line[at:]
        return line
    begin = random.choice(["echo ", "cat ", "x=", "ls ", "eval ", "bash -c ", "sh -c "])
    quoted = ["".join(random.choice(QUOTES) for _ in range(random.randint(1, 7))) for _ in range(2)]
    word = random.choice([";", "\n", "|", " ", "$(", "`", "&&", ""]) + random.choice(["EVIL", "EVIL", ">x"]) + random.choice(" ;\n)`")
    return begin + quoted[0] + word + quoted[1]


def scratch_at(place):
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(os.path.join(place, "bin"))
    empty(place)
    for name in filter(shutil.which, STUBS):
        os.symlink(shutil.which(name), os.path.join(place, "bin", name))
    for name in NAMES:
        evil = os.path.join(place, "bin", name)
        with open(evil, "w", encoding="utf-8") as out:
            out.write("#!/bin/sh\n: > %s\n" % os.path.join(place, "mark"))
        os.chmod(evil, 0o755)


def empty(place):
    here = os.path.join(place, "here")
    shutil.rmtree(here, ignore_errors=True)
    os.makedirs(here)
    with open(os.path.join(here, FILE), "w", encoding="utf-8") as out:
        out.write(FILE)


def changed(place):
    here = os.path.join(place, "here")
    if os.listdir(here) != [FILE]:
        return True
    with open(os.path.join(here, FILE), encoding="utf-8", errors="replace") as file:
        return file.read() != FILE


def leaves_a_mark(place, line):
    mark = os.path.join(place, "mark")
    if os.path.exists(mark):
        os.unlink(mark)
    nothing = subprocess.DEVNULL
    subprocess.run(["timeout", "-k", "1", "1", shutil.which("bash"), "-c", line], cwd=os.path.join(place, "here"),
                   env={"PATH": os.path.join(place, "bin"), "HOME": os.path.join(place, "here")},
                   stdin=nothing, stdout=nothing, stderr=nothing, check=False)
    made = changed(place)
    if made:
        empty(place)
    return made or os.path.exists(mark)


def main():
    program, table_path, place, count, seed = sys.argv[1:6]
    place = os.path.abspath(place)
    random.seed(int(seed))
    with open(table_path, encoding="utf-8") as file:
        lines = [line[7:].rstrip("\n").replace("<NL>", "\n") for line in file if not line.startswith("#")]
    table = [line.replace("touch p", "EVIL p") for line in lines if not left_out(line)]
    scratch_at(place)
    wanted = {line for line in table if "EVIL" in line or ">" in line}
    while len(wanted) < int(count):
        line = piece_of(table, random.random())
        if ("EVIL" in line or ">" in line) and not left_out(line):
            wanted.add(line)
    wanted = sorted(wanted)
    said = subprocess.run([program], input="".join(line + "\0" for line in wanted).encode(), capture_output=True,
                          check=True).stdout.decode().split()
    allowed = [line for line, verdict in zip(wanted, said) if verdict == "allow"]
    missed = [line for line in allowed if leaves_a_mark(place, line)]
    for line in missed:
        print("allowed, and runs EVIL or writes: %r" % line)
    print("%d lines, of which phi allows %d, in bash: %d passed, %d failed"
          % (len(wanted), len(allowed), len(allowed) - len(missed), len(missed)))
    sys.exit(1 if missed or len(said) != len(wanted) or not allowed else 0)


main()
