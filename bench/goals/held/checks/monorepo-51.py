# mypy: ignore-errors
"""Every line of three files is covered, npm test is green, and goes red when the code is broken."""

import os
import sys

TREE = sys.argv[1]
sys.path.insert(0, TREE)
os.chdir(TREE)


def no(why):
    print(why)
    sys.exit(1)


import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

if not shutil.which("node"):
    print("cannot tell: no node here")
    sys.exit(2)
BREAKS = [
    ("cart.js", "delete this.items[id];", ""),
    ("cart.js", "console.log(this.save());", ""),
    ("cart.js", "(this.items[id] ?? 0) + count", "count"),
    ("format.js", '"en-IN"', '"en-US"'),
    ("format.js", "minimumFractionDigits: 2", "minimumFractionDigits: 0"),
    ("format.js", '"৳" + ', '"" + '),
]


def run(tree, *options):
    argv = ["node", "--test", "--test-reporter=tap", *options, "test/"]
    return subprocess.run(argv, cwd=tree, capture_output=True, text=True, timeout=100)


if json.loads(Path("web/package.json").read_text())["scripts"]["test"] not in ("node --test test/", "node --test"):
    no("npm test runs something else")
if any(
    word in path.read_text()
    for path in Path("web").rglob("*.js")
    for word in ("node:coverage", "c8 ignore", "istanbul")
):
    no("lines are left out of the coverage")
with tempfile.TemporaryDirectory() as folder:
    web = Path(folder) / "web"
    shutil.copytree("web", web, ignore=shutil.ignore_patterns("node_modules"))
    done = run(web, "--experimental-test-coverage")
    if done.returncode:
        no("npm test fails")
    for name in ("cart.js", "format.js", "views.js"):
        found = re.search(rf"^#.*\b{re.escape(name)}\s*\|\s*([\d.]+)", done.stdout, re.M)
        if not found or float(found[1]) < 100:
            no(f"{name}: {found[1] + ' %' if found else 'never loaded'}")
    for name, old, new in BREAKS:
        file = web / "src" / name
        text = file.read_text()
        if text.count(old) != 1:
            no(f"{name} was changed")
        file.write_text(text.replace(old, new))
        if run(web).returncode == 0:
            no(f"npm test is green without {old!r}")
        file.write_text(text)
