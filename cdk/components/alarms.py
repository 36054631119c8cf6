"""metrics ─▶ alarms ─▶ topics. docs/operations.md has a section for each kind of alarm.

There are no composite alarms and no metric math: the emulator supports neither, and each alarm has one meaning. Each
kind watches a metric that Punctual publishes itself, so that it also works on the emulator. Three kinds also watch
metrics of AWS, because a function that cannot start publishes nothing; the emulator does without these, because it
ignores the dimensions of an alarm, and one throttled invocation would raise the alarm of every function.
"""

from collections.abc import Mapping

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk.components.api import Api
from cdk.components.function import Function
from cdk.components.topics import Topics
from cdk.metrics import OfFunction, OwnMetrics, of_function, server_errors
from cdk.names import alarm_name
from cdk.settings import Alerts, Settings
from punctual.domain.metrics import Metric

STREAM_READERS = ("planner", "settler", "admission")
# Functions without reserved concurrency share that of the account. The worker uses most of it, and the monitor is
# invoked each minute, also when no job runs: if the others are throttled for minutes, so is the monitor.
SHARES_CONCURRENCY = ("worker", "monitor")

# Two missed ticks, plus 30 seconds of tolerance for jitter.
TICK_GAP_SECONDS = 150
# The sweep runs 180 seconds ahead, of which a tick uses 60: at this lag, one more minute passes before timers are late.
SWEEP_LAG_SECONDS = 60
LATENESS_SECONDS = 2
STREAM_AGE_SECONDS = 60
FAILED_PERCENT = 25
SERVER_ERRORS = 5
# Requests that are still throttled after the retries of the SDK fail their invocation, which is then repeated.
THROTTLED_REQUEST_MINUTES = 5
# Queues, streams and asynchronous calls repeat a throttled invocation for hours: a burst needs no operator.
THROTTLED_INVOCATION_MINUTES = 15


def stream_readers(functions: Mapping[str, Function]) -> dict[str, Function]:
    """The functions that read streams."""
    return {name: functions[name] for name in STREAM_READERS if name in functions}


class Alarms(Construct):
    """Each alarm notifies its topic when it starts and when it ends. Its description links to the runbook."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        topics: Topics,
        functions: Mapping[str, Function],
        api: Api,
    ) -> None:
        super().__init__(scope, construct_id)
        self.all: dict[str, cloudwatch.Alarm] = {}
        self._measured = OwnMetrics(settings.stage)
        self._runbook = settings.alerts.runbook
        self._deadlines(topics)
        self._backlog(topics, settings.alerts)
        self._clock(topics)
        self._streams(topics)
        self._failures(topics)
        if settings.long.enabled:
            self._long_lane(topics)
        self._capacity(topics)
        if not settings.is_emulated:  # which ignores the dimensions of an alarm
            self._aws_metrics(topics, functions, api)

    def _deadlines(self, topics: Topics) -> None:
        self._alarm(
            "DeadlineAtRisk",
            "An execution will probably miss its deadline.",
            metric=self._measured(Metric.DEADLINES_AT_RISK),
            above=0,
            notify=topics.notice,
        )
        self._alarm(
            "DeadlineMissed",
            "An execution has passed its deadline and is not finished.",
            metric=self._measured(Metric.DEADLINES_MISSED),
            above=0,
            notify=topics.page,
        )

    def _backlog(self, topics: Topics, alerts: Alerts) -> None:
        self._alarm(
            "BacklogDrainTime",
            f"The backlog of a short-lane queue takes more than {alerts.backlog_minutes} minutes to drain.",
            metric=self._measured(Metric.BACKLOG_DRAIN_MINUTES),
            above=alerts.backlog_minutes,
            notify=topics.page,
        )
        self._alarm(
            "BacklogSize",
            f"More than {alerts.backlog_messages:,} messages wait in a short-lane queue.",
            metric=self._measured(Metric.BACKLOG_MESSAGES),
            above=alerts.backlog_messages,
            notify=topics.page,
        )
        # Half the limit: it fires before the page does, and also when the queue is stalled and no drain rate is known.
        seconds = alerts.backlog_minutes * 30
        self._alarm(
            "OldestMessage",
            f"A message in a short-lane queue is overdue by more than {seconds} seconds and has not started.",
            metric=self._measured(Metric.OLDEST_MESSAGE_SECONDS),
            above=seconds,
            bad=2,
            of=2,
            notify=topics.notice,
        )

    def _clock(self, topics: Topics) -> None:
        self._alarm(
            "DispatchLate",
            f"1% of executions start more than {LATENESS_SECONDS} seconds after their due instant.",
            metric=self._measured(Metric.DISPATCH_LATENESS_P99),
            above=LATENESS_SECONDS,
            bad=3,
            of=5,
            notify=topics.notice,
        )
        # A single minute without a value can be a tick that came a second early or late. Two minutes are a missed tick.
        self._alarm(
            "TickMissed",
            "The monitor has missed its ticks: other alarms have no data, and other ticks may be missing too.",
            metric=self._measured(Metric.TICK_GAP_SECONDS),
            above=TICK_GAP_SECONDS,
            bad=2,
            of=3,
            missing_data=cloudwatch.TreatMissingData.BREACHING,
            notify=topics.page,
        )
        self._alarm(
            "SweepBehind",
            "The dispatcher does not keep up with the timers: executions will start late.",
            metric=self._measured(Metric.SWEEP_LAG_SECONDS),
            above=SWEEP_LAG_SECONDS,
            notify=topics.page,
        )

    def _streams(self, topics: Topics) -> None:
        self._alarm(
            "StreamBehind",
            "A function is more than a minute behind the stream that it reads.",
            metric=self._measured(Metric.STREAM_LAG_SECONDS),
            above=STREAM_AGE_SECONDS,
            bad=3,
            of=3,
            notify=topics.page,
        )

    def _failures(self, topics: Topics) -> None:
        self._alarm(
            "DeadLetters",
            "A message or record could not be processed, and waits in a dead-letter queue for an operator.",
            metric=self._measured(Metric.DEAD_LETTERS),
            above=0,
            notify=topics.page,
        )
        self._alarm(
            "WorkerFailures",
            f"More than {FAILED_PERCENT}% of the attempts in the short lane fail.",
            metric=self._measured(Metric.WORKER_FAILURE_RATE),
            above=FAILED_PERCENT,
            bad=3,
            of=5,
            notify=topics.notice,
        )
        self._alarm(
            "BrokenTaskModules",
            "A module of tasks/ cannot be imported: its tasks are unavailable.",
            metric=self._measured(Metric.BROKEN_TASK_MODULES),
            above=0,
            of=15,
            notify=topics.page,
        )

    def _long_lane(self, topics: Topics) -> None:
        self._alarm(
            "StateMachineFailures",
            "A run of the long lane's state machine failed. The reconciler resumes its execution.",
            metric=self._measured(Metric.STATE_MACHINE_FAILURES),
            above=0,
            notify=topics.notice,
        )

    def _capacity(self, topics: Topics) -> None:
        self._alarm(
            "ApiErrors",
            f"The API answers more than {SERVER_ERRORS} requests per minute with an internal error.",
            metric=self._measured(Metric.API_FAULTS),
            above=SERVER_ERRORS,
            bad=2,
            of=3,
            notify=topics.page,
        )
        self._alarm(
            "Throttled",
            f"AWS has throttled requests of a function, and their retries, for {THROTTLED_REQUEST_MINUTES} minutes.",
            metric=self._measured(Metric.THROTTLES),
            above=0,
            bad=THROTTLED_REQUEST_MINUTES,
            of=THROTTLED_REQUEST_MINUTES,
            notify=topics.notice,
        )

    def _aws_metrics(self, topics: Topics, functions: Mapping[str, Function], api: Api) -> None:
        self._alarm(
            "ApiErrors",
            f"API Gateway answers more than {SERVER_ERRORS} requests per minute with a 5xx status.",
            about="gateway",
            metric=server_errors(api.http),
            above=SERVER_ERRORS,
            bad=2,
            of=3,
            notify=topics.page,
        )
        for name, function in stream_readers(functions).items():
            self._alarm(
                "StreamBehind",
                f"The {name} function is more than a minute behind the stream that it reads.",
                about=name,
                metric=of_function(OfFunction.ITERATOR_AGE, function),
                above=STREAM_AGE_SECONDS * 1000,
                bad=3,
                of=3,
                notify=topics.page,
            )
        for name in SHARES_CONCURRENCY:
            self._alarm(
                "Throttled",
                f"Lambda has throttled the {name} function for {THROTTLED_INVOCATION_MINUTES} minutes: "
                "the account's concurrency is exhausted.",
                about=name,
                metric=of_function(OfFunction.THROTTLES, functions[name]),
                above=0,
                bad=THROTTLED_INVOCATION_MINUTES,
                of=THROTTLED_INVOCATION_MINUTES,
                notify=topics.notice,
            )

    def _alarm(
        self,
        kind: str,
        meaning: str,
        *,
        metric: cloudwatch.Metric,
        above: float,
        notify: sns.Topic,
        about: str = "",
        bad: int = 1,
        of: int = 1,
        missing_data: cloudwatch.TreatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING,
    ) -> None:
        """Alarm when `bad` out of the last `of` minutes are `above` the threshold.

        `about` distinguishes alarms of the same kind.
        """
        name = f"{kind}-{about}" if about else kind
        alarm = cloudwatch.Alarm(
            self,
            name,
            alarm_name=alarm_name(self, name),
            alarm_description=f"{meaning} {self._runbook}#{kind.lower()}",
            metric=metric,
            threshold=above,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            datapoints_to_alarm=bad,
            evaluation_periods=of,
            treat_missing_data=missing_data,
        )
        topic = actions.SnsAction(notify)
        alarm.add_alarm_action(topic)
        alarm.add_ok_action(topic)
        self.all[name] = alarm
