"""The owner's configuration, checked where it enters."""
