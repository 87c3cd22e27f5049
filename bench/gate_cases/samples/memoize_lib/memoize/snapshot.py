"""Caches in files: JSON, one list of pairs."""

import json
import os
import sys

VERSION = 1


def save(cache, path):
    """Write the entries, the one that was not used for longest first. The file is replaced at once or not at all."""
    aside = f"{path}.new"
    with open(aside, "w", encoding="utf-8") as file:
        json.dump({"version": VERSION, "entries": [[key, value] for key, value in cache.items()]}, file)
    os.replace(aside, path)


def load(cache, path):
    """Add a snapshot's entries to the cache; returns how many. Raises ValueError if it is no snapshot of ours."""
    entries = read(path)
    for key, value in entries:
        cache.set(tuple(key) if isinstance(key, list) else key, value)
    return len(entries)


def read(path):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise ValueError(f"{path}: not a snapshot of version {VERSION}")
    return content["entries"]


def describe(entries):
    """Lines for people: the keys and how long their values are."""
    return [f"{key}\t{len(json.dumps(value))} bytes" for key, value in entries]


def main(argv=None, out=sys.stdout):
    """`memoize-inspect FILE`: 0, or 2 if the file cannot be read."""
    paths = sys.argv[1:] if argv is None else argv
    if len(paths) != 1:
        print("usage: memoize-inspect FILE", file=out)
        return 2
    try:
        entries = read(paths[0])
    except (OSError, ValueError) as problem:
        print(f"memoize-inspect: {problem}", file=out)
        return 2
    for line in describe(entries):
        print(line, file=out)
    print(f"{len(entries)} entries", file=out)
    return 0
