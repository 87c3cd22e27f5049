"""Rules: what is decided about a change without a model."""
