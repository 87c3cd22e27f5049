# mypy: ignore-errors
"""A backup that fails leaves all that was there, ends with an error and takes no name; a whole one takes its name."""

import os
import sys

TREE = sys.argv[1]
sys.path.insert(0, TREE)
os.chdir(TREE)


def no(why):
    print(why)
    sys.exit(1)


import subprocess
import tempfile
import time
from datetime import date
from pathlib import Path

SQLITE = """#!/bin/sh
# writes half of what was asked for when the disk is full
out=$(printf '%s' "$*" | sed -n "s/.*\\.backup *['\\"]*\\([^'\\" ]*\\)['\\"]*.*/\\1/p")
case "$*" in *integrity_check*|*quick_check*) echo ok; exit 0;; esac
[ -n "$out" ] || out=$(sed -n "s/.*\\.backup *['\\"]*\\([^'\\" ]*\\)['\\"]*.*/\\1/p")
[ -n "$out" ] || exit 2
if [ -e FULL ]; then printf half > "$out"; echo "disk full" >&2; exit 1; fi
printf whole > "$out"
"""


def state(folder):
    return {path.name: path.read_text() for path in folder.glob("*.db")}


with tempfile.TemporaryDirectory() as place:
    root = Path(place)
    tools, backup, data = root / "bin", root / "backup", root / "data"
    for each in (tools, backup, data):
        each.mkdir()
    (data / "haat.db").write_text("live")
    (tools / "sqlite3").write_text(SQLITE.replace("FULL", str(root / "full")))
    (tools / "sqlite3").chmod(0o755)
    text = Path("scripts/backup.sh").read_text()
    script = root / "backup.sh"
    script.write_text(text.replace("/backup", str(backup)).replace("/data/", f"{data}/"))
    shell = "bash" if "bash" in text.splitlines()[0] else "sh"

    def run():
        path = f"{tools}:{os.environ['PATH']}"
        return subprocess.run(
            [shell, str(script)],
            cwd=root,
            env={"PATH": path, "TMPDIR": str(root), "HOME": str(root)},
            capture_output=True,
        ).returncode

    def old():
        for name, days in (("haat-2020-01-01.db", 40), ("haat-2020-02-01.db", 10)):
            (backup / name).write_text("old")
            os.utime(backup / name, (time.time() - days * 86400,) * 2)

    old()
    today = backup / f"haat-{date.today()}.db"
    today.write_text("by hand")
    (root / "full").touch()
    before = state(backup)
    if run() == 0:
        no("cron does not get to know that the backup failed")
    if state(backup) != before:
        no(
            "a backup that failed changed what was there: "
            + ", ".join(sorted(before.items() ^ state(backup).items())[0])
        )
    today.unlink()
    before = state(backup)
    if run() == 0 or state(backup) != before:
        no("a backup that failed left something under a backup's name")
    (root / "full").unlink()
    if run():
        no("a whole backup ends with an error")
    if state(backup) != {today.name: "whole", "haat-2020-02-01.db": "old"}:
        no(f"after a whole backup there are {sorted(state(backup))}")
    if len(list(backup.iterdir())) != 2:
        no("a whole backup leaves a part behind")
    if (data / "haat.db").read_text() != "live":
        no("the database itself was changed")
