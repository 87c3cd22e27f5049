"""Telling the owner: what we need of a chat or a mail service, and Discord behind it."""
