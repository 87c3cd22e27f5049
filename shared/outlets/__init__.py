"""What happened, offered to others: as CloudEvents, and as spans of OpenTelemetry. Nothing waits for them."""
