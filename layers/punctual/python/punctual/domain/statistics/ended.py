"""An ended execution as the statistics count it, and the counts that it adds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from punctual.domain.executions.execution import Execution
from punctual.domain.identity import due_of, execution_id, job_of
from punctual.domain.instant import MILLISECOND, from_epoch_ms, to_epoch_ms
from punctual.domain.lane import Lane, Priority
from punctual.domain.statistics.histogram import duration_bucket
from punctual.domain.status import Status

Counts = dict[str, int]
"""Counts by name. Names are short, because they are names of attributes."""

LETTERS = {
    Status.SUCCEEDED: "s",
    Status.FAILED: "f",
    Status.TIMED_OUT: "t",
    Status.CANCELLED: "c",
    Status.SKIPPED: "k",
    Status.MISSED: "m",
}
"""The name of the count of each final status."""
STATUSES = {letter: status for status, letter in LETTERS.items()}

LONG = "long"
"""The name of the long lane among the queues."""
QUEUES = {str(Priority.HIGH): "h", str(Priority.NORMAL): "n", str(Priority.LOW): "l", LONG: "x"}
"""The prefix of the counts of each queue."""

RUN_TIME, LATENESS, DELAY = "r", "l", "d"
"""Prefixes of the counts of a histogram; the number of the bucket follows."""

QUARTER = timedelta(minutes=15)
_WORD = re.compile(
    r"(?P<step>-?[0-9a-z]+)(?P<status>[A-Z])(?P<until_end>-?[0-9a-z]+)\.(?P<run>[0-9a-z]*)(?:\.(?P<source>.+))?"
)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The fields of an ended execution that the statistics keep."""

    execution_id: str
    status: Status
    ended_at: datetime
    run_ms: int | None
    """From the start to the end of its last attempt; ``None`` if none has started."""

    @property
    def job_id(self) -> str:
        return job_of(self.execution_id)

    @property
    def key(self) -> str:
        """Orders the ended executions of a job by their end."""
        return f"{to_epoch_ms(self.ended_at):015}#{self.execution_id}"

    @property
    def day(self) -> str:
        return f"{self.ended_at:%Y-%m-%d}"


@dataclass(frozen=True, kw_only=True)
class CountedEnd:
    """An ended execution, with what it adds to the counts of its job's day and of its owner's quarter of an hour."""

    ended: Ended
    owner: str
    of_job: Counts
    of_owner: Counts

    @property
    def quarter(self) -> datetime:
        return quarter_of(self.ended.ended_at)


def counted_end(execution: Execution) -> CountedEnd:
    """What an execution with a final status counts as."""
    started_at, ended_at = execution.started_at, execution.ended_at or execution.scheduled_at
    run_ms = None if started_at is None else max((ended_at - started_at) // MILLISECOND, 0)
    ended = Ended(execution_id=execution.execution_id, status=execution.status, ended_at=ended_at, run_ms=run_ms)
    queue = QUEUES[LONG if execution.lane is Lane.LONG else str(execution.priority)]
    of_job, of_owner = {LETTERS[ended.status]: 1}, {queue + LETTERS[ended.status]: 1}
    if run_ms is not None and ended.status is Status.SUCCEEDED:
        of_job[f"{RUN_TIME}{duration_bucket(run_ms)}"] = 1
    first_start = _first_start(execution)
    if first_start is not None:
        of_job[f"{LATENESS}{duration_bucket((first_start - execution.earliest_start) // MILLISECOND)}"] = 1
        of_owner[f"{queue}{DELAY}{duration_bucket((first_start - _ready_at(execution)) // MILLISECOND)}"] = 1
    if execution.deadline_state is not None:
        of_owner[str(execution.deadline_state)] = 1
    return CountedEnd(ended=ended, owner=execution.owner, of_job=of_job, of_owner=of_owner)


def _first_start(execution: Execution) -> datetime | None:
    starts = (one.started_at for one in execution.attempts if one.started_at is not None)
    return min(starts, default=execution.started_at)


def _ready_at(execution: Execution) -> datetime:
    """When the execution could start: a wait at a gate or for upstreams is not a delay of its queue."""
    released_at = execution.queued_at if execution.depends_on else None
    return max(filter(None, (execution.earliest_start, execution.woken_at, released_at)))


def add(counts: Counts, more: Counts) -> Counts:
    """The sum of two sets of counts."""
    return {name: counts.get(name, 0) + more.get(name, 0) for name in {**counts, **more}}


def by_status(counts: Counts, prefix: str = "") -> dict[Status, int]:
    """The counts of each final status that occurs; ``prefix`` selects a queue."""
    return {status: counts[prefix + letter] for letter, status in STATUSES.items() if prefix + letter in counts}


def histogram(counts: Counts, prefix: str) -> dict[int, int]:
    """The histogram whose counts have this prefix."""
    return {int(name[len(prefix) :]): count for name, count in counts.items() if _is_bucket(name, prefix)}


def _is_bucket(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and name[len(prefix) :].isdigit()


def quarter_of(instant: datetime) -> datetime:
    """The beginning of the quarter of an hour that contains ``instant``."""
    return instant.replace(minute=instant.minute // 15 * 15, second=0, microsecond=0)


def ends_text(ends: tuple[Ended, ...]) -> str:
    """The ended executions of one job as text of about 12 characters each, and of about 50 for those of messages."""
    dues = [to_epoch_ms(due_of(one.execution_id)) for one in ends]
    steps = (due - before for due, before in zip(dues, [0, *dues], strict=False))
    return " ".join(_word(one, step) for one, step in zip(ends, steps, strict=True))


def ends_of_text(job_id: str, text: str) -> tuple[Ended, ...]:
    ends, due_ms = [], 0
    for word in text.split():
        match = _WORD.fullmatch(word)
        assert match is not None, word
        due_ms += int(match["step"], 36)
        due = from_epoch_ms(due_ms)
        ended = Ended(
            execution_id=execution_id(job_id, due, match["source"]),
            status=STATUSES[match["status"].lower()],
            ended_at=due + int(match["until_end"], 36) * MILLISECOND,
            run_ms=int(match["run"], 36) if match["run"] else None,
        )
        ends.append(ended)
    return tuple(ends)


def _word(one: Ended, step: int) -> str:
    """Milliseconds from the previous due instant and until the end, run time and source; numbers to the base of 36."""
    due = due_of(one.execution_id)
    source = one.execution_id.removeprefix(execution_id(one.job_id, due)).removeprefix("-")
    run = "" if one.run_ms is None else _base36(one.run_ms)
    until_end = _base36((one.ended_at - due) // MILLISECOND)
    return f"{_base36(step)}{LETTERS[one.status].upper()}{until_end}.{run}" + (f".{source}" if source else "")


def _base36(number: int) -> str:
    if number < 0:
        return "-" + _base36(-number)
    quotient, digit = divmod(number, 36)
    return (_base36(quotient) if quotient else "") + _DIGITS[digit]
