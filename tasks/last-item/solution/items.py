def last(items):
    """Return the last item of a list."""
    return items[-1]
