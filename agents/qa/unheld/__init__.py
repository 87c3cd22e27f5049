"""What no test of a change holds: small faults that none notices, and what a reading of the code shows."""
