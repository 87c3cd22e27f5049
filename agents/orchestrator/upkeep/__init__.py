"""What is worth doing when nobody asks."""
