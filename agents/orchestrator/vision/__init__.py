"""VISION.md -> goals, guards, questions; and the difference to yesterday."""
