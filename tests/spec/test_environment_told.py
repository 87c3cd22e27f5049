"""What is said of a set-up that failed: its cause first, though pip prints that in the middle."""

from __future__ import annotations

from sisimpur.agents.qa.runner.environment_build import MOST_LINES, told
from sisimpur.shared.system.process import Finished

PIP = """Looking in links: /packages
  Installing build dependencies: finished with status 'error'
  error: subprocess-exited-with-error
  × pip subprocess to install build dependencies did not run successfully.
  ╰─> [3 lines of output]
      ERROR: Could not find a version that satisfies the requirement flit_core<4,>=3.2 (from versions: 4.2.0)
      ERROR: No matching distribution found for flit_core<4,>=3.2
      [end of output]
  note: This error originates from a subprocess, and is likely not a problem with pip.
error: subprocess-exited-with-error
× pip subprocess to install build dependencies did not run successfully.
│ exit code: 1
╰─> See above for output.
note: This error originates from a subprocess, and is likely not a problem with pip.
"""


def test_pips_cause_stands_before_its_last_lines() -> None:
    said = told(Finished(1, PIP.encode(), b"", "exited", 1.0)).splitlines()
    assert "flit_core<4,>=3.2 (from versions: 4.2.0)" in said[0] and len(said) == MOST_LINES


def test_without_an_error_line_the_last_lines_are_told() -> None:
    output = b"\n".join(b"line %d" % number for number in range(30))
    said = told(Finished(1, output, b"", "exited", 1.0))
    assert said.split() == [part for number in range(25, 30) for part in ("line", str(number))]


def test_the_compilers_cause_is_told_though_it_stands_behind_a_place() -> None:
    cause = "Modules/common.h:15:10: fatal error: lber.h: No such file or directory"
    output = "\n".join(["error: Command '['gcc']' failed", f"  {cause}", *map(str, range(30))])
    assert f"  {cause}" in told(Finished(1, output.encode(), b"", "exited", 1.0)).splitlines()
