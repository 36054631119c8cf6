"""A job as an item."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from punctual.aws.dynamodb.items import plain, typed
from punctual.aws.dynamodb.job_item import item_to_job, job_to_item
from tests.unit.aws.jobs import JOB, JSON


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_a_job_survives_the_round_trip_through_an_item(parameters: dict[str, object]) -> None:
    job = replace(JOB, parameters=parameters)
    assert item_to_job(plain(typed(job_to_item(job)))) == job
