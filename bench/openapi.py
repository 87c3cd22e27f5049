"""The board's own description -> docs/openapi.json (python -m bench.openapi > docs/openapi.json)."""

from __future__ import annotations

import json
from pathlib import Path

from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.guard import Failures
from sisimpur.web.api.board_app import make_api
from sisimpur.web.api.reading.board_news import NewsDesk


def description() -> str:
    """Return it as it is committed. No home is opened for it."""
    home = BoardHome(Path("/nowhere"))
    app = make_api(home, Failures(), NewsDesk(home))
    return json.dumps(app.openapi(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(description(), end="")
