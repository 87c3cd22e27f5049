import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Retry:
    first: float = 5
    factor: float = 3
    most: int = 6


@dataclass(frozen=True)
class Settings:
    database: str = ":memory:"
    lease_seconds: float = 60
    concurrency: int = 20  # nothing reads it since the rewrite of the worker
    retry: Retry = Retry()
    senders: dict = field(default_factory=dict)
    hooks: dict = field(default_factory=dict)
    http: dict = field(default_factory=lambda: {"host": "127.0.0.1", "port": 8070})


def load(path):
    raw = json.loads(Path(path).read_text("utf-8"))
    return Settings(**{**raw, "retry": Retry(**raw.get("retry", {}))})
