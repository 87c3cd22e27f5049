"""What was said, who did what, and how well it goes. Nothing here is read by what decides."""
