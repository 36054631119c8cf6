"""Histograms of durations with logarithmic buckets, as sparse counts that can be added up."""

from __future__ import annotations

import math
from collections.abc import Mapping

BUCKETS_PER_DECADE = 20
"""Buckets per power of ten: the middle of a bucket is within 6% of every duration in it."""


def duration_bucket(milliseconds: int) -> int:
    """The number of the bucket of a duration; everything up to a millisecond is in bucket 0."""
    return math.floor(BUCKETS_PER_DECADE * math.log10(max(milliseconds, 1)))


def quantile(histogram: Mapping[int, int], share: float) -> float | None:
    """The seconds that ``share`` of the durations did not exceed, within 6%; ``None`` for an empty histogram."""
    rank = math.ceil(share * sum(histogram.values()))
    for bucket in sorted(histogram):
        rank -= histogram[bucket]
        if rank <= 0:
            return middle_of(bucket)
    return None


def middle_of(bucket: int) -> float:
    """The geometric middle of a bucket in seconds."""
    return round(10 ** ((bucket + 0.5) / BUCKETS_PER_DECADE) / 1000, 3)
