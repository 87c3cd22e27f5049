"""The target's own code at work: its environment, and its tests, always in a box."""
