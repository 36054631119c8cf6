"""Time zones by their IANA names."""

from __future__ import annotations

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.schedules.cron import Cron


@pytest.mark.parametrize(
    ("zone", "message"),
    [
        ("america/new_york", "did you mean 'America/New_York'"),
        ("Europe/Berlinn", "did you mean 'Europe/Berlin'"),
        ("new york", "did you mean 'America/New_York'"),
        ("Nowhere/Land", "not an IANA time zone"),
        ("", "not an IANA time zone"),
        ("America", "not an IANA time zone"),
        ("../etc/passwd", "not an IANA time zone"),
        ("right/Europe/Berlin", "did you mean 'Europe/Berlin'"),
        ("a\0b", "not an IANA time zone"),
        ("x" * 9_000, "not an IANA time zone"),
        (None, "must be text"),
    ],
)
def test_an_unknown_time_zone_is_rejected_with_the_closest_name(zone, message):
    with pytest.raises(Invalid, match=message) as refused:
        Cron.parse("0 2 * * *", zone)
    assert refused.value.field == "schedule.timezone"
