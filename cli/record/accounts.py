"""Who may sign in at the board with an account at Google or GitHub, for `doctor`."""

from __future__ import annotations

from sisimpur.shared.config.settings import Secrets, load_board
from sisimpur.shared.config.settings_sign_in import SECRET_OF
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.text import counted
from sisimpur.shared.system.paths import Home


def ways_in(home: Home, secrets: Secrets) -> str:
    """Name them, and what to enter there. Misconfigured: the file is wrong, or a secret is missing."""
    file = load_board(home)
    if missing := [SECRET_OF[way] for way in file.sign_in.ways if not secrets.get(SECRET_OF[way])]:
        raise Misconfigured(f"config/board.yaml names a client, and config/.env lacks {' and '.join(missing)}")
    told = ["by a link of board --link"]
    for way in file.sign_in.ways:
        listed = sum(any(one.startswith(f"{way}:") for one in person.accounts) for person in file.sign_in.people)
        who = counted(listed, "person", "people") if listed else "nobody: `people` in config/board.yaml lists none"
        told.append(f"with {way}: {who}, its callback is {file.url}/signed-in/{way}")
    return "; ".join(told)
