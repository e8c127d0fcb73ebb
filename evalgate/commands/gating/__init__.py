"""`evalgate gate`: base against head, from evidence to one decision, and what is told of it."""
