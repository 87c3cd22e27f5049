import os
import subprocess
import sys
import tempfile
from pathlib import Path

from common import holds

FAKE = """#!/bin/sh
case "$1" in
-c) shift; exec {real} -c 'import sys; sys.version_info = ({major}, {minor}, 1, "final", 0); sys.version = "{major}.{minor}.1"; code = sys.argv[1]; sys.argv[1:2] = []; exec(code)' "$@" ;;
-V|--version) echo "Python {major}.{minor}.1" ;;
*) echo "$@" >> "$LOG" ;;
esac
"""


def installs(tree, major, minor):
    """Whether install.sh goes as far as pip with a Python of this version."""
    with tempfile.TemporaryDirectory() as folder:
        fake, log = Path(folder, "python3"), Path(folder, "log")
        fake.write_text(FAKE.format(real=sys.executable, major=major, minor=minor))
        fake.chmod(0o755)
        log.touch()
        env = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": folder, "LOG": str(log)}
        done = subprocess.run(["sh", str(tree / "install.sh")], env=env, capture_output=True, text=True, timeout=30)
        went = "pip install" in log.read_text()
        if went != (done.returncode == 0):
            raise AssertionError(f"{major}.{minor}: exit {done.returncode}, pip {'ran' if went else 'did not run'}")
        return went


def check(tree):
    for version, wanted in (((2, 7), False), ((3, 9), False), ((3, 10), True), ((3, 13), True), ((4, 0), True)):
        if installs(tree, *version) != wanted:
            return f"Python {version[0]}.{version[1]} is {'refused' if wanted else 'taken'}"
    return None


holds(check)
