"""metrics ─▶ alarms ─▶ topics: what is told without anybody looking. docs/operations.md has a section for each.

No composite alarm and no metric math: the emulator knows neither, and each of these says one thing. Each kind
watches a metric that Punctual publishes itself, so that it also goes off on the emulator. Three kinds watch what AWS
counts as well: a function that cannot even start says nothing of itself.
"""

from collections.abc import Mapping

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk.components.api import Api
from cdk.components.function import Function
from cdk.components.topics import Topics
from cdk.metrics import OfFunction, Published, measured, of_function, server_errors
from cdk.names import alarm_name
from cdk.settings import Alerts, Settings

STREAM_READERS = ("planner", "settler", "admission")

# Two minutes without a tick, and the seconds by which a minute may be longer.
TICK_GAP_SECONDS = 150
# The sweep is 180 seconds ahead, of which a tick uses up 60: a minute is left in which nothing is late.
SWEEP_LAG_SECONDS = 60
LATENESS_SECONDS = 2
STREAM_AGE_SECONDS = 60
FAILED_PERCENT = 25
SERVER_ERRORS = 5


class Alarms(Construct):
    """Each tells its topic when it begins and when it is over, and links to what to do about it."""

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
        self._runbook = settings.alerts.runbook
        self._deadlines(topics)
        self._backlog(topics, settings.alerts)
        self._clock(topics)
        self._streams(topics, functions)
        self._failures(topics)
        self._capacity(topics, functions, api)

    def _deadlines(self, topics: Topics) -> None:
        self._alarm(
            "DeadlineAtRisk",
            "An execution will probably not be finished by its deadline.",
            metric=measured(Published.DEADLINES_AT_RISK),
            above=0,
            tell=topics.notice,
        )
        self._alarm(
            "DeadlineMissed",
            "An execution is past its deadline and not finished.",
            metric=measured(Published.DEADLINES_MISSED),
            above=0,
            tell=topics.page,
        )

    def _backlog(self, topics: Topics, alerts: Alerts) -> None:
        self._alarm(
            "BacklogDrainTime",
            f"What waits in a short queue takes more than {alerts.backlog_minutes} minutes to work off.",
            metric=measured(Published.BACKLOG_DRAIN_MINUTES),
            above=alerts.backlog_minutes,
            tell=topics.page,
        )
        self._alarm(
            "BacklogSize",
            f"More than {alerts.backlog_messages:,} messages wait in a short queue.",
            metric=measured(Published.BACKLOG_MESSAGES),
            above=alerts.backlog_messages,
            tell=topics.page,
        )
        # Half the limit: it speaks before the page, and also when nothing moves and no rate is known.
        seconds = alerts.backlog_minutes * 30
        self._alarm(
            "OldestMessage",
            f"A message of a short queue has been due for more than {seconds} seconds and was not started.",
            metric=measured(Published.OLDEST_MESSAGE_SECONDS),
            above=seconds,
            bad=2,
            of=2,
            tell=topics.notice,
        )

    def _clock(self, topics: Topics) -> None:
        self._alarm(
            "DispatchLate",
            f"One in a hundred executions starts more than {LATENESS_SECONDS} seconds after it was due.",
            metric=measured(Published.DISPATCH_LATENESS_P99),
            above=LATENESS_SECONDS,
            bad=3,
            of=5,
            tell=topics.notice,
        )
        # One minute without a value is a tick that came a second early or late. After two there was none.
        self._alarm(
            "TickMissed",
            "The monitor has not been woken for minutes: other alarms are blind, and other ticks may be missing too.",
            metric=measured(Published.TICK_GAP_SECONDS),
            above=TICK_GAP_SECONDS,
            bad=2,
            of=3,
            silence=cloudwatch.TreatMissingData.BREACHING,
            tell=topics.page,
        )
        self._alarm(
            "SweepBehind",
            "The dispatcher does not keep up with the timers: executions are about to be late.",
            metric=measured(Published.SWEEP_LAG_SECONDS),
            above=SWEEP_LAG_SECONDS,
            tell=topics.page,
        )

    def _streams(self, topics: Topics, functions: Mapping[str, Function]) -> None:
        self._alarm(
            "StreamBehind",
            "A function is more than a minute behind the changes that it acts on.",
            metric=measured(Published.STREAM_LAG_SECONDS),
            above=STREAM_AGE_SECONDS,
            bad=3,
            of=3,
            tell=topics.page,
        )
        for name in STREAM_READERS:
            self._alarm(
                "StreamBehind",
                f"The {name} function is more than a minute behind the changes that it acts on.",
                about=name,
                metric=of_function(OfFunction.ITERATOR_AGE, functions[name]),
                above=STREAM_AGE_SECONDS * 1000,
                bad=3,
                of=3,
                tell=topics.page,
            )

    def _failures(self, topics: Topics) -> None:
        self._alarm(
            "DeadLetters",
            "Something could not be processed, and waits in a dead-letter queue for a person.",
            metric=measured(Published.DEAD_LETTERS),
            above=0,
            tell=topics.page,
        )
        self._alarm(
            "WorkerFailures",
            f"More than {FAILED_PERCENT}% of the attempts in the short lane do not succeed.",
            metric=measured(Published.WORKER_FAILURE_RATE),
            above=FAILED_PERCENT,
            bad=3,
            of=5,
            tell=topics.notice,
        )
        self._alarm(
            "StateMachineFailures",
            "A run of the long lane's state machine broke; its execution goes on when the reconciler finds it.",
            metric=measured(Published.STATE_MACHINE_FAILURES),
            above=0,
            tell=topics.notice,
        )

    def _capacity(self, topics: Topics, functions: Mapping[str, Function], api: Api) -> None:
        self._alarm(
            "ApiErrors",
            f"The API answers more than {SERVER_ERRORS} requests a minute with an error of its own.",
            metric=measured(Published.API_FAULTS),
            above=SERVER_ERRORS,
            bad=2,
            of=3,
            tell=topics.page,
        )
        self._alarm(
            "ApiErrors",
            f"The gateway answers more than {SERVER_ERRORS} requests a minute with a status of 500 or above.",
            about="gateway",
            metric=server_errors(api.http),
            above=SERVER_ERRORS,
            bad=2,
            of=3,
            tell=topics.page,
        )
        self._alarm(
            "Throttled",
            "AWS refuses calls of a function, because there are too many.",
            metric=measured(Published.THROTTLES),
            above=0,
            bad=3,
            of=5,
            tell=topics.notice,
        )
        for name, function in functions.items():
            self._alarm(
                "Throttled",
                f"Lambda refuses to start the {name} function: the account's concurrency is used up.",
                about=name,
                metric=of_function(OfFunction.THROTTLES, function),
                above=0,
                bad=3,
                of=5,
                tell=topics.notice,
            )

    def _alarm(
        self,
        kind: str,
        meaning: str,
        *,
        metric: cloudwatch.Metric,
        above: float,
        tell: sns.Topic,
        about: str = "",
        bad: int = 1,
        of: int = 1,
        silence: cloudwatch.TreatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING,
    ) -> None:
        """When `bad` out of the last `of` minutes were `above`. `about` tells those of one kind apart."""
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
            treat_missing_data=silence,
        )
        topic = actions.SnsAction(tell)
        alarm.add_alarm_action(topic)
        alarm.add_ok_action(topic)
        self.all[name] = alarm
