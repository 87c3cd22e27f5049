"""The ini file: what the command line does not say."""

import configparser
from dataclasses import dataclass

DEFAULT_TOP = 5


@dataclass(frozen=True)
class Settings:
    format: str = "table"
    level: str = "DEBUG"
    top: int = DEFAULT_TOP


def load(path=None):
    """Settings from [tidylog]. Raises ValueError."""
    if path is None:
        return Settings()
    parser = configparser.ConfigParser()
    if not parser.read(path, encoding="utf-8"):
        raise ValueError(f"no such file: {path}")
    section = parser["tidylog"] if parser.has_section("tidylog") else {}
    unknown = set(section) - {"format", "level", "top"}
    if unknown:
        raise ValueError(f"unknown settings: {', '.join(sorted(unknown))}")
    return Settings(section.get("format", "table"), section.get("level", "DEBUG"), int(section.get("top", DEFAULT_TOP)))
