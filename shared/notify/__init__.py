"""Messages to the owner, each delivered once."""
