"""Reads the few forms of YAML that workflows are written in."""
import re

from common import holds


def check(tree):
    running = []
    for path in sorted((tree / ".github/workflows").glob("*.y*ml")):
        text = re.sub(r"(^|\s)#.*", "", path.read_text("utf-8"))
        running += [text] * len(re.findall(r"npm (?:run )?test\b", text))
    if len(running) != 1:
        return f"the pages are tested by {len(running)} jobs"
    head = running[0].split("jobs:")[0]
    if "paths:" in head and not re.search(r"""-\s*["']?(web/\*\*|\*\*)["']?\s*$""", head, re.M):
        return "a change of web/ does not start the job"
    if not re.search(r"working-directory:\s*\.?/?web\b|cd web\b|--prefix web\b", running[0]):
        return "npm does not run in web/"
    return None


holds(check)
