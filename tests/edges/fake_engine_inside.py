"""The fake engine's program, inside its box: one model call, then the edit blocks of the answer are applied.

usage: fake_engine_inside.py JOB   (a file with the job as JSON)
It prints a line `edited PATH` for each file, and ends as Aider's launcher does: 0, 3, 5 or 6.
"""

import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^(\S+)\n```\w*\n<<<<<<< SEARCH\n(.*?)=======\n(.*?)>>>>>>> REPLACE", re.MULTILINE | re.DOTALL)


def ask(job: dict[str, Any]) -> str:
    shown = "".join(f"\n{path}:\n{Path(path).read_text()}" for path in (*job["edit"], *job["read"]))
    body = {
        "model": job["model"],
        "max_tokens": job["max_tokens"],
        "system": "Answer with SEARCH/REPLACE blocks.",
        "messages": [{"role": "user", "content": job["message"] + shown}],
    }
    headers = {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": os.environ["ANTHROPIC_API_KEY"],
    }
    url = os.environ["ANTHROPIC_API_BASE"] + "/v1/messages"
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as answer:
        return "".join(part["text"] for part in json.load(answer)["content"])


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text())
    try:
        reply = ask(job)
    except urllib.error.HTTPError as error:
        sys.stdout.write(json.load(error)["error"]["message"] + "\n")
        return 3
    edits = [edit for edit in BLOCK.findall(reply) if edit[0] in (*job["edit"], *job["create"])]
    for path, old, new in edits:
        file = Path(path)
        text = file.read_text() if file.exists() else ""
        if old not in text:
            return 5
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace(old, new, 1) if old else text + new)
        sys.stdout.write(f"edited {path}\n")
    sys.stdout.write(reply)
    return 0 if edits else 6


if __name__ == "__main__":
    sys.exit(main())
