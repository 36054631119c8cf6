"""The number of messages in each queue, as SQS reports it: approximate, and up to about a minute old."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from punctual.domain.forecasts.queue_capacity import Depth

_VISIBLE = "ApproximateNumberOfMessages"
_IN_FLIGHT = "ApproximateNumberOfMessagesNotVisible"
_DELAYED = "ApproximateNumberOfMessagesDelayed"


@dataclass(frozen=True)
class SqsQueueDepths:
    urls: Mapping[str, str]
    """Queue URLs by queue name."""
    sqs: Callable[[], Any]
    warn: Callable[[str], None]

    def read(self) -> dict[str, Depth]:
        """Read the depth of each queue. A queue that cannot be read is logged as a warning and left out."""
        depths = {}
        for queue, url in self.urls.items():
            try:
                depths[queue] = self._depth(url)
            except (ClientError, BotoCoreError) as error:
                self.warn(f"cannot read the depth of queue {queue}: {type(error).__name__}: {error}")
        return depths

    def _depth(self, url: str) -> Depth:
        answer = self.sqs().get_queue_attributes(QueueUrl=url, AttributeNames=[_VISIBLE, _IN_FLIGHT, _DELAYED])
        numbers = {name: int(text) for name, text in answer["Attributes"].items()}
        return Depth(visible=numbers[_VISIBLE], in_flight=numbers[_IN_FLIGHT], delayed=numbers[_DELAYED])


if TYPE_CHECKING:
    from punctual.ports.monitoring import QueueDepths

    _queue_depths: type[QueueDepths] = SqsQueueDepths
