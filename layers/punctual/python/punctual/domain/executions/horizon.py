"""How far ahead of their due instant executions leave the table for a queue, and how long a lease holds."""

from __future__ import annotations

from datetime import timedelta

SWEEP = timedelta(seconds=180)
"""The dispatcher queues what is due within this. Two missed ticks delay nothing."""

REACH = timedelta(seconds=240)
"""The planner queues what is due within this without a timer. It exceeds ``SWEEP`` by what a slow planner and two
clocks may differ, so a timer is never set behind the sweep."""

LONGEST_DELAY = timedelta(seconds=900)
"""SQS holds no message back for longer."""

LEASE = timedelta(seconds=30)
"""A worker owns its execution for this long after the last renewal."""

RENEWAL = timedelta(seconds=10)
"""How often a worker renews. Two renewals may fail before the lease lapses."""

CANCEL_GRACE = timedelta(seconds=30)
"""How long a task has to stop by itself once it was asked to, unless whoever asks says otherwise."""

LONGEST_LEAVE = timedelta(seconds=100)
"""How long a container can be given to stop. Fargate kills it two minutes after it was told to: the rest is for the
last checkpoint, and for the word to get out."""

SUSPICION = timedelta(seconds=12)
"""A lease not renewed for this long is suspect: the dispatcher sends a successor, delayed until the lease's end."""
