"""The lease of a running execution."""

from __future__ import annotations

from datetime import timedelta

from punctual.domain.executions.lease import LEASE_DURATION, LEASE_RENEWAL_INTERVAL


def test_a_lease_survives_two_failed_renewals() -> None:
    assert 2 * LEASE_RENEWAL_INTERVAL + timedelta(seconds=5) <= LEASE_DURATION
