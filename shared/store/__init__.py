"""The database and the task folders: what the team remembers."""
