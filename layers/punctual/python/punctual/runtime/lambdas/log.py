"""Structured logging: every line that any logger writes is one JSON object, with whatever it is being done for.

The standard library's own loggers with a formatter, because a logging library would take a quarter as long to import
as boto3 does, at every cold start. And so a task's ``logging.getLogger(__name__)`` carries the execution's id as well.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_SERVICE = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "punctual")
_subject: dict[str, Any] = {}


class JsonLines(logging.Formatter):
    """A record as one line of JSON: level, message, instant, service, what it is about, and the call's ``extra``."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "level": record.levelname,
            "message": record.getMessage(),
            "timestamp": self.formatTime(record),
            "service": _SERVICE,
            "location": f"{record.module}:{record.lineno}",
            **_subject,
            **{name: value for name, value in vars(record).items() if name not in _STANDARD},
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


@contextmanager
def about(**subject: Any) -> Iterator[None]:
    """Every line logged inside the block carries these fields, from whichever thread and logger."""
    _subject.update(subject)
    try:
        yield
    finally:
        for name in subject:
            _subject.pop(name, None)


def start() -> logging.Logger:
    """Take over the root logger, in place of what the runtime has put there. May be called again."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(os.environ.get("LOG_LEVEL", "INFO"))
    logging.getLogger("botocore").setLevel(logging.WARNING)  # it tells of found credentials at every cold start
    return logging.getLogger("punctual")
