"""What a planner is told of the repository: files, definitions, and who uses them, in bounded length."""
