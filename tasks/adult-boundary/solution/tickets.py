"""Ticket prices."""


def is_adult(age):
    """Tell whether a visitor of this age pays the adult price."""
    return age >= 18
