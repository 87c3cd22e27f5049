"""Bookkeeping for a small shop."""
