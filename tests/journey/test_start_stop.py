"""The daemon as a process: begun, looked at, replaced, killed, asked to end. It has no goals, so it asks no model."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.orchestrator.day import Orchestrator
from sisimpur.cli.commands.daemon import StopTimeouts, start, stopped
from sisimpur.cli.commands.serving import Life
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import command
from sisimpur.cli.views import status as view
from sisimpur.cli.views.daemon_state import problems
from sisimpur.cli.wiring.config_watch import ConfigWatch
from sisimpur.cli.wiring.lifetime import Quitting, Stop
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.errors import Misconfigured, Replaced, Stumble
from sisimpur.shared.model.schedule import Wait
from sisimpur.shared.store.activity import STOPPED, Epoch, Epochs
from sisimpur.shared.store.database import Database
from sisimpur.shared.system import lock
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.keeping import FULL_OUTPUT
from sisimpur.shared.system.paths import Home
from sisimpur.shared.system.process import Finished, other, run
from tests.journey.stage import KEY, Stage

NEXT = r"(?:now: [a-z' ]+; )?next: [a-z' ]+ at \d\d:\d\d UTC(?: tomorrow)?"
ROOT = Path(__file__).parents[2]
ENVIRONMENT = {"PATH": os.environ["PATH"]}
NOBODY = "http://127.0.0.1:9"  # the model's address: without goals nobody asks there
QUICK = """
import sys; from pathlib import Path
from sisimpur.cli.terminal.arguments import Arguments; from sisimpur.cli.commands.serving import serve
sys.exit(serve(Arguments("start", Path(sys.argv[1])), {}, beat=0.2))
"""
STUBBORN = """
import signal, sys, time; from pathlib import Path; from sisimpur.shared.system.lock import hold
signal.signal(signal.SIGTERM, lambda *_: print("asked", flush=True))
with hold(Path(sys.argv[1])):
    print("held", flush=True)
    while True: time.sleep(60)
"""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path, NOBODY).set_up(vision="# Vision\n")
    yield stage
    pid = lock.holder(stage.home.lock)
    if pid.isdecimal() and int(pid) != os.getpid():
        with other(int(pid)) as process:
            if process:
                process.kill()


def at(stage: Stage, *words: str) -> Finished:
    argv = (sys.executable, str(ROOT / "main.py"), "--home", str(stage.home.root), *words)
    return run(argv, cwd=ROOT, env=ENVIRONMENT, timeout=60)


def status(stage: Stage) -> tuple[str, dict[str, Any]]:
    """Its first line, and what scripts read."""
    text, facts = StringIO(), StringIO()
    for output, as_json in ((text, False), (facts, True)):
        with redirect_stdout(output):
            assert view.status(Arguments("status", stage.home.root, json=as_json)) == 0
    return text.getvalue().splitlines()[0], json.loads(facts.getvalue())["daemon"]


def epoch(stage: Stage) -> Epoch:
    db = Database(stage.home.database)
    last = Epochs(db).last()
    db.close()
    assert last
    return last


def in_one_line(done: Finished) -> str:
    text = done.errors.decode()
    assert text.count("\n") == 1 and "Traceback" not in text
    return text


@contextmanager
def serving(stage: Stage) -> Iterator[subprocess.Popen[str]]:
    """One that looks five times a second, when it is ready."""
    with beside((sys.executable, "-c", QUICK, str(stage.home.root))) as one:
        hears(one, "ready: site; ")
        yield one


@contextmanager
def beside(argv: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """For so long, and at most for half a minute: whoever waits for its words or its end does not wait for ever."""
    out, both = subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(argv, cwd=ROOT, env=ENVIRONMENT, stdout=out, stderr=both, text=True) as one:
        limit = threading.Timer(30, one.kill)
        limit.start()
        try:
            yield one
        finally:
            limit.cancel()
            one.kill()


def hears(one: subprocess.Popen[str], words: str) -> str:
    assert one.stdout
    said = []
    for line in one.stdout:
        said.append(line)
        if words in line:
            return line
    raise AssertionError(f"it never said {words!r}, but: {''.join(said)}")


# --- begun and ended -----------------------------------------------------------------------------------------


def test_it_outlives_the_command_that_started_it_and_ends_when_it_is_asked(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    started = at(stage, "start")
    found = re.fullmatch(
        rf"started \(pid (\d+)\); {NEXT}\nsee: python3? .* status\n",
        started.text,
    )
    assert started.ok and found
    line, daemon = status(stage)
    assert re.search(
        rf"at work \(pid {found[1]}\) since [\d :-]+; {NEXT}; target site$",
        line,
    )
    assert (daemon["state"], daemon["pid"], daemon["ended"]) == ("running", int(found[1]), "")
    for foreground in (False, True):
        with pytest.raises(Misconfigured, match=rf"already at work on this home \(pid {found[1]}\)"):
            start(Arguments("start", stage.home.root, foreground=foreground))
    ended = at(stage, "stop")
    assert (ended.code, ended.text) == (0, f"asked it to end\nstopped (pid {found[1]})\n")
    line, daemon = status(stage)
    assert re.search(r": not running; it was stopped at [\d :-]+; target site$", line)
    assert (daemon["state"], daemon["how"], daemon["next"]) == ("stopped", STOPPED, "")
    assert stopped(stage.home) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "it is not running"


def test_killed_it_is_said_to_have_ended_without_a_word_and_the_next_start_goes_on(stage: Stage) -> None:
    assert at(stage, "start").ok
    with other(epoch(stage).pid) as one:
        assert one
        one.kill()
        assert one.has_ended(20)
    line, daemon = status(stage)
    assert re.search(r": not running: it ended at about [\d :-]+ without a word \(killed, or a power cut\)", line)
    assert line.endswith(f"; type: {_typed(stage)} start; target site") and daemon["state"] == "dead"
    assert at(stage, "start").ok
    assert (epoch(stage).number, status(stage)[1]["state"]) == (2, "running")


def test_what_was_cut_off_is_taken_up_by_the_command_that_the_owner_uses(stage: Stage) -> None:
    with stage.records() as records:
        for phase in ("planning", "work"):
            records.plans.phase_begins(records.day(), phase, records.clock.now())
        cut_off = list(problems(records, somebody=False))
        Epochs(records.db).begin(1, records.clock.now())
        cut_off_daemon = list(problems(records, somebody=False))
    type_ = f"was cut off; to go on, type: {_typed(stage)}"
    assert cut_off == [f"planning: {type_} run-day", f"work: {type_} run-day"]
    assert cut_off_daemon == [f"planning: {type_} start"]  # its window for work is open until the evening


def _typed(stage: Stage) -> str:
    return command(stage.home.root)


def test_ctrl_c_ends_one_in_the_foreground_as_well(stage: Stage) -> None:
    with serving(stage) as one:
        one.send_signal(signal.SIGINT)
        assert one.wait(20) == 0
    assert (epoch(stage).how, lock.holder(stage.home.lock)) == (STOPPED, "")


# --- what is said in the owner's terminal ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        pytest.param(lambda s: (s.home.config / ".env").unlink(), "write ANTHROPIC_API_KEY=... into", id="no key"),
        pytest.param(lambda s: s.given_config("policy", budget="{}"), "config/policy.yaml:", id="a wrong setting"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_begun(
    stage: Stage, spoil: Callable[[Stage], None], said: str
) -> None:
    spoil(stage)
    assert said in in_one_line(at(stage, "start"))
    assert not stage.home.database.exists() and not (stage.home.logs / "daemon.out").exists()


def test_the_last_words_of_one_that_cannot_work_are_said_and_kept(stage: Stage) -> None:
    with (stage.home.targets / "site.yaml").open("a") as file:
        file.write("forge: github\n")
    (stage.home.logs / "daemon.out").write_text("x" * (FULL_OUTPUT + 1))
    said = in_one_line(at(stage, "start"))
    assert said.startswith("start: it has ended at once: `forge: github` needs a `repo:` at https://github.com")
    line, daemon = status(stage)
    assert ": `forge: github` needs a `repo:`" in line and daemon["how"].startswith("`forge: github` needs")
    assert (stage.home.logs / "daemon.out").stat().st_size < FULL_OUTPUT  # only its end is kept


def test_keys_that_others_can_read_are_not_used(stage: Stage) -> None:
    (stage.home.config / ".env").chmod(0o644)
    assert in_one_line(at(stage, "start")).startswith("start: others can read")


def test_a_bug_is_named_with_the_file_that_has_its_trace(stage: Stage) -> None:
    with stage.records() as records, records.db.transaction() as db:
        db.execute("insert into visions (day, digest, vision_json, guards_json) values ('x', 'x', 'garbage', '[]')")
    done = at(stage, "start", "--foreground")
    path = in_one_line(done).split()[-1]
    assert done.code == 3 and "Traceback" in Path(path).read_text()
    assert epoch(stage).how.startswith("ValidationError: ") and epoch(stage).ended


def test_with_a_config_that_cannot_be_read_status_still_says_who_works(stage: Stage) -> None:
    with serving(stage) as one:
        stage.given_config("policy", budget="{}")
        done = at(stage, "status")
        assert done.code == 1 and "config/policy.yaml:" in in_one_line(done)
        assert f": at work (pid {one.pid}) since " in done.text
        assert "the daemon goes on with what it has read before" in done.text
        assert json.loads(at(stage, "status", "--json").text)["daemon"]["pid"] == one.pid
        assert stopped(stage.home) == 0


# --- what changes meanwhile ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_changed_config_counts_and_one_that_does_not_work_does_not(stage: Stage) -> None:
    target = stage.home.targets / "site.yaml"
    good = target.read_text()
    with serving(stage) as one:
        stage.given_config("schedules", time_zone="Asia/Tokyo")
        hears(one, "config/ has changed")
        hears(one, "ready: site")
        ready = epoch(stage).ready
        assert ready and ready.utcoffset() == timedelta(hours=9)
        stage.given_config("policy", budget="{}")
        assert "so what was read before goes on: config/policy.yaml:" in hears(one, "config/ cannot be used")
        stage.given_config("policy", budget="{task: 1.00, day: 5.00, month: 100.00}")
        target.write_text(f"{good}forge: github\n")
        assert "so what was read before goes on: `forge: github` needs" in hears(one, "does not work")
        hears(one, "ready: site")
        one.send_signal(signal.SIGTERM)
        assert one.wait(20) == 0
    assert epoch(stage).number == 1


def delete(stage: Stage) -> None:
    stage.home.lock.unlink()


def begin_another(stage: Stage) -> None:
    """As a second daemon does, which found no lock to stop it."""
    db = Database(stage.home.database)
    Epochs(db).begin(1, datetime.now(UTC))
    db.close()


@pytest.mark.parametrize(
    ("change", "said", "how"),
    [
        pytest.param(delete, "daemon.lock was replaced", "daemon.lock was replaced", id="the lock's file is gone"),
        pytest.param(begin_another, "another daemon has taken over", "", id="another one has begun"),
    ],
)
def test_one_that_was_replaced_while_it_was_suspended_ends_by_itself(
    stage: Stage, change: Callable[[Stage], None], said: str, how: str
) -> None:
    with serving(stage) as one:
        one.send_signal(signal.SIGSTOP)
        change(stage)
        one.send_signal(signal.SIGCONT)
        hears(one, said)
        assert one.wait(20) == 1
    assert how in epoch(stage).how


# --- somebody else is never ended ------------------------------------------------------------------------------


@contextmanager
def stubborn(stage: Stage) -> Iterator[subprocess.Popen[str]]:
    with beside((sys.executable, "-c", STUBBORN, str(stage.home.lock))) as one:
        hears(one, "held")
        yield one


def test_who_does_not_end_is_asked_again_and_then_killed(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    with stubborn(stage) as one:
        assert stopped(stage.home, StopTimeouts(0.5, 0.5, 10)) == 0
        assert (one.wait(5), one.stdout and one.stdout.read()) == (-signal.SIGKILL, "asked\nasked\n")
    assert capsys.readouterr().out.splitlines()[-4:] == [
        "asked it to end",
        "it takes long: asked again, to end at once",
        "ended it (kill -9; no work is lost, the next start goes on)",
        f"stopped (pid {one.pid})",
    ]


def test_a_number_in_the_lock_that_means_somebody_else_is_not_signalled(stage: Stage) -> None:
    innocent = [sys.executable, "-c", "import time; time.sleep(60)"]
    with stubborn(stage) as one, subprocess.Popen(innocent) as bystander:
        stage.home.lock.write_text(str(bystander.pid))
        with pytest.raises(Misconfigured, match=rf"pid {bystander.pid}\), but out of reach from here"):
            stopped(stage.home)
        time.sleep(0.2)
        assert (one.poll(), bystander.poll()) == (None, None)
        bystander.kill()


# --- when something is away at the beginning -------------------------------------------------------------------


@dataclass
class Away:
    """A team that cannot be opened: each time for the next of these reasons, then its owner stops it."""

    reasons: list[Exception]
    quit_: Quitting = field(default_factory=lambda: Quitting(Stop()))

    def __call__(self, records: Records, tell: Callable[[str], None], quit_: Quitting) -> Any:
        reason = self.reasons.pop(0)
        if not self.reasons and quit_.stop:
            quit_.stop.asked = True
        raise reason


def lives(home: Home, away: Away, clock: ManualClock, said: list[str]) -> list[str]:
    with lock.hold(home.lock) as held, open_records(home.root, {}, clock) as records:
        life = Life(records, held, ConfigWatch(home, {}, said.append), away.quit_, said.append, 30, away)
        with life.lived():
            life.serve()
    return said


def test_what_it_needs_to_begin_is_told_to_status(stage: Stage) -> None:
    clock = ManualClock(datetime(2026, 11, 20, 8, tzinfo=UTC))
    lives(stage.home, Away([Stumble("no network")]), clock, [])
    with open_records(stage.home.root, {}, clock) as records:
        last = Epochs(records.db).last()
    eight = datetime(2026, 11, 20, 8, tzinfo=UTC)
    assert last and last.waits == (Wait("start", eight, eight + timedelta(seconds=5), "no network"),)


def test_what_is_away_at_the_beginning_is_waited_for_longer_and_longer(stage: Stage) -> None:
    clock = ManualClock(datetime(2026, 11, 20, 8, tzinfo=UTC))
    said = lives(stage.home, Away([Stumble("no network")] * 9), clock, [])
    assert said == [
        *(f"no network; trying again in {seconds} s" for seconds in (5, 10, 20, 40, 80, 160, 320, 600, 600)),
        STOPPED,
    ]
    assert (
        clock.now() - datetime(2026, 11, 20, 8, tzinfo=UTC)
    ).total_seconds() == 5 + 10 + 20 + 40 + 80 + 160 + 320 + 600


def test_what_the_owner_has_to_mend_is_not_waited_for(stage: Stage) -> None:
    with pytest.raises(Misconfigured, match="mend it"):
        lives(stage.home, Away([Misconfigured("mend it")]), ManualClock(datetime(2026, 11, 20, tzinfo=UTC)), [])
    assert (epoch(stage).how, epoch(stage).ready) == ("mend it", None)


def test_a_secret_in_a_text_is_neither_said_nor_kept(stage: Stage) -> None:
    clock, said = ManualClock(datetime(2026, 11, 20, tzinfo=UTC)), list[str]()
    with pytest.raises(Misconfigured):
        lives(stage.home, Away([Stumble(f"no answer to {KEY}"), Misconfigured(f"{KEY} is not taken")]), clock, said)
    assert said == ["no answer to [removed: ANTHROPIC_API_KEY]; trying again in 5 s"]
    assert epoch(stage).how == "[removed: ANTHROPIC_API_KEY] is not taken"
    assert KEY.encode() not in stage.everything_written()


def test_while_it_waits_it_sees_that_it_was_replaced(stage: Stage) -> None:
    @dataclass
    class Replacing(Away):
        def __call__(self, records: Records, tell: Callable[[str], None], quit_: Quitting) -> Orchestrator:
            begin_another(stage)
            raise self.reasons.pop()

    with pytest.raises(Replaced, match="another daemon has taken over"):
        lives(stage.home, Replacing([Stumble("no network")]), ManualClock(datetime(2026, 11, 20, tzinfo=UTC)), [])
