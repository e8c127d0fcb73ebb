"""Totals of invoices."""


def total(lines):
    """Return the sum of an invoice; a line has the keys "name", "price" and "quantity"."""
    result = 0
    for line in lines:
        result += line["price"] * line.get("count", 1)
    return result
