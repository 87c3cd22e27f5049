"""What writes code: the door to coding engines, and Aider behind it."""
