"""What must hold of a home at rest, whoever was killed there before. It shares no code with the product.

`python -I checker.py PLACE BILL CAP KEY`: the folder that the demo makes, what the model's vendor has billed so far and
what may be spent on a day (nano-dollars), and a secret. Prints each law that is broken; 1 if one is.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

FOLDERS = ("backlog", "in_progress", "in_review", "completed", "failed")
STAGE = {"ours", "stage"}  # what every box is built from
FINAL = {"healthy", "rolled back", "failed", "overruled", "stuck", "left"}


class Place:
    """What lies in the folder: books are read by SQL, repositories by git, processes from /proc."""

    def __init__(self, folder: Path, bill: int, cap: int, key: str) -> None:
        self.folder, self.home, self.bill, self.cap, self.key = folder, folder / "home", bill, cap, key
        self.state = self.home / ".state"
        self.forge = self.state / "forge" / "exam_site.git"

    def rows(self, sql: str, book: Path | None = None) -> list[sqlite3.Row]:
        with closing(sqlite3.connect(f"file:{book or self.state / 'agents.db'}?mode=ro", uri=True)) as db:
            db.row_factory = sqlite3.Row
            return db.execute(sql).fetchall()

    def git(self, *words: str, folder: Path | None = None) -> str:
        words = ("git", "-c", "safe.directory=*", "-C", str(folder or self.forge), *words)
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()

    @property
    def pulls(self) -> list[sqlite3.Row]:
        return self.rows("select * from item where kind = 'pull'", self.forge / "forge.db")

    @property
    def tasks(self) -> dict[str, list[str]]:
        """Folder -> the ids of the tasks there."""
        return {name: [path.stem for path in (self.home / "tasks" / name).glob("*.md")] for name in FOLDERS}


Broken = Iterator[str]


def books_are_whole(place: Place) -> Broken:
    for book in (place.state / "agents.db", place.forge / "forge.db"):
        for (said,) in place.rows("pragma integrity_check", book):
            if said != "ok":
                yield f"{book.name}: {said}"
    for folder in (place.forge, place.state / "mirror" / "exam_site.git"):
        place.git("fsck", "--connectivity-only", "--no-dangling", folder=folder)


def money_is_booked(place: Place) -> Broken:
    days = place.rows("select day, sum(amount) as used from calls where state <> 'refused' group by day")
    yield from (f"{day['day']}: {day['used']} of {place.cap}" for day in days if day["used"] > place.cap)
    booked = sum(day["used"] for day in days)
    if booked < place.bill:
        yield f"{booked} is booked, {place.bill} was billed"
    if open_ := place.rows("select id from calls where state = 'open'"):
        yield f"{len(open_)} calls are still open"


def each_task_is_somewhere_once(place: Place) -> Broken:
    found = Counter(id_ for ids in place.tasks.values() for id_ in ids)
    known = {row["id"] for row in place.rows("select id from tasks")}
    yield from (f"{id_} lies in {count} folders" for id_, count in found.items() if count > 1)
    yield from (f"{id_} is lost" for id_ in known - set(found))
    if moves := place.rows("select task from task_events where done = 0"):
        yield f"{len(moves)} moves are not done"


def main_is_what_was_merged(place: Place) -> Broken:
    subjects = place.git("log", "--first-parent", "--format=%s", "main").splitlines()[:-1]
    merged = [f"(#{pull['number']})" for pull in place.pulls if pull["state"] == "merged"]
    if sorted(subject.rpartition(" ")[2] for subject in subjects) != sorted(merged):
        yield f"main has {sorted(subjects)}, the forge has merged {sorted(merged)}"


def merged_is_tested_and_reviewed(place: Place) -> Broken:
    looks = place.rows("select * from gate_runs where answer_json is not null")
    for pull in (one for one in place.pulls if one["state"] == "merged"):
        task = re.search(r"sisimpur-key (\d+-\d+):pr", pull["body"])
        if not task:
            continue  # it takes a sick commit back
        tree = place.git("rev-parse", f"{pull['merge_sha']}^{{tree}}")
        of_task = [(look["kind"], json.loads(look["answer_json"])) for look in looks if look["task"] == task[1]]
        tested = [answer for kind, answer in of_task if kind == "check" and answer["tree"] == tree]
        good = {one["commit"] for one in tested if not one["failed"] and not one["problems"]}
        if not good:
            yield f"#{pull['number']}: no good test of the tree that was merged"
        if not any(kind == "review" and answer["commit"] in good for kind, answer in of_task):
            yield f"#{pull['number']}: no review of what was merged"


def completed_is_merged(place: Place) -> Broken:
    merged = "\n".join(pull["body"] for pull in place.pulls if pull["state"] == "merged")
    yield from (f"{id_} is completed, not merged" for id_ in place.tasks["completed"] if f"key {id_}:pr" not in merged)


def nothing_is_left_in_between(place: Place) -> Broken:
    questions = {
        "effects are planned": "select key from intents where state = 'planned'",
        "runs have no end": "select id from agent_runs where ended_at is null",
        "lives have no end": "select number from epochs where ended_at is null",
        "attempts have no end": "select task from attempts where outcome is null",
    }
    for what, sql in questions.items():
        if found := [row[0] for row in place.rows(sql)]:
            yield f"{what}: {found}"
    for deploy in place.rows("select * from deploys"):
        if deploy["stage"] not in FINAL or not deploy["settled"]:
            yield f"deploy {deploy['number']} is {deploy['stage']}, settled: {deploy['settled']}"


def what_is_served_is_the_newest_healthy(place: Place) -> Broken:
    healthy = place.rows("select commit_id from deploys where stage = 'healthy' order by number desc limit 1")
    live = (place.folder / "site" / "live").read_text().splitlines()
    if healthy and live[0] != healthy[0]["commit_id"]:
        yield f"{live[0]} is served, {healthy[0]['commit_id']} was healthy last"
    if healthy and healthy[0]["commit_id"] not in place.git("rev-list", "--first-parent", "main").split():
        yield f"{healthy[0]['commit_id']} is served and is not of main"


def nothing_is_left_behind(place: Place) -> Broken:
    for folder in (place.state / "work", place.state / "tmp"):
        yield from (f"{path} is left" for path in folder.glob("*") if path.name not in STAGE)
    yield from (f"{path} is left" for path in place.home.rglob("*.tmp"))
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes()
            about = os.fsencode(place.home) in words and os.fsencode(f"{place.home}.releases") not in words
            if about and int(entry.name) != os.getpid():
                yield f"process {entry.name} runs: {words.decode('utf-8', 'replace')[:200]!r}"


def logs_can_be_read(place: Place) -> Broken:
    for path in (place.home / "logs").glob("*.jsonl"):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            try:
                json.loads(line)
            except ValueError:
                yield f"{path.name}:{number} is no JSON"


def the_key_is_nowhere(place: Place) -> Broken:
    for path in place.folder.rglob("*"):
        is_plain = path.is_file() and not path.is_symlink() and path != place.home / "config" / ".env"
        if is_plain and place.key.encode() in path.read_bytes():
            yield f"{path} holds the key"


LAWS = (
    books_are_whole,
    money_is_booked,
    each_task_is_somewhere_once,
    main_is_what_was_merged,
    merged_is_tested_and_reviewed,
    completed_is_merged,
    nothing_is_left_in_between,
    what_is_served_is_the_newest_healthy,
    nothing_is_left_behind,
    logs_can_be_read,
    the_key_is_nowhere,
)


def main(folder: str, bill: str, cap: str, key: str) -> int:
    place, broken = Place(Path(folder), int(bill), int(cap), key), []
    for law in LAWS:
        try:
            broken += [f"{law.__name__.replace('_', ' ')}: {words}" for words in law(place)]
        except (OSError, sqlite3.Error, subprocess.CalledProcessError) as error:
            broken.append(f"{law.__name__.replace('_', ' ')}: cannot be read: {error}")
    print("\n".join(broken))
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
