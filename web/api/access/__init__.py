"""Who is signed in, and by what: links, sessions, and each other way in."""
