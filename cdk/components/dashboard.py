"""metrics, alarms ─▶ dashboard: one page that says how Punctual is doing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from cdk.components.alarms import STREAM_READERS, Alarms
from cdk.components.api import Api
from cdk.components.function import Function
from cdk.components.queues import Queues
from cdk.metrics import Logged, OfFunction, Published, measured, of_function, server_errors

LANES = ("short", "long")
OUTCOMES = ("succeeded", "failed")
WIDTH = 24


@dataclass(frozen=True, kw_only=True)
class Graph:
    title: str
    lines: Mapping[str, cloudwatch.Metric]
    """By what each is called in the legend."""
    alarm: str | None = None
    """Whose threshold is drawn in."""
    stacked: bool = False


class Dashboard(Construct):
    """The metrics that the alarms watch, with their thresholds drawn in, and those that explain them."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        alarms: Alarms,
        functions: Mapping[str, Function],
        queues: Queues,
        api: Api,
    ) -> None:
        super().__init__(scope, construct_id)
        self.name = Stack.of(self).stack_name
        self._alarms = alarms.all
        self._page = cloudwatch.Dashboard(self, "Page", dashboard_name=self.name, default_interval=Duration.hours(3))
        self._states()
        self._running()
        self._lateness()
        self._throughput()
        self._backlog(list(queues.work))
        self._deadlines()
        self._cost()
        self._errors(functions, api)

    def _states(self) -> None:
        self._section("Alarms", "Each one's description leads to what it means and what to do.")
        every = list(self._alarms.values())
        self._page.add_widgets(cloudwatch.AlarmStatusWidget(alarms=every, width=WIDTH, height=6, title="Now"))

    def _running(self) -> None:
        self._section("What runs now", "What workers and containers hold, and the slots of the long lane.")
        slots = {"taken": measured(Logged.SLOTS_TAKEN), "waited for": measured(Logged.SLOTS_WAITING)}
        self._row(
            Graph(title="Running, by lane", lines=_by_lane(Logged.RUNNING_NOW), stacked=True),
            Graph(title="Slots of the long lane", lines=slots),
        )

    def _lateness(self) -> None:
        self._section("Lateness", "From the due instant to the start, and whether the clock itself goes right.")
        self._row(
            _watched("Start after due, P99, seconds", Published.DISPATCH_LATENESS_P99, "DispatchLate"),
            _watched("Sweep behind, seconds", Published.SWEEP_LAG_SECONDS, "SweepBehind"),
            _watched("Between two ticks, seconds", Published.TICK_GAP_SECONDS, "TickMissed"),
        )

    def _throughput(self) -> None:
        self._section("Throughput", "Per minute, by lane and outcome.")
        ended = {
            f"{lane} {outcome}": measured(Logged.ENDED, lane=lane, outcome=outcome)
            for lane in LANES
            for outcome in OUTCOMES
        }
        self._row(
            Graph(title="Started", lines=_by_lane(Logged.STARTED), stacked=True),
            Graph(title="Ended", lines=ended, stacked=True),
        )

    def _backlog(self, queues: Sequence[str]) -> None:
        self._section("Backlog", "What waits in the short queues, and how long it takes to work that off.")
        depths = {queue: measured(Logged.QUEUE_DEPTH, queue=queue) for queue in queues}
        minutes = {queue: measured(Logged.QUEUE_DRAIN_MINUTES, queue=queue) for queue in queues}
        self._row(
            Graph(title="Waiting, by queue", lines=depths, stacked=True),
            Graph(title="Minutes to drain, by queue", lines=minutes),
        )
        self._row(
            _watched("Minutes to drain, the slowest", Published.BACKLOG_DRAIN_MINUTES, "BacklogDrainTime"),
            _watched("Waiting, the fullest", Published.BACKLOG_MESSAGES, "BacklogSize"),
            _watched("Oldest message, seconds", Published.OLDEST_MESSAGE_SECONDS, "OldestMessage"),
        )

    def _deadlines(self) -> None:
        self._section("Deadlines", "Live executions that may miss theirs, and those that have.")
        self._row(
            _watched("At risk", Published.DEADLINES_AT_RISK, "DeadlineAtRisk"),
            _watched("Missed", Published.DEADLINES_MISSED, "DeadlineMissed"),
        )

    def _cost(self) -> None:
        self._section("Cost", "An estimate from what ran, at list prices.")
        dollars = measured(Logged.ESTIMATED_DOLLARS)
        self._row(
            Graph(title="Dollars, by hour", lines={"dollars": dollars.with_(period=Duration.hours(1))}),
            Graph(title="Dollars, by day", lines={"dollars": dollars.with_(period=Duration.days(1))}),
        )

    def _errors(self, functions: Mapping[str, Function], api: Api) -> None:
        self._section("Errors", "What did not work, and who was held up.")
        self._row(
            _watched("Dead letters", Published.DEAD_LETTERS, "DeadLetters"),
            _watched("Attempts that failed, percent", Published.WORKER_FAILURE_RATE, "WorkerFailures"),
            _watched("State machine runs that broke", Published.STATE_MACHINE_FAILURES, "StateMachineFailures"),
        )
        self._row(
            _watched("Faults of the API", Published.API_FAULTS, "ApiErrors"),
            _watched("Behind a stream, seconds", Published.STREAM_LAG_SECONDS, "StreamBehind"),
            _watched("Calls that AWS refused", Published.THROTTLES, "Throttled"),
        )
        answers = {"5xx": server_errors(api.http)}
        readers = {name: functions[name] for name in STREAM_READERS}
        ages = _by_function(OfFunction.ITERATOR_AGE, readers)
        self._row(
            Graph(title="Answers of 5xx, by the gateway", lines=answers, alarm="ApiErrors-gateway"),
            Graph(title="Age by function, milliseconds", lines=ages, alarm=f"StreamBehind-{STREAM_READERS[0]}"),
        )
        self._row(
            Graph(title="Function errors", lines=_by_function(OfFunction.ERRORS, functions)),
            Graph(title="Starts that Lambda refused", lines=_by_function(OfFunction.THROTTLES, functions)),
        )

    def _section(self, title: str, text: str) -> None:
        self._page.add_widgets(cloudwatch.TextWidget(markdown=f"## {title}\n{text}", width=WIDTH, height=2))

    def _row(self, *graphs: Graph) -> None:
        """Side by side, over the whole width."""
        self._page.add_widgets(*(self._widget(graph, WIDTH // len(graphs)) for graph in graphs))

    def _widget(self, graph: Graph, width: int) -> cloudwatch.GraphWidget:
        return cloudwatch.GraphWidget(
            title=graph.title,
            left=[metric.with_(label=name) for name, metric in graph.lines.items()],
            left_annotations=[self._alarms[graph.alarm].to_annotation()] if graph.alarm else None,
            left_y_axis=cloudwatch.YAxisProps(min=0, show_units=False),
            stacked=graph.stacked,
            width=width,
            height=6,
        )


def _watched(title: str, metric: Published, alarm: str) -> Graph:
    return Graph(title=title, lines={metric.value: measured(metric)}, alarm=alarm)


def _by_lane(metric: Logged) -> dict[str, cloudwatch.Metric]:
    return {lane: measured(metric, lane=lane) for lane in LANES}


def _by_function(metric: OfFunction, functions: Mapping[str, Function]) -> dict[str, cloudwatch.Metric]:
    return {name: of_function(metric, function) for name, function in functions.items()}
