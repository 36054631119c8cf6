"""Draws the dashboard of five busy minutes from the metrics that the monitor measured.

Titles, lines, thresholds and the layout come from the deployed dashboard. There is a data point every ten seconds:
the benchmark invokes the monitor in addition to its ticks. Where CloudWatch sums a metric over a graph's period, each
point is the sum over the period before it.
"""

from __future__ import annotations

import json
import math
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from itertools import cycle, groupby
from typing import Any

from bench.picture import COLOURS, save
from bench.report import Report
from punctual.domain.instant import to_epoch_ms
from punctual.domain.metrics import DashboardMetric, Metric, namespace
from tests.e2e.punctual import Punctual

SECONDS, SAMPLE_SECONDS = 300, 10
STEADY = {"name": "steady", "task": "echo", "schedule": {"every_seconds": 1}}
FAILING = {"name": "failing", "task": "fail", "parameters": {"fatal": True}, "schedule": {"every_seconds": 2}}
SLOWED = {
    "name": "slowed",
    "task": "steps",
    "parameters": {"seconds": [12, 12, 12, 12, 1, 1, 1, 1, 1, 9]},
    "expected_seconds": 30,
    "deadline": {"within_seconds": 100},
}
LATE = {
    "name": "late",
    "task": "sleep",
    "parameters": {"seconds": 40},
    "expected_seconds": 10,
    "deadline": {"within_seconds": 20},
}
SMALL = {"task": "sleep", "lane": "long", "parameters": {"seconds": 60}, "resources": {"vcpu": 0.25}}
LARGE = {"task": "sleep", "lane": "long", "parameters": {"seconds": 20}, "resources": {"vcpu": 4}}
FLOOD = {"task": "sleep", "parameters": {"seconds": 1}, "priority": "low"}
PLAN: dict[int, list[dict[str, Any]]] = {
    0: [STEADY, SLOWED],
    20: [SMALL] * 3,
    40: [LARGE],
    60: [FAILING],
    80: [LATE],
    120: [FLOOD] * 200,
}
"""The jobs to submit, by second."""
UNREADABLE_AT = 200


@dataclass(frozen=True)
class MeasuredRun:
    """The measurements of one run. Times are minutes since its start."""

    minutes: float
    points: dict[tuple[str, frozenset[tuple[str, str]]], list[tuple[float, float]]]
    """By metric and dimensions."""
    alarms: dict[str, list[tuple[float, float]]]
    """The periods in which each alarm was active."""
    blind: set[str]
    """Alarms on metrics that the emulator does not provide."""


@dataclass(frozen=True)
class Line:
    label: str
    colour: str
    points: list[tuple[float, float]]


def measure(punctual: Punctual) -> Report:
    page = punctual.aws("cloudwatch").get_dashboard(DashboardName=punctual.stack["dashboard"])
    widgets = json.loads(page["DashboardBody"])["widgets"]
    began = datetime.now(UTC)
    _run_jobs(punctual)
    run = _run(punctual, began)
    draw(widgets, run)
    return _report(widgets, run)


def _run_jobs(punctual: Punctual) -> None:
    began, made = time.monotonic(), []
    for second in range(0, SECONDS + 1, SAMPLE_SECONDS):
        time.sleep(max(0.0, began + second - time.monotonic()))
        if jobs := PLAN.get(second):
            answer = punctual.request("POST", "/jobs/batch", {"jobs": jobs})
            assert answer.status_code == 201, answer.text
            made += answer.json()["items"]
        if second == UNREADABLE_AT:
            punctual.send("intake", "this is no JSON")
        punctual.aws("lambda").invoke(
            FunctionName=punctual.stack["functions"]["monitor"], Payload=json.dumps({"do": "tick"})
        )
    for job in made:
        if job["name"] in (STEADY["name"], FAILING["name"]):
            punctual.request("DELETE", f"/jobs/{job['job_id']}")


def _run(punctual: Punctual, began: datetime) -> MeasuredRun:
    ended = datetime.now(UTC)
    points = defaultdict(list)
    for at, name, dimensions, value in _measured(punctual, began):
        points[name, frozenset(dimensions.items())].append(((at - to_epoch_ms(began)) / 60_000, value))
    for line in points.values():
        line.sort()
    return MeasuredRun(_minutes(began, ended), dict(points), _alarms(punctual, began, ended), _blind(punctual))


def _measured(punctual: Punctual, since: datetime) -> Iterator[tuple[int, str, dict[str, str], float]]:
    """Timestamp, metric, dimensions and value of each measurement in the monitor's log."""
    for at, entry in _entries(punctual, since):
        if entry.get("message") == "measured":
            yield from ((at, name, {}, value) for name, value in entry["figures"].items())
        for directive in entry.get("_aws", {}).get("CloudWatchMetrics", ()):
            dimensions = {name: entry[name] for name in directive["Dimensions"][0]}
            for metric in directive["Metrics"]:
                yield entry["_aws"]["Timestamp"], metric["Name"], dimensions, entry[metric["Name"]]


def _entries(punctual: Punctual, since: datetime) -> Iterator[tuple[int, dict[str, Any]]]:
    pages = punctual.aws("logs").get_paginator("filter_log_events")
    group = punctual.stack["log_groups"]["monitor"]
    for page in pages.paginate(logGroupName=group, startTime=to_epoch_ms(since)):
        for event in page["events"]:
            if event["message"].startswith("{"):
                yield event["timestamp"], json.loads(event["message"])


def _alarms(punctual: Punctual, began: datetime, ended: datetime) -> dict[str, list[tuple[float, float]]]:
    pages = punctual.aws("cloudwatch").get_paginator("describe_alarm_history").paginate(HistoryItemType="StateUpdate")
    history = sorted((item for page in pages for item in page["AlarmHistoryItems"]), key=lambda item: item["Timestamp"])
    since: dict[str, float] = {}
    spans: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for item in history:
        name, minute = _short(item["AlarmName"]), _minutes(began, item["Timestamp"])
        if item["HistorySummary"].endswith("to ALARM"):
            since[name] = minute
        elif (start := since.pop(name, minute)) < minute:
            spans[name].append((start, minute))
    for name, minute in since.items():
        spans[name].append((minute, _minutes(began, ended)))
    return dict(spans)


def _blind(punctual: Punctual) -> set[str]:
    pages = punctual.aws("cloudwatch").get_paginator("describe_alarms").paginate(StateValue="INSUFFICIENT_DATA")
    return {_short(alarm["AlarmName"]) for page in pages for alarm in page["MetricAlarms"]}


def _minutes(began: datetime, at: datetime) -> float:
    return max(0.0, (at - began).total_seconds() / 60)


def _short(alarm: str) -> str:
    """The alarm name without the stack name."""
    return alarm.removeprefix("Punctual-local-")


def _report(widgets: list[dict[str, Any]], run: MeasuredRun) -> Report:
    report = Report("The dashboard, over five busy minutes")
    lines = [line for widget in widgets if _is_own(widget) for line in _lines(widget, run)]
    started = [value for (name, _), line in run.points.items() if name == DashboardMetric.STARTED for _, value in line]
    report.show("ticks of the monitor", str(len(run.points[Metric.TICK_GAP_SECONDS, frozenset()])))
    report.show("values measured", f"{sum(map(len, run.points.values())):,}")
    report.show("attempts started", f"{sum(started):.0f}")
    report.limit("lines of Punctual's metrics without a value", sum(not line.points for line in lines), 0)
    for name, spans in run.alarms.items():
        report.show(f"{name} was in alarm", _spans(spans))
    return report


def _spans(spans: list[tuple[float, float]]) -> str:
    return ", ".join(f"{start:.1f}–{end:.1f}" for start, end in spans) + " min"


UNIT, EDGE = 50, 16
"""Pixels per dashboard column (of 24), and from the edge to a text."""
LEFT, RIGHT, TOP, PLOT = 60, 24, 40, 96
"""Of a plot: the left, right and top margins, and the height."""
SMALL_FONT, FONT = 12, 13
WIDE = 7.2
"""Pixels per character of the small font, rounded up."""
RED, GREY, PALE, SHADE = "#b33", "#555", "#ddd", "#eef1f5"
DASHED = f'stroke="{RED}" stroke-width="1.5" stroke-dasharray="5 4"'
FAR = 50
"""A threshold this many times above all values is only named: drawing it would flatten the values."""
ALARM_COLUMNS, ALARM_HEIGHT = 7, 44


def draw(widgets: list[dict[str, Any]], run: MeasuredRun) -> None:
    """Draw the widgets row by row. The height of a row is that of its tallest widget."""
    body, top = [], 0
    for _, row in groupby(sorted(widgets, key=lambda widget: (widget["y"], widget["x"])), lambda widget: widget["y"]):
        tallest = 0
        for widget in row:
            height, drawn = _widget(widget, run)
            body += [f'<g transform="translate({widget["x"] * UNIT} {top})">', *drawn, "</g>"]
            tallest = max(tallest, height)
        top += tallest
    save("dashboard", 24 * UNIT, top + EDGE, body)


def _widget(widget: dict[str, Any], run: MeasuredRun) -> tuple[int, list[str]]:
    if widget["type"] == "text":
        return _section(widget["properties"]["markdown"])
    title = _text(EDGE, 20, widget["properties"]["title"], FONT + 1, weight="bold")
    if widget["type"] == "alarm":
        height, drawn = _states(widget["properties"]["alarms"], run)
    elif _is_own(widget):
        height, drawn = _graph(widget, run)
    else:
        height, drawn = 58, [_text(EDGE, 42, "shown on AWS only", FONT, fill=GREY)]
    return height, [title, *drawn]


def _is_own(widget: dict[str, Any]) -> bool:
    return any(source == namespace("local") for source, *_ in widget["properties"].get("metrics", ()))


def _section(markdown: str) -> tuple[int, list[str]]:
    heading, text = markdown.removeprefix("## ").split("\n")
    spans = (
        f'<tspan font-size="18" font-weight="bold">{escape(heading)}</tspan>'
        f'<tspan dx="14" font-size="{FONT}" fill="{GREY}">{escape(text)}</tspan>'
    )
    ground = f'<rect y="8" width="{24 * UNIT}" height="30" fill="{SHADE}"/>'
    return 46, [ground, f'<text x="{EDGE}" y="29">{spans}</text>']


def _states(arns: list[str], run: MeasuredRun) -> tuple[int, list[str]]:
    """Draw one field per alarm, red with its periods if it was active."""
    drawn = [_text(70, 20, "red: active during the run, with its periods", FONT, fill=GREY)]
    wide = (24 * UNIT - 2 * EDGE) / ALARM_COLUMNS
    for place, arn in enumerate(arns):
        name = _short(arn.rpartition(":")[2])
        x, y = EDGE + place % ALARM_COLUMNS * wide, TOP + place // ALARM_COLUMNS * ALARM_HEIGHT
        if name in run.alarms:
            ground, ink, state = "#fbe3e3", RED, _spans(run.alarms[name])
        elif name in run.blind:
            ground, ink, state = SHADE, GREY, "on AWS only"
        else:
            ground, ink, state = "#e9f4ec", "#2c7a46", "OK"
        drawn += [
            f'<rect x="{x:.1f}" y="{y}" width="{wide - 6:.1f}" height="{ALARM_HEIGHT - 6}" rx="3" fill="{ground}"/>',
            _text(x + 7, y + 16, name, SMALL_FONT),
            _text(x + 7, y + 31, state, SMALL_FONT, fill=ink),
        ]
    return TOP + math.ceil(len(arns) / ALARM_COLUMNS) * ALARM_HEIGHT + 4, drawn


def _lines(widget: dict[str, Any], run: MeasuredRun) -> list[Line]:
    lines = []
    for (_, name, *dimensions, look), colour in zip(widget["properties"]["metrics"], cycle(COLOURS), strict=False):
        points = run.points.get((name, frozenset(zip(dimensions[::2], dimensions[1::2], strict=True))), [])
        if look["stat"] == "Sum":
            points = [(at, _sum_over_period(points, at, look["period"] / 60)) for at, _ in points]
        else:
            points = _without_close_points(points)
        lines.append(Line(look["label"], colour, points))
    return lines


def _without_close_points(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points of a line, without those of a tick right after another, which had almost nothing to measure."""
    kept: list[tuple[float, float]] = []
    for at, value in points:
        if not kept or at - kept[-1][0] > SAMPLE_SECONDS / 2 / 60:
            kept.append((at, value))
    return kept


def _sum_over_period(points: list[tuple[float, float]], until: float, minutes: float) -> float:
    return sum(value for at, value in points if until - minutes < at <= until)


@dataclass(frozen=True)
class Plot:
    """The scale of a graph: pixel positions of minutes and values."""

    right: float
    minutes: float
    step: float
    top: float

    def x(self, minute: float) -> float:
        return LEFT + minute / self.minutes * (self.right - LEFT)

    def y(self, value: float) -> float:
        return TOP + PLOT - value / self.top * PLOT

    def path(self, points: list[tuple[float, float]]) -> str:
        return " ".join(f"{self.x(at):.1f},{self.y(value):.1f}" for at, value in points)

    def level(self, value: float, stroke: str) -> str:
        y = f"{self.y(value):.1f}"
        return f'<line x1="{LEFT}" y1="{y}" x2="{self.right}" y2="{y}" {stroke}/>'

    def axes(self) -> list[str]:
        drawn = []
        for value in (number * self.step for number in range(round(self.top / self.step) + 1)):
            drawn.append(self.level(value, f'stroke="{PALE}"'))
            drawn.append(_text(LEFT - 6, self.y(value) + 4, f"{value:,g}", SMALL_FONT, anchor="end"))
        for minute in range(int(self.minutes) + 1):
            text = f"{minute} min" if minute else "0"
            drawn.append(_text(self.x(minute), TOP + PLOT + 17, text, SMALL_FONT, anchor="middle"))
        return drawn


def _graph(widget: dict[str, Any], run: MeasuredRun) -> tuple[int, list[str]]:
    lines, stacked = _lines(widget, run), widget["properties"]["stacked"]
    limits = [one["value"] for one in widget["properties"].get("annotations", {}).get("horizontal", ())]
    shapes = _stacked(lines) if stacked else [line.points for line in lines]
    values = [value for shape in shapes for _, value in shape]
    near = [limit for limit in limits if limit <= FAR * max(values, default=0) or not any(values)]
    plot = Plot(widget["width"] * UNIT - RIGHT, run.minutes, *_scale([*values, *near]))
    body = plot.axes() + [plot.level(limit, DASHED) for limit in near]
    for line, shape in reversed(list(zip(lines, shapes, strict=True))):
        if stacked and shape:
            area = plot.path([(shape[0][0], 0), *shape, (shape[-1][0], 0)])
            body.append(f'<polygon points="{area}" fill="white"/>')  # hides the layers behind
            body.append(f'<polygon points="{area}" fill="{line.colour}" fill-opacity="0.3"/>')
        body.append(f'<polyline points="{plot.path(shape)}" fill="none" stroke="{line.colour}" stroke-width="2"/>')
    return TOP + PLOT + 56, [*body, *_legend(lines, limits, near)]


def _stacked(lines: list[Line]) -> list[list[tuple[float, float]]]:
    """Stack each line on top of those before it. All lines of a graph have the same timestamps."""
    below: dict[float, float] = defaultdict(float)
    shapes = []
    for line in lines:
        shape = []
        for at, value in line.points:
            below[at] += value
            shape.append((at, below[at]))
        shapes.append(shape)
    return shapes


def _scale(values: list[float]) -> tuple[float, float]:
    """A round step, and its first multiple that is not below any value."""
    most = max(values, default=0) or 1
    power = 10.0 ** math.floor(math.log10(most))
    step = next(power * factor for factor in (0.2, 0.5, 1, 2, 5) if most / (power * factor) <= 4)
    if all(value == int(value) for value in values):
        step = max(step, 1)
    return step, math.ceil(most / step) * step


def _legend(lines: list[Line], limits: list[float], near: list[float]) -> list[str]:
    entries = [(line.label, f'stroke="{line.colour}" stroke-width="3"') for line in lines]
    entries += [(f"alarm above {limit:,g}" + ("" if limit in near else " ↑"), DASHED) for limit in limits]
    x, y, drawn = float(LEFT), TOP + PLOT + 38, []
    for label, stroke in entries:
        drawn.append(f'<line x1="{x:.1f}" y1="{y - 4}" x2="{x + 18:.1f}" y2="{y - 4}" {stroke}/>')
        drawn.append(_text(x + 24, y, label, SMALL_FONT))
        x += 24 + len(label) * WIDE + 14
    return drawn


def _text(x: float, y: float, text: str, size: int, *, anchor: str = "", weight: str = "", fill: str = "") -> str:
    given = {"text-anchor": anchor, "font-weight": weight, "fill": fill}
    more = "".join(f' {name}="{value}"' for name, value in given.items() if value)
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}"{more}>{escape(text)}</text>'
