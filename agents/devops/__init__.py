"""One step of a deploy, carried out."""
