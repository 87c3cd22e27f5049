"""What must hold after every crash and restart, whatever the day was: one line per invariant, I1 to I18."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sisimpur.cli.wiring.records import Records
from sisimpur.shared.forge.forge import Forge, Pull
from sisimpur.shared.forge.local_forge import LocalForge
from sisimpur.shared.model.errors import Replaced
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.store.activity import Epochs
from sisimpur.shared.store.database import Database
from sisimpur.shared.system import lock
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.stage import KEY, Stage
from tests.mailbox import Mailbox
from tests.readable import check_record

GARBAGE = b"\xff\xfe\x00 this is no task"
CANARY = "ghp_CanaryCanaryCanaryCanaryCanaryCana"  # stands in a file of the target that no task is about
KEPT = {".state/daemon.lock", ".state/forge/site.git/forge.lock"}  # locks are held, not there
SENT = ("notice.sending", "notice.sent")  # died here: nobody knows whether the message is there


@dataclass(frozen=True)
class Scene:
    """A home at rest, and what stands around it. `died_at`: the last fault points of the lives before, in order."""

    stage: Stage
    model: ScriptedModel
    records: Records
    forge: Forge
    tasks: Sequence[str]
    died_at: Sequence[str] = ()
    said: str = ""  # what all lives printed
    garbage: Path | None = None
    pulls: dict[str, list[Pull]] = field(default_factory=dict)  # by task

    @property
    def merged(self) -> list[tuple[str, Pull]]:
        return [(task, pull) for task, pulls in self.pulls.items() for pull in pulls if pull.state == "merged"]


def check_invariants(
    stage: Stage, model: ScriptedModel, tasks: Sequence[str], died_at: Sequence[str] = (), said: str = ""
) -> None:
    """An AssertionError that names the broken one. I6 is missing: nothing is deployed yet."""
    with stage.records() as records:
        forge = records.forge()
        assert forge
        garbage = next(iter(stage.home.tasks(State.BACKLOG).glob("garbage*")), None)
        scene = Scene(stage, model, records, forge, tasks, died_at, said, garbage)
        for pull in forge.list_pulls(every=True):
            scene.pulls.setdefault(_task_of(pull, tasks), []).append(pull)
        for number, holds in INVARIANTS.items():
            try:
                holds(scene)
            except AssertionError as failure:
                what = " ".join((holds.__doc__ or "").split())
                raise AssertionError(f"{number}, {what} Died at {list(died_at)}. {failure}") from failure


def _task_of(pull: Pull, tasks: Sequence[str]) -> str:
    return next((task for task in tasks if task in pull.head), "")


def each_task_is_in_one_folder(scene: Scene) -> None:
    """A task id is in exactly one folder."""
    found = Counter(id_ for ids in scene.records.store.names().values() for id_ in ids)
    assert {id_: count for id_, count in found.items() if count != 1} == {}


def one_pull_request_each(scene: Scene) -> None:
    """At most one open pull request per task, and one merged at most; no branch of ours is left without one."""
    for pulls in scene.pulls.values():
        states = Counter(pull.state for pull in pulls)
        assert states["open"] <= 1 and states["merged"] <= 1
    refs = scene.stage.forge("for-each-ref", "--format=%(refname:short)", "refs/heads").split()
    assert set(refs) <= {"main"} | {p.head for pulls in scene.pulls.values() for p in pulls if p.state == "open"}


def each_comment_once(scene: Scene) -> None:
    """Each comment key is there once, each commit is reviewed once."""
    for _, pull in ((task, pull) for task, pulls in scene.pulls.items() for pull in pulls):
        ours = Counter(one.body for one in scene.forge.comments(pull.number) if one.ours and not one.verdict)
        assert set(ours.values()) <= {1}
        reviews = Counter(review.sha for review in scene.forge.reviews(pull.number))
        assert set(reviews.values()) <= {1}


def each_message_once(scene: Scene) -> None:
    """Each message is there once, twice only where we died between sending and booking; the report is there."""
    keys = Counter(Mailbox(scene.stage.root / "box").told())
    doubled = sum(count - 1 for count in keys.values())
    assert doubled <= sum(point in SENT for point in scene.died_at)
    assert any(key.endswith(":day") for key in keys)


def merged_is_tested_is_reviewed(scene: Scene) -> None:
    """At most one merge per task, and what was merged was tested and reviewed, to the last byte."""
    history = scene.stage.forge("log", "--first-parent", "--format=%s", "main").splitlines()
    ours = [str(pull.number) for _, pull in scene.merged]
    assert sorted(re.sub(r"^[a-z]+: .* \(#(\d+)\)$", r"\1", subject) for subject in history) == sorted([*ours, "first"])
    for task, pull in scene.merged:
        assert pull.merge_sha
        evidence = scene.records.gates.evidence(task, pull.head_sha)
        reviewed = scene.records.gates.reviewed(task, pull.head_sha)
        assert evidence and not evidence.is_red
        assert reviewed and reviewed.commit == evidence.commit
        tested, there = (scene.stage.forge("rev-parse", f"{sha}^{{tree}}") for sha in (evidence.commit, pull.merge_sha))
        assert there == tested


def no_task_is_lost(scene: Scene) -> None:
    """What was planned is there, with a history that ends where its file lies."""
    names = scene.records.store.names()
    where = {id_: state for state, ids in names.items() for id_ in ids}
    known = scene.records.journal.every_task()
    assert set(scene.tasks) <= set(where)
    assert {task: known[task].seen_in for task in scene.tasks} == {task: where[task] for task in scene.tasks}
    assert scene.records.journal.unfinished_moves() == []


def completed_is_merged(scene: Scene) -> None:
    """A completed task's change is at the forge."""
    completed = set(scene.records.store.names()[State.COMPLETED])
    assert completed & set(scene.tasks) <= {task for task, _ in scene.merged}


def every_cent_is_booked(scene: Scene) -> None:
    """Each day's ledger is at most its cap, and all days together are at least what the vendor has billed."""
    rows = scene.records.db.rows("select day, sum(amount) as used from calls where state <> 'refused' group by day")
    cap = scene.records.settings.policy.budget.day
    assert [row["day"] for row in rows if row["used"] > cap] == []
    assert sum(row["used"] for row in rows) >= scene.model.billed
    assert scene.records.db.rows("select id from calls where state = 'open'") == []


def attempts_are_bounded(scene: Scene) -> None:
    """No task was tried more often than it may be; each death costs it one attempt at most."""
    limits = scene.records.settings.policy.attempts.limits
    for task in scene.tasks:
        tried = scene.records.journal.every_task()[task].tried
        assert tried.lost <= min(limits.lost, len(scene.died_at))
        assert tried.failed <= limits.failed and tried.sent_back <= limits.rounds + 1


def nothing_of_the_dead_remains(scene: Scene) -> None:
    """No process, box folder, temporary file, lock or open run is left of anybody."""
    home = scene.stage.home
    if isinstance(scene.forge, LocalForge):
        scene.forge.release()  # it keeps a git while it is looked at
    assert [*home.work.iterdir(), *home.temporary.iterdir()] == []
    assert _processes_about(home.root) == []
    assert lock.holder(home.lock) == ""
    left = (*home.root.rglob("*.tmp"), *home.state.rglob("*.lock"), *home.state.rglob("*.sock"))
    assert {str(path.relative_to(home.root)) for path in left} <= KEPT
    assert scene.records.db.rows("select id from agent_runs where ended_at is null") == []
    for kept in (home.mirror("site"), home.forge("site")):
        assert [path.name for path in kept.glob("refs/scratch/*")] == []


def _processes_about(home: Path) -> list[str]:
    """Command lines of other processes that name it."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if os.fsencode(home) in words:
                found.append(words.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


def logs_can_be_read(scene: Scene) -> None:
    """Every line of every log parses."""
    for path in scene.stage.home.logs.glob("*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            assert isinstance(json.loads(line), dict)


def no_secret_is_out(scene: Scene) -> None:
    """No canary stands in what we wrote, said, sent to the forge, to the owner or to a model."""
    texts = [pull.body for pulls in scene.pulls.values() for pull in pulls]
    texts += [one.body for pulls in scene.pulls.values() for p in pulls for one in scene.forge.comments(p.number)]
    texts += [json.dumps(message) for message in Mailbox(scene.stage.root / "box").messages()]
    texts += [json.dumps(request.body) for request in scene.model.requests]
    everything = scene.stage.everything_written() + "\0".join((*texts, scene.said)).encode()
    for canary in (KEY, CANARY):
        assert canary.encode() not in everything


def a_second_crash_changes_nothing(scene: Scene) -> None:
    """Every life but the last ended without a word, and each of them is remembered as one."""
    rows = scene.records.db.rows("select how, ended_at from epochs order by number")
    assert [row["ended_at"] for row in rows if row["ended_at"] is None] == []
    assert {row["how"] for row in rows[-1:]} <= {"stopped"}
    assert len([row for row in rows if row["how"] == "cut off"]) <= len(scene.died_at)


def garbage_is_named_and_kept(scene: Scene) -> None:
    """A file that is no task stays as it is, and the owner is told of it."""
    if scene.garbage:
        assert scene.garbage.read_bytes() == GARBAGE
        assert scene.garbage.name in scene.stage.home.progress.read_text()


def the_dead_write_nothing(scene: Scene) -> None:
    """Who belongs to an older epoch is refused in each transaction."""
    newest = Epochs(scene.records.db).last()
    if newest and newest.number > 1:
        late = Database(scene.stage.home.database)
        late.guard(newest.number - 1)
        try:
            with pytest.raises(Replaced), late.transaction():
                pass
        finally:
            late.close()


def nothing_is_left_in_between(scene: Scene) -> None:
    """Each outward effect that was planned is known to be done, unless its attempt was overtaken before."""
    assert scene.records.db.rows("select key from intents where state = 'planned'") == []


def the_record_can_be_read(scene: Scene) -> None:
    """Audit, conversations, figures and events are whole, or say what is missing."""
    check_record(scene.records)


INVARIANTS: dict[str, Callable[[Scene], None]] = {
    "I1": each_task_is_in_one_folder,
    "I2": one_pull_request_each,
    "I3": each_comment_once,
    "I4": each_message_once,
    "I5": merged_is_tested_is_reviewed,
    "I7": no_task_is_lost,
    "I8": completed_is_merged,
    "I9": every_cent_is_booked,
    "I10": attempts_are_bounded,
    "I11": nothing_of_the_dead_remains,
    "I12": logs_can_be_read,
    "I13": no_secret_is_out,
    "I14": a_second_crash_changes_nothing,
    "I15": garbage_is_named_and_kept,
    "I16": the_dead_write_nothing,
    "I17": nothing_is_left_in_between,
    "I18": the_record_can_be_read,
}
