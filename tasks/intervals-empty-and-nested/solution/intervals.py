"""Intervals of time."""


def merge(intervals):
    """Return the intervals as a sorted list of (start, end) without overlaps."""
    ordered = sorted(intervals)
    merged = ordered[:1]
    for start, end in ordered[1:]:
        last_start, last_end = merged[-1]
        if start <= last_end:
            merged[-1] = (last_start, max(last_end, end))
        else:
            merged.append((start, end))
    return merged
