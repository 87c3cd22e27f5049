"""What the owner looks at: each command reads and changes nothing, but for a lesson that he has forgotten."""

from __future__ import annotations

from cli.views.budget import budget
from cli.views.deploys import deploys
from cli.views.logs import logs
from cli.views.memory import memory
from cli.views.pulls import prs
from cli.views.research import research
from cli.views.status import status
from cli.views.tasks import show, tasks

__all__ = ["budget", "deploys", "logs", "memory", "prs", "research", "show", "status", "tasks"]
