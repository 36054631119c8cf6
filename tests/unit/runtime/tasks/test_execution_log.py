"""The log lines of a running attempt, as they are passed on in chunks."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from punctual.domain.executions.execution_log import LogChunk
from punctual.runtime.tasks.execution_log import (
    INTERVAL_SECONDS,
    MAX_CHUNK_BYTES,
    MAX_LINE_BYTES,
    MAX_SLOW_STORES,
    MAX_STORE,
    MAX_WAITING_BYTES,
    ExecutionLog,
)

NOW = datetime(2026, 11, 16, tzinfo=UTC)
NEVER = 3600.0
LOGGER = logging.getLogger("a.task")


@pytest.fixture(autouse=True)
def _level() -> Any:
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.INFO)
    yield
    root.setLevel(before)


class Ticking:
    """A clock that advances by a second at each look."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def execution_log(store: Callable[[LogChunk], None], interval: float = NEVER, **more: Any) -> ExecutionLog:
    return ExecutionLog(store, attempt=1, clock=more.pop("clock", lambda: NOW), interval_seconds=interval, **more)


def texts(chunks: list[LogChunk]) -> list[str]:
    return [line.message for chunk in chunks for line in chunk.lines]


def wait_until(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_lines_are_stored_while_the_attempt_runs() -> None:
    chunks: list[LogChunk] = []
    with execution_log(chunks.append, interval=0.01):
        LOGGER.info("first")
        wait_until(lambda: texts(chunks) == ["first"])
        LOGGER.info("second")
        wait_until(lambda: texts(chunks) == ["first", "second"])
    assert [chunk.number for chunk in chunks] == [1, 2]
    assert INTERVAL_SECONDS <= 1  # a line can be read within two seconds


def test_an_attempt_without_lines_stores_nothing_and_starts_no_thread() -> None:
    before = threading.active_count()
    with execution_log(pytest.fail):
        assert threading.active_count() == before


def test_lines_outside_of_the_block_are_not_part_of_the_log() -> None:
    chunks: list[LogChunk] = []
    LOGGER.info("before")
    with execution_log(chunks.append):
        LOGGER.info("inside")
    LOGGER.info("after")
    assert texts(chunks) == ["inside"]


def test_the_totals_of_a_chunk_count_all_lines_up_to_it() -> None:
    chunks: list[LogChunk] = []
    with execution_log(chunks.append):
        for _ in range(25):
            LOGGER.info("x" * (MAX_LINE_BYTES // 2))
        LOGGER.error("broken")
    assert len(chunks) > 1
    assert chunks[0].totals == {"INFO": len(chunks[0].lines)}
    assert chunks[-1].totals == {"INFO": 25, "ERROR": 1}


def test_a_fast_writer_waits_for_its_lines_to_be_stored() -> None:
    chunks: list[LogChunk] = []
    size = 10_000
    with execution_log(chunks.append):
        for number in range(200):
            LOGGER.info(f"{number} {'x' * size}")
            assert (number + 1 - len(texts(chunks))) * size <= MAX_CHUNK_BYTES
    assert len(texts(chunks)) == 200


def test_a_chunk_that_cannot_be_stored_is_stored_again_with_a_new_stamp() -> None:
    tried: list[LogChunk] = []
    clock = Ticking()

    def store(chunk: LogChunk) -> None:
        tried.append(chunk)
        if len(tried) == 1:
            raise OSError("no route")

    with execution_log(store, interval=0.01, clock=clock):
        LOGGER.info("kept")
        wait_until(lambda: len(tried) > 1)
    first, second, *_ = tried  # then the warning
    assert second == replace(first, stored_at=second.stored_at)
    assert second.stored_at > first.stored_at


def test_a_chunk_whose_store_took_long_is_stored_again_with_a_new_stamp() -> None:
    tried: list[LogChunk] = []
    clock = Ticking()

    def store(chunk: LogChunk) -> None:
        assert chunk.stored_at == clock.now, "the stamp is from before this store"
        clock.now += MAX_STORE + timedelta(seconds=1) if not tried else timedelta(0)
        tried.append(chunk)

    with execution_log(store, clock=clock):
        LOGGER.info("late")
    first, second = tried
    assert second == replace(first, stored_at=clock.now - timedelta(seconds=1))
    assert second.stored_at - first.stored_at > MAX_STORE


def test_a_table_that_is_always_slow_does_not_hold_up_the_task_for_ever() -> None:
    tried: list[LogChunk] = []
    clock = Ticking()

    def store(chunk: LogChunk) -> None:
        tried.append(chunk)
        clock.now += 2 * MAX_STORE

    with execution_log(store, clock=clock):
        LOGGER.info("late")
    assert len(tried) == MAX_SLOW_STORES


def test_lines_beyond_the_memory_limit_are_counted_while_storing_fails() -> None:
    chunks: list[LogChunk] = []
    works: list[bool] = []

    def store(chunk: LogChunk) -> None:
        if not works:
            raise OSError("no route")
        chunks.append(chunk)

    written = 2 * MAX_WAITING_BYTES // 10_000
    with execution_log(store):
        for number in range(written):
            LOGGER.info(f"{number} {'x' * 10_000}")
        works.append(True)
    [note] = [line for line in texts(chunks) if "lines are missing here" in line]
    stored = [line for line in texts(chunks) if line[:1].isdigit() and line != note]
    assert int(note.split()[0]) + len(stored) == written


def test_a_chunk_that_is_never_stored_is_lost_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(_chunk: LogChunk) -> None:
        raise OSError("no route")

    with execution_log(refuse):
        LOGGER.info("lost")
    assert "could not be stored" in caplog.messages[-1]


def test_a_clock_that_goes_back_does_not_reorder_the_chunks() -> None:
    times = iter([NOW, NOW, NOW, NOW - timedelta(minutes=5), NOW - timedelta(minutes=5)])
    chunks: list[LogChunk] = []
    with execution_log(chunks.append, interval=0.01, clock=lambda: next(times, NOW)):
        LOGGER.info("first")
        wait_until(lambda: chunks)
        LOGGER.info("second")
        wait_until(lambda: len(chunks) == 2)
    assert [chunk.entry for chunk in chunks] == sorted(chunk.entry for chunk in chunks)


@pytest.mark.parametrize("letter", ["x", "ü", "😀"])
def test_a_long_line_is_cut_and_says_so(letter: str) -> None:
    chunks: list[LogChunk] = []
    with execution_log(chunks.append):
        LOGGER.info(letter * 100_000, extra={"more": letter * 100_000})
    [line] = chunks[0].lines
    assert "… (cut: the line has " in line.message
    assert len(line.message.encode()) + len(str(line.fields).encode()) < 2 * MAX_LINE_BYTES + 200


@pytest.mark.parametrize(
    ("extra", "stored"),
    [
        ({"rate": float("nan")}, {"rate": "nan"}),
        ({"day": NOW.date()}, {"day": "2026-11-16"}),
        ({"by": {(1, 2): 3}}, {"by": "{(1, 2): 3}"}),
    ],
)
def test_fields_that_json_cannot_express_become_text(extra: dict[str, Any], stored: dict[str, Any]) -> None:
    chunks: list[LogChunk] = []
    with execution_log(chunks.append):
        LOGGER.info("measured", extra=extra)
    [line] = chunks[0].lines
    assert line.fields == stored


def test_characters_that_utf_8_cannot_express_are_replaced() -> None:
    chunks: list[LogChunk] = []
    with execution_log(chunks.append) as log:
        log.handle(logging.makeLogRecord({"msg": "half \ud800", "levelname": "INFO", "path": "a\ud800"}))
    [line] = chunks[0].lines
    assert (line.message, line.fields) == ("half ?", {"path": "a?"})


def test_an_exception_is_a_field_of_its_line() -> None:
    chunks: list[LogChunk] = []
    with execution_log(chunks.append):
        try:
            raise RuntimeError("no rows")
        except RuntimeError:
            LOGGER.exception("failed")
    [line] = chunks[0].lines
    assert "RuntimeError: no rows" in line.fields["exception"]
