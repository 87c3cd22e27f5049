"""Commands that act: a file for each group."""
