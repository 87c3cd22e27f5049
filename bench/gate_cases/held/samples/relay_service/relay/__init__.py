"""Webhooks in, webhooks out."""

__version__ = "1.4.2"
