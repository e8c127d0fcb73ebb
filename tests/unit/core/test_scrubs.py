"""The table of scrub rules, and the choice a project makes of it."""

from __future__ import annotations

from evalgate.core.scrubs import BESIDE, SCRUBS, scrubs_digest, usual_scrubs


def test_no_rule_has_the_name_of_what_is_counted_beside_the_rules():
    """A count of either would be the count of both."""
    assert not {rule.name for rule in SCRUBS} & BESIDE.keys()


def test_a_project_chooses_its_rules():
    """Another choice is another version."""
    assert "uuid" not in {rule.name for rule in usual_scrubs()}
    assert "uuid" in {rule.name for rule in usual_scrubs(also=["uuid"])}
    assert "date" not in {rule.name for rule in usual_scrubs(without=["date"])}
    versions = {scrubs_digest(usual_scrubs(also=also)) for also in ([], ["uuid"])}
    assert len({*versions, scrubs_digest(usual_scrubs(without=["date"]))}) == 3
