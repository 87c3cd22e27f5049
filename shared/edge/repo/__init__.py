"""The owner's code: our mirror of it, and the only way from a folder to a commit."""
