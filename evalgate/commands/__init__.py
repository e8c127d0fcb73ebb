"""One module a verb; none of them knows click."""
