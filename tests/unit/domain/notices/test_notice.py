"""The message of a notice."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from punctual.domain.notices.digest_window import read_notice_message
from punctual.domain.notices.notice import format_duration, read_notice
from tests.unit.domain.notices.failed_execution import NOTICE


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(seconds=1), "1 second"),
        (timedelta(milliseconds=4210), "4.2 seconds"),
        (timedelta(seconds=119), "119 seconds"),
        (timedelta(minutes=2), "2 minutes"),
        (timedelta(minutes=15, seconds=1), "15 minutes"),
        (timedelta(minutes=119), "119 minutes"),
        (timedelta(hours=8, minutes=6), "8.1 hours"),
    ],
)
def test_durations_are_formatted_with_their_unit(duration: timedelta, text: str) -> None:
    assert format_duration(duration) == text


# messages


def test_a_notice_reads_back_from_its_message_unchanged() -> None:
    body = NOTICE.to_body()
    assert read_notice(body) == read_notice_message(body) == NOTICE
    assert json.loads(body)["event"] == "failed"
    assert json.loads(body)["to"] == "page"


def test_a_message_with_the_former_name_of_an_event_is_still_read() -> None:
    body = NOTICE.to_body().replace('"event": "failed"', '"event": "missed"')
    assert read_notice(body).event == "deadline_missed"
