"""What is decided about a change without a model."""
