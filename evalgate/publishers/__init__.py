"""Places where a verdict is told, and the one door to GitHub."""
