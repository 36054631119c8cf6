"""The jitter of a due instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from punctual.domain.schedules.jitter import delay

NOW = datetime(2026, 11, 16, 12, 0, 0, 123000, UTC)


def test_jitter_is_deterministic_per_job_and_instant_and_spreads_over_its_range():
    delays = [delay("01m7j3myg0ab16wzvq72dx3zvq", NOW + timedelta(minutes=n), 60) for n in range(600)]
    assert delays == [delay("01m7j3myg0ab16wzvq72dx3zvq", NOW + timedelta(minutes=n), 60) for n in range(600)]
    assert delays != [delay("01m7j3myg0ab16wzvq72dx3zvr", NOW + timedelta(minutes=n), 60) for n in range(600)]
    assert all(timedelta(0) <= one < timedelta(seconds=60) for one in delays)
    assert all(one % timedelta(milliseconds=1) == timedelta(0) for one in delays)
    for tenth in range(10):
        within = [one for one in delays if tenth * 6 <= one.total_seconds() < tenth * 6 + 6]
        assert 30 <= len(within) <= 90
    assert delay("01m7j3myg0ab16wzvq72dx3zvq", NOW, 0) == timedelta(0)
