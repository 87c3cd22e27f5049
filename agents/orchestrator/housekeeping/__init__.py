"""What a home keeps, and what is packed or thrown away once a day."""
