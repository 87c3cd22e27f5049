"""Docker: its engine, its builder, and targets with a Dockerfile."""
