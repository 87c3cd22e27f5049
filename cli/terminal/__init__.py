"""Words typed and lines printed."""
