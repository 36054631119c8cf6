"""What is measured, by name: alarms and the dashboard use the same. docs/operations.md explains them."""

from __future__ import annotations

from enum import StrEnum

NAMESPACE = "Punctual"


class Metric(StrEnum):
    """Published by the monitor once a minute without dimensions, zeros too: alarms watch these."""

    DEADLINES_AT_RISK = "DeadlinesAtRisk"
    """Live executions that may, or will, miss their deadline."""

    DEADLINES_MISSED = "DeadlinesMissed"
    """Live executions past their deadline."""

    BACKLOG_DRAIN_MINUTES = "BacklogDrainMinutes"
    """How long the slowest queue needs for what waits in it now."""

    BACKLOG_MESSAGES = "BacklogMessages"
    """What waits in the fullest queue."""

    OLDEST_MESSAGE_SECONDS = "OldestMessageSeconds"
    """How long the oldest message has waited beyond its due instant."""

    DISPATCH_LATENESS_P99 = "DispatchLatenessP99"
    """Seconds from the due instant to the start, of first attempts since the last minute."""

    DEAD_LETTERS = "DeadLetters"
    """Messages in all dead-letter queues."""

    TICK_GAP_SECONDS = "TickGapSeconds"
    """Time between the monitor's last two ticks."""

    SWEEP_LAG_SECONDS = "SweepLagSeconds"
    """How far the slowest sweep of the timers is behind."""

    WORKER_FAILURE_RATE = "WorkerFailureRate"
    """Percent of the attempts since the last minute that did not succeed."""

    STATE_MACHINE_FAILURES = "StateMachineFailures"
    """Runs of the long lane's state machine that failed or timed out since the last minute."""

    STREAM_LAG_SECONDS = "StreamLagSeconds"
    """Age of the oldest record that a function got from a stream, if that is worth telling."""

    API_FAULTS = "ApiFaults"
    """Requests that the api could not answer for a reason of its own."""

    THROTTLES = "Throttles"
    """Functions that AWS refused something because there was too much of it."""


AS_IT_HAPPENS = (Metric.STREAM_LAG_SECONDS, Metric.API_FAULTS, Metric.THROTTLES)
"""Whoever it happens to publishes these, and the monitor only zeros: so that their alarms end, and never lack data."""


class Detail(StrEnum):
    """Written to the log in the embedded metric format, with dimensions: the dashboard shows these."""

    STARTED = "Started"
    ENDED = "Ended"
    RUNNING_NOW = "RunningNow"
    QUEUE_DEPTH = "QueueDepth"
    QUEUE_DRAIN_MINUTES = "QueueDrainMinutes"
    SLOTS_TAKEN = "SlotsTaken"
    SLOTS_WAITING = "SlotsWaiting"
    ESTIMATED_DOLLARS = "EstimatedDollars"
