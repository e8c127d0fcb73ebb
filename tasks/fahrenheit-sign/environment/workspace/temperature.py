"""Temperatures."""


def to_celsius(fahrenheit):
    """Convert degrees Fahrenheit to degrees Celsius."""
    return (fahrenheit + 32) * 5 / 9
