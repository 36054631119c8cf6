from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.errors import NotFound
from punctual.domain.identity import check_job_id, created_at, due_key, execution_id, job_of, new_job_id, short_name

INSTANTS = st.datetimes(datetime(2000, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
JOB = "01m7gtek00sg4dxbryqzdsz4p5"
DUE = datetime(2026, 11, 16, tzinfo=UTC)


@given(INSTANTS, INSTANTS)
def test_job_ids_sort_by_creation(one: datetime, other: datetime) -> None:
    if abs(one - other) >= timedelta(milliseconds=1):
        assert (new_job_id(one) < new_job_id(other)) == (one < other)


def test_a_job_id_contains_its_creation_time() -> None:
    moment = DUE + timedelta(milliseconds=123)
    assert created_at(new_job_id(moment)) == moment


@given(INSTANTS, INSTANTS)
def test_execution_ids_sort_by_due_instant(one: datetime, other: datetime) -> None:
    if abs(one - other) >= timedelta(milliseconds=1):
        assert (execution_id(JOB, one) < execution_id(JOB, other)) == (one < other)


@given(INSTANTS, st.none() | st.uuids().map(str))
def test_an_execution_id_contains_its_job_id(due: datetime, source: str | None) -> None:
    assert job_of(execution_id(JOB, due, source)) == JOB


@given(INSTANTS)
def test_execution_ids_sort_after_the_key_of_their_due_instant(due: datetime) -> None:
    assert execution_id(JOB, due) > due_key(due)
    assert execution_id(JOB, due - timedelta(milliseconds=1)) < due_key(due)


def test_planning_the_same_instant_twice_gives_the_same_id() -> None:
    due = datetime(2026, 11, 16, 7, tzinfo=UTC)
    assert execution_id(JOB, due) == execution_id(JOB, due) == f"20261116T070000000Z-{JOB}"


@pytest.mark.parametrize("text", ["", "x", JOB, f"{JOB}-20261116T070000000Z", "20261116T070000000Z-short", "../../x"])
def test_a_malformed_execution_id_is_not_found(text: str) -> None:
    with pytest.raises(NotFound, match="there is no execution"):
        job_of(text)


@pytest.mark.parametrize("text", ["", "#owners", JOB.upper(), JOB + "0", "il" * 13])
def test_a_malformed_job_id_is_not_found(text: str) -> None:
    with pytest.raises(NotFound, match="there is no job"):
        check_job_id(text)


def test_an_aws_name_has_at_most_64_characters_and_is_unique() -> None:
    plain, of_a_message = execution_id(JOB, DUE), execution_id(JOB, DUE, "m" * 80)
    assert short_name(plain) == plain
    assert len(short_name(of_a_message)) == 64
    assert short_name(of_a_message) != short_name(execution_id(JOB, DUE, "m" * 79))
