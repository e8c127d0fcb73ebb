"""One module a verb; none of them knows click.

A verb of many parts has a room: ``making`` (trials), ``gating``, ``baselines``, ``experiments``,
``telling``, ``hooks``, ``cassettes``. What several rooms need lies here.
"""
