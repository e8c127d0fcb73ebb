"""The high scores of a game."""


def best(scores, count):
    """Return the names of the best players, the highest score first."""
    ranking = sorted(scores.items(), key=lambda entry: entry[1], reverse=True)
    return [name for name, _ in ranking[:count]]
