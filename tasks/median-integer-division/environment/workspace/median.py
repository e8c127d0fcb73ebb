"""The median of numbers."""


def median(numbers):
    """Return the middle number, or the mean of the two middle ones."""
    ordered = sorted(numbers)
    half = len(ordered) // 2
    if len(ordered) % 2 == 1:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) // 2
