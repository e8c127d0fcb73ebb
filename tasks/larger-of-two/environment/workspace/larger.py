def larger(a, b):
    """Return the larger of two numbers."""
    if a > b:
        return b
    return a
