"""``kill -9`` at random moments: what must be there afterwards."""
