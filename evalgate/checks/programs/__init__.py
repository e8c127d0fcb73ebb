"""Programs that `evalgate.checks.apart` runs: each a file by itself, with a ``main``."""
