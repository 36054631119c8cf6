from __future__ import annotations

from datetime import timedelta

import pytest

from punctual.domain.redelivery import redelivery_delay


@pytest.mark.parametrize(("deliveries", "seconds"), [(1, 5), (2, 10), (3, 20), (7, 320), (8, 600), (1000, 600)])
def test_the_delay_doubles_with_each_delivery_up_to_the_longest(deliveries: int, seconds: int) -> None:
    delay = redelivery_delay(deliveries, timedelta(seconds=5), timedelta(seconds=600))
    assert delay == timedelta(seconds=seconds)
