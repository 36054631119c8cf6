"""Forwards the output of a container to CloudWatch Logs."""

import logging
import time
from contextlib import suppress
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any

from botocore.exceptions import ClientError

from local.ecs_task import LogTarget

# Below the limits of PutLogEvents: 10,000 lines, 1 MB, 256 KB per line.
MAX_BATCH_LINES = 1_000
MAX_BATCH_BYTES = 500_000
MAX_LINE_BYTES = 200_000
# A process that writes faster than its lines are forwarded blocks, as with Docker.
MAX_BUFFERED_LINES = 10_000
LAST_LINES_SECONDS = 2


class ContainerLog:
    """Reads the output of one container line by line, and forwards it in batches."""

    def __init__(self, logs: Any, target: LogTarget | None) -> None:
        self._logs = logs
        self._target = target
        self._lines: Queue[dict[str, Any]] = Queue(MAX_BUFFERED_LINES)
        self._batch: list[dict[str, Any]] = []
        self._reader: Thread | None = None

    def create(self) -> None:
        """Create the log stream. Idempotent. Raises `ClientError` if the log group does not exist."""
        if self._target:
            with suppress(self._logs.exceptions.ResourceAlreadyExistsException):
                self._logs.create_log_stream(logGroupName=self._target.group, logStreamName=self._target.stream)

    def read(self, output: IO[bytes]) -> None:
        """Start reading `output` in a thread."""
        self._reader = Thread(target=self._read, args=[output], daemon=True)
        self._reader.start()

    def forward(self) -> bool:
        """Send one batch of lines; `False` if there is none. Keeps the batch if the emulator does not answer."""
        if not self._batch:
            self._batch = self._next_batch()
        if self._batch and self._target:
            self._put(self._target)
        sent, self._batch = bool(self._batch), []
        return sent

    def finish(self) -> None:
        """Send all remaining lines after the end of the process. Waits a limited time for an unfinished last line."""
        end = time.monotonic() + LAST_LINES_SECONDS
        while self._reader and self._reader.is_alive() and time.monotonic() < end:
            self.forward()
            self._reader.join(timeout=0.05)
        while self.forward():
            pass

    def _put(self, target: LogTarget) -> None:
        try:
            self._logs.put_log_events(logGroupName=target.group, logStreamName=target.stream, logEvents=self._batch)
        except ClientError as error:
            logging.warning("cannot write %d lines to %s: %s", len(self._batch), target.group, error)

    def _next_batch(self) -> list[dict[str, Any]]:
        batch: list[dict[str, Any]] = []
        size = 0
        while len(batch) < MAX_BATCH_LINES and size < MAX_BATCH_BYTES:
            try:
                batch.append(self._lines.get_nowait())
            except Empty:
                break
            size += len(batch[-1]["message"])
        return batch

    def _read(self, output: IO[bytes]) -> None:
        with output:
            while line := output.readline(MAX_LINE_BYTES):
                if text := line.decode(errors="replace").rstrip():
                    self._lines.put({"timestamp": int(time.time() * 1000), "message": text})
