"""What can be ordered: each is what the terminal's command does."""
