"""Search services and pages, bounded, each asked for once."""
