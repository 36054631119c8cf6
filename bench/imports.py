"""Import time of each function, relative to boto3 with one client, each in a new interpreter."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

from bench.report import Report
from punctual.runtime.lambdas import settings

ROOT = Path(__file__).parents[1]
ROUNDS = 11
HOT = ("dispatcher", "planner", "worker")
BASELINE = "import boto3; boto3.client('dynamodb')"
UNWANTED = ("pydantic", "aws_xray_sdk")
AS_JSON = {"TASK_DEFINITIONS": "{}", "CONCURRENCY": "{}", "DEAD_LETTER_QUEUE_URLS": "[]"}


def environment() -> dict[str, str]:
    """A value for every setting of every function, so that each handler can be imported."""
    classes = [one for one in vars(settings).values() if isinstance(one, type) and issubclass(one, settings.Settings)]
    return {
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        **{name.upper(): "1" if kind is int else "x" for one in classes for name, kind in one.types().items()},
        **AS_JSON,
    }


def measure() -> Report:
    report = Report("Import time of each function, as a multiple of boto3 with one client")
    names = functions()
    rounds = [{name: _seconds(name) for name in ["", *names]} for _ in range(ROUNDS)]
    report.show("boto3 with one client", f"{median(one[''] for one in rounds) * 1000:.0f} ms")
    for name in names:
        ratio = median(
            one[name] / one[""] for one in rounds
        )  # compare within a round, because the load of the machine varies between rounds
        if name in HOT:
            report.limit(name, ratio, 1.5, "×")
            report.limit(f"{name}: unwanted modules", len(_unwanted(name)), 0)
        else:
            report.show(name, f"{ratio:.2f}×")
    return report


def functions() -> list[str]:
    return sorted(folder.name for folder in (ROOT / "functions").iterdir() if (folder / "handler.py").exists())


def _seconds(function: str) -> float:
    """Processor time, which depends less on other programs than wall-clock time does."""
    before = _children()
    run_python(function, "import handler" if function else BASELINE)
    between = _children()
    run_python("", "pass")
    return (between - before) - (_children() - between)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _unwanted(function: str) -> list[str]:
    code = f"import handler, sys; print(' '.join(one for one in {UNWANTED!r} if one in sys.modules))"
    return run_python(function, code).split()


def run_python(function: str, code: str) -> str:
    """Run code in a new interpreter that finds the modules of a function; return its output. Raises if it fails."""
    path = [str(ROOT / "functions" / function)] if function else []
    path += [str(ROOT / "layers" / "punctual" / "python"), str(ROOT)]
    variables = {**os.environ, **environment(), "PYTHONPATH": os.pathsep.join(path)}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True)
    return done.stdout
