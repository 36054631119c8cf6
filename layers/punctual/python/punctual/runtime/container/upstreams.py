"""The upstream executions of a task in a container, which reads them through the reporter."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError

from punctual.domain.errors import Fatal
from punctual.domain.executions.counted_upstream import CountedUpstream
from punctual.domain.instant import from_text
from punctual.domain.schedules.data_window import DataWindow
from punctual.runtime.tasks.upstreams import StoredOutcome, Upstreams

if TYPE_CHECKING:
    from punctual.aws.reporter_client import ReporterClient

MISSING_OBJECT_STATUSES = (403, 404)
"""The status of a pre-signed link to an object that has expired."""


def reported_upstreams(counted: list[list[str]], reporter: ReporterClient) -> Upstreams:
    """Return the upstreams that the answer to a claim lists as names and execution ids."""

    def read() -> dict[str, StoredOutcome]:
        answer = reporter.call_with_retries("upstreams", only=None)
        _check(answer)
        return {one["execution_id"]: _outcome(one, load_result(one)) for one in answer["items"]}

    def load_result(item: Mapping[str, Any]) -> Callable[[], Any]:
        if not item["link"]:
            return lambda: item["value"]
        return lambda: download(item["execution_id"])

    def download(execution_id: str) -> Any:
        """Download a large result. Its link is valid for minutes, so it is requested when it is needed."""
        answer = reporter.call_with_retries("upstreams", only=execution_id)
        _check(answer)
        if not answer["items"]:
            raise Fatal(f"execution {execution_id} has expired")
        return _download(answer["items"][0]["link"])

    return Upstreams([CountedUpstream(*entry) for entry in counted], read)


def _check(answer: Mapping[str, Any]) -> None:
    if not answer["ok"]:
        raise RuntimeError("the reporter refused to read the upstreams: this attempt was superseded")


def _outcome(item: Mapping[str, Any], load_result: Callable[[], Any]) -> StoredOutcome:
    window = item["window"]
    span = DataWindow(from_text(window["start"]), from_text(window["end"])) if window else None
    return StoredOutcome(item["status"], span, load_result)


def _download(link: str) -> Any:
    try:
        with urllib.request.urlopen(link, timeout=60) as answer:
            return json.load(answer)
    except HTTPError as error:
        if error.code not in MISSING_OBJECT_STATUSES:
            raise
        raise Fatal("its result has expired") from error
