"""What happened, offered to others as CloudEvents: to a file, a webhook, Redis. Nothing waits for them."""
