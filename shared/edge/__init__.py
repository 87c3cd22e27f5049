"""Doors: one module per piece of the outside world."""
