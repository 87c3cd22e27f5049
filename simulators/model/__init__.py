"""Serves the Anthropic Messages API from a script."""
