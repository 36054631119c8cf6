"""The upstream executions of a running task. Imported with the first access to ``context.upstream``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Fatal

if TYPE_CHECKING:
    from punctual.domain.executions.counted_upstream import CountedUpstream
    from punctual.domain.executions.execution import Execution
    from punctual.domain.schedules.data_window import DataWindow
    from punctual.ports.executions import ExecutionReader
    from punctual.ports.running import Results


@dataclass(frozen=True)
class StoredOutcome:
    """The stored outcome of an upstream execution."""

    status: str
    window: DataWindow | None
    load_result: Callable[[], Any]


class UpstreamOutcome:
    """How an upstream execution ended. Read when ``status``, ``window`` or ``result`` is first accessed.

    These three raise ``Fatal`` if the execution or its result has expired.
    """

    def __init__(self, counted: CountedUpstream, find: Callable[[str], StoredOutcome | None]) -> None:
        self.name, self.job_id, self.execution_id = counted.name, counted.job_id, counted.execution_id
        self._find = find

    def __repr__(self) -> str:
        return f"UpstreamOutcome({self.name!r}, {self.execution_id!r})"

    @property
    def status(self) -> str:
        return self._stored.status

    @property
    def window(self) -> DataWindow | None:
        """The data window of the upstream execution, for a recurring job."""
        return self._stored.window

    @cached_property
    def result(self) -> Any:
        """The value that the task returned; ``None`` if it returned none, or did not succeed."""
        stored = self._stored
        try:
            return stored.load_result()
        except Fatal as error:
            raise Fatal(f"upstream {self.name}: {error}") from error

    @cached_property
    def _stored(self) -> StoredOutcome:
        stored = self._find(self.execution_id)
        if stored is None:
            raise Fatal(f"upstream {self.name}: execution {self.execution_id} has expired")
        return stored


class Upstreams(Mapping[str, UpstreamOutcome]):
    """The upstream executions by the name of their job, or by its id. It iterates over the names.

    ``read`` returns what is stored about all of them, by execution id. It is called once, when needed.
    """

    def __init__(self, counted: Sequence[CountedUpstream], read: Callable[[], Mapping[str, StoredOutcome]]) -> None:
        self._read = read
        self._outcomes = [UpstreamOutcome(one, lambda execution_id: self._stored.get(execution_id)) for one in counted]

    def __getitem__(self, key: str) -> UpstreamOutcome:
        found = [one for one in self._outcomes if key in (one.name, one.job_id)]
        if len(found) == 1:
            return found[0]
        if found:
            raise KeyError(f"{len(found)} upstream jobs are named {key!r}: use a job id: {_listed(found, 'job_id')}")
        raise KeyError(f"there is no upstream {key!r}, only: {_listed(self._outcomes, 'name') or 'none'}")

    def __iter__(self) -> Iterator[str]:
        """Yield the names; the job id instead of a name that several upstream jobs have."""
        count = Counter(one.name for one in self._outcomes)
        return iter([one.name if count[one.name] == 1 else one.job_id for one in self._outcomes])

    def __len__(self) -> int:
        return len(self._outcomes)

    @cached_property
    def _stored(self) -> Mapping[str, StoredOutcome]:
        return self._read()


def stored_upstreams(execution: Execution, executions: ExecutionReader, results: Results) -> Upstreams:
    """Return the upstreams of an execution of the short lane, which reads them from their storage."""

    def outcome(one: Execution) -> StoredOutcome:
        result = one.result
        return StoredOutcome(str(one.status), one.window, lambda: results.load(result) if result else None)

    def read() -> dict[str, StoredOutcome]:
        found = executions.read_many(one.execution_id for one in execution.upstreams)
        return {one: outcome(upstream) for one, upstream in found.items()}

    return Upstreams(execution.upstreams, read)


def _listed(outcomes: Sequence[UpstreamOutcome], attribute: str) -> str:
    return ", ".join(str(getattr(one, attribute)) for one in outcomes)
