"""Large goals on branches of their own."""
