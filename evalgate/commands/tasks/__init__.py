"""The commands about tasks: one module each."""
