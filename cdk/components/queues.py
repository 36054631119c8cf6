"""The queues: three short ones that are the priorities, the intake, checks, notices; dead letters for each reader."""

from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from cdk.acknowledge import acknowledge

PRIORITIES = ("high", "normal", "low")

WORKER_TIMEOUT = Duration.minutes(15)
INTAKE_TIMEOUT = Duration.seconds(30)
MONITOR_TIMEOUT = Duration.seconds(55)
NOTIFIER_TIMEOUT = Duration.seconds(30)
# A message comes back when its reader died before it could claim the execution; one that died later is
# noticed by its lease. Lambda asks for the reader's time-out at least. It advises six times that for readers
# that get throttled; here a throttled message comes back a hundred times before it is given up.
WORKER_VISIBILITY = Duration.minutes(16)
INTAKE_VISIBILITY = CHECKS_VISIBILITY = NOTICES_VISIBILITY = Duration.minutes(3)
# What nobody can read is buried by its reader at once. The rest only ever fails because AWS is in trouble:
# readers back off, and this many receives outlast hours of it.
PATIENCE = 100


@dataclass(frozen=True)
class WorkQueue:
    """A queue, and where its messages go that cannot be processed."""

    queue: sqs.Queue
    dead_letters: sqs.Queue


class Queues(Construct):
    """Each encrypted, over TLS only, and with somewhere for unreadable messages to wait for a person."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.short = {
            priority: self._work_queue(priority.title(), hidden=WORKER_VISIBILITY, receives=PATIENCE)
            for priority in PRIORITIES
        }
        self.intake = self._work_queue("Intake", hidden=INTAKE_VISIBILITY, receives=PATIENCE)
        self.checks = self._work_queue("Checks", hidden=CHECKS_VISIBILITY, receives=PATIENCE)
        self.notices = self._work_queue("Notices", hidden=NOTICES_VISIBILITY, receives=PATIENCE)
        self.planner_dead_letters = self._dead_letters("Planner")
        self.settler_dead_letters = self._dead_letters("Settler")
        self.admission_dead_letters = self._dead_letters("Admission")
        for queue in (self.planner_dead_letters, self.settler_dead_letters, self.admission_dead_letters):
            acknowledge(
                queue,
                "AwsSolutions-SQS3",
                "This is itself a dead-letter queue: of a stream, which names it in its event source.",
            )

    @property
    def work(self) -> dict[str, WorkQueue]:
        """The queues of what people asked for: these can have a backlog."""
        return {**self.short, "intake": self.intake}

    @property
    def all_work(self) -> dict[str, WorkQueue]:
        """Every queue that is not itself of dead letters, by its name."""
        return {**self.work, "checks": self.checks, "notices": self.notices}

    @property
    def dead_letters(self) -> dict[str, sqs.Queue]:
        """Every queue of dead letters: by the queue that they come from, or the reader of a stream."""
        return {
            **{name: pair.dead_letters for name, pair in self.all_work.items()},
            "planner": self.planner_dead_letters,
            "settler": self.settler_dead_letters,
            "admission": self.admission_dead_letters,
        }

    @property
    def short_urls(self) -> dict[str, str]:
        """The three short queues, as the functions that send to them expect in their environment."""
        return {f"{name.upper()}_QUEUE_URL": pair.queue.queue_url for name, pair in self.short.items()}

    @property
    def short_arns(self) -> list[str]:
        return [pair.queue.queue_arn for pair in self.short.values()]

    def _work_queue(self, name: str, *, hidden: Duration, receives: int) -> WorkQueue:
        dead_letters = self._dead_letters(name)
        queue = sqs.Queue(
            self,
            name,
            visibility_timeout=hidden,
            retention_period=Duration.days(14),
            dead_letter_queue=sqs.DeadLetterQueue(queue=dead_letters, max_receive_count=receives),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
        )
        return WorkQueue(queue, dead_letters)

    def _dead_letters(self, name: str) -> sqs.Queue:
        return sqs.Queue(
            self,
            f"{name}DeadLetters",
            retention_period=Duration.days(14),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
        )
