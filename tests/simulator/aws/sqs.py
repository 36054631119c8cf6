"""SQS: standard queues with delays, visibility timeouts and dead-letter queues."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.simulator.aws.client import Response, operation
from tests.simulator.aws.errors import ServiceError
from tests.simulator.aws.table import ACCOUNT, REGION

MAX_DELAY = 900
MAX_VISIBILITY = 43_200
BATCH_SIZE = 10


@dataclass
class Message:
    message_id: str
    body: str
    attributes: dict[str, Any]
    """The message attributes that the sender set."""
    group: str | None
    sent_at: datetime
    visible_at: datetime
    receives: int = 0
    first_received_at: datetime | None = None

    @property
    def receipt_handle(self) -> str:
        """Valid until the next receive."""
        return f"{self.message_id}#{self.receives}"

    def to_response(self) -> Response:
        attributes = {
            "ApproximateReceiveCount": str(self.receives),
            "SentTimestamp": _epoch_ms(self.sent_at),
            "ApproximateFirstReceiveTimestamp": _epoch_ms(self.first_received_at or self.sent_at),
        }
        if self.group is not None:
            attributes["MessageGroupId"] = self.group
        return {
            "MessageId": self.message_id,
            "ReceiptHandle": self.receipt_handle,
            "Body": self.body,
            "Attributes": attributes,
            "MessageAttributes": self.attributes,
        }


@dataclass
class Queue:
    name: str
    visibility_timeout: timedelta = timedelta(seconds=30)
    dead_letters: str | None = None
    max_receives: int = 0
    messages: dict[str, Message] = field(default_factory=dict)
    """By id, in the order of sending."""
    sent: int = 0

    @property
    def arn(self) -> str:
        return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{self.name}"

    @property
    def url(self) -> str:
        return f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{self.name}"

    def visible(self, now: datetime) -> list[Message]:
        """The messages that can be received, the earliest visible first."""
        visible = [message for message in self.messages.values() if message.visible_at <= now]
        return sorted(visible, key=lambda message: message.visible_at)

    def add(self, body: str, attributes: dict[str, Any], group: str | None, delay: int, now: datetime) -> Message:
        self.sent += 1
        message_id = f"{self.name}-{self.sent:06d}"
        message = Message(message_id, body, attributes, group, now, now + timedelta(seconds=delay))
        self.messages[message_id] = message
        return message


class Sqs:
    def __init__(self, clock: Callable[[], datetime], rng: random.Random | None = None) -> None:
        self.queues: dict[str, Queue] = {}
        self._clock, self._rng = clock, rng

    @operation
    def create_queue(self, *, QueueName: str, Attributes: dict[str, str] | None = None) -> Response:
        """Create a queue, with the attributes ``VisibilityTimeout`` and ``RedrivePolicy``."""
        given = dict(Attributes or {})
        queue = Queue(QueueName, timedelta(seconds=int(given.pop("VisibilityTimeout", "30"))))
        if policy := json.loads(given.pop("RedrivePolicy", "null")):
            queue.dead_letters = policy["deadLetterTargetArn"].split(":")[-1]
            queue.max_receives = int(policy["maxReceiveCount"])
        if given:
            raise NotImplementedError(f"queue attributes {sorted(given)}")
        self.queues[QueueName] = queue
        return {"QueueUrl": queue.url}

    @operation
    def send_message(self, *, QueueUrl: str, **message: Any) -> Response:
        return {"MessageId": self._send(self._queue(QueueUrl), **message).message_id}

    @operation
    def send_message_batch(self, *, QueueUrl: str, Entries: Sequence[dict[str, Any]]) -> Response:
        """Send each entry on its own: an invalid entry is reported in ``Failed``."""
        queue = self._queue(QueueUrl)
        if not Entries:
            raise ServiceError("AWS.SimpleQueueService.EmptyBatchRequest", "There should be at least one entry")
        if len(Entries) > BATCH_SIZE:
            raise ServiceError("AWS.SimpleQueueService.TooManyEntriesInBatchRequest", f"at most {BATCH_SIZE} entries")
        if len({entry["Id"] for entry in Entries}) < len(Entries):
            raise ServiceError("AWS.SimpleQueueService.BatchEntryIdsNotDistinct", "Two entries have the same id")
        sent: list[Response] = []
        failed: list[Response] = []
        for entry in Entries:
            message = dict(entry)
            entry_id = message.pop("Id")
            try:
                sent.append({"Id": entry_id, "MessageId": self._send(queue, **message).message_id})
            except ServiceError as error:
                failed.append({"Id": entry_id, "SenderFault": True, "Code": error.code, "Message": error.message})
        return {"Successful": sent, **({"Failed": failed} if failed else {})}

    @operation
    def receive_message(
        self,
        *,
        QueueUrl: str,
        MaxNumberOfMessages: int = 1,
        MessageSystemAttributeNames: Sequence[str] = (),  # noqa: ARG002 - the model always answers with all
        MessageAttributeNames: Sequence[str] = (),  # noqa: ARG002
    ) -> Response:
        """Receive visible messages: the earliest first, or a random choice if the model has a random generator.

        A message that was received too often moves to the dead-letter queue instead.
        """
        queue, now = self._queue(QueueUrl), self._clock()
        visible = queue.visible(now)
        if self._rng:
            self._rng.shuffle(visible)
        received: list[Response] = []
        for message in visible:
            if len(received) == MaxNumberOfMessages:
                break
            if queue.dead_letters is not None and message.receives >= queue.max_receives:
                del queue.messages[message.message_id]
                self.queues[queue.dead_letters].add(message.body, message.attributes, message.group, 0, now)
                continue
            message.receives += 1
            message.first_received_at = message.first_received_at or now
            message.visible_at = now + queue.visibility_timeout
            received.append(message.to_response())
        return {"Messages": received} if received else {}

    @operation
    def delete_message(self, *, QueueUrl: str, ReceiptHandle: str) -> Response:
        """Delete a message. The handle of an earlier receive succeeds without an effect."""
        queue = self._queue(QueueUrl)
        message = self._find(queue, ReceiptHandle)
        if message is not None and message.receipt_handle == ReceiptHandle:
            del queue.messages[message.message_id]
        return {}

    @operation
    def change_message_visibility(self, *, QueueUrl: str, ReceiptHandle: str, VisibilityTimeout: int) -> Response:
        message, now = self._find(self._queue(QueueUrl), ReceiptHandle), self._clock()
        if not 0 <= VisibilityTimeout <= MAX_VISIBILITY:
            raise ServiceError("InvalidParameterValue", f"VisibilityTimeout must be between 0 and {MAX_VISIBILITY}")
        if message is None:
            raise ServiceError("InvalidParameterValue", "Message does not exist or is not available")
        if message.receipt_handle != ReceiptHandle or message.visible_at <= now:
            raise ServiceError("AWS.SimpleQueueService.MessageNotInflight", "The message is not in flight")
        message.visible_at = now + timedelta(seconds=VisibilityTimeout)
        return {}

    @operation
    def get_queue_attributes(self, *, QueueUrl: str, AttributeNames: Sequence[str]) -> Response:
        queue, now = self._queue(QueueUrl), self._clock()
        hidden = [message for message in queue.messages.values() if message.visible_at > now]
        in_flight = sum(message.receives > 0 for message in hidden)
        known = {
            "ApproximateNumberOfMessages": len(queue.messages) - len(hidden),
            "ApproximateNumberOfMessagesNotVisible": in_flight,
            "ApproximateNumberOfMessagesDelayed": len(hidden) - in_flight,
            "QueueArn": queue.arn,
        }
        return {"Attributes": {name: str(known[name]) for name in AttributeNames}}

    def _send(
        self,
        queue: Queue,
        *,
        MessageBody: str,
        DelaySeconds: int = 0,
        MessageGroupId: str | None = None,
        MessageAttributes: dict[str, Any] | None = None,
    ) -> Message:
        if not 0 <= DelaySeconds <= MAX_DELAY:
            raise ServiceError("InvalidParameterValue", f"DelaySeconds must be between 0 and {MAX_DELAY}")
        if not MessageBody:
            raise ServiceError("InvalidParameterValue", "The message body must not be empty")
        return queue.add(MessageBody, MessageAttributes or {}, MessageGroupId, DelaySeconds, self._clock())

    def _queue(self, url: str) -> Queue:
        queue = self.queues.get(url.rpartition("/")[2])
        if queue is None:
            raise ServiceError("AWS.SimpleQueueService.NonExistentQueue", f"The specified queue does not exist: {url}")
        return queue

    @staticmethod
    def _find(queue: Queue, receipt_handle: str) -> Message | None:
        message_id, separator, _ = receipt_handle.rpartition("#")
        if not separator:
            raise ServiceError("ReceiptHandleIsInvalid", f"The input receipt handle is invalid: {receipt_handle}")
        return queue.messages.get(message_id)


def _epoch_ms(instant: datetime) -> str:
    return str(round(instant.timestamp() * 1000))
