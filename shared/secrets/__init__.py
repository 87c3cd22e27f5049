"""What keys look like: the rules of a detector that others keep up to date."""
