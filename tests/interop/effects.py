"""Runs what phi allows, with the real programs, and looks at what it did: effects.py PROGRAM SCRATCH COUNT SEED

COUNT lines of a grammar of bash go through prog_verdicts, half by the rules of the default mode, half by those that
accept edits: commands of the allow list with options that are whole, shortened, glued, or nobody's; names that are
patterns, links, secrets, outside; finds that run commands; variables; all in lists, pipes, loops, substitutions,
here-documents and shells. Bash runs those that are allowed, in a directory with files whose names are options. Such a
line may print no secret and nothing from outside, run no other program, and change nothing: of accepted edits nothing
but files of the directory that are no secrets and not git's. Exit code 1 where one does."""
import os
import random
import shutil
import subprocess
import sys

PROGRAMS = {
    "ls": "-l -la -R -d --color=no --all --al", "cat": "-n -A -- --number --numb", "head": "-n 2|-c5|-5|--lines=2",
    "tail": "-n 2|-1|-c+2", "wc": "-l -c --lines --files0-from=names --files0-f=names", "nl": "-b a", "tac": "-s x",
    "sort": "-r -n -u -k1 -ro out|-o out|--output=out --outp=out --out out|--o=out -T. --compress-program=./evil "
            "--comp=./evil --files0-from=names -S1M --reverse", "uniq": "-c -d in.txt out", "cut": "-c1 -d: -f1",
    "grep": "-n x|-i x|-c x|-e x|-f..|-f names|-l x|--file=names|--regexp=x|-fnames x|-r x|-r .|-Rh '' src|-r --include=.e* .",
    "od": "-c -An",
    "diff": "-u -r -q -l --paginate --pag a|--to-file=a --from-file=../outside/secret.txt", "cmp": "-l -s",
    "stat": "-c %n|--printf=%n", "du": "-a -s --files0-from=names -Xnames", "md5sum": "-b -c sums|--check sums|--c sums",
    "sha256sum": "-c sums|--tag", "comm": "-12 -3", "paste": "-s -d,", "realpath": "-s", "readlink": "-f",
    "file": "-b -f names|-m x|-C -z --files-from names|--mime-type", "tree": "-a -L 2|-o out|-R -aoout --fromfile",
    "strings": "-a -n 2|@names @../outside/secret.txt", "jq": "-r . -n env|-n '$ENV'|-n .|-f names|-R .|--from-file names",
    "find": "-name '*.c' -name x -type f -print -maxdepth 2|-delete -fprint out|-fls out|-files0-from names",
    "git": "status|log|diff|show HEAD:a|--version|status -s|log --oneline|log -p -1 -- '.en?'|grep '' -- '.e*'|grep .|"
           "log --format=%GK|diff --output=out|diff --ou=out|log --ext-diff|"
           "grep -n x|grep -O./evil x|grep --op=./evil x|show HEAD:.env|-c core.pager=./evil log|config --list|branch|"
           "branch new|cat-file -p HEAD|diff --no-index a ../outside/secret.txt|ls-files|rev-parse HEAD|add a|commit -m x",
    "rg": "-n x|--pre ./evil x|--pr=./evil x|-z x|-f names|-l x|--hidden x|-uu x|-g '*.c' x|"
          "-g '.e*' .|.|-g'*.k?y' x|-v zzz|-A999 x|'(x)*'",
    "echo": "a -n -e", "test": "-f a|-v x", "date": "+%s|-s x", "printf": "x", "seq": "3", "tr": "a b|-d a",
    "mkdir": "-p -v -m 777 --mode=777 ../outside/new", "touch": "-c -a -r../outside/secret.txt -t.. --reference=a",
    "cp": "-r -a -f -v -t.. -t..|-t ..|-ft.. -t.git --target-directory=.. --target-directory=src --t=..|-s -l -b --parents -S/x",
    "mv": "-f -n -v -t.. -t.git --target-dir=..|-T", "tee": "out", "ln": "-s a", "rm": "-f", "sed": "p|-i s/a/b/",
    "evil": "", "./evil": "", "env": "|ls|-C src|-i ls", "xargs": "cat|echo|-n1 ls|-a names", "printenv": "",
}
NAMES = """a b.c src src/x.c names in.txt . .. ../outside ../outside/secret.txt -- * *.c s* ?* .e* .en? .[e]nv *.key
*.k?y server.key .env config config/.env config/* .git .git/config .gi? {a,b.c} {.env,a} $x "$x" $KEY ~ ~/.bashrc - -* -t..
"-t.." './-t..' link link/secret.txt src/.. src/../../outside/secret.txt @names new.txt src/new [a-z]* */* **
$ANTHROPIC_API_KEY ${ANTHROPIC_API_KEY} "a b" a* out ../.env ../a ../../outside/secret.txt ../../a config.json
.docker .docker/* ./config.json c*.json .. ../config.json""".split(" ")
NAMES = [n for part in NAMES for n in part.split("\n")]
EXECS = ["cat {} +", "cat {} \\;", "ls {} +", "grep x {} \\;", "echo {} \\;", "echo + -exec ./evil \\;", "./evil \\;", "git status \\;",
         "sh -c 'cat {}' \\;", "cp a {} \\;", "sort {} +", "head -n1 {} +", "rm {} +", "echo {} + -delete"]
FINDS = ["", "-name '.en?' ", "-name '*.c' ", "-name 'x*.c' ", "-type f ", "-name config ", "-name '*' ", "! -name x ",
         "-name x -o -name .env ", "-iname '.ENV' ", "-path './.env' ", "-maxdepth 1 -name '*.k?y' ", "-name b.c "]


def simple(edits):
    if random.random() < 0.2:
        where = random.choice(["", ".", "src", "config", ".git", "..", "src config", "-L ."])
        return "find %s %s%s %s" % (where, random.choice(FINDS), random.choice(["-exec", "-exec", "-execdir", "-ok"]),
                                    random.choice(EXECS))
    name = random.choice(["cp", "mv", "mkdir", "touch"] if edits and random.random() < 0.4 else list(PROGRAMS))
    options = PROGRAMS[name]
    options = [o for o in (options.split("|") if "|" in options and name in ("git", "env", "rg", "jq", "grep") else
                           [o for part in options.split("|") for o in ([part] if " " in part and len(part) < 14 else
                                                                       part.split(" "))]) if o]
    words = [name] + random.sample(options, min(len(options), random.choice([0, 1, 1, 1, 2] if name != "git" else [1])))
    words += [random.choice(NAMES) for _ in range(random.choice([0, 1, 1, 2, 2]))]
    if random.random() < 0.1:
        words.append(random.choice(["> out", ">> src/new", "2>/dev/null", "< a", "< .env", "> ../outside/new", "<<< $KEY",
                                    "<<< x", "> .git/hooks/x", "< .en?", ">| a", "&> out", "> /dev/null"]))
    return " ".join(words)


def line_of(edits, depth=0):
    way = random.random()
    if depth > 2 or way < 0.5:
        return simple(edits)
    one, other = line_of(edits, depth + 1), line_of(edits, depth + 1)
    forms = ["%s; %s", "%s && %s", "%s || %s", "%s | %s", "%s\n%s", "(%s; %s)", "{ %s; %s; }", "if %s; then %s; fi",
             "for x in a b; do %s; %s; done", "echo $(%s) | %s", "cat <(%s) | %s", "time %s; %s", "! %s; %s", "cd src && %s; %s",
             "cd src; %s; %s", "(cd src) && %s; %s", "case x in y) cd src;; esac && %s; %s", "[[ x ]] | cd src && %s; %s",
             "f() { %s; }; cd .docker; f; %s", "trap '%s' EXIT; cd .docker; %s", "cd .docker && %s; %s", "cd .docker; %s; %s",
             "! cd src && %s; %s", "true || cd src && %s; %s", "cd src && cd .. && %s; %s", "{ cd src; } && %s; %s",
             "if [[ a == b ]]; then cd src; fi && %s; %s", "cd() { :; }; cd src && %s; %s", "cd nowhere && %s || %s",
             "cd src && (cd ..; %s); %s", "f() { cd src; } && %s; %s", "cd src && false || %s; %s", "x=$(cd src) && %s; %s",
             "for i in 1 2; do %s; cd src; done; %s", "eval 'cd src'; %s; %s", "cd ./.docker/ && %s; %s", "cd .docker && { %s; }; %s",
             "f() { %s; }; %s", "case a in a) %s;; *) %s;; esac", "cat <<E | cat\n$(%s)\nE\n%s", "x=`%s`; %s", "%s & %s",
             "while false; do %s; done; %s", "x=(%s); %s", "timeout 2 %s; nice %s", "echo \"$(%s)\"; %s", "[[ -f a ]] && %s; %s"]
    if random.random() < 0.15:
        return random.choice(["sh -c %s", "bash -c %s", "dash -c %s", "eval %s", "bash <<'E'\n%s\nE"]) % (
            "'%s'" % one.replace("'", "'\\''") if random.random() < 0.9 else one)
    if random.random() < 0.05:
        return random.choice(["sh -c '((%s))'", "((%s))", "x=(;)<<F\n%s\nF", "echo `# \\\n<<F`\n%s\nF", "${x:-$(%s)}"]) % one
    return random.choice(forms) % (one, other)


def write(path, text):
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def build(place):
    shutil.rmtree(place, ignore_errors=True)
    for part in ("work/src", "work/config", "work/.docker", "outside", "home", "bin"):
        os.makedirs(os.path.join(place, part))
    work = os.path.join(place, "work")
    for name, text in (("a", "x 1\n"), ("b.c", "x\n"), ("src/x.c", "x 2\n"), ("in.txt", "x\ny\n"), (".env", "TOP-SECRET env\n"),
                       ("config/.env", "TOP-SECRET env\n"), (".docker/config.json", "TOP-SECRET docker\n"), ("server.key", "TOP-SECRET key\n"), ("-t..", "-\n"),
                       ("names", "../outside/secret.txt\0"), ("--files0-from=names", ""), ("-oout", ""), ("--output=out", ""),
                       ("sums", "0" * 32 + "  ../outside/secret.txt\n"), ("1", "evil\n")):
        write(os.path.join(work, name), text)
    write(os.path.join(place, "outside/secret.txt"), "TOP-SECRET outside x\n")
    write(os.path.join(place, "home/.bashrc"), "# TOP-SECRET home x\n")
    for evil in (os.path.join(work, "evil"), os.path.join(work, "src/evil"), os.path.join(place, "bin/evil")):
        write(evil, "#!/bin/sh\n: > %s/mark\n" % place)
        os.chmod(evil, 0o755)
    for name in list(PROGRAMS) + ["bash", "sh", "dash", "timeout", "nice", "false", "true", "pwd", "pr", "gzip"]:
        found = shutil.which(name) if "/" not in name and name != "evil" else None
        if found:
            os.symlink(os.path.realpath(found) if name == "sh" else found, os.path.join(place, "bin", name))
    for words in (["init", "-q"], ["add", "a", "b.c", ".env"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git"] + words, cwd=work, check=True, env={"PATH": os.environ["PATH"], "HOME": os.path.join(place, "home")})


def state(place):
    seen = {}
    for top in ("work", "outside", "home"):
        for folder, folders, files in os.walk(os.path.join(place, top)):
            for name in folders + files:
                path = os.path.join(folder, name)
                at = os.path.relpath(path, place)
                if at == "work/.git/index":
                    continue
                with_text = os.path.isfile(path) and not os.path.islink(path)
                seen[at] = open(path, "rb").read() if with_text else os.path.islink(path)
    return seen


def wrong(place, line, edits, before):
    done = subprocess.run(["timeout", "-k", "1", "2", shutil.which("bash"), "-c", line], cwd=os.path.join(place, "work"),
                          env={"PATH": os.path.join(place, "bin"), "HOME": os.path.join(place, "home"), "LC_ALL": "C",
                               "ANTHROPIC_API_KEY": "TOP-SECRET value", "KEY": "TOP-SECRET value",
                               "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.bareRepository",
                               "GIT_CONFIG_VALUE_0": "explicit"}, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    found = []
    if os.path.exists(os.path.join(place, "mark")):
        found.append("ran evil")
    if b"TOP-SECRET" in done.stdout + done.stderr:
        found.append("printed a secret")
    after = state(place)
    changed = sorted(at for at in set(before) | set(after) if before.get(at) != after.get(at))
    for at in changed:
        inside = at.startswith("work/") and not at.startswith("work/.git") and ".env" not in at and not at.endswith(".key")
        if not edits or not inside:
            found.append("changed " + at)
    return found, bool(changed) or bool(found)


def main():
    program, place, count, seed = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    random.seed(seed)
    total = allowed = failed = did = 0
    for edits in (False, True):
        build(place)
        before = state(place)
        lines = [line_of(edits) for _ in range(count // 2)]
        said = subprocess.run([program, os.path.join(place, "work"), os.path.join(place, "home"), "2" if edits else "0"],
                              input="".join(line + "\0" for line in lines).encode(), capture_output=True,
                              check=True).stdout.decode().split()
        if len(said) != len(lines):
            sys.exit("%d verdicts on %d lines" % (len(said), len(lines)))
        total += len(lines)
        for line in [line for line, verdict in zip(lines, said) if verdict == "allow"]:
            allowed += 1
            found, dirty = wrong(place, line, edits, before)
            did += dirty
            if found:
                failed += 1
                print("allowed%s, and %s: %r" % (" with edits" if edits else "", ", ".join(found[:3]), line))
            if dirty:
                build(place)
                before = state(place)
    print("%d lines of a grammar, of which phi allows %d, run by bash (%d of them wrote): %d passed, %d failed"
          % (total, allowed, did, allowed - failed, failed))
    sys.exit(1 if failed or allowed < count // 20 or did == 0 else 0)


main()
