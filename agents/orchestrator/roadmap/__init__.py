"""What goals need, how fast the team is, and ROADMAP.md."""
