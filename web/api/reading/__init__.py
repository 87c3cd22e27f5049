"""What can be read: each is what the terminal prints with `--json`."""
