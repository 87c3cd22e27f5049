"""What this machine needs, and where it is built. Standard library only: it runs before anything is installed."""
