"""What acts: a file for each group of commands."""
