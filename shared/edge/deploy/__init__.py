"""Where what merged goes live: drivers behind one door, what is asked about its health, and what is saved before it."""
