"""A home and what stands around it <-> a folder of plain text that git can keep: `freeze` and `thaw`.

A database is the SQL that makes it, a repository is git's own export of all its references, a Python file has one more
ending so that no tool of ours takes it for our own. What a start makes anew or throws away is left out, as are keys.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = "{{ROOT}}"  # stands for the folder that holds the home
LEFT_OUT = {"work", "tmp", "hooks", "__pycache__", "daemon.lock", "forge.lock", "meter.sock", ".env"}
PICTURE, DATABASE, PYTHON = ".png", ".db", ".py"
SQL, KEPT, HISTORY = ".sql", ".kept", "history.export"
OF_A_BARE_ONE = {"HEAD", "config", "forge.db"}  # are kept beside its history
GIT = {
    "PATH": "/usr/bin:/bin:/usr/local/bin",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


class NotPlain(Exception):
    """Something in the home is no text, or names a place of this machine."""


def freeze(root: Path, folder: Path) -> None:
    """Keep everything below `root` in `folder`, which is replaced. NotPlain: a file cannot be kept as plain text."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in _walked(root):
        kept = folder / path.relative_to(root)
        kept.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            kept.mkdir()
            (kept / HISTORY).write_bytes(_git(path, "fast-export", "--all"))
        elif path.suffix == DATABASE:
            _write(kept.with_name(kept.name + SQL), "".join(dump(path)), root)
        elif path.suffix != PICTURE:
            ending = KEPT if path.suffix == PYTHON else ""
            _write(kept.with_name(kept.name + ending), path.read_text("utf-8"), root)
    _check(root, folder)


def thaw(folder: Path, root: Path) -> Path:
    """Lay out a frozen folder below `root`, which is created, and return the home. The file of keys is missing."""
    for history in folder.rglob(HISTORY):
        _thaw_repository(history, root / history.relative_to(folder).parent)
    for path in (path for path in folder.rglob("*") if path.is_file() and path.name != HISTORY):
        place = root / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text("utf-8").replace(ROOT, str(root))
        if path.suffix == SQL:
            load(place.with_suffix(""), text)
        else:
            (place.with_suffix("") if path.suffix == KEPT else place).write_text(text, "utf-8")
    (root / "home" / ".state").chmod(0o700)
    return root / "home"


def _walked(folder: Path) -> Iterator[Path]:
    """Yield files, and each repository as its folder; skip what is left out."""
    for path in sorted(folder.iterdir()):
        if path.name in LEFT_OUT or path.is_symlink() or not (path.is_dir() or path.is_file()):
            continue
        if path.is_file():
            yield path
        elif not _is_repository(path):
            yield from _walked(path)
        else:
            yield path
            yield from (inner for inner in sorted(path.iterdir()) if inner.name in OF_A_BARE_ONE)


def _is_repository(folder: Path) -> bool:
    return (folder / ".git").is_dir() or (folder / "objects").is_dir()


def _write(path: Path, text: str, root: Path) -> None:
    path.write_text(text.replace(str(root), ROOT), "utf-8")


def _check(root: Path, folder: Path) -> None:
    """Raise NotPlain if the folder names a place of this machine, or does not thaw to what was frozen."""
    ours = (str(Path(__file__).parents[2]), tempfile.gettempdir(), str(Path.home()))
    for path in (path for path in folder.rglob("*") if path.is_file()):
        text = path.read_text("utf-8")
        if found := [place for place in ours if place != "/" and place in text]:
            raise NotPlain(f"{path} names {found[0]}")
    with tempfile.TemporaryDirectory() as place:
        again = Path(place) / "again"
        thaw(folder, again)
        for path in _walked(root):
            if _essence(path, root) != _essence(again / path.relative_to(root), again):
                raise NotPlain(f"{path} does not come out as it went in")


def _essence(path: Path, root: Path) -> bytes:
    """Return the part of a repository, a database or a file that must survive freezing."""
    if path.is_dir():
        return _references(path)
    if path.suffix == PICTURE:
        return b""
    text = "".join(dump(path)) if path.suffix == DATABASE else path.read_text("utf-8")
    return text.replace(str(root), ROOT).encode()


# --- repositories --------------------------------------------------------------------------------------------


def _thaw_repository(history: Path, repository: Path) -> None:
    repository.mkdir(parents=True)
    is_bare = history.with_name("HEAD").exists()
    _git(repository, "init", "-q", "-b", "main", *(["--bare"] if is_bare else []))
    _git(repository, "fast-import", "--quiet", given=history.read_bytes())
    if not is_bare:
        _git(repository, "reset", "-q", "--hard")


def _references(repository: Path) -> bytes:
    return _git(repository, "for-each-ref") + _git(repository, "rev-parse", "--symbolic-full-name", "HEAD")


def _git(repository: Path, *words: str, given: bytes = b"") -> bytes:
    argv = ["git", "-C", os.fspath(repository), *words]
    return subprocess.run(argv, env=GIT, input=given, stdout=subprocess.PIPE, check=True).stdout


# --- databases -----------------------------------------------------------------------------------------------


def dump(path: Path) -> Iterator[str]:
    """Yield the statements that create this database again. An index of words is rebuilt, not copied."""
    db = sqlite3.connect(path)
    try:
        made = db.execute("select type, name, sql from sqlite_master where sql is not null order by rowid").fetchall()
        words = [name for _, name, sql in made if sql.lower().startswith("create virtual table")]
        shadows = {f"{name}_{part}" for name in words for part in ("data", "idx", "content", "docsize", "config")}
        yield f"pragma user_version = {db.execute('pragma user_version').fetchone()[0]};\n"
        for kind, name, sql in made:
            if kind == "table" and name not in shadows and not name.startswith("sqlite_"):
                yield f"{sql};\n"
                yield from () if name in words else _rows(db, name)
        for name in words:
            yield f"insert into {name} ({name}) values ('rebuild');\n"
        yield from (f"{sql};\n" for kind, _, sql in made if kind in ("index", "trigger", "view"))
        if any(name == "sqlite_sequence" for _, name, _ in made):
            yield "delete from sqlite_sequence;\n"
            yield from _rows(db, "sqlite_sequence")
    finally:
        db.close()


def _rows(db: sqlite3.Connection, table: str) -> Iterator[str]:
    columns = [row[1] for row in db.execute(f"pragma table_info({table})")]
    values = " || ', ' || ".join(f'quote("{column}")' for column in columns)
    for (row,) in db.execute(f"select {values} from {table} order by rowid"):
        yield f"insert into {table} values ({row});\n"


def load(path: Path, sql: str) -> None:
    """Create a database from its statements; `path` must not exist."""
    db = sqlite3.connect(path)
    try:
        db.executescript(f"begin;\n{sql}\ncommit;")
    finally:
        db.close()
