"""The client of the reporter."""

from __future__ import annotations

import pytest

from punctual.aws.reporter_client import ReporterUnreachable
from tests.unit.reporters import Lambda, accepted, reporter


def test_call_with_retries_repeats_the_call_and_gives_up_in_the_end() -> None:
    failures = iter([RuntimeError("down")] * 4)
    recovers = reporter(Lambda(lambda request: next(failures, None) or accepted(request)))
    assert recovers.call_with_retries("conclude")["ok"] is True
    stays_down = reporter(Lambda(lambda _: RuntimeError("down")))
    with pytest.raises(ReporterUnreachable):
        stays_down.call_with_retries("conclude")
