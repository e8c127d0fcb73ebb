"""How much text one trial may bring into a report: what is longer is cut, and says so."""

from __future__ import annotations

from dataclasses import dataclass

#: A page opens at once while it holds no more than about so many characters in all.
PAGE = 48_000_000


@dataclass
class Share:
    """So many characters are ``left`` to a trial; None is as many as there are."""

    left: int | None = None

    def take(self, text: str, most: int | None = None) -> str:
        """Return as much of a text as there is room for, from its beginning, and say what is cut.

        ``most`` bounds this text alone.
        """
        if self.left is None:
            return text
        kept = text[: max(0, self.left if most is None else min(self.left, most))]
        self.left -= len(kept)
        cut = len(text) - len(kept)
        return f"{kept}\n[{cut} more characters]" if cut else kept


def share_of(trials: int) -> Share:
    """Return the share of one of so many trials in a page."""
    return Share(left=PAGE // max(1, trials))
