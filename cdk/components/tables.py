"""The seven tables. Keys and indexes are explained in docs/data-model.md."""

from typing import Any

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from cdk.settings import Settings

BY_OWNER = "by_owner"
RUNNING = "running"
LONG = "long"
CHECKS = "checks"
DEADLINES = "deadlines"
WAITING = "waiting"
HOLDING = "holding"

GATES = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:Query")
"""What passing through gates takes."""


def _text(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)


def _index(name: str, key: str, sort: str, projection: dynamodb.ProjectionType) -> dynamodb.GlobalSecondaryIndexPropsV2:
    return dynamodb.GlobalSecondaryIndexPropsV2(
        index_name=name, partition_key=_text(key), sort_key=_text(sort), projection_type=projection
    )


class Tables(Construct):
    """Jobs, executions, parts, timers, gates, signals, idempotency records: on demand, with point-in-time recovery."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self._settings = settings
        everything = dynamodb.ProjectionType.ALL
        keys = dynamodb.ProjectionType.KEYS_ONLY
        self.jobs = self._table(
            "Jobs",
            partition_key=_text("job_id"),
            global_secondary_indexes=[_index(BY_OWNER, "owner", "job_id", everything)],
            dynamo_stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
            time_to_live_attribute="expires_at",
        )
        # The indexes project only keys, so a change of status does not write them again.
        self.executions = self._table(
            "Executions",
            partition_key=_text("job_id"),
            sort_key=_text("execution_id"),
            global_secondary_indexes=[
                _index(BY_OWNER, "owner", "execution_id", keys),
                _index(RUNNING, "running_shard", "execution_id", keys),
                _index(LONG, "long_shard", "execution_id", keys),
                # Only those with a deadline: by when to look again, and by how much danger they are in.
                _index(CHECKS, "check_shard", "check_at", keys),
                _index(DEADLINES, "deadline_shard", "danger", keys),
            ],
            dynamo_stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
            time_to_live_attribute="expires_at",
        )
        # What waits is read in the order of its turn, with all that a decision needs; what holds a slot is counted.
        self.parts = self._table(
            "Parts",
            partition_key=_text("execution_id"),
            sort_key=_text("part"),
            global_secondary_indexes=[
                _index(WAITING, "waiting", "turn", everything),
                _index(HOLDING, "holding", "execution_id", keys),
            ],
            dynamo_stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
            time_to_live_attribute="expires_at",
        )
        # Its stream is read for one thing: timers that TTL removed before they fired.
        self.timers = self._table(
            "Timers",
            partition_key=_text("slot"),
            sort_key=_text("due"),
            dynamo_stream=dynamodb.StreamViewType.OLD_IMAGE,
            time_to_live_attribute="expires_at",
        )
        # Who runs under a rule that lets only so many run at once, and who waits for whom.
        self.gates = self._table(
            "Gates", partition_key=_text("gate"), sort_key=_text("entry"), time_to_live_attribute="expires_at"
        )
        # What is counted, sampled and told: losing it loses no execution.
        self.signals = self._table("Signals", partition_key=_text("id"), time_to_live_attribute="expires_at")
        # The names that Powertools' idempotency layer expects.
        self.idempotency = self._table("Idempotency", partition_key=_text("id"), time_to_live_attribute="expiration")

    @property
    def jobs_and_indexes(self) -> list[str]:
        """The ARNs that a query of jobs may name."""
        return [self.jobs.table_arn, f"{self.jobs.table_arn}/index/{BY_OWNER}"]

    @property
    def executions_and_indexes(self) -> list[str]:
        """The ARNs that a query of executions by a person may name."""
        arn = self.executions.table_arn
        return [arn, f"{arn}/index/{BY_OWNER}", self.running_executions, self.endangered_executions]

    @property
    def running_executions(self) -> str:
        """The ARN of the index of executions that a worker or a container holds."""
        return f"{self.executions.table_arn}/index/{RUNNING}"

    @property
    def due_checks(self) -> str:
        """The ARN of the index of live executions with a deadline, by when they are looked at again."""
        return f"{self.executions.table_arn}/index/{CHECKS}"

    @property
    def endangered_executions(self) -> str:
        """The ARN of the index of live executions with a deadline, by the danger that they are in."""
        return f"{self.executions.table_arn}/index/{DEADLINES}"

    @property
    def long_executions(self) -> str:
        """The ARN of the index of the long lane's live executions."""
        return f"{self.executions.table_arn}/index/{LONG}"

    @property
    def waiting_parts(self) -> str:
        """The ARN of the index of parts that ask for a slot."""
        return f"{self.parts.table_arn}/index/{WAITING}"

    @property
    def held_slots(self) -> str:
        """The ARN of the index of parts that have one."""
        return f"{self.parts.table_arn}/index/{HOLDING}"

    def _table(self, construct_id: str, **properties: Any) -> dynamodb.TableV2:
        keep = self._settings.keep_data
        return dynamodb.TableV2(
            self,
            construct_id,
            billing=dynamodb.Billing.on_demand(),
            # DynamoDB's own key: encrypted at rest without paying KMS for each request.
            encryption=dynamodb.TableEncryptionV2.dynamo_owned_key(),
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=keep,
            removal_policy=RemovalPolicy.RETAIN if keep else RemovalPolicy.DESTROY,
            **properties,
        )
