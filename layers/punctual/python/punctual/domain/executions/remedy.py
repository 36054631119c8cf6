"""Why a deadline is in danger and what can be done about it, as values that a program can act on."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class CauseCode(StrEnum):
    """The kind of cause that a deadline outlook names."""

    UPSTREAM = "upstream"
    """It waits for an upstream execution."""
    RETRYING = "retrying"
    """An attempt has failed, and the next one follows."""
    CONTAINER_STARTING = "container_starting"
    SLOT_WAIT = "slot_wait"
    """It waits for a slot of the long lane."""
    QUEUE_WAIT = "queue_wait"
    """It waits in a queue of the short lane."""
    NOT_CLAIMED = "not_claimed"
    """It is due, nothing is ahead of it, and no worker has claimed it."""
    TOO_LITTLE_TIME = "too_little_time"
    """Its usual run time exceeds the time that its deadline leaves."""
    RUN_TIME_UNKNOWN = "run_time_unknown"
    TIMEOUT = "timeout"
    """Its timeout will stop it."""
    SLOWER_THAN_USUAL = "slower_than_usual"
    STARTED_LATE = "started_late"
    PARTITION_FAILED = "partition_failed"
    PARTITION_RETRYING = "partition_retrying"
    TOO_FEW_SLOTS = "too_few_slots"
    """The lane has fewer slots than its partitions need."""
    TOO_FEW_AT_ONCE = "too_few_at_once"
    """``partitions.at_once`` of its job is too small."""


class RemedyAction(StrEnum):
    """What an operator can do; ``Remedy.target`` names the object."""

    RAISE_SETTING = "raise_setting"
    """Of the stack, such as ``long.vcpus``."""
    EDIT_JOB = "edit_job"
    """The target is a field of the execution's job."""
    INSPECT_JOB = "inspect_job"
    """Find out what delays the job with this id."""
    INSPECT_EXECUTION = "inspect_execution"
    """See the log and the attempts of the execution with this id."""
    CANCEL_EXECUTION = "cancel_execution"
    """Or pause its job: another execution, whose slot becomes free."""
    RETRY_EXECUTION = "retry_execution"
    """Once its error is fixed."""
    CHECK_COMPONENT = "check_component"
    """Of Punctual or AWS: its alarms and its capacity."""
    WAIT = "wait"


class Remedy(NamedTuple):
    action: RemedyAction
    target: str
    effect: str
    """What it achieves, or the value to set."""
