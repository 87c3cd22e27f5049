"""Parts of the configuration: frozen values that know all their keys, each with a sentence; and shapes of values."""

from __future__ import annotations

import re
import zoneinfo
from typing import Annotated, Any
from urllib.parse import unquote

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, PlainSerializer

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.money.token_budget import as_dollars, dollars

HEADER = re.compile(r"[\w-]+", re.ASCII)  # its name


class SettingsPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _amount(value: Any) -> int:
    """Dollars as the owner writes them -> nano-dollars."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("write an amount of dollars, e.g. 5.00")
    return dollars(format(value, ".9f") if isinstance(value, float) else str(value))


def _time_of_day(value: str) -> str:
    if not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", value):
        raise ValueError("write a time of day as HH:MM, e.g. 07:00")
    return value


def _phase_time(value: str) -> str:
    """Refuse the hours in which clocks are set: before 03:00 they come twice or not at all once a year."""
    if "01:00" <= value < "03:00":
        raise ValueError("clocks are set between 01:00 and 03:00; choose another time")
    return value


def _zone(value: str) -> str:
    try:
        zoneinfo.ZoneInfo(value)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        raise ValueError("not a known time zone; write one like Europe/Berlin or UTC") from None
    return value


def checked_name(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,40}", value):
        raise ValueError("use small letters, digits, - and _ (at most 41)")
    return value


def _login(value: str) -> str:
    if value.casefold().partition("#")[0] == "ghost":
        raise ValueError("ghost stands for every account that was deleted; name somebody else")
    return value


# Whether a page may change it: what is no text, and of texts only those that become no command, path, key or name.
ON_PAGES: dict[str, JsonValue] = {"form": True}
BY_HAND: dict[str, JsonValue] = {"form": False}
Dollars = Annotated[
    int,
    BeforeValidator(_amount),
    PlainSerializer(as_dollars, str, "json"),
    Field(json_schema_extra={"format": "dollars"}),
]
PhaseTime = Annotated[
    str,
    AfterValidator(_time_of_day),
    AfterValidator(_phase_time),
    Field(examples=["07:00"], json_schema_extra=ON_PAGES),
]
Zone = Annotated[str, AfterValidator(_zone), Field(examples=["Europe/Berlin"], json_schema_extra=ON_PAGES)]
Name = Annotated[str, AfterValidator(checked_name)]
ModelId = Annotated[
    str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@-]*$", examples=["claude-sonnet-5-5"])
]
Host = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?$", examples=["pypi.org"])]
OwnerLogin = Annotated[  # with the account's number, or the one that it is first seen with
    str,
    AfterValidator(_login),
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,38}(\[bot\])?(#[1-9][0-9]{0,14})?$", examples=["octocat"]),
]
Pattern = Annotated[str, Field(min_length=1, max_length=200)]


def headers_of(text: str) -> dict[str, str]:
    """`name=value,other=value`, as OpenTelemetry's own programs read it. Misconfigured: it is not."""
    found = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, value = (one.strip() for one in part.partition("="))
        if not (HEADER.fullmatch(name) and value.isascii() and unquote(value).isprintable()):
            raise Misconfigured(
                "EVENTS_OTLP_HEADERS names no headers; write it in config/.env as NAME=VALUE,NAME=VALUE"
            )
        found[name.lower()] = unquote(value)
    return found
