"""Analysis of sources alone: weaker tests, equal code, lines that nothing runs. Pure."""
