"""Runs inside the engine's box, by Aider's own interpreter: one run of Aider 0.86.2 under our policy.

Aider's flags leave holes: a repository's .env and .aider.conf.yml are obeyed, a message can be a command, any path may
be edited, and nearly every failure ends with exit code 0. So what decides is replaced in this process; the arguments
stay Aider's own. The replacements fit one version: any other one runs as it is, and the result says so.

usage: aider_launcher.py ALLOW RESULT AIDER_ARGUMENTS
ALLOW: a file with a JSON list of paths and patterns that may be written besides the files given as --file. Beside it,
shown.json: the order of files in the prompt, and what is shown of long ones (aider_words.py).
RESULT: where the result goes, as JSON. It needs shared/model and aider_words.py beside it, and nothing else of ours.
Exit codes: 0 edited, 3 the API refused, 4 a token limit, 5 edits that do not fit (some may have been made), 6 no edits,
70 a crash; otherwise Aider's own.
"""

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

from sisimpur.agents.coder.engine import aider_words
from sisimpur.shared.model.scope import is_plain_path, permits

VERSION = "0.86.2"  # whose inside the replacements fit
LONGEST, MOST = 2_000, 50  # characters of one text, entries of one list in the result
LONGEST_REPLY = 100_000  # characters of all that the model said
WRITES = ("Create new file?", "Allow edits to file")  # the two questions that have a yes

EDITED, API_ERROR, TOKEN_LIMIT, EDITS_FAILED, NO_EDITS, CRASHED = 0, 3, 4, 5, 6, 70


@dataclass
class Record:
    """Record of what is seen during a run. `coder` is Aider's own object, once there is one."""

    edited: set[str] = field(default_factory=set)
    asks: list[tuple[str, str, bool]] = field(default_factory=list)  # question, subject, our answer
    errors: list[str] = field(default_factory=list)
    exception: str = ""
    replies: list[str] = field(default_factory=list)
    coder: Any = None


def may_touch(root: str, subject: str, allow: Sequence[str]) -> bool:
    """Say whether Aider may write `subject`.

    The resolved path is judged, never its spelling: `./.git/x`, `a/../../x`.
    """
    try:
        path = os.path.relpath(os.path.realpath(os.path.join(root, subject)), os.path.realpath(root))
    except ValueError:  # a NUL byte
        return False
    return is_plain_path(path) and (path in allow or permits(path, allow))


def exit_code(own: int, record: Record) -> int:
    """The first that applies; `own` is what Aider would have ended with."""
    coder = record.coder
    if own:
        return own
    if record.exception or coder is None:
        return CRASHED
    if record.errors:
        return API_ERROR
    if coder.num_exhausted_context_windows:
        return TOKEN_LIMIT
    if coder.reflected_message:
        return EDITS_FAILED
    return EDITED if record.edited else NO_EDITS


def replace(record: Record, allow: Sequence[str], shown: Mapping[str, Any]) -> None:
    """Replace what decides in the Aider of this process, what it says, and what only takes time."""
    _read_only_what_we_give()
    _answer_every_question(record, allow)
    _see_what_happens(record)
    _replace_letter_by_letter()
    base = _aider("coders.base_coder")
    aider_words.speak(_aider("coders.editblock_prompts").EditBlockPrompts)
    aider_words.show(base, shown["order"], shown["views"])
    _aider("models").json5 = SimpleNamespace(loads=_only_json)


def _only_json(text: str) -> Any:
    """Ours is JSON and names each model that is looked up; Aider's own is not, and takes half a second to read."""
    try:
        return json.loads(text)
    except ValueError:
        return {}


def _read_only_what_we_give() -> None:
    """No file of the repository or of a home tells Aider what to do, and no text is a command."""
    main, commands, repo = map(_aider, ("main", "commands", "repo"))
    parser = main.get_parser
    main.get_parser = lambda _files, root: parser([], root)
    main.generate_search_path_list = lambda _default, _root, given: [given]  # .env, settings, metadata
    commands.Commands.is_command = _always(False)
    repo.GitRepo.git_ignored_file = _always(False)  # the task names its files, also those that git ignores
    repo.GitRepo.path_in_repo = _always(True)  # so a new file is not staged: git has nothing to do


def _answer_every_question(record: Record, allow: Sequence[str]) -> None:
    """The default is no: nothing is installed, opened, run, sent besides, or written beyond `allow`."""

    def confirm_ask(self: Any, question: str, *_: Any, subject: str | None = None, **__: Any) -> bool:
        yes = question.startswith(WRITES) and may_touch(os.getcwd(), subject or "", allow)
        record.asks.append((question, subject or "", yes))
        self.tool_output(f"{question} {subject or ''} {'yes' if yes else 'no'}")
        return yes

    _aider("io").InputOutput.confirm_ask = confirm_ask


def _see_what_happens(record: Record) -> None:
    """Keep what Aider says only to people: its errors, the names of edited files, its counters."""
    base = _aider("coders.base_coder")
    create, apply_updates = base.Coder.create, base.Coder.apply_updates

    def keep(*args: Any, **named: Any) -> Any:
        record.coder = create(*args, **named)
        return record.coder

    def collect(self: Any) -> Any:
        record.replies.append(self.partial_response_content or "")
        edited = apply_updates(self)
        record.edited.update(edited)
        return edited

    def refused(self: Any, error: Exception, *_: Any) -> list[str]:
        record.errors.append(str(error))
        self.io.tool_error(str(error))
        return []

    base.RETRY_TIMEOUT = 0  # whoever answers on the other side has done the waiting
    base.Coder.create, base.Coder.apply_updates = staticmethod(keep), collect
    base.Coder.check_and_open_urls = refused


def _replace_letter_by_letter() -> None:
    """Of a SEARCH part that ends with blank lines Aider drops one; where it stands in the file as it is, none."""
    editing = _aider("coders.editblock_coder")
    theirs = editing.do_replace

    def do_replace(name: str, content: str | None, before: str, after: str, fence: Any = None) -> str | None:
        exact = with_blank_end(content or "", before, after)
        return theirs(name, content, before, after, fence) if exact is None else exact

    editing.do_replace = do_replace


def with_blank_end(content: str, before: str, after: str) -> str | None:
    """The first place of a text that ends with a blank line, replaced; None: it is no such text, or not there."""
    if not before.strip() or not before.endswith("\n\n"):
        return None
    start = 0 if content.startswith(before) else content.find(f"\n{before}") + 1
    return f"{content[:start]}{after}{content[start + len(before) :]}" if content.startswith(before, start) else None


def _always(answer: object) -> Callable[..., object]:
    return lambda *_, **__: answer


def _aider(module: str) -> Any:
    return importlib.import_module(f"aider.{module}")


def run(arguments: Sequence[str], record: Record) -> int:
    """Aider's own exit code; what it did not catch goes into the record."""
    sys.argv = ["aider", *arguments]
    try:
        code = _aider("main").main(list(arguments))
    except SystemExit as end:
        code = end.code
    except BaseException as error:  # noqa: BLE001  a crash is a result as well
        record.exception = repr(error)
        return 0
    return code if isinstance(code, int) else int(code is not None)


def summary(version: str, record: Record) -> dict[str, Any]:
    return {
        "version": version,
        "policy": version == VERSION,
        "edited": [_text(name) for name in sorted(record.edited)][:MOST],
        "asks": [(_text(question), _text(subject), yes) for question, subject, yes in record.asks][:MOST],
        "errors": [_text(error) for error in record.errors][:MOST],
        "exception": _text(record.exception),
        "reply": _text("\n\n".join(record.replies), LONGEST_REPLY),
    }


def _text(value: object, longest: int = LONGEST) -> str:
    return str(value)[:longest].encode("utf-8", "replace").decode()


def one_run(allow_file: str, result_file: str, arguments: Sequence[str]) -> int:
    """Everything that is to be known about it stands in the result; the answer is the exit code."""
    record, version = Record(), str(importlib.import_module("aider").__version__)
    if version == VERSION:
        replace(record, _json(Path(allow_file)), _json(Path(allow_file).with_name("shown.json")))
        code = exit_code(run(arguments, record), record)
    else:
        code = run(arguments, record) or (CRASHED if record.exception else 0)
    Path(result_file + ".tmp").write_text(json.dumps(summary(version, record)), "utf-8")
    os.replace(result_file + ".tmp", result_file)
    return code


def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def leave(code: int) -> NoReturn:
    """Threads of Aider's libraries are not waited for."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    leave(one_run(sys.argv[1], sys.argv[2], sys.argv[3:]))
