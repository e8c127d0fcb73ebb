"""Runs, trials and verdicts as somebody reads them: `show`, `report`, `read`, `comment`."""
