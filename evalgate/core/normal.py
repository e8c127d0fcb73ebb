"""The standard normal law: its distribution function and quantiles, without importing much."""

import math


def normal_cdf(x: float) -> float:
    """Return the chance that a standard normal number is at most ``x``."""
    return math.erfc(-x / math.sqrt(2)) / 2


def normal_quantile(p: float) -> float:
    """Return the number that a standard normal one is below with chance ``p``, by bisection.

    Raises:
        ValueError: ``p`` does not lie strictly between 0 and 1.
    """
    if not 0 < p < 1:
        message = f"no quantile at {p}"
        raise ValueError(message)
    low, high = -40.0, 40.0
    while True:
        middle = (low + high) / 2
        if middle in {low, high}:
            return middle
        if normal_cdf(middle) < p:
            low = middle
        else:
            high = middle
