"""Words of owners and of the trade: which tell, and which mean the same."""
