"""A home -> the parts that work on it, put together."""
