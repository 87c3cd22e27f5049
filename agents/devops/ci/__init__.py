"""The workflow that the team proposes for a target, and the linters of it."""
