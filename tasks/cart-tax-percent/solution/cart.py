"""Prices in the shopping cart."""

from rates import TAX_PERCENT


def net(prices):
    """Return the sum of the prices, without tax."""
    return sum(prices)


def gross(prices, region):
    """Return the sum of the prices with the tax of the region, in cents rounded down."""
    rate = TAX_PERCENT.get(region, 0)
    return net(prices) + net(prices) * rate // 100
