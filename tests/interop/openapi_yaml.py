"""Writes JSON documents as YAML: openapi_yaml.py OUT FILE... Kept ones stay."""
import json
import os
import sys

import ruamel.yaml


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    writer = ruamel.yaml.YAML(typ="safe")
    writer.default_flow_style = False
    writer.allow_unicode = True
    writer.width = 1 << 30  # where ruamel folds a text at two blanks it loses one of them
    writer.sort_base_mapping_type_on_output = False
    # as people write documents: without anchors for values that happen to be the same object
    writer.representer.ignore_aliases = lambda value: True
    for path in sys.argv[2:]:
        name = os.path.join(out, os.path.splitext(os.path.basename(path))[0] + ".yaml")
        if os.path.exists(name):
            continue
        with open(path, encoding="utf-8") as file:
            tree = json.load(file)
        with open(name + ".part", "w", encoding="utf-8") as file:
            writer.dump(tree, file)
        os.rename(name + ".part", name)


main()
