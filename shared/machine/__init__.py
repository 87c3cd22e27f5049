"""The machine: what it has left, and what is taken of it by whom."""
