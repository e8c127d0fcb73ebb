"""Limits at the wire: what an exchange costs, who has used what, and what is refused beyond."""
