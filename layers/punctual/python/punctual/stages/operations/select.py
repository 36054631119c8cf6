"""Select: the jobs or executions that match a filter, and that the caller may change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from punctual.domain.errors import Forbidden, Invalid, Rejected
from punctual.domain.operations.operation import MAX_ITEMS
from punctual.domain.requests.caller import Caller, Role
from punctual.domain.requests.execution_filter import ExecutionFilter
from punctual.domain.requests.job_filter import JobFilter

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.stages.api.browse import Browse

PAGE_SIZE = 100
MAX_SELECT_TIME = timedelta(seconds=15)
"""The time after which a selection is refused: API Gateway waits 29 seconds for the answer."""

ReadPage = Callable[[str | None], tuple[list[str], str | None]]


@dataclass(frozen=True)
class Selector:
    browse: Browse
    clock: Clock

    def select(self, where: JobFilter | ExecutionFilter, caller: Caller) -> list[str]:
        """Return the ids that match, among those of the caller's teams; of all teams for an administrator.

        Raises ``Forbidden`` for a team of others, and ``Invalid`` if there are too many ids, or too many records to
        read.
        """
        with naming_the_filter():
            return self._select(where, caller)

    def _select(self, where: JobFilter | ExecutionFilter, caller: Caller) -> list[str]:
        ids: list[str] = []
        until = self.clock() + MAX_SELECT_TIME
        for owner in _owners(where.owner, caller):
            for page in self._pages(replace(where, owner=owner)):
                ids += page
                if len(ids) > MAX_ITEMS:
                    raise Invalid("filter", f"matches more than {MAX_ITEMS:,} items: narrow it")
                if self.clock() > until:
                    message = f"there are too many records to read in {MAX_SELECT_TIME.seconds} seconds"
                    raise Invalid("filter", f"{message}: narrow it, for example by job_id, owner, from or to")
        return list(dict.fromkeys(ids))  # a job may move to another list meanwhile

    def _pages(self, where: JobFilter | ExecutionFilter) -> Iterator[list[str]]:
        read = self._read_jobs(where) if isinstance(where, JobFilter) else self._read_executions(where)
        cursor: str | None = None
        while True:
            ids, cursor = read(cursor)
            yield ids
            if cursor is None:
                return

    def _read_jobs(self, where: JobFilter) -> ReadPage:
        def read(cursor: str | None) -> tuple[list[str], str | None]:
            page = self.browse.list_jobs(where, PAGE_SIZE, cursor)
            return [job.job_id for job in page.items], page.cursor

        return read

    def _read_executions(self, where: ExecutionFilter) -> ReadPage:
        def read(cursor: str | None) -> tuple[list[str], str | None]:
            page = self.browse.list_executions(where, PAGE_SIZE, cursor)
            return [execution.execution_id for execution in page.items], page.cursor

        return read


@contextmanager
def naming_the_filter() -> Iterator[None]:
    """Have errors name fields as parts of the filter, as they are in the request."""
    try:
        yield
    except Rejected as error:
        if error.field is not None and error.field != "filter":
            error.field = f"filter.{error.field}"
        raise


def _owners(wanted: str | None, caller: Caller) -> list[str | None]:
    caller.require_role(Role.OPERATOR)
    if caller.role is Role.ADMIN:
        return [wanted]
    if wanted is None:
        return list(caller.teams)
    if wanted not in caller.teams:
        raise Forbidden(f"you can change only what belongs to {caller.named_teams}", field="owner")
    return [wanted]
