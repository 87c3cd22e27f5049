"""Serves a Discord webhook on this machine."""
