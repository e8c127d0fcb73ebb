def square(n):
    """Return n squared."""
    return n * n
