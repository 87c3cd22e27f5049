"""Small numeric tools."""
