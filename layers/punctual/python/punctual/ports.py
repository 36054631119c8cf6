"""What the stages need from the world, one small interface per seam. ``aws/`` implements them.

Losing a race is a return value here, never an exception. Every write may be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from punctual.domain.assignment import Assignment
from punctual.domain.backlog import Sample
from punctual.domain.calendar import Calendars
from punctual.domain.caller import Caller
from punctual.domain.check import Check
from punctual.domain.drain import Depth
from punctual.domain.execution import Attempt, Execution, Hold, Planned, Progress, Result
from punctual.domain.flow import Flow
from punctual.domain.gate import Entrant, Gate, Rate, Waiter
from punctual.domain.graph import Tied
from punctual.domain.job import Job, JobState
from punctual.domain.laxity import Grant, Occupancy
from punctual.domain.notice import Notice
from punctual.domain.notice_window import Group, Noted, Telling, Window
from punctual.domain.order import Order
from punctual.domain.outlook import DeadlineState, Outlook
from punctual.domain.part import Part
from punctual.domain.schedule import Schedule
from punctual.domain.settlement import Settlement, Verdict
from punctual.domain.slots import LaneOutlook
from punctual.domain.standing import Ending, Standing
from punctual.domain.timer import Reached, Timer, TimerReason
from punctual.domain.upstream import Upstream

Clock = Callable[[], datetime]


class Jobs(Protocol):
    """The definitions."""

    def add(self, jobs: Iterable[Job]) -> None:
        """Store new jobs."""

    def add_unique(self, jobs: Sequence[Job]) -> dict[str, Job]:
        """Store new jobs that have a ``dedupe_key`` each, all or none: none when live jobs have some of the keys.

        Those that do, by key. Up to 50 at once.
        """

    def holding(self, jobs: Sequence[Job]) -> dict[str, Job]:
        """The live jobs that have the keys of these new ones, by key."""

    def get(self, job_id: str) -> Job | None: ...

    def get_many(self, job_ids: Iterable[str]) -> dict[str, Job]:
        """The newest state of each that exists."""

    def move(self, job: Job, state: JobState, now: datetime) -> bool:
        """Pause, resume, cancel or delete it; ``False`` when it is not as it was ``job`` any more."""

    def replace(self, job: Job) -> bool:
        """Store the next revision of a job; ``False`` when it is not the next one any more."""

    def note_run(self, job_id: str, execution_id: str, run_times: Mapping[str, Iterable[int]]) -> None:
        """Remember how long the parts of an execution took, by kind. Coming again changes nothing."""

    def note_old(self, job_id: str, since: datetime) -> None:
        """Remember how far back the due instants lie of which executions may live."""

    def note_dependant(self, job_id: str) -> bool:
        """Remember that others depend on a job; ``False`` when it was deleted or cancelled."""

    def finish(self, job: Job, now: datetime) -> bool:
        """Mark an active job as done; ``False`` when it is not active any more, or has other rules."""

    def note_owner(self, owner: str) -> None:
        """Remember that this owner has jobs, so that lists over all owners find them."""


class Executions(Protocol):
    """One record per due instant."""

    def add(self, execution: Execution) -> Execution | None:
        """Store a new one. When there is one with its id already, nothing changes and that one is returned."""

    def add_all(self, executions: Iterable[Execution]) -> None:
        """``add`` for each, in no order."""

    def queue(self, timer: Timer, now: datetime) -> bool:
        """Move to ``queued`` what waits for this timer; ``False`` when it is past that."""

    def queue_all(self, timers: Iterable[Timer], now: datetime) -> int:
        """``queue`` for each; how many moved."""

    def replace(self, execution: Execution) -> bool:
        """Put in place of one with its id that was planned under an earlier revision, unless that is on its way."""

    def unplan(self, job_id: str, execution_id: str, revision: int) -> bool:
        """Forget one whose time has not come; ``False`` when it is on its way."""

    def skip(self, job_id: str, execution_id: str, reason: str, now: datetime, covered_by: str | None = None) -> bool:
        """Move what has not started to ``skipped``; ``False`` when it is past that."""

    def miss(self, job_id: str, execution_id: str, reason: str, now: datetime) -> bool:
        """Move what has not started to ``missed``; ``False`` when it is past that."""

    def last_planned(self, job_id: str, before: datetime) -> datetime | None:
        """The last due instant up to ``before`` that a job's schedule has an execution for."""

    def live_of(self, job_id: str, since: datetime) -> Iterator[Planned]:
        """A job's executions due since then that have not ended, the latest first."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def read_many(self, execution_ids: Iterable[str]) -> dict[str, Execution]:
        """The newest state of each that exists."""

    def claim(self, order: Order, worker_id: str, now: datetime) -> tuple[Execution | None, Execution | None]:
        """Try to become the one who runs the ordered attempt: ``(won, None)`` or ``(None, how it stands)``."""

    def take_over(self, lapsed: Execution, lost: Attempt, worker_id: str, now: datetime) -> Execution | None:
        """Start the next attempt in place of a worker whose lease has lapsed; ``None`` when it has not."""

    def renew(self, execution: Execution, now: datetime, progress: Progress | None) -> Hold:
        """Extend the lease and tell the progress."""

    def conclude(self, execution: Execution, settlement: Settlement, now: datetime) -> bool:
        """Apply what was decided; ``False`` when another attempt has superseded this one, or it was to stop and comes
        too late, or would be tried again."""

    def revoke(self, execution: Execution, attempt: Attempt, now: datetime) -> bool:
        """Cancel one that was asked to stop and has not; ``False`` when it has ended by itself."""

    def give_up(self, lapsed: Execution, settlement: Settlement, now: datetime) -> bool:
        """Apply the end of an execution whose last worker fell silent; ``False`` when it has come back to life."""

    def running(self, shard: int) -> Iterator[Execution]:
        """What runs now."""


class LastExecutions(Protocol):
    """Executions, as seen by whoever says that their job is done."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def live_of(self, job_id: str, since: datetime) -> Iterator[Planned]: ...

    def ends_its_job(self, job_id: str, execution_id: str) -> bool:
        """See to it that its end is heard, as it may be the last of its job; ``False`` when it has ended."""


class Finish(Protocol):
    """Whoever knows when a job is done."""

    def if_over(self, job_id: str) -> None:
        """Mark a job as done if it is. If not, the end of one that still lives has it looked at again."""


class Plan(Protocol):
    """The planner, as whoever sends executions on their way sees it."""

    def lead_on(self, job: Job, leader: Execution) -> None:
        """Plan what follows one that leads."""

    def mend_chain(self, leader: Execution) -> None:
        """Should nothing be planned after it, that is made up for."""

    def hold_back(self, job: Job, one: Planned) -> bool:
        """Whether a pause keeps it from running; then it is skipped, or forgotten."""

    def stop(self, job_id: str, execution_id: str, reason: str) -> None:
        """Cancel it, one that runs after a while."""

    def set_timer(self, execution: Execution, at: datetime, reason: TimerReason) -> None:
        """Have it queued at an instant that is far."""


class CancelExecutions(Protocol):
    def cancel(self, execution: Execution, reason: str, now: datetime) -> Execution | None:
        """End what has not ended, but for a short one that runs; ``None`` when that is not so any more."""


class GatedExecutions(CancelExecutions, Protocol):
    """The executions, as the gatekeeper sees them. Each that moves one says whether it did."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def get_many(self, execution_ids: Iterable[str]) -> list[Execution]:
        """Those that exist, in no order, and maybe as they were a moment ago."""

    def wait(self, entrant: Entrant, gate: str, reason: str) -> bool:
        """Have what is on its way wait at a gate."""

    def wake(self, job_id: str, execution_id: str, now: datetime) -> bool:
        """Have what waits at a gate go on its way again."""

    def put_off(self, entrant: Entrant, until: datetime, reason: str) -> bool:
        """Have what is on its way arrive later."""

    def skip_entrant(self, entrant: Entrant, reason: str, now: datetime) -> bool: ...

    def skip(
        self, job_id: str, execution_id: str, reason: str, now: datetime, covered_by: str | None = None
    ) -> bool: ...

    def ask_to_stop(self, execution: Execution, until: datetime, reason: str) -> Execution | None:
        """Tell a running one that it has until then; ``None`` when it no longer runs. Again changes nothing."""


class Gates(Protocol):
    """Where only so many may run at once."""

    def enter(self, gate: Gate, execution_id: str) -> frozenset[str] | None:
        """``None`` when it is inside, also if it was before; else who is."""

    def leave(self, name: str, execution_id: str) -> bool:
        """Whether somebody may wait in line. One that is not inside is fine."""

    def ask_for_word(self, name: str) -> bool:
        """See to it that whoever leaves looks at the line; ``False`` when nobody is inside."""

    def pass_on(self, name: str, execution_id: str, to: str) -> bool:
        """Hand a place to another; ``False`` when the one is not inside, or the other is already."""

    def inside(self, name: str) -> frozenset[str]: ...

    def held(self, shard: int) -> Iterator[Mapping[str, frozenset[str]]]:
        """All gates with somebody inside, and who, in pages."""

    def stand_in_line(self, name: str, execution_id: str, turn: str, now: datetime) -> None: ...

    def form_line(self, name: str, waiters: Iterable[Waiter], now: datetime) -> None:
        """Have many stand in line."""

    def stand_alone(self, name: str, execution_id: str, instead_of: str | None, now: datetime) -> str | None:
        """Take the only place in line, if it is free or held by ``instead_of``; who holds it, if not."""

    def first_in_line(self, name: str) -> Waiter | None: ...

    def step_out(self, name: str, waiter: Waiter) -> None:
        """Out of the line. One that does not stand there is fine."""

    def ahead_of(self, name: str, turn: str) -> list[str]:
        """Who in line is before this turn, also those who have ended and not yet been passed over."""

    def reserve(self, name: str, rate: Rate, now: datetime) -> datetime:
        """When the next may start: nobody else gets the same place."""

    def reserved_until(self, name: str) -> datetime | None:
        """Until when starts are reserved; ``None`` where none is."""


class Doors(Protocol):
    """The gatekeeper, as others see it."""

    def line_up(self, executions: Sequence[Execution]) -> None:
        """Give those of a backfill their places, in this order, before they are stored."""

    def is_its_turn(self, execution: Execution) -> bool:
        """Whether one may be sent on its way; if not, its backfill has it wait."""

    def give_up(self, execution: Execution) -> None:
        """Give its place in a backfill to whoever is next: it was not stored."""

    def let_in(self, entrant: Entrant, gates: Iterable[Gate]) -> bool:
        """Whether it may run. If not, its record says why."""

    def leave(self, execution_id: str, gates: Iterable[Gate]) -> None:
        """Give its places to whoever is next. Again is fine."""

    def stop(self, execution: Execution, reason: str, grace: timedelta) -> Execution | None:
        """Cancel what has not ended, one that runs after a while; ``None`` when it has ended by itself."""

    def look_after(self, shard: int) -> Iterator[Execution]:
        """Those inside the gate of their job who may need another order. What broke off half-way is mended."""


class ReadExecutions(Protocol):
    """The executions, as those see them who only look."""

    def read_many(self, execution_ids: Iterable[str]) -> dict[str, Execution]:
        """The newest state of each that exists."""


class HeldExecutions(ReadExecutions, Protocol):
    """The executions, as those see them who hold some back until others have ended.

    Only what is still held, under the revision that was looked at, moves; ``False`` when it is past that.
    """

    def listen(self, execution: Execution) -> Execution | None:
        """See to it that its end is heard of, if it has not ended. How it stands."""

    def hold(self, execution: Execution, reason: str, look_at: datetime) -> bool:
        """From ``queued`` to ``waiting``, with the instant of the timer that is set for it."""

    def clear(self, execution: Execution) -> bool:
        """Let one that is ``queued`` start; also ``True`` when that was done before."""

    def release(self, execution: Execution, now: datetime) -> bool:
        """The same for one that waits: becoming ``queued`` sets it on its way."""

    def look_again(self, execution: Execution, now: datetime) -> bool:
        """From ``waiting`` to ``queued``, and still held: what it waits for has changed."""

    def pass_over(self, execution: Execution, reason: str, now: datetime) -> bool:
        """To ``skipped``."""


class Dependants(Protocol):
    """Who waits for the end of which execution."""

    def register(self, dependant: str, upstream: str, now: datetime) -> None: ...

    def of(self, upstream: str) -> Iterator[str]:
        """All that registered before this was called."""


class Upstreams(Protocol):
    """Whoever knows what executions depend on."""

    def let_through(self, execution: Execution) -> bool:
        """Whether one that is held may go on its way; if not, it waits now, or was skipped."""

    def forgotten(self, execution_id: str) -> None:
        """It will not come, and did not end: those who wait for it look again."""


class UpstreamLookup(Protocol):
    def of(self, dependants: Sequence[Execution]) -> list[list[Upstream]]:
        """Of each, what it depends on, as that stands."""


class Ties(Protocol):
    """What jobs may depend on. All raise ``Invalid``; only ``note`` writes."""

    def check(self, job: Job) -> Tied:
        """A single job, or its next revision."""

    def check_all(self, jobs: Sequence[Job], existing: Mapping[str, Job]) -> Tied:
        """The jobs of a batch, which may name each other. ``existing`` are those that stand in for some, by key."""

    def note(self, tied: Tied) -> None:
        """From now on the ends of the upstreams are listened for: before the jobs themselves are stored."""


class WatchedExecutions(Protocol):
    """The executions that have a deadline, as the monitor sees them."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def to_check(self, shard: int, until: datetime) -> Iterator[Check]:
        """The looks that are due by then. The newest may not be among them yet."""

    def note_outlook(self, execution: Execution, outlook: Outlook, check_at: datetime | None) -> bool:
        """Record what a look found and when the next is; ``False`` when that look has happened already."""

    def oldest_check(self, shard: int) -> datetime | None:
        """When the look that has been due for longest was due; ``None`` when none will be."""

    def count_in(self, state: DeadlineState) -> int:
        """How many live ones are in a state."""

    def count_running(self) -> int:
        """How many run now, with a deadline or without."""


class Checks(Protocol):
    """The queue that leads to the next looks."""

    def send(self, checks: Iterable[Check], now: datetime) -> None:
        """Have each arrive when it is due. Raises when any was refused."""


class Notices(Protocol):
    """The queue that leads to people."""

    def send(self, notices: Iterable[Notice]) -> None:
        """Raises when any was refused. Sending one again is fine: it is told once."""


class WindowEnds(Protocol):
    """The queue of notices, as the notifier itself uses it."""

    def end_later(self, window: Window, now: datetime) -> None:
        """Have the notifier told when the window ends. Again is fine."""


class Topics(Protocol):
    """Where people listen."""

    def publish(self, notice: Notice) -> None: ...


class NoticeLedger(Protocol):
    """Which notices are known, and what is counted in each group."""

    def window(self, group: Group) -> Window | None:
        """The window that is open, also past its end; ``None`` when there is none."""

    def begin(self, telling: Telling, seen: Window | None, now: datetime) -> Noted:
        """Write down that something is to be told, and open its window in place of the one that was ``seen``."""

    def count(self, notice: Notice, seen: Window, now: datetime) -> Noted:
        """Write down that a notice is counted in the window that was ``seen``."""

    def close(self, seen: Window) -> bool:
        """Leave a group without a window; ``False`` when that has moved since it was ``seen``."""

    def due(self, notice_id: str) -> Telling | None:
        """What is to be told under this id; ``None`` when it was told or counted already, or is not known."""

    def take_over(self, telling: Telling, lease_until: datetime) -> bool:
        """Carry out what another left; ``False`` when somebody else does."""

    def told(self, telling: Telling) -> None:
        """Write down that it was published."""


class Samples(Protocol):
    """What the monitor last saw of the queues."""

    def latest(self) -> Sample | None: ...

    def keep(self, sample: Sample) -> None:
        """In place of the one before."""


class QueueDepths(Protocol):
    """How full queues are."""

    def read(self) -> Mapping[str, Depth]:
        """Of those that could be read."""


class Flows(Protocol):
    """What moved through the queues."""

    def read(self, queues: Iterable[str]) -> Mapping[str, Flow]:
        """All that was ever counted of each."""


class LongRunFailures(Protocol):
    def failed_since(self, since: datetime) -> int:
        """How many state machine runs of the long lane failed or timed out since then."""


class LaneOutlooks(Protocol):
    """What the monitor last worked out about the long lane."""

    def latest(self) -> LaneOutlook | None: ...

    def keep(self, outlook: LaneOutlook) -> None: ...


class LongExecutions(Protocol):
    """The executions of the long lane, as their conductor sees them."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def conduct(self, job_id: str, execution_id: str, conductor: str, now: datetime) -> Execution | None:
        """Let a state machine run carry an execution, and no other; ``None`` for another, or one that has ended."""

    def change_conductor(self, execution: Execution, now: datetime) -> bool:
        """Free an execution whose state machine run is gone for another; ``False`` when it has one already."""

    def follow(self, job_id: str, execution_id: str, standing: Standing, told_at: datetime | None) -> bool:
        """Tell an execution how its parts stand; ``False`` when it has ended.

        ``told_at`` is when the progress was told, if it was just now.
        """

    def close(self, execution: Execution, ending: Ending, now: datetime) -> bool:
        """End it; ``False`` when it has ended already."""

    def live_long(self) -> Iterator[Execution]:
        """Those that have not ended."""


class Parts(Protocol):
    """What long executions are made of, as their conductor sees them."""

    def add(self, part: Part) -> None:
        """Store a new one; one that is there already stays."""

    def get(self, execution_id: str, name: str) -> Part | None: ...

    def of(self, execution_id: str) -> list[Part]:
        """All of an execution, in the order of their names."""

    def ask(self, part: Part, ticket: str, now: datetime) -> bool:
        """Have it wait for a slot; ``False`` when it has one, or has ended."""

    def conclude(self, part: Part, settlement: Settlement, now: datetime) -> bool:
        """Apply the end of an attempt, and free its slot; ``False`` when that has happened already."""

    def cancel(self, part: Part, reason: str, now: datetime) -> bool:
        """Withdraw it wherever it is, and free its slot if it has one; ``False`` when it has moved meanwhile."""

    def ask_to_stop(self, part: Part, until: datetime, reason: str) -> bool:
        """Tell a running one that it has until then; ``False`` when it does not run. Again is fine."""

    def step_back(self, part: Part, reason: str, now: datetime) -> bool:
        """Take one out of those who wait, until it asks again; ``False`` when it does not wait."""

    def fail_waiting(self, part: Part, reason: str, now: datetime) -> bool:
        """End one that never got a slot."""


class RunningParts(Protocol):
    """The parts, as their containers see them. ``None`` tells a container that it was superseded."""

    def get(self, execution_id: str, name: str) -> Part | None: ...

    def of(self, execution_id: str) -> list[Part]: ...

    def claim(
        self, assignment: Assignment, token: str, task_arn: str | None, lease: datetime | None, now: datetime
    ) -> Part | None:
        """To ``running``; again for the same container."""

    def pass_on(self, assignment: Assignment, token: str) -> bool:
        """Have the container that runs answer to another token; ``False`` when none runs."""

    def renew(self, assignment: Assignment, lease: datetime, progress: Progress | None) -> Part | None: ...

    def keep_checkpoint(self, assignment: Assignment, location: str, lease: datetime) -> Part | None: ...

    def conclude(self, part: Part, settlement: Settlement, now: datetime) -> bool: ...


class Slots(Protocol):
    """The parts, as admission sees them."""

    def occupancy(self) -> Occupancy: ...

    def waiting(self) -> Iterator[Part]:
        """Those who ask, the least lax first, read lazily. The newest may not be among them yet."""

    def holders(self) -> Iterator[Part]:
        """Those with a slot."""

    def grant(
        self, part: Part, *, start_at: datetime, key: str, seen: Occupancy, after: Occupancy, now: datetime
    ) -> Grant: ...

    def ask_to_leave(self, part: Part, reason: str, now: datetime) -> bool:
        """``False`` when it no longer holds its slot, or was asked already."""


class CountedSlots(Slots, Protocol):
    """The same, as the reconciler sees them."""

    def recount(self, seen: Occupancy, holders: Iterable[Part]) -> bool:
        """Set the occupancy to what the holders take, unless it has changed since it was ``seen``."""


class Containers(Protocol):
    """The containers in which parts run."""

    def stop(self, task_arn: str, reason: str) -> None:
        """Have one leave: a signal first, the end some time later. One that is gone already is fine."""


class KnownContainers(Containers, Protocol):
    """The same, as the reconciler sees them."""

    def gone(self, task_arns: Iterable[str]) -> dict[str, str]:
        """Those of the containers that have stopped or are not known, with AWS's own words why."""


class Callbacks(Protocol):
    """The state machines that wait for word. One that no longer waits is fine: ``False``."""

    def succeed(self, token: str, answer: Mapping[str, Any]) -> bool: ...

    def fail(self, token: str, error: str, cause: str) -> bool: ...

    def beat(self, token: str) -> bool: ...


class Runs(Protocol):
    """What a long execution has in AWS before and while it runs."""

    def disarm(self, execution_id: str) -> None:
        """Remove its one-time schedule, if there is one."""

    def stop(self, run: str, reason: str) -> None:
        """Stop a state machine run. One that has ended is fine."""


class StateMachines(Runs, Protocol):
    """The state machine runs that carry long executions, and the schedules that start them."""

    def start(self, execution: Execution) -> None:
        """Start one now. Starting what was started already changes nothing."""

    def arm(self, execution: Execution) -> None:
        """Have one started shortly before the execution is due. Arming again changes nothing."""

    def armed(self) -> Iterator[str]:
        """The names of all that is armed."""

    def running(self) -> Iterator[str]:
        """The runs that have not ended."""


class Checkpoints(Protocol):
    """Where parts leave the state from which their next attempt goes on."""

    def keep(self, assignment: Assignment, state: Any) -> str:
        """Where it was stored. Each attempt has its own place."""

    def load(self, location: str) -> Any: ...


class Timers(Protocol):
    """The wheel."""

    def set(self, timer: Timer) -> None: ...

    def reached(self, shard: int) -> Reached | None:
        """How far a shard was swept."""

    def due(self, shard: int, since: Reached, until: datetime) -> Iterator[tuple[list[Timer], Reached]]:
        """The timers beyond ``since`` up to ``until``, in order, in pages, each with how far it reaches."""

    def advance(self, shard: int, to: Reached) -> None:
        """Record how far a shard was swept."""


class Lanes(Protocol):
    """The queues that lead to workers."""

    def send(self, orders: Iterable[Order], now: datetime) -> None:
        """Hand over each order so that it arrives at its ``not_before``, or at once. Raises when any was refused."""


class Results(Protocol):
    """Where results too large for a record lie."""

    def keep(self, name: str, value: Any, *, always: bool = False) -> Result:
        """``value`` as a result: inline when small, stored under ``name`` when it is not, or ``always``.

        Raises ``Fatal`` for what is not JSON.
        """

    def link(self, result: Result) -> str | None:
        """An address from which a stored result can be fetched for a while; ``None`` for one that is inline."""


class DeadLetters(Protocol):
    """Where messages that nobody can read wait for a person."""

    def bury(self, body: str, reason: str) -> None: ...


class Runner(Protocol):
    """Runs a task's code under a lease and a time limit."""

    def run(self, execution: Execution, seconds_left: float) -> Verdict: ...


class Tasks(Protocol):
    """The catalog of tasks. What checks raises ``Invalid``."""

    def check_name(self, task: str) -> None:
        """That there is such a task."""

    def check(self, task: str, parameters: Mapping[str, Any]) -> None:
        """That there is such a task, and that the parameters fit its schema."""

    def collects(self, task: str) -> bool:
        """Whether the task has a last step that sees the results of all its partitions."""

    def calendars(self) -> Calendars:
        """The dates of the calendars that schedules can name."""


class Drafts(Protocol):
    """Whoever turns what was sent into a job. Raises ``Invalid``."""

    def draft(
        self,
        submission: Mapping[str, Any],
        caller: Caller,
        now: datetime,
        *,
        kept: Schedule | None = None,
        changed: Container[str] | None = None,
    ) -> Job:
        """Of an edit, ``kept`` is the schedule if it stays as it is, and ``changed`` has the fields that do not."""


class JobShelf(Protocol):
    """The jobs, as one looks through them."""

    def owners(self) -> list[str]: ...

    def newest_first(self, owner: str, before: str | None) -> Iterator[list[Job]]:
        """An owner's jobs created before job ``before``, in pages."""


class ExecutionShelf(Protocol):
    """The executions, as one looks through them: ids first, in falling order of due instant, then the records."""

    def ids_of_job(self, job_id: str, low: str, high: str) -> Iterator[list[str]]:
        """Ids from ``low`` up to but not including ``high``, in pages."""

    def ids_of_owner(self, owner: str, low: str, high: str) -> Iterator[list[str]]: ...

    def ids_running(self, low: str, high: str) -> list[Iterator[list[str]]]:
        """What runs now: one sequence per shard."""

    def dangers(self, low: str, high: str) -> list[Iterator[list[str]]]:
        """The places, from ``low`` to ``high``, of what lives and has a deadline: one rising sequence per shard."""

    def fetch(self, execution_ids: list[str]) -> dict[str, Execution]: ...
