"""Where only so many may run at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from punctual.domain.executions.execution import Execution
from punctual.domain.jobs.gate import Entrant, Gate, Rate, Waiter
from punctual.ports.executions import CancelExecutions


class GatedExecutions(CancelExecutions, Protocol):
    """The executions, as the gatekeeper sees them. Each that moves one says whether it did."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def get_many(self, execution_ids: Iterable[str]) -> list[Execution]:
        """Those that exist, in no order, and maybe as they were a moment ago."""

    def wait(self, entrant: Entrant, gate: str, reason: str) -> bool:
        """Have what is on its way wait at a gate."""

    def wake(self, job_id: str, execution_id: str, gate: str, now: datetime) -> bool:
        """Have what waits at this gate go on its way again."""

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


class Gatekeeper(Protocol):
    """The gatekeeper, as others see it."""

    def line_up(self, executions: Sequence[Execution]) -> None:
        """Give those of a backfill their places, in this order, before they are stored."""

    def is_its_turn(self, execution: Execution) -> bool:
        """Whether one may be sent on its way; if not, its backfill has it wait."""

    def give_up(self, execution: Execution) -> None:
        """Give its place in a backfill to whoever is next: it was not stored."""

    def acquire(self, entrant: Entrant, gates: Iterable[Gate]) -> bool:
        """Whether it may run. If not, its record says why."""

    def leave(self, execution_id: str, gates: Iterable[Gate]) -> None:
        """Give its places to whoever is next. Again is fine."""

    def stop(self, execution: Execution, reason: str, grace: timedelta) -> Execution | None:
        """Cancel what has not ended, one that runs after a while; ``None`` when it has ended by itself."""

    def repair(self, shard: int) -> Iterator[Execution]:
        """Those inside the gate of their job who may need another order. What broke off half-way is mended."""
