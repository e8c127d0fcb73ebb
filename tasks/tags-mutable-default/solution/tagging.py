"""Tags of notes."""


def add_tag(tag, tags=None):
    """Return the tags with one more; without tags, start a new list."""
    tags = [] if tags is None else tags
    tags.append(tag)
    return tags
