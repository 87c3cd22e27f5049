"""TaskSpec -> Branch: lets an engine write the change, and commits what it may."""
