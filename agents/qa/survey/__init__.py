"""What a target is by the files of one commit, what its tests need, and how they are run."""
