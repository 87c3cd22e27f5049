"""What merged goes live, is watched, and is taken back if it is sick."""
