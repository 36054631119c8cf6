"""Names of the CloudWatch metrics, shared by alarms and the dashboard. docs/operations.md explains them."""

from __future__ import annotations

from enum import StrEnum


def namespace(stage: str) -> str:
    """The namespace of a stage: several stages may share an account."""
    return f"Punctual/{stage}"


class Metric(StrEnum):
    """Metrics with an alarm. The monitor publishes them every minute without dimensions, on AWS only if not zero."""

    DEADLINES_AT_RISK = "DeadlinesAtRisk"
    """Live executions that may miss, or will miss, their deadline."""

    DEADLINES_MISSED = "DeadlinesMissed"
    """Live executions past their deadline."""

    BACKLOG_DRAIN_MINUTES = "BacklogDrainMinutes"
    """Minutes until the slowest queue has drained its current messages."""

    BACKLOG_MESSAGES = "BacklogMessages"
    """Messages waiting in the longest queue."""

    OLDEST_MESSAGE_SECONDS = "OldestMessageSeconds"
    """How long the oldest message has waited since its due instant."""

    DISPATCH_LATENESS_P99 = "DispatchLatenessP99"
    """Seconds from the due instant to the start of first attempts in the last minute, 99th percentile."""

    DEAD_LETTERS = "DeadLetters"
    """Messages in all dead-letter queues."""

    TICK_GAP_SECONDS = "TickGapSeconds"
    """Seconds between the monitor's last two ticks."""

    SWEEP_LAG_SECONDS = "SweepLagSeconds"
    """Delay of the slowest timer sweep."""

    WORKER_FAILURE_RATE = "WorkerFailureRate"
    """Percentage of the attempts in the last minute that did not succeed."""

    STATE_MACHINE_FAILURES = "StateMachineFailures"
    """Runs of the long lane's state machine that failed or timed out in the last minute."""

    STREAM_LAG_SECONDS = "StreamLagSeconds"
    """Age of the oldest record that a function received from a stream, if above the reporting threshold."""

    API_FAULTS = "ApiFaults"
    """API requests that failed with an internal error."""

    THROTTLES = "Throttles"
    """AWS requests of a function that were throttled."""

    BROKEN_TASK_MODULES = "BrokenTaskModules"
    """Modules of `tasks/` that a function cannot import."""


EVENT_METRICS = (Metric.STREAM_LAG_SECONDS, Metric.API_FAULTS, Metric.THROTTLES, Metric.BROKEN_TASK_MODULES)
"""Published by the function where the event occurs. The monitor only measures zeros for them, which make their alarms
return to OK on the emulator."""


class DashboardMetric(StrEnum):
    """Metrics of the dashboard, with dimensions, written to the log in the CloudWatch embedded metric format."""

    STARTED = "Started"
    ENDED = "Ended"
    RUNNING_NOW = "RunningNow"
    QUEUE_DEPTH = "QueueDepth"
    QUEUE_DRAIN_MINUTES = "QueueDrainMinutes"
    SLOTS_TAKEN = "SlotsTaken"
    SLOTS_WAITING = "SlotsWaiting"
    ESTIMATED_DOLLARS = "EstimatedDollars"
