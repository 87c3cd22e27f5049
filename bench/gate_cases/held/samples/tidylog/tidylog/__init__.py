"""Sums up log files."""
