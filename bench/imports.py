"""Import time of each function, relative to boto3 with one client, each in a new interpreter."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

from bench.report import Report

ROOT = Path(__file__).parents[1]
ROUNDS = 11
HOT = ("dispatcher", "planner", "worker")
BASELINE = "import boto3; boto3.client('dynamodb')"
UNWANTED = ("pydantic", "aws_xray_sdk")
ENVIRONMENT = {
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "PUNCTUAL_STAGE": "bench",
    "ALARM_PREFIX": "Punctual-",
    "RETENTION_DAYS": "1",
    "TIMER_SHARDS": "1",
    "TASK_DEFINITIONS": "{}",
    "CONCURRENCY": "{}",
    "DEAD_LETTER_QUEUE_URLS": "[]",
    **dict.fromkeys(("LONG_VCPUS", "LONG_TASKS", "LONG_STARTS_PER_SECOND", "HEARTBEAT_SECONDS"), "1"),
    **dict.fromkeys(("BACKLOG_MINUTES", "BACKLOG_MESSAGES"), "1"),
    **dict.fromkeys(("JOBS_TABLE", "EXECUTIONS_TABLE", "PARTS_TABLE", "TIMERS_TABLE", "IDEMPOTENCY_TABLE"), "x"),
    **dict.fromkeys(("SIGNALS_TABLE", "GATES_TABLE", "PAGE_TOPIC_ARN", "NOTICE_TOPIC_ARN", "API_URL"), "x"),
    **dict.fromkeys(("INTAKE_QUEUE_URL", "CHECKS_QUEUE_URL", "NOTICES_QUEUE_URL", "BULK_QUEUE_URL"), "x"),
    **dict.fromkeys(
        ("RESULTS_BUCKET", "LOGS_TABLE", "OPERATIONS_TABLE", "STATISTICS_TABLE", "DEAD_LETTER_QUEUE_URL"), "x"
    ),
    **dict.fromkeys(("STATE_MACHINE_ARN", "SCHEDULE_GROUP", "SCHEDULE_ROLE_ARN", "CLUSTER", "LONG_IMAGES"), "x"),
    **{f"{one}_{kind}QUEUE_URL": "x" for one in ("HIGH", "NORMAL", "LOW") for kind in ("", "DEAD_LETTER_")},
}


def measure() -> Report:
    report = Report("Import time of each function, as a multiple of boto3 with one client")
    functions = sorted(folder.name for folder in (ROOT / "functions").iterdir() if (folder / "handler.py").exists())
    rounds = [{name: _seconds(name) for name in ["", *functions]} for _ in range(ROUNDS)]
    report.show("boto3 with one client", f"{median(one[''] for one in rounds) * 1000:.0f} ms")
    for name in functions:
        ratio = median(
            one[name] / one[""] for one in rounds
        )  # compare within a round, because the load of the machine varies between rounds
        if name in HOT:
            report.limit(name, ratio, 1.5, "×")
            report.limit(f"{name}: unwanted modules", len(_unwanted(name)), 0)
        else:
            report.show(name, f"{ratio:.2f}×")
    return report


def _seconds(function: str) -> float:
    """Processor time, which depends less on other programs than wall-clock time does."""
    before = _children()
    _python(function, "import handler" if function else BASELINE)
    between = _children()
    _python("", "pass")
    return (between - before) - (_children() - between)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _unwanted(function: str) -> list[str]:
    code = f"import handler, sys; print(' '.join(one for one in {UNWANTED!r} if one in sys.modules))"
    return _python(function, code).split()


def _python(function: str, code: str) -> str:
    path = [str(ROOT / "functions" / function)] if function else []
    path += [str(ROOT / "layers" / "punctual" / "python"), str(ROOT)]
    environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": os.pathsep.join(path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout
