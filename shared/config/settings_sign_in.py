"""config/board.yaml, `sign_in`: whose accounts at Google and GitHub let somebody in, and as what."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from sisimpur.shared.config.settings_part import SettingsPart
from sisimpur.shared.model.text import JOINERS

GOOGLE, GITHUB = "google", "github"
SECRET_OF = {GOOGLE: "GOOGLE_CLIENT_SECRET", GITHUB: "GITHUB_OAUTH_SECRET"}  # in config/.env
NUMBER = r"[1-9][0-9]{0,29}"
MAIL = r"[a-z0-9._%+-]{1,64}@[a-z0-9.-]{1,200}\.[a-z]{2,63}"
LONGEST_NAME = 40


def _name(value: str) -> str:
    is_one = value.strip() == value and all(one.isprintable() or one in JOINERS for one in value)
    if not is_one or not 0 < len(value) <= LONGEST_NAME:
        raise ValueError(f"write a name in one line, of at most {LONGEST_NAME} letters")
    return value


def _as_text(value: Any) -> Any:
    """A number is read as one; a longer one than YAML's is a text already."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _github(value: Any) -> Any:
    """Refuse a login: whoever gives it up leaves it to the next one, who would come in."""
    text = _as_text(value)
    if isinstance(text, str) and text and not re.fullmatch(NUMBER, text, re.ASCII):
        login = text if re.fullmatch(r"[A-Za-z0-9-]{1,39}", text, re.ASCII) else "LOGIN"
        raise ValueError(
            "write the account's number, since a login may be somebody else's tomorrow; it stands as `id` at"
            f" https://api.github.com/users/{login}"
        )
    return text


def _google(value: Any) -> Any:
    text = _as_text(value)
    text = text.lower() if isinstance(text, str) and text.isascii() else text
    if isinstance(text, str) and text and not re.fullmatch(f"{NUMBER}|{MAIL}", text, re.ASCII):
        raise ValueError("write the account's number (the board names it to who is refused), or its address a@b.c")
    return text


ClientId = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]*$")]


class ListedPerson(SettingsPart):
    name: Annotated[str, AfterValidator(_name), Field(examples=["Rahim"])]
    """What the audit calls them."""
    role: Literal["owner", "reviewer", "viewer"]
    """What they may; a change counts from the next request on."""
    google: Annotated[str, BeforeValidator(_google), Field(examples=["109876543210987654321"])] = ""
    """Their account at Google: its number (`sub`), or its address, where Google itself vouches for that."""
    github: Annotated[str, BeforeValidator(_github), Field(examples=["12345"])] = ""
    """Their account at GitHub: its number, never its login."""

    @model_validator(mode="after")
    def _is_known_by_something(self) -> Self:
        if not self.accounts:
            raise ValueError("write google or github: by which account this person is known")
        return self

    @property
    def accounts(self) -> frozenset[str]:
        """As books and audit call them: `github:12345`."""
        return frozenset(f"{way}:{value}" for way, value in ((GOOGLE, self.google), (GITHUB, self.github)) if value)


class SignInSettings(SettingsPart):
    google: ClientId = ""
    """The client's id that Google gave the board; empty: nobody signs in with Google."""
    github: ClientId = ""
    """The client's id that GitHub gave the board; empty: nobody signs in with GitHub."""
    people: tuple[ListedPerson, ...] = Field(default=(), max_length=100)
    """Who may sign in so; nobody else can. A link of `board --link` needs no line here."""

    @model_validator(mode="after")
    def _one_line_each(self) -> Self:
        known = [account for one in self.people for account in sorted(one.accounts)]
        if twice := sorted({one for one in known if known.count(one) > 1}):
            raise ValueError(f"people: {twice[0]} stands there twice; keep one")
        return self

    @property
    def ways(self) -> tuple[str, ...]:
        return tuple(way for way, client in ((GOOGLE, self.google), (GITHUB, self.github)) if client)

    def listed(self, account: str) -> ListedPerson | None:
        """None: nobody, now, or not by this way."""
        if account.partition(":")[0] not in self.ways:
            return None
        return next((one for one in self.people if account in one.accounts), None)

    def decides(self, account: str) -> bool:
        """Tell whether what waits is told to them now: who only looks hears of nothing."""
        person = self.listed(account)
        return person is not None and person.role != "viewer"
