"""`run`, `replay`, `regrade`: trials made, what they may cost, and how a run ended."""
