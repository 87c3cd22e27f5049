"""Kills at random moments, in real time, until nothing is left to go wrong. `make chaos` (half an hour).

The demo's day with everything real but the model: engine, boxes, tests, a site that is deployed and taken back. Each
kill is of the program alone, of it and all that it has started, or of one of these while it goes on. Homes take turns
with a day (`run-day`) and a daemon (`start --foreground`). After some kills the day is let to its end, and another
program, which shares no code with ours, looks whether the laws hold (checker.py).
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from bench.chaos.victims import Victims
from sisimpur.cli.commands.offline import demo_home

ROOT = Path(__file__).parents[2]
CHECKER = Path(__file__).with_name("checker.py")
KEY = "a-key-that-only-the-scripted-model-takes"
CAP = 5 * 10**9  # nano-dollars; the default of a day
ALL_DAY = 'phases: {morning: "00:00", research: "00:01", planning: "00:02", work: "00:03", wrap_up: "23:59"}'
LIVES = {"day": ("run-day",), "daemon": ("start", "--foreground")}
WAYS = ("the program", "all of it", "a child")
EACH = 20  # kills, before a home is let to its end
LONGEST = 5.0  # seconds that a life may last
PATIENCE = 600  # seconds that the last, calm day of a home may last


@dataclass
class Chaos:
    """What has been killed, and what it has broken."""

    luck: random.Random
    kills: Counter[tuple[str, str]] = field(default_factory=Counter)  # (life, way)
    victims: Counter[str] = field(default_factory=Counter)  # names of children
    ends: Counter[str] = field(default_factory=Counter)  # of tasks
    broken: list[str] = field(default_factory=list)

    def home(self, folder: Path, life: str, kills: int) -> None:
        with demo_home(folder, say=lambda _: None) as (model, _):
            _is_patient(folder / "home", all_day=life == "daemon")
            while kills > 0 and (killed := self._life(folder / "home", life)):
                kills -= killed
            calm = _program(folder / "home", "run-day")
            try:
                calm.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._breaks("the last day comes to no end")
                Victims(calm.pid).kill_all()
            words = (sys.executable, "-I", str(CHECKER), str(folder), str(model.billed), str(CAP), KEY)
            found = subprocess.run(words, capture_output=True, text=True, check=False)
            for line in (found.stdout + found.stderr).splitlines():
                if line.strip():
                    self._breaks(line)
            for name in ("backlog", "in_progress", "in_review", "completed", "failed"):
                self.ends[name] += len(list((folder / "home" / "tasks" / name).glob("*.md")))

    def _life(self, home: Path, life: str) -> int:
        """Begin it, and kill in it until it is dead -> kills; 0: it came to its end by itself before the first."""
        program = _program(home, *LIVES[life])
        victims, killed = Victims(program.pid), 0
        while program.poll() is None:
            if _ended_within(program, self.luck.uniform(0.1, LONGEST)):
                break
            way = self.luck.choice(WAYS)
            if way == "a child":
                name = victims.kill_one(self.luck)
                if not name:
                    continue
                self.victims[name] += 1
            elif way == "all of it":
                victims.kill_all()
            else:
                program.kill()
            killed += 1
            self.kills[life, way] += 1
        said = program.communicate()[0]
        if "Traceback (most recent call last)" in said:
            self._breaks(f"{life} ended with a trace: {said[-800:]}")
        return killed

    def _breaks(self, words: str) -> None:
        self.broken.append(words)
        print(f"BROKEN: {words}", flush=True)


def _program(home: Path, *words: str) -> subprocess.Popen[str]:
    argv = [sys.executable, str(ROOT / "main.py"), "--home", str(home), *words]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _ended_within(program: subprocess.Popen[str], seconds: float) -> bool:
    try:
        program.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _is_patient(home: Path, all_day: bool) -> None:
    """A task may be cut off more often than an owner would bear; a daemon works at any hour."""
    policy = home / "config" / "policy.yaml"
    policy.write_text(policy.read_text().replace("lost: 5", "lost: 20"))
    schedules = home / "config" / "schedules.yaml"
    if all_day:
        text = re.sub("(?m)^phases:.*$", ALL_DAY, schedules.read_text())
        schedules.write_text(re.sub("(?m)^catch_up_hours:.*$", "catch_up_hours: 24", text))


def main() -> int:
    """Prints a table; 1 if a law is broken."""
    parser = argparse.ArgumentParser(prog="python -m bench.chaos", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--luck", type=int, default=int(time.time()))
    given = parser.parse_args()
    print(f"luck: {given.luck}", flush=True)
    chaos, began, homes = Chaos(random.Random(given.luck)), time.monotonic(), 0
    while chaos.kills.total() < given.kills:
        life = list(LIVES)[homes % len(LIVES)]
        with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
            chaos.home(Path(folder), life, min(EACH, given.kills - chaos.kills.total()))
        homes += 1
        print(f"home {homes} ({life}): {chaos.kills.total()} kills, {len(chaos.broken)} broken", flush=True)
    for (life, way), count in sorted(chaos.kills.items()):
        print(f"{life:<8}{way:<14}{count:>5}")
    print(f"children: {', '.join(f'{name} {count}' for name, count in chaos.victims.most_common())}")
    print(f"tasks: {', '.join(f'{count} {name}' for name, count in chaos.ends.items() if count)}")
    seconds = time.monotonic() - began
    print(f"{chaos.kills.total()} kills in {homes} homes, {seconds:.0f} s; {len(chaos.broken)} laws broken")
    return int(bool(chaos.broken))


if __name__ == "__main__":
    raise SystemExit(main())
