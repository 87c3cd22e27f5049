"""A vision with a question, a web that is a folder, and what a researcher's model says to it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sisimpur.shared.model.research import inquiry
from tests.journey.gated import VISION as GOALS
from tests.journey.stage import Stage

QUESTION = "Should sessions live in Redis?"
VISION = f"{GOALS}\n## Ideas (Research First)\n- {QUESTION}\n"
ASKED = inquiry(QUESTION)
NOTE = f"reports/research/should-sessions-live-in-redis-{ASKED.id[2:]}.md"
ADDRESS = "https://redis.example/sessions"
QUOTE = "A session store in memory loses its sessions when it is restarted"
PAGE = {"url": ADDRESS, "title": "Sessions in Redis", "text": f"Much is said. {QUOTE}, unless it writes them down."}
CLAIM = {"text": "Sessions are lost on a restart.", "source": 1, "quote": QUOTE}


def looks(*pages: int, searches: Sequence[str] = ()) -> dict[str, Any]:
    """The researcher's model asks for more, once."""
    return {"agent": "researcher", "json": {"read": list(pages), "searches": list(searches)}}


def answers(*claims: dict[str, Any], recommendation: str = "Leave them in the database.") -> dict[str, Any]:
    options = [{"name": "Redis", "pros": ["fast"], "cons": ["one more service"], "effort": "days"}]
    said = {"recommendation": recommendation, "options": options, "claims": list(claims or [CLAIM])}
    return {"agent": "researcher", "times": "any", "json": said}


def with_web(stage: Stage, *pages: dict[str, str], query: str = QUESTION) -> Stage:
    """The home looks things up in a folder of its own. JSON is YAML."""
    web = stage.home.root / "web"
    web.mkdir()
    found = [{"title": page["title"], "url": page["url"], "excerpt": page["text"][:200]} for page in pages or [PAGE]]
    (web / "searches.yaml").write_text(json.dumps([{"query": query, "hits": found}]))
    (web / "pages.yaml").write_text(json.dumps(list(pages or [PAGE])))
    policy = stage.home.config / "policy.yaml"
    policy.write_text(f"{policy.read_text()}\nresearch: {{recorded: web}}\n")
    return stage
