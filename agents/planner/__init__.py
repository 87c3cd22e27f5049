"""Goals -> tasks, checked against the code."""
