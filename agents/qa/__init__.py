"""Branch -> Evidence: what the tests show of a change."""
