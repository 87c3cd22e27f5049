"""What keeps a home small over months: logs are packed, what nobody needs any more is thrown away. Money never is."""
