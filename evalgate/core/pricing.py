"""What tokens cost; an unknown price or an unknown count makes an unknown cost."""

from __future__ import annotations

from dataclasses import dataclass

from evalgate.core.trajectory import Usage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens of each kind; None is unknown, never free."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


FREE = Price(input=0.0, output=0.0)


def cost_usd(usage: Usage, price: Price | None) -> float | None:
    """Return the cost of a usage in US dollars, None when price or usage is unknown.

    What is free is known to cost nothing, whatever was counted. Cached tokens a provider
    does not report are taken as none.
    """
    if price is None:
        return None
    if price == FREE:
        return 0.0
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    kinds = (
        (usage.input_tokens, price.input),
        (usage.output_tokens, price.output),
        (usage.cache_read_tokens or 0, price.cache_read),
        (usage.cache_write_tokens or 0, price.cache_write),
    )
    total = 0.0
    for tokens, each in kinds:
        if tokens and each is None:
            return None
        total += tokens * (each or 0.0)
    return total / _MILLION
