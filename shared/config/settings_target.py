"""Settings of the target: config/targets/<name>.yaml."""

from __future__ import annotations

from typing import Literal

import pydantic
from pydantic import Field

from sisimpur.shared.config.settings_deploy import DeploySettings, HealthSettings
from sisimpur.shared.config.settings_part import Host, Login, Name, Pattern, SettingsPart


class InboxSettings(SettingsPart):
    owners: tuple[Login, ...] = Field(default=(), max_length=50)
    """Whose issues are goals, and whose words below a pull request are answers: logins at GitHub."""
    label: str = Field(default="", max_length=50)
    """Only issues with this label count, then also those of others: what these ask for is never merged without you."""


class TargetFile(SettingsPart):
    repo: str = Field(min_length=1, max_length=500)
    """The repository: an https URL or a local path."""
    forge: Literal["auto", "local", "github"] = "auto"
    """Where pull requests are made; auto: on GitHub if `repo` lies there and GITHUB_TOKEN is set, else locally."""
    branch: str = Field(default="main", min_length=1, max_length=200)
    """The branch that work starts from and is merged into."""
    allow: tuple[Pattern, ...] = ("**",)
    """Paths that tasks may touch (git patterns)."""
    protected: tuple[Pattern, ...] = ()
    """Paths that need the owner's approval, besides the built-in list."""
    inbox: InboxSettings = InboxSettings()
    """Who else than VISION.md says what is wanted: issues and comments at GitHub."""
    setup: str = Field(default="", max_length=2_000)
    """The command that installs what the tests need; empty: what requirements*.txt and pyproject.toml ask for."""
    test: str = Field(default="", max_length=2_000)
    """The command that runs the tests; empty: pytest, or manage.py test."""
    python: str = Field(default="", max_length=500)
    """The interpreter that the target's environment is made with; empty: the one that runs this program."""
    packages: str = Field(default="", max_length=500)
    """A folder of wheels to install from, without any network; empty: the package index."""
    index: tuple[Host, ...] = ("pypi.org", "files.pythonhosted.org")
    """The hosts that the set-up may reach, by https; nothing else is reachable for it."""
    minutes: float = Field(default=10, gt=0, le=120)
    """The longest run of the tests, and of the set-up."""
    memory: int = Field(strict=True, default=2_048, ge=128, le=262_144)
    """MB that the tests may take."""
    deploy: DeploySettings = DeploySettings()
    """What is done with what merged."""
    health: HealthSettings = HealthSettings()
    """How it is seen whether it is healthy."""

    @pydantic.model_validator(mode="after")
    def _health_is_asked(self) -> TargetFile:
        if self.deploy.driver != "none" and self.health.pages is None:
            raise ValueError("health: name the pages that must answer, or write `pages: []` if it has none")
        unknown = [name for name, place in self.deploy.places.items() if not (place.url or place.port)]
        if self.deploy.driver != "none" and self.health.pages and unknown:
            raise ValueError(f"deploy.{unknown[0]}: write a `url` (or a port): its pages are asked there")
        return self


class Target(SettingsPart):
    name: Name
    file: TargetFile
