"""The meter and the money book: nothing is sent before its worst case is reserved."""
