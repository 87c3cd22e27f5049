"""Aider's command: its arguments, its files, its environment and its words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from sisimpur.agents.coder.engine.engine import End, EngineJob
from sisimpur.shared.model.change import package_marks
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.work import ModelChoice

CALL_TIMEOUT = 300  # seconds for one model call; the meter gives up earlier
CONTEXT = 1_000_000  # tokens; whether a prompt is too long is for the API to say
PROMPT = "Task:\n\n"  # a message that begins with `!` or `/` would be a command

FLAGS = (
    *("--yes-always", "--no-auto-commits", "--no-dirty-commits", "--edit-format=diff", "--no-stream", "--map-tokens=0"),
    *("--no-detect-urls", "--disable-playwright", "--no-suggest-shell-commands", "--no-auto-lint", "--no-auto-test"),
    *("--no-check-update", "--no-show-release-notes", "--no-show-model-warnings", "--analytics-disable"),
    *("--no-gitignore", "--add-gitignore-files", "--no-pretty", "--no-fancy-input", "--no-notifications"),
    *("--no-restore-chat-history", "--input-history-file=/dev/null", "--chat-history-file=/dev/null"),
    "--env-file=/dev/null",
)


def arguments(job: EngineJob, base_url: str, line_ends: str, given: str) -> tuple[str, ...]:
    """`given`: where the box sees the folder with our files."""
    return (
        *FLAGS,
        *(f"--config={given}/config.yml", f"--aiderignore={given}/ignore", f"--message-file={given}/message.txt"),
        *(f"--model-settings-file={given}/settings.yml", f"--model-metadata-file={given}/metadata.json"),
        f"--model={_name(job.model)}",
        f"--timeout={min(CALL_TIMEOUT, job.seconds)}",
        *(("--cache-prompts",) if job.marks else ()),
        f"--line-endings={line_ends}",
        f"--set-env=ANTHROPIC_API_BASE={base_url}",  # beats a .env of the repository
        *(f"--file={path}" for path in job.edit),
        *(f"--read={path}" for path in job.read if path not in job.edit),
    )


def environment(ticket: str, base_url: str) -> dict[str, str]:
    """Variables that the box gets besides PATH, HOME and LANG.

    The ticket stands here, as arguments can be read by all.
    """
    return {
        "ANTHROPIC_API_BASE": base_url,
        "ANTHROPIC_API_KEY": ticket,
        "BROWSER": "/bin/true",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # no look-up in the network
        "OPENBLAS_NUM_THREADS": "1",  # each thread would reserve address space
        "PYTHONHASHSEED": "0",  # the same task gives the same prompt
        "TERM": "dumb",
    }


def files(job: EngineJob) -> dict[str, str]:
    """Files of our own for a run: name -> text.

    Aider 0.86.2 knows none of today's models: each name that it looks up is in here.
    """
    name = _name(job.model)
    settings = {
        "name": name,
        "edit_format": "diff",
        "weak_model_name": name,
        "editor_model_name": name,
        "editor_edit_format": "editor-diff",
        "use_temperature": False,
        "overeager": True,  # "do no more than asked"
        "cache_control": job.marks,
        "reminder": "none",  # the rules stand in the system's text
        "extra_params": {"max_tokens": job.model.max_tokens, **_effort(job.model)},
    }
    metadata = {
        "litellm_provider": "anthropic",
        "mode": "chat",
        "max_input_tokens": CONTEXT,
        "max_output_tokens": job.model.max_tokens,
        "max_tokens": job.model.max_tokens,
        "supports_assistant_prefill": False,  # or a cut answer is asked for again without end
    }
    marks = (path for path in package_marks([*job.edit, *job.create]) if not (job.folder / path).exists())
    return {
        "message.txt": PROMPT + job.message,
        "settings.yml": json.dumps([settings]),  # JSON is YAML
        "metadata.json": json.dumps({name: metadata}),  # no prices: only the meter counts
        "config.yml": '{"verbose": false}',
        "ignore": "",
        "allow.json": json.dumps([*job.edit, *job.create, *sorted(marks)]),
        "shown.json": json.dumps({"order": [*job.read, *job.edit], "views": dict(job.views)}),
    }


def _name(model: ModelChoice) -> str:
    return f"anthropic/{model.model}"


def _effort(model: ModelChoice) -> Mapping[str, object]:
    return {"output_config": {"effort": model.effort}} if model.effort else {}


def line_ends(files: Mapping[str, bytes]) -> str:
    """`lf` or `crlf`, as in all of the files. Aider writes every line of every file with one kind: Refused if mixed."""
    found: dict[str, str] = {}
    for path, data in files.items():
        crlf = data.count(b"\r\n")
        counts = {"crlf": crlf, "lf": data.count(b"\n") - crlf, "cr": data.count(b"\r") - crlf}
        kinds = [kind for kind, count in counts.items() if count]
        if len(kinds) > 1 or "cr" in kinds:
            raise Refused(f"{path}: its line ends are {' and '.join(kinds)}; convert it to one of lf and crlf first")
        found |= dict.fromkeys(kinds, path)
    if len(found) > 1:
        raise Refused(f"{found['lf']} has lf and {found['crlf']} has crlf line ends; change them in two tasks")
    return next(iter(found), "lf")


def reserved(path: str) -> bool:
    """A name that Aider reads as its own settings; the box covers it."""
    return path == ".env" or (path.startswith(".aider") and "/" not in path)


def covered(folder: Path, job: EngineJob) -> tuple[str, ...]:
    """The plain files (and links) that the engine may not see: settings, and secrets that the task does not name."""
    named = {*job.edit, *job.read}
    entries = (entry for entry in folder.iterdir() if entry.name.startswith((".env", ".aider")))
    return tuple(sorted(e.name for e in entries if e.name not in named and (e.is_symlink() or e.is_file())))


# --- what it prints ------------------------------------------------------------------------------------------


def from_words(text: str) -> tuple[End, tuple[str, ...]]:
    """Read from the output alone how a run ended and what it edited: less sure than the launcher's result."""
    edited = tuple(sorted(set(re.findall(r"^Applied edit to (.+)$", text, re.MULTILINE))))
    if "has hit a token limit!" in text:
        return "token limit", edited
    if re.search(r"^Only \d+ reflections allowed", text, re.MULTILINE):
        return "edits failed", edited
    if edited:
        return "edited", edited
    return ("api error" if re.search(r"^litellm\.\w+:", text, re.MULTILINE) else "no edits"), ()


def api_message(error: str) -> str:
    """Find the API's own words in what litellm makes of them."""
    with_body = re.search(r"\{.*", error, re.DOTALL)
    if with_body:
        try:
            body, _ = json.JSONDecoder().raw_decode(with_body[0])
            return str(body["error"]["message"])
        except (ValueError, LookupError, TypeError, RecursionError):
            return error
    return error
