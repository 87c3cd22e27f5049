"""The board: what the terminal shows and does, in a browser; a process of its own."""
