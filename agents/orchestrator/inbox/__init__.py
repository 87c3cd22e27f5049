"""What the owner says: at the forge, in files, at the terminal."""
