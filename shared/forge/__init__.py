"""Where pull requests are kept: GitHub, or a forge of our own."""
