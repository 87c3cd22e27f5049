"""What the record tells: what was done for a goal, and how well it goes. Nothing is changed; `--pdf` adds a file."""
