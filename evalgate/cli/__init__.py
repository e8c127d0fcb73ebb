"""The command line: one module a family of commands, and the root they hang on."""
