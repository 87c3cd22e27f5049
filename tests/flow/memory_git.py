"""git in memory: the questions that this program asks, answered without a process and without a disk.

`MemoryRepository` stands where a `Repository` does. Whether it answers as git does is held by test_memory_git.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from sisimpur.shared.model.change import EXECUTABLE
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.objects import Answer, Found, Repository
from sisimpur.shared.system.process import Finished
from tests.flow.memory_objects import EMPTY_TREE, Objects
from tests.flow.memory_patch import LINK, NOBODY, changes, patch, quoted

WHO = "owner <owner@localhost> 1795161600 +0000"


class Complaint(Exception):
    """git ends badly."""

    def __init__(self, text: str, code: int = 128) -> None:
        super().__init__(text)
        self.code = code


@dataclass
class Store:
    """One repository."""

    objects: Objects = field(default_factory=Objects)
    refs: dict[str, str] = field(default_factory=dict)
    head: str = "refs/heads/main"
    is_away: bool = False  # nobody reaches it over the network

    def find(self, name: str) -> str | None:
        """What stands under a name, as gitrevisions says: a commit's name, `^`, `^{tree}`, `:path`."""
        if ":" in name:
            return self._file(*name.split(":", 1))
        found = re.fullmatch(r"(.*?)((?:\^\{\w+\}|\^\d*|~\d*)*)", name)
        assert found
        sha = self._named(found[1])
        for step in re.findall(r"\^\{\w+\}|\^\d*|~\d*", found[2]):
            sha = self._stepped(sha, step) if sha else None
        return sha

    def commit(self, name: str) -> str:
        sha = self.find(f"{name}^{{commit}}")
        if sha is None:
            raise Complaint(f"fatal: bad object {name}")
        return sha

    def set(self, ref: str, sha: str, expected: str | None = None) -> None:
        """`expected`: where it is now, NOBODY: nowhere; None: nobody asks."""
        there = self.refs.get(ref, NOBODY)
        if expected is not None and there != expected:
            reason = "reference already exists" if expected == NOBODY else f"is at {there} but expected {expected}"
            raise Complaint(f"fatal: cannot lock ref '{ref}': {reason}")
        if sha == NOBODY:
            self.refs.pop(ref, None)
        else:
            self.refs[ref] = sha

    def _named(self, name: str) -> str | None:
        if name == "HEAD":
            return self.refs.get(self.head)
        if re.fullmatch(r"[0-9a-f]{40}", name):
            return name if name in self.objects.held or name == EMPTY_TREE else None
        places = (name, f"refs/{name}", f"refs/tags/{name}", f"refs/heads/{name}", f"refs/remotes/{name}")
        return next((self.refs[ref] for ref in places if ref in self.refs), None)

    def _stepped(self, sha: str, step: str) -> str | None:
        kind = self.objects.kind(sha)
        if step == "^{tree}":
            return self.objects.tree_of(sha) if kind in ("commit", "tree") else None
        if step == "^{commit}":
            return sha if kind == "commit" else None
        if step.startswith("~"):
            for _ in range(int(step[1:] or 1)):
                sha = next(iter(self.objects.parents(sha)), "")
            return sha or None
        parents, number = self.objects.parents(sha), int(step[1:] or 1)
        return parents[number - 1] if number <= len(parents) else None

    def _file(self, name: str, path: str) -> str | None:
        sha = self.find(name)
        if sha is None or self.objects.kind(sha) not in ("commit", "tree"):
            return None
        files = self.objects.files(sha)
        return files[path][1] if path in files else None


DISK: dict[Path, Store] = {}  # what would be on the disk; whoever puts something there takes it away again


def stored(path: Path | str) -> Store:
    """The repository there, which somebody has made. Complaint: there is none."""
    store = DISK.get(Path(path))
    if store is None:
        raise Complaint(f"fatal: not a git repository: '{path}'")
    return store


class MemoryRepository(Repository):
    """The repository that is kept under this path."""

    def _asked(self, what: str, names: Iterable[str]) -> list[Answer]:
        store = DISK.get(self.path, Store())
        return [self._answer(store, name, what) for name in names]

    def _answer(self, store: Store, name: str, what: str) -> Answer:
        sha = store.find(name)
        if sha is None or sha not in store.objects.held:
            return None, b""
        kind, data = store.objects.held[sha]
        return Found(sha, kind, len(data)), data if what == "contents" else b""

    def write_out(self, files: Iterable[tuple[str, str, str]], folder: Path) -> None:
        for mode, blob, path in files:
            place, data = folder / path, stored(self.path).objects.data(blob)
            place.parent.mkdir(parents=True, exist_ok=True)
            if mode == LINK:
                place.symlink_to(os.fsdecode(data))
            else:
                place.write_bytes(data)
                place.chmod(0o755 if mode == EXECUTABLE else 0o644)

    def try_git(
        self,
        *arguments: str,
        data: bytes | None = None,
        timeout: float = 60,
        limit: int = 0,
        remote: Remote | None = None,
    ) -> Finished:
        words = [word for word in arguments[1:] if word != "--quiet"]
        try:
            if arguments[0] == "init":
                DISK.setdefault(self.path, Store())
            output = VERBS[arguments[0]](stored(self.path), words, data or b"")
        except Complaint as problem:
            return Finished(problem.code, _printed(problem), str(problem).encode(), "exited", 0.0)
        return Finished(0, output if isinstance(output, bytes) else output.encode(), b"", "exited", 0.0)


def _printed(problem: Complaint) -> bytes:
    """Some ends that are bad have something to say all the same."""
    return str(problem).encode() if problem.code == 1 else b""


# --- a repository and its references -------------------------------------------------------------------------


def _init(store: Store, words: list[str], _: bytes) -> str:
    for word in words:
        if word.startswith("--initial-branch=") and not store.refs:
            store.head = f"refs/heads/{word.partition('=')[2]}"
    return ""


def _nothing(_store: Store, _words: list[str], _data: bytes) -> str:
    return ""


def _for_each_ref(store: Store, words: list[str], _: bytes) -> str:
    (form,) = [word.partition("=")[2] for word in words if word.startswith("--format=")]
    return _listed(store, form, [word for word in words if not word.startswith("-")])


def _listed(store: Store, form: str, patterns: Sequence[str]) -> str:
    names = [ref for ref in sorted(store.refs) if not patterns or any(_fits(ref, one) for one in patterns)]
    short = re.compile(r"^refs/(heads|tags|remotes)/")
    lines = [
        form.replace("%(objectname)", store.refs[ref])
        .replace("%(refname:short)", short.sub("", ref))
        .replace("%(refname)", ref)
        for ref in names
    ]
    return "".join(f"{line}\n" for line in lines)


def _fits(ref: str, pattern: str) -> bool:
    return ref == pattern or ref.startswith(pattern.rstrip("/") + "/") or fnmatchcase(ref, pattern)


def _update_ref(store: Store, words: list[str], data: bytes) -> str:
    if "--stdin" in words:
        steps = list(_steps_z(data) if "-z" in words else _steps(data))
        before = dict(store.refs)
        try:
            for step in steps:
                store.set(*step)
        except Complaint:
            store.refs = before
            raise
    elif words[0] == "-d":
        store.set(words[1], NOBODY)
    else:
        store.set(words[0], store.commit(words[1]), words[2] if words[2:] else None)
    return ""


def _steps(data: bytes) -> Iterator[tuple[str, str, str | None]]:
    for line in data.decode().splitlines():
        verb, ref, *rest = line.split(" ")
        if verb == "create":
            yield ref, rest[0], NOBODY
        elif verb == "delete":
            yield ref, NOBODY, rest[0] if rest else None
        else:
            yield ref, rest[0], rest[1] if rest[1:] else None


def _steps_z(data: bytes) -> Iterator[tuple[str, str, str | None]]:
    words = data.decode().split("\0")
    for verb, new, old in zip(words[0:-2:3], words[1::3], words[2::3], strict=False):
        yield verb.removeprefix("update "), new, old or None


def _symbolic_ref(store: Store, _words: list[str], _: bytes) -> str:
    return store.head + "\n"


# --- other repositories --------------------------------------------------------------------------------------


def _reached(url: str) -> Store:
    store = DISK.get(Path(url))
    if store is None or store.is_away:
        raise Complaint(
            f"fatal: '{url}' does not appear to be a git repository\nfatal: Could not read from remote repository."
        )
    return store


def _fetch(store: Store, words: list[str], _: bytes) -> str:
    url, spec = [word for word in words if not word.startswith("--")]
    source, target = spec.removeprefix("+").split(":")
    there = _reached(url)
    if source not in there.refs:
        raise Complaint(f"fatal: couldn't find remote ref {source}")
    there.objects.copy_to(store.objects, there.refs[source])
    store.set(target, there.refs[source])
    return ""


def _ls_remote(_store: Store, words: list[str], _: bytes) -> str:
    url, *names = [word for word in words if not word.startswith("--")]
    return _listed(_reached(url), "%(objectname)\t%(refname)", names or ["refs/heads"])


def _push(store: Store, words: list[str], _: bytes) -> str:
    (lease,) = [word.partition("=")[2] for word in words if word.startswith("--force-with-lease=")]
    url, spec = [word for word in words if not word.startswith("--")]
    sha, name = spec.split(":")
    there = _reached(url)
    expected = lease.split(":")[1] or NOBODY
    found = there.refs.get(name, NOBODY)
    if found != expected and found != sha:
        raise Complaint(f"!\t{sha}:{name}\t[rejected] (stale info)", 1)
    store.objects.copy_to(there.objects, store.commit(sha))
    there.set(name, sha)
    return ""


# --- what commits hold ---------------------------------------------------------------------------------------


def _ls_tree(store: Store, words: list[str], _: bytes) -> bytes:
    name, *paths = [word for word in words if not word.startswith("-")]
    sha = store.find(name)
    if sha is None:
        raise Complaint(f"fatal: Not a valid object name {name}")
    held, found = store.objects, store.objects.files(sha)
    if "--name-only" in words:
        end = b"\0" if "-z" in words else b"\n"
        return b"".join(path.encode() + end for path in sorted(found, key=str.encode))
    shown = sorted((path for path in found if not paths or path in paths), key=str.encode)
    if "--long" not in words:
        return b"".join(f"{found[path][0]} blob {found[path][1]}\t{path}\n".encode() for path in shown)
    rows = ((found[path], path) for path in shown)
    return b"".join(f"{mode} blob {blob} {len(held.data(blob)):7}\t{path}\0".encode() for (mode, blob), path in rows)


def _two(store: Store, words: list[str]) -> tuple[Any, Any]:
    names = [word for word in words if not word.startswith("-")]
    old, new = (store.find(name) for name in names)
    if not old or not new:
        raise Complaint(f"fatal: bad object {names[0 if not old else 1]}")
    return store.objects.files(old), store.objects.files(new)


def _diff_tree(store: Store, words: list[str], _: bytes) -> bytes:
    old, new = _two(store, words)
    if "--raw" not in words:
        return patch(store.objects, old, new, words)
    rows = b"".join(
        f":{a or '000000'} {b or '000000'} {was} {now} {_kind(a, b)}\t{quoted(path)}\n".encode()
        for path, (a, was), (b, now) in changes(old, new)
    )
    return rows + b"\n" + patch(store.objects, old, new, words) if rows and "-p" in words else rows


def _kind(was: str, now: str) -> str:
    if not was or not now:
        return "D" if was else "A"
    return "T" if (was == LINK) != (now == LINK) else "M"


def _diff(store: Store, words: list[str], _: bytes) -> bytes:
    names = [word for word in words if not word.startswith("-")]
    if len(names) == 1 and "..." in names[0]:
        base, head = (store.commit(name) for name in names[0].split("..."))
        bases = store.objects.merge_bases(base, head)
        if not bases:
            raise Complaint(f"fatal: {names[0]}: no merge base")
        names = [bases[0], head]
    old, new = _two(store, names)
    if "--name-only" in words:
        return b"".join(path.encode() + b"\n" for path, _, _ in changes(old, new))
    return patch(store.objects, old, new, words)


def _grep(store: Store, words: list[str], _: bytes) -> bytes:
    needle, sha = words[words.index("-e") + 1 :]
    (most,) = [int(word.partition("=")[2]) for word in words if word.startswith("--max-count=")]
    files = store.objects.files(store.commit(sha))
    rows: list[bytes] = []
    for path in sorted(files, key=str.encode):
        data = store.objects.data(files[path][1])
        if files[path][0] != LINK and b"\0" not in data[:8_000]:
            rows += _grepped(f"{sha}:{path}", data, needle.encode(), most)
    if not rows:
        raise Complaint("", 1)
    return b"".join(rows)


def _grepped(name: str, data: bytes, needle: bytes, most: int) -> list[bytes]:
    lines = enumerate(data.removesuffix(b"\n").split(b"\n"), 1)
    return [name.encode() + b"\0%d\0" % number + line + b"\n" for number, line in lines if needle in line][:most]


def _show(store: Store, words: list[str], _: bytes) -> bytes:
    names = [word for word in words if not word.startswith("-")]
    if "--no-patch" in words or any(word.startswith("--format") for word in words):
        return _log(store, ["-1", *words], b"") if len(names) == 1 else _dates(store, names)
    sha = store.find(names[0])
    if sha is None:
        raise Complaint(f"fatal: invalid object name '{names[0]}'.")
    return store.objects.data(sha)


def _dates(store: Store, names: Sequence[str]) -> bytes:
    return b"".join(b"%d\n" % store.objects.date(store.commit(name)) for name in names)


# --- history -------------------------------------------------------------------------------------------------


def _merge_base(store: Store, words: list[str], _: bytes) -> str:
    one, other = (store.commit(word) for word in words if not word.startswith("--"))
    if "--is-ancestor" in words:
        if one not in store.objects.history(other):
            raise Complaint("", 1)
        return ""
    bases = store.objects.merge_bases(one, other)
    if not bases:
        raise Complaint("", 1)
    return f"{bases[0]}\n"


def _merge_tree(store: Store, words: list[str], _: bytes) -> str:
    ours, theirs = (store.commit(word) for word in words if not word.startswith("-"))
    if not store.objects.merge_bases(ours, theirs):
        raise Complaint("fatal: refusing to merge unrelated histories")
    tree, conflicts = store.objects.merged(ours, theirs)
    end = "\0" if "-z" in words else "\n"
    told = "".join(f"{word}{end}" for word in (tree, *conflicts))
    if conflicts:
        raise Complaint(told, 1)
    return told


def _asked_for(store: Store, words: list[str]) -> list[str]:
    """The commits that `rev-list` and `log` tell of, the newest first."""
    end = words.index("--") if "--" in words else len(words)
    words, paths = words[:end], words[end + 1 :]
    names = [word for word in words if not word.startswith("-")] or ["HEAD"]
    old, is_range, new = names[0].rpartition("..")
    found = list(store.objects.history(store.commit(new)))
    if paths:
        found = [sha for sha in found if _touches(store.objects, sha, paths)]
    if "--first-parent" in words:
        found = list(_first_parents(store.objects, store.commit(new)))
    if is_range:
        gone = store.objects.history(store.commit(old))
        found = [sha for sha in found if sha not in gone]
    if "--reverse" in words:
        found.reverse()
    counts = [int(number) for word in words for number in re.findall(r"^(?:-|-n|--max-count=)(\d+)$", word)]
    return found[: counts[0]] if counts else found


def _touches(objects: Objects, sha: str, paths: list[str]) -> bool:
    before = [objects.files(parent) for parent in objects.parents(sha)] or [{}]
    return any(objects.files(sha).get(path) != one.get(path) for path in paths for one in before)


def _first_parents(objects: Objects, sha: str) -> Iterator[str]:
    while sha:
        yield sha
        sha = next(iter(objects.parents(sha)), "")


def _rev_list(store: Store, words: list[str], _: bytes) -> str:
    found = _asked_for(store, words)
    return f"{len(found)}\n" if "--count" in words else "".join(f"{sha}\n" for sha in found)


def _log(store: Store, words: list[str], _: bytes) -> bytes:
    forms = [word.partition("=")[2] for word in words if word.startswith(("--format=", "--pretty="))]
    form = forms[0] if forms else "%H %s"
    told = [_told(store.objects, form, sha) for sha in _asked_for(store, words)]
    return b"".join(line + (b"\0" if "-z" in words else b"\n") for line in told)


def _told(objects: Objects, form: str, sha: str) -> bytes:
    head, _, message = objects.data(sha).partition(b"\n\n")
    people = {who: re.search(rb"^%s (.*) <(.*)> (\d+)" % who, head, re.MULTILINE) for who in (b"author", b"committer")}
    author, committer = people[b"author"], people[b"committer"]
    assert author and committer
    words: Mapping[str, bytes] = {
        "%H": sha.encode(),
        "%T": objects.tree_of(sha).encode(),
        "%P": " ".join(objects.parents(sha)).encode(),
        "%s": objects.subject(sha).encode(),
        "%B": message,
        "%b": message.partition(b"\n\n")[2],
        "%an": author[1],
        "%ae": author[2],
        "%cn": committer[1],
        "%ce": committer[2],
        "%at": author[3],
        "%ct": committer[3],
    }
    return re.sub(rb"%[a-zA-Z][a-z]?", lambda found: words[_longest(found[0].decode(), words)], form.encode())


def _longest(word: str, words: Mapping[str, bytes]) -> str:
    return word if word in words else word[:2]


def _rev_parse(store: Store, words: list[str], _: bytes) -> str:
    found = [store.find(word) for word in words if not word.startswith("-")]
    if None in found:
        raise Complaint(f"fatal: ambiguous argument '{words[-1]}': unknown revision")
    return "".join(f"{sha}\n" for sha in found)


# --- commits are made ----------------------------------------------------------------------------------------


def _hash_object(store: Store, words: list[str], data: bytes) -> str:
    return store.objects.keep(words[words.index("-t") + 1], data) + "\n"


def _commit_tree(store: Store, words: list[str], _: bytes) -> str:
    tree = store.find(words[0])
    parents = [store.commit(words[at + 1]) for at, word in enumerate(words) if word == "-p"]
    text = "\n\n".join(words[at + 1] for at, word in enumerate(words) if word == "-m")
    head = [f"tree {tree}", *(f"parent {sha}" for sha in parents), f"author {WHO}", f"committer {WHO}"]
    return store.objects.keep("commit", "\n".join([*head, "", text, ""]).encode()) + "\n"


def _branch(store: Store, words: list[str], _: bytes) -> str:
    names = [word for word in words if not word.startswith("-")]
    if "-D" in words:
        store.set(f"refs/heads/{names[0]}", NOBODY)
    elif names and "--list" not in words:
        store.set(f"refs/heads/{names[0]}", store.commit(names[1] if names[1:] else "HEAD"))
    else:
        short = [ref.removeprefix("refs/heads/") for ref in sorted(store.refs) if ref.startswith("refs/heads/")]
        kept = [name for name in short if not names or any(fnmatchcase(name, pattern) for pattern in names)]
        return "".join(f"{'*' if f'refs/heads/{name}' == store.head else ' '} {name}\n" for name in kept)
    return ""


def _fast_import(store: Store, _words: list[str], data: bytes) -> str:
    stream = Stream(data)
    ref = stream.line().removeprefix("commit ")
    who = stream.line().removeprefix("committer ")
    message = stream.data()
    base = stream.line().removeprefix("from ")
    files = dict(store.objects.files(store.commit(base)))
    while (line := stream.line()) != "done":
        if line.startswith("D "):
            _removed(files, _unquoted(line[2:]))
        else:
            _, mode, _, path = line.split(" ", 3)
            _removed(files, _unquoted(path))
            files[_unquoted(path)] = (mode, store.objects.keep("blob", stream.data()))
    tree = store.objects.keep_tree(files)
    head = f"tree {tree}\nparent {base}\nauthor {who}\ncommitter {who}\n\n".encode()
    store.set(ref, store.objects.keep("commit", head + message))
    return ""


def _removed(files: dict[str, tuple[str, str]], path: str) -> None:
    """A file, or all below a folder of that name."""
    for name in [name for name in files if name == path or name.startswith(f"{path}/")]:
        del files[name]


class Stream:
    """What fast-import reads."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def line(self) -> str:
        end = self._data.index(b"\n", self._at)
        line, self._at = self._data[self._at : end], end + 1
        return line.decode() if line else self.line()

    def data(self) -> bytes:
        size = int(self.line().removeprefix("data "))
        found = self._data[self._at : self._at + size]
        self._at += size + 1
        return found


def _unquoted(path: str) -> str:
    plain = re.sub(rb"\\(\d{3})", lambda found: bytes([int(found[1], 8)]), path.strip('"').encode())
    return plain.decode()


VERBS: Mapping[str, Callable[[Store, list[str], bytes], str | bytes]] = {
    "branch": _branch,
    "commit-tree": _commit_tree,
    "config": _nothing,
    "count-objects": _nothing,
    "diff": _diff,
    "diff-tree": _diff_tree,
    "fast-import": _fast_import,
    "fetch": _fetch,
    "for-each-ref": _for_each_ref,
    "grep": _grep,
    "hash-object": _hash_object,
    "init": _init,
    "log": _log,
    "ls-remote": _ls_remote,
    "ls-tree": _ls_tree,
    "merge-base": _merge_base,
    "merge-tree": _merge_tree,
    "push": _push,
    "rev-list": _rev_list,
    "rev-parse": _rev_parse,
    "show": _show,
    "symbolic-ref": _symbolic_ref,
    "update-ref": _update_ref,
}
