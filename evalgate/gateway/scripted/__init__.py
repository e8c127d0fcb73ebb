"""A deterministic upstream that says what a plan says, in every dialect."""
