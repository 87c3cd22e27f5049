"""What two or more roles need."""
