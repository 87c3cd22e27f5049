"""What was learned, and which lessons fit what is about to be done."""
