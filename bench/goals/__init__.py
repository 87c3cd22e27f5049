"""The bench of goals: what the prompts withhold from a model that knows the right change."""
