"""Where a model's or a repository's code runs: sealed off, limited, watched, and attacked by ourselves first."""
