"""Lists of names, as people type them."""


def parse_names(line):
    """Return the names in a line of names separated by commas."""
    return [name.strip() for name in line.split(",") if name.strip()]
