"""Our copy of the target's code, and the committer."""
