"""reference.py PROGRAM - puts what tests/config/prog_config_reference prints between the two marks
of docs/configuration.md (make schema)."""

import os
import subprocess
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs",
                    "configuration.md")
BEGIN = "<!-- reference: make schema writes it -->\n"
END = "<!-- end of the reference -->\n"

words = subprocess.run([sys.argv[1]], check=True, stdout=subprocess.PIPE).stdout.decode("utf-8")
with open(PAGE, encoding="utf-8") as file:
    page = file.read()
before, _, rest = page.partition(BEGIN)
after = rest.partition(END)[2]
with open(PAGE, "w", encoding="utf-8") as file:
    file.write(before + BEGIN + words + END + after)
