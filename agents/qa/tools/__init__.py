"""What has no unit tests is checked by its own tools, on the base and on the change."""
