"""How long leases and grace periods last."""

from __future__ import annotations

from datetime import timedelta

LEASE_DURATION = timedelta(seconds=30)
"""A worker owns its execution for this long after the last lease renewal."""

LEASE_RENEWAL_INTERVAL = timedelta(seconds=10)
"""How often a worker renews its lease. Two renewals may fail before the lease expires."""

CANCEL_GRACE = timedelta(seconds=30)
"""How long a cancelled task has to stop by itself, unless the caller sets another grace period."""

MAX_CONTAINER_STOP_GRACE = timedelta(seconds=100)
"""The longest grace period of a container. Fargate kills a container two minutes after the stop request; the remaining
20 seconds are for the last checkpoint and the final report."""

LEASE_SUSPECT_AFTER = timedelta(seconds=12)
"""A lease not renewed for this long is suspect: the dispatcher sends a work order for the next attempt, delayed until
the lease expires."""
