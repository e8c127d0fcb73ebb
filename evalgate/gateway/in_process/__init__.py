"""Agents that call their model inside this very process: recorded and replayed by patches."""
