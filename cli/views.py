"""What the owner looks at: each command reads and changes nothing, but for a lesson that he has forgotten."""

from __future__ import annotations

from cli.views_budget import budget
from cli.views_deploys import deploys
from cli.views_logs import logs
from cli.views_memory import memory
from cli.views_pulls import prs
from cli.views_research import research
from cli.views_status import status
from cli.views_tasks import show, tasks

__all__ = ["budget", "deploys", "logs", "memory", "prs", "research", "show", "status", "tasks"]
