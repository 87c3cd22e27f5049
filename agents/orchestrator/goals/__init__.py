"""When a goal is done: what is measured of it, what is read at its end, and what is next."""
