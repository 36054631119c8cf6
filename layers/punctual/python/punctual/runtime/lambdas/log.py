"""Structured logging: every line of every logger is one JSON object that includes the fields of the current context.

It uses the standard library's loggers with a formatter, because importing a logging library would add a quarter of
boto3's import time to every cold start. A task's own ``logging.getLogger(__name__)`` therefore logs the execution id
too.
"""

from __future__ import annotations

import json
import logging
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from punctual.runtime.tasks.log_fields import extra_fields

_LIBRARIES = ("botocore", "boto3", "urllib3", "s3transfer")
"""They would log every request, with its credentials."""
_context: dict[str, Any] = {}


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON: level, message, timestamp, context fields and ``extra``.

    Each byte is billed. The log group names the function, and only warnings and errors have their place in the code.
    """

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "level": record.levelname,
            "message": record.getMessage(),
            "timestamp": self.formatTime(record),
            **_context,
            **extra_fields(record),
        }
        if record.levelno >= logging.WARNING:
            line["location"] = f"{record.module}:{record.lineno}"
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


@contextmanager
def about(**fields: Any) -> Iterator[None]:
    """Add ``fields`` to every line logged inside the block, by any thread and any logger."""
    _context.update(fields)
    try:
        yield
    finally:
        for name in fields:
            _context.pop(name, None)


@contextmanager
def sampled() -> Iterator[None]:
    """Log from DEBUG on inside the block, for the share of blocks that ``LOG_DEBUG_PERCENT`` states."""
    root = logging.getLogger()
    level = root.level
    if random.uniform(0, 100) < float(os.environ.get("LOG_DEBUG_PERCENT", 0)):
        root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.setLevel(level)


def configure() -> logging.Logger:
    """Configure the root logger, replacing the handler that the Lambda runtime installs. Idempotent."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(os.environ.get("LOG_LEVEL", "INFO"))
    for library in _LIBRARIES:
        logging.getLogger(library).setLevel(logging.WARNING)
    return logging.getLogger("punctual")
