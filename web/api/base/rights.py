"""Who may what at the board: what is open to all, a table, and one function that asks it. All else is the owner's."""

from __future__ import annotations

import re
from enum import StrEnum

from sisimpur.shared.config.settings_sign_in import GITHUB, GOOGLE


class Role(StrEnum):
    """Of somebody who is signed in by a link; and of a script with a key, where it is called a scope."""

    OWNER = "owner"
    REVIEWER = "reviewer"
    VIEWER = "viewer"
    READ = "read"
    ANSWER = "answer"


PEOPLE, SCOPES = (Role.OWNER, Role.REVIEWER, Role.VIEWER), (Role.READ, Role.ANSWER)
LOOKS = ("GET", "HEAD")
_ANSWERS = frozenset({Role.OWNER, Role.REVIEWER, Role.ANSWER})
_DECIDES = frozenset({Role.OWNER, Role.REVIEWER})
# What nobody has to be signed in for: it holds no data. The way back from a provider believes its own ticket alone.
OPEN_TO_ALL = frozenset(
    {
        ("GET", "/health"),
        ("GET", "/api/v1/sign-in"),
        *(("POST", f"/api/v1/session{way}") for way in ("", "/challenge", "/passkey")),
        *(("POST", f"/api/v1/sign-in/{name}") for name in (GOOGLE, GITHUB)),
        *(("GET", f"/signed-in/{name}") for name in (GOOGLE, GITHUB)),
    }
)
_TASK = "/api/v1/tasks/[^/]+"
# What else than looking who else than the owner may: method, address.
TABLE = (
    ("POST", "/api/v1/answers", _ANSWERS),
    ("POST", f"{_TASK}/rulings", _ANSWERS),  # each ruling by itself: see RULINGS
    ("POST", f"{_TASK}/(unblock|retest)", _DECIDES),
    ("POST", "/api/v1/plan/rulings", _DECIDES),  # as to unblock and cancel each of its tasks
    ("POST", "/orchestrator/approve/[^/]+", _DECIDES),
    ("POST", "/api/v1/pushes(/[^/]+/test)?", _DECIDES),  # of another's than their own only the owner
    ("DELETE", "/api/v1/pushes/[^/]+", _DECIDES),
    ("DELETE", "/api/v1/session", frozenset(PEOPLE)),
    ("DELETE", "/api/v1/sessions/[^/]+", frozenset(PEOPLE)),  # of another than their own only the owner
    ("POST", "/api/v1/(session/offer|passkeys)", frozenset(PEOPLE)),  # for the role that they have
    ("DELETE", "/api/v1/passkeys/[^/]+", frozenset(PEOPLE)),  # as sessions
)
RULINGS = {"reject": _ANSWERS, "retry": _ANSWERS, "approve": _DECIDES, "cancel": _DECIDES, "done": _DECIDES}


def may(role: Role, method: str, path: str, ruling: str = "") -> bool:
    """Tell it, of a request. `ruling`: which one it brings, once that is known; empty: any that the role may."""
    if method in LOOKS or role is Role.OWNER:
        return True
    allowed = any(one == method and re.fullmatch(address, path) and role in roles for one, address, roles in TABLE)
    return allowed and (not ruling or role in RULINGS[ruling])
