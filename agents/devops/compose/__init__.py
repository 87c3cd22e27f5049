"""Targets of several containers: what a compose file may say, and how it is run."""
