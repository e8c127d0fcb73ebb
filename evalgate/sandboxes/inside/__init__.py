"""What runs inside a sandbox beside its program: texts for a shell, Python and Node there."""
