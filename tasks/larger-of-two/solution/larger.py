def larger(a, b):
    """Return the larger of two numbers."""
    if a > b:
        return a
    return b
