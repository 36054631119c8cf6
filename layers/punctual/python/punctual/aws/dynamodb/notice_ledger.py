"""The notice ledger in the signals table: the known notices, and the digest window of each group.

::

    notice#<id>                   state, expires_at; while due also body, window_until, lease_until
    group#<job>#<event>#<to>      until, counted, executions, latest; without until no window is open

A notice and its group are written in one transaction, so a notice is either published or counted, never both, and
counted exactly once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.items import Item, instant_text
from punctual.aws.dynamodb.table import Table, transact
from punctual.domain.instant import from_text
from punctual.domain.notices.digest_window import (
    MAX_NAMED_EXECUTIONS,
    DigestWindow,
    Group,
    Publication,
    RecordResult,
    executions_of,
    group_of,
)
from punctual.domain.notices.notice import Notice, read_notice

DUE = "due"
PUBLISHED = "told"
COUNTED = "counted"

_NEW = "attribute_not_exists(#id)"


@dataclass(frozen=True)
class DynamoNoticeLedger:
    table: Table
    retention: timedelta

    def window(self, group: Group) -> DigestWindow | None:
        item = self.table.get(_group_key(group), consistent=True)
        if item is None or "until" not in item:
            return None
        return DigestWindow(
            group=group,
            until=from_text(item["until"]),
            counted=item["counted"],
            executions=item.get("executions", frozenset()),
            latest=read_notice(item["latest"]) if "latest" in item else None,
        )

    def begin(self, publication: Publication, seen: DigestWindow | None, now: datetime) -> RecordResult:
        due = self.table.update_request(
            _notice_key(publication.id),
            set={
                "state": DUE,
                "body": publication.notice.to_body(),
                "window_until": instant_text(publication.new_window.until),
                "lease_until": instant_text(publication.lease_until),
                "expires_at": self._expiry(now),
            },
            condition=_NEW,
        )
        condition, values = _unchanged(seen)
        opened = self.table.update_request(
            _group_key(publication.new_window.group),
            set={"until": instant_text(publication.new_window.until), "counted": 0, "expires_at": self._expiry(now)},
            remove=["executions", "latest"] if seen else [],
            condition=condition,
            values=values,
        )
        return _record_result(transact(self.table.client, [{"Update": due}, {"Update": opened}]))

    def count(self, notice: Notice, seen: DigestWindow, now: datetime) -> RecordResult:
        counted = self.table.update_request(
            _notice_key(notice.id), set={"state": COUNTED, "expires_at": self._expiry(now)}, condition=_NEW
        )
        newest = seen.latest is None or seen.latest.at <= notice.at
        grows: dict[str, Any] = {"counted": 1}
        if len(seen.executions) < MAX_NAMED_EXECUTIONS and executions_of(notice):
            grows["executions"] = executions_of(notice)
        kept = self.table.update_request(
            _group_key(seen.group),
            set={"latest": notice.to_body() if newest else None, "expires_at": self._expiry(now)},
            add=grows,
            condition="#until = :until",
            values={"until": instant_text(seen.until)},
        )
        return _record_result(transact(self.table.client, [{"Update": counted}, {"Update": kept}]))

    def close(self, seen: DigestWindow) -> bool:
        condition, values = _unchanged(seen)
        return self.table.update(
            _group_key(seen.group), set={}, remove=["until", "counted"], condition=condition, values=values
        ).applied

    def pending(self, notice_id: str) -> Publication | None:
        item = self.table.get(_notice_key(notice_id), consistent=True)
        if item is None or item["state"] != DUE:
            return None
        notice = read_notice(item["body"])
        return Publication(
            id=notice_id,
            notice=notice,
            new_window=DigestWindow(group=group_of(notice), until=from_text(item["window_until"])),
            lease_until=from_text(item["lease_until"]),
        )

    def take_over(self, publication: Publication, lease_until: datetime) -> bool:
        return self.table.update(
            _notice_key(publication.id),
            set={"lease_until": instant_text(lease_until)},
            condition="#state = :due AND #lease_until = :expired",
            values={"due": DUE, "expired": instant_text(publication.lease_until)},
        ).applied

    def mark_published(self, publication: Publication) -> None:
        self.table.update(
            _notice_key(publication.id),
            set={"state": PUBLISHED},
            remove=["body", "window_until", "lease_until"],
            condition="#state = :due",
            values={"due": DUE},
        )

    def _expiry(self, now: datetime) -> int:
        return int((now + self.retention).timestamp())


def _notice_key(notice_id: str) -> Item:
    return {"id": f"notice#{notice_id}"}


def _group_key(group: Group) -> Item:
    return {"id": f"group#{group.name}"}


def _unchanged(seen: DigestWindow | None) -> tuple[str, Item]:
    if seen is None:
        return "attribute_not_exists(#until)", {}
    return "#until = :until AND #counted = :counted", {"until": instant_text(seen.until), "counted": seen.counted}


def _record_result(held: list[bool]) -> RecordResult:
    is_new, as_seen = held
    if not is_new:
        return RecordResult.DUPLICATE
    return RecordResult.RECORDED if as_seen else RecordResult.CONFLICT


if TYPE_CHECKING:
    from punctual.ports.notices import NoticeLedger

    _notice_ledger: type[NoticeLedger] = DynamoNoticeLedger
