"""What can be read off sources alone: weaker tests, equal code, lines that nothing runs. Pure."""
