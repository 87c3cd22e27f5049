# mypy: ignore-errors
"""Every page but the index has examples; each page passes for itself; nothing is skipped or left out."""

import os
import sys

TREE = sys.argv[1]
sys.path.insert(0, TREE)
os.chdir(TREE)


def no(why):
    print(why)
    sys.exit(1)


import doctest
import subprocess
from pathlib import Path

RUN = """
import doctest, sys
result = doctest.testfile(sys.argv[1], module_relative=False, encoding="utf-8", report=False)
print()
print(result.attempted, result.failed)
"""
examples = {}
for page in sorted(Path("docs").rglob("*.md")):
    text = page.read_text()
    examples[page.name] = doctest.DocTestParser().get_examples(text)
    if "doctest:" in text:
        no(f"{page.name} tells doctest what to overlook")
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(page)], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": TREE}
    )
    tried, failed = done.stdout.split()[-2:] if done.returncode == 0 else ("0", "1")
    if failed != "0":
        no(f"{page.name}: {failed} of {tried} examples fail")
    if tried == "0" and page.name != "index.md":
        no(f"{page.name} has no example")
for name in ("amounts.md", "formatting.md", "own.md", "shares.md"):
    if not any(each.want for each in examples.get(name, [])):
        no(f"{name} shows no result")
if "'₹1,23,456.00'\n" not in [each.want for each in examples["formatting.md"]]:
    no("the example that was there is gone")
if not any(
    "split(3)" in each.source and "33.34" in each.want and each.want.count("33.33") == 2
    for each in examples["shares.md"]
):
    no("the page of shares does not show 100 taka for three")
