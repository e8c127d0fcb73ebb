"""The rules that `evalgate task lint` holds tasks to: one table, a module for what they look at."""
