def reverse(text):
    """Return the text backwards."""
    return text[::-1]
