"""Pages of a list."""


def paginate(items, page, size):
    """Return one page of the items; the first page is page 1."""
    start = (page - 1) * size
    return items[start : start + size]
