"""The vision of today -> plan, tasks, DAILY_PLAN.md."""
