"""The intake queue, as the API sends to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from punctual.aws.sqs.sending import BATCH_SIZE
from punctual.aws.sqs.work_queues import group_id

MAX_BATCH_BYTES = 256 * 1024
MAX_SEND_TRIES = 3
BACKOFF_SECONDS = 0.2


@dataclass(frozen=True)
class SqsIntakeQueue:
    queue_url: str
    sqs: Callable[[], Any]

    def send(self, bodies: Sequence[str], owner: str) -> dict[int, str]:
        pending = dict(enumerate(bodies))
        failed: dict[int, str] = {}
        for number in range(MAX_SEND_TRIES):
            if number:
                time.sleep(BACKOFF_SECONDS * number)
            again: dict[int, str] = {}
            for batch in _batches(pending):
                for position, (reason, is_final) in self._send_batch(batch, group_id(owner)).items():
                    (failed if is_final else again)[position] = reason
            pending = {position: bodies[position] for position in again}
            if not pending:
                break
        return failed | again

    def _send_batch(self, batch: Mapping[int, str], group: str) -> dict[int, tuple[str, bool]]:
        """Return for each message that SQS did not accept why, and whether a repetition cannot help."""
        # the owner as message group: SQS fair queues keep an owner with many messages from delaying the others
        entries = [{"Id": str(n), "MessageBody": body, "MessageGroupId": group} for n, body in batch.items()]
        try:
            answer = self.sqs().send_message_batch(QueueUrl=self.queue_url, Entries=entries)
        except (ClientError, BotoCoreError) as error:
            return dict.fromkeys(batch, (f"SQS did not accept it: {type(error).__name__}", False))
        return {
            int(entry["Id"]): (f"SQS did not accept it: {entry.get('Message') or entry['Code']}", entry["SenderFault"])
            for entry in answer.get("Failed", [])
        }


def _batches(bodies: Mapping[int, str]) -> Iterator[dict[int, str]]:
    """Split the messages so that each batch keeps the limits of SQS. The bodies consist of ASCII characters."""
    batch: dict[int, str] = {}
    size = 0
    for position, body in bodies.items():
        if batch and (len(batch) == BATCH_SIZE or size + len(body) > MAX_BATCH_BYTES):
            yield batch
            batch, size = {}, 0
        batch[position] = body
        size += len(body)
    if batch:
        yield batch


if TYPE_CHECKING:
    from punctual.ports.intake import IntakeQueue

    _intake_queue: type[IntakeQueue] = SqsIntakeQueue
