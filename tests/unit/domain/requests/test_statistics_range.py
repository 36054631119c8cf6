"""The periods of summaries and of the history of a job."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.instant import to_text
from punctual.domain.requests.statistics_range import Bucket, parse_days, parse_summary_range

NOW = datetime(2026, 11, 18, 10, 20, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize("bucket", Bucket)
def test_a_range_consists_of_whole_buckets_that_contain_it(bucket: Bucket) -> None:
    found = parse_summary_range(None, None, bucket, NOW)
    assert found.starts[0] <= NOW - bucket.usual < found.starts[0] + bucket.length
    assert found.starts[-1] <= NOW < found.starts[-1] + bucket.length == found.until


def test_a_range_that_ends_with_a_bucket_does_not_include_the_next_one() -> None:
    found = parse_summary_range("2026-11-18T08:00:00Z", "2026-11-18T10:00:00Z", Bucket.HOUR, NOW)
    assert [one.hour for one in found.starts] == [8, 9]


def test_an_empty_range_has_the_bucket_of_its_instant() -> None:
    found = parse_summary_range("2026-11-18T08:00:00Z", "2026-11-18T08:00:00Z", Bucket.HOUR, NOW)
    assert [one.hour for one in found.starts] == [8]


@pytest.mark.parametrize("bucket", Bucket)
def test_the_longest_range_is_accepted_and_a_longer_one_is_not(bucket: Bucket) -> None:
    assert parse_summary_range(to_text(NOW - bucket.longest), None, bucket, NOW)
    with pytest.raises(Invalid) as rejected:
        parse_summary_range(to_text(NOW - bucket.longest - HOUR), to_text(NOW), bucket, NOW)
    assert rejected.value.field == "from"


def test_days_may_be_dates_or_instants() -> None:
    assert parse_days("2026-11-01", "2026-11-17T23:30:00-02:00", NOW) == (date(2026, 11, 1), date(2026, 11, 18))
    assert parse_days(None, None, NOW) == (date(2026, 10, 20), date(2026, 11, 18))
    assert parse_days("2025-11-13", None, NOW) == (date(2025, 11, 13), date(2026, 11, 18))
    with pytest.raises(Invalid, match="53 weeks"):
        parse_days("2025-11-12", None, NOW)
