"""Tags of notes."""


def add_tag(tag, tags=[]):
    """Return the tags with one more; without tags, start a new list."""
    tags.append(tag)
    return tags
