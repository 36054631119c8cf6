"""The overlap policy of a job."""

from __future__ import annotations

from punctual.domain.jobs.overlap import Overlap


def test_only_the_allow_policy_needs_no_gate() -> None:
    assert [rule for rule in Overlap if rule.gate("a") is None] == [Overlap.ALLOW]
