"""metrics, alarms ─▶ dashboard: the state of Punctual on one page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Aws, Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from cdk.components.alarms import Alarms, stream_readers
from cdk.components.api import Api
from cdk.components.function import Function
from cdk.components.queues import Queues
from cdk.metrics import OfFunction, OwnMetrics, of_function, server_errors
from cdk.settings import Settings
from punctual.domain.metrics import DashboardMetric, Metric

OUTCOMES = ("succeeded", "failed")
WIDTH = 24


@dataclass(frozen=True, kw_only=True)
class Graph:
    title: str
    lines: Mapping[str, cloudwatch.Metric]
    """By their label in the legend."""
    alarm: str | None = None
    """The alarm whose threshold the graph shows."""
    stacked: bool = False


class Dashboard(Construct):
    """The metrics that alarms watch, with their thresholds, and the metrics that explain them."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        alarms: Alarms,
        functions: Mapping[str, Function],
        queues: Queues,
        api: Api,
    ) -> None:
        super().__init__(scope, construct_id)
        # A dashboard's name is global in the account.
        self.name = f"{settings.stack_name}-{Aws.REGION}"
        self._measured = OwnMetrics(settings.stage)
        self._alarms = alarms.all
        self._lanes = ("short", "long") if settings.long.enabled else ("short",)
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
        self._section("Alarms", "The description of each alarm links to its section of the runbook.")
        every = list(self._alarms.values())
        self._page.add_widgets(cloudwatch.AlarmStatusWidget(alarms=every, width=WIDTH, height=6, title="Now"))

    def _running(self) -> None:
        self._section("Running now", "Running executions, by lane.")
        graphs = [Graph(title="Running, by lane", lines=self._by_lane(DashboardMetric.RUNNING_NOW), stacked=True)]
        if "long" in self._lanes:
            slots = {
                "taken": self._measured(DashboardMetric.SLOTS_TAKEN),
                "waiting": self._measured(DashboardMetric.SLOTS_WAITING),
            }
            graphs.append(Graph(title="Slots of the long lane", lines=slots))
        self._row(*graphs)

    def _lateness(self) -> None:
        self._section(
            "Lateness",
            "The time from the due instant to the start, and the lag of sweep and ticks.",
        )
        self._row(
            self._watched("Start after due instant, p99, seconds", Metric.DISPATCH_LATENESS_P99, "DispatchLate"),
            self._watched("Sweep lag, seconds", Metric.SWEEP_LAG_SECONDS, "SweepBehind"),
            self._watched("Time between ticks, seconds", Metric.TICK_GAP_SECONDS, "TickMissed"),
        )

    def _throughput(self) -> None:
        self._section("Throughput", "Per minute, by lane and outcome.")
        ended = {
            f"{lane} {outcome}": self._measured(DashboardMetric.ENDED, lane=lane, outcome=outcome)
            for lane in self._lanes
            for outcome in OUTCOMES
        }
        self._row(
            Graph(title="Started", lines=self._by_lane(DashboardMetric.STARTED), stacked=True),
            Graph(title="Ended", lines=ended, stacked=True),
        )

    def _backlog(self, queues: Sequence[str]) -> None:
        self._section("Backlog", "Messages in the queues of the short lane, and the estimated time to drain them.")
        depths = {queue: self._measured(DashboardMetric.QUEUE_DEPTH, queue=queue) for queue in queues}
        minutes = {queue: self._measured(DashboardMetric.QUEUE_DRAIN_MINUTES, queue=queue) for queue in queues}
        self._row(
            Graph(title="Waiting, by queue", lines=depths, stacked=True),
            Graph(title="Minutes to drain, by queue", lines=minutes),
        )
        self._row(
            self._watched("Minutes to drain, slowest queue", Metric.BACKLOG_DRAIN_MINUTES, "BacklogDrainTime"),
            self._watched("Waiting, fullest queue", Metric.BACKLOG_MESSAGES, "BacklogSize"),
            self._watched("Oldest message, seconds", Metric.OLDEST_MESSAGE_SECONDS, "OldestMessage"),
        )

    def _deadlines(self) -> None:
        self._section("Deadlines", "Live executions that may miss their deadline, and executions that have missed it.")
        self._row(
            self._watched("At risk", Metric.DEADLINES_AT_RISK, "DeadlineAtRisk"),
            self._watched("Missed", Metric.DEADLINES_MISSED, "DeadlineMissed"),
        )

    def _cost(self) -> None:
        self._section("Cost", "An estimate from the executions that ran, at list prices.")
        dollars = self._measured(DashboardMetric.ESTIMATED_DOLLARS)
        self._row(
            Graph(title="Dollars, by hour", lines={"dollars": dollars.with_(period=Duration.hours(1))}),
            Graph(title="Dollars, by day", lines={"dollars": dollars.with_(period=Duration.days(1))}),
        )

    def _errors(self, functions: Mapping[str, Function], api: Api) -> None:
        self._section("Errors", "Failures, lag and throttling.")
        failures = [
            self._watched("Dead letters", Metric.DEAD_LETTERS, "DeadLetters"),
            self._watched("Failed attempts, percent", Metric.WORKER_FAILURE_RATE, "WorkerFailures"),
            self._watched("Broken task modules", Metric.BROKEN_TASK_MODULES, "BrokenTaskModules"),
        ]
        if "long" in self._lanes:
            failed_runs = Metric.STATE_MACHINE_FAILURES
            failures.append(self._watched("Failed state machine runs", failed_runs, "StateMachineFailures"))
        self._row(*failures)
        self._row(
            self._watched("API faults", Metric.API_FAULTS, "ApiErrors"),
            self._watched("Stream lag, seconds", Metric.STREAM_LAG_SECONDS, "StreamBehind"),
            self._watched("Throttled AWS requests", Metric.THROTTLES, "Throttled"),
        )
        answers = {"5xx": server_errors(api.http)}
        ages = _by_function(OfFunction.ITERATOR_AGE, stream_readers(functions))
        self._row(
            Graph(title="5xx responses of API Gateway", lines=answers, alarm="ApiErrors-gateway"),
            Graph(title="Iterator age by function, milliseconds", lines=ages, alarm="StreamBehind-planner"),
        )
        self._row(
            Graph(title="Function errors", lines=_by_function(OfFunction.ERRORS, functions)),
            Graph(title="Throttled invocations", lines=_by_function(OfFunction.THROTTLES, functions)),
        )

    def _watched(self, title: str, metric: Metric, alarm: str) -> Graph:
        return Graph(title=title, lines={metric.value: self._measured(metric)}, alarm=alarm)

    def _by_lane(self, metric: DashboardMetric) -> dict[str, cloudwatch.Metric]:
        return {lane: self._measured(metric, lane=lane) for lane in self._lanes}

    def _section(self, title: str, text: str) -> None:
        self._page.add_widgets(cloudwatch.TextWidget(markdown=f"## {title}\n{text}", width=WIDTH, height=2))

    def _row(self, *graphs: Graph) -> None:
        """Add `graphs` side by side over the full width."""
        self._page.add_widgets(*(self._widget(graph, WIDTH // len(graphs)) for graph in graphs))

    def _widget(self, graph: Graph, width: int) -> cloudwatch.GraphWidget:
        return cloudwatch.GraphWidget(
            title=graph.title,
            left=[metric.with_(label=name) for name, metric in graph.lines.items()],
            left_annotations=[self._alarms[graph.alarm].to_annotation()] if graph.alarm in self._alarms else None,
            left_y_axis=cloudwatch.YAxisProps(min=0, show_units=False),
            stacked=graph.stacked,
            width=width,
            height=6,
        )


def _by_function(metric: OfFunction, functions: Mapping[str, Function]) -> dict[str, cloudwatch.Metric]:
    return {name: of_function(metric, function) for name, function in functions.items()}
