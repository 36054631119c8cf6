"""The eleven DynamoDB tables. docs/data-model.md explains keys and indexes."""

from typing import Any

from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from cdk.components.function import Function
from cdk.components.table import Table
from cdk.settings import Settings

# Indexes of the jobs table.
BY_LISTING_INDEX = "by_listing"
BY_NAME_INDEX = "by_name"
QUEUE_JOBS_INDEX = "queue_jobs"
# Indexes of the executions table.
BY_OWNER_INDEX = "by_owner"
RUNNING_INDEX = "running"
LONG_INDEX = "long"
CHECKS_INDEX = "checks"
DEADLINES_INDEX = "deadlines"
UNSTARTED_INDEX = "unstarted"
# Indexes of the parts table.
WAITING_INDEX = "waiting"
HOLDING_INDEX = "holding"


def _text(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)


def _index(name: str, key: str, sort: str, projection: dynamodb.ProjectionType) -> dynamodb.GlobalSecondaryIndexPropsV2:
    return dynamodb.GlobalSecondaryIndexPropsV2(
        index_name=name, partition_key=_text(key), sort_key=_text(sort), projection_type=projection
    )


class Tables(Construct):
    """Eleven tables, on demand, with point-in-time recovery."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self._settings = settings
        self.arns: list[str] = []
        """The ARNs of all tables."""
        everything = dynamodb.ProjectionType.ALL
        # Most indexes project only keys, so a change of another attribute does not write to them.
        keys = dynamodb.ProjectionType.KEYS_ONLY
        self.jobs = self._table(
            "Jobs",
            partition_key=_text("job_id"),
            indexes=[
                # Jobs of an owner that are live, that have ended, and that were deleted.
                _index(BY_LISTING_INDEX, "listing", "job_id", keys),
                # Live jobs with a name.
                _index(BY_NAME_INDEX, "named", "name_key", keys),
                # Live queue jobs.
                _index(QUEUE_JOBS_INDEX, "queue_jobs", "job_id", keys),
            ],
            dynamo_stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
        )
        # The revisions of jobs after the first, each written with its job.
        self.revisions = self._table("Revisions", partition_key=_text("job_id"), sort_key=_text("revision"))
        self.executions = self._table(
            "Executions",
            # Index keys contain a shard number.
            variables={"TIMER_SHARDS": str(settings.timer_shards)},
            partition_key=_text("job_id"),
            sort_key=_text("execution_id"),
            indexes=[
                _index(BY_OWNER_INDEX, "owner", "execution_id", keys),
                # Executions that a worker or a container holds.
                _index(RUNNING_INDEX, "running_shard", "execution_id", keys),
                # Live executions of the long lane.
                _index(LONG_INDEX, "long_shard", "execution_id", keys),
                # Live executions with a deadline, by the time of the next check and by danger.
                _index(CHECKS_INDEX, "check_shard", "check_at", keys),
                _index(DEADLINES_INDEX, "deadline_shard", "danger", keys),
                # Messages of queue jobs that have not started.
                _index(UNSTARTED_INDEX, "unstarted_of", "execution_id", keys),
            ],
            dynamo_stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
        )
        self.parts = self._table(
            "Parts",
            partition_key=_text("execution_id"),
            sort_key=_text("part"),
            indexes=[
                # Parts that wait for a slot, in admission order, with all attributes that the decision needs.
                _index(WAITING_INDEX, "waiting", "admission_key", everything),
                # Parts that hold a slot: admission counts them.
                _index(HOLDING_INDEX, "holding", "execution_id", keys),
            ],
            dynamo_stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
        )
        # The stream serves one purpose: finding timers that TTL removed before they fired.
        self.timers = self._table(
            "Timers",
            partition_key=_text("bucket"),
            sort_key=_text("due"),
            dynamo_stream=dynamodb.StreamViewType.OLD_IMAGE,
        )
        # Holders and waiters of concurrency limits.
        self.gates = self._table("Gates", partition_key=_text("gate"), sort_key=_text("entry"))
        # Counters, samples and the ledger of notices: losing this table loses no execution.
        self.signals = self._table("Signals", partition_key=_text("id"))
        # The log lines of executions, each under the partition key of its execution.
        self.logs = self._table("Logs", partition_key=_text("execution_id"), sort_key=_text("entry"))
        # Counters of ended executions, which outlive the executions.
        self.statistics = self._table("Statistics", partition_key=_text("series"), sort_key=_text("bucket"))
        # Bulk operations, the ids of their items, and their problems.
        self.operations = self._table("Operations", partition_key=_text("operation"), sort_key=_text("entry"))
        self.idempotency = self._table("Idempotency", partition_key=_text("id"))

    def grant_gates(self, function: Function) -> None:
        """Allow acquiring, releasing and granting places at gates, in transactions with executions."""
        self.gates.grant(function, "GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query")
        self.executions.grant(function, "GetItem", "BatchGetItem", "UpdateItem", "ConditionCheckItem")

    def _table(
        self,
        construct_id: str,
        *,
        variables: dict[str, str] | None = None,
        indexes: list[dynamodb.GlobalSecondaryIndexPropsV2] | None = None,
        time_to_live_attribute: str = "expires_at",
        **properties: Any,
    ) -> Table:
        resource = dynamodb.TableV2(
            self,
            construct_id,
            billing=dynamodb.Billing.on_demand(),
            # DynamoDB's own key encrypts at rest without a KMS charge per request.
            encryption=dynamodb.TableEncryptionV2.dynamo_owned_key(),
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            global_secondary_indexes=indexes,
            time_to_live_attribute=time_to_live_attribute,
            deletion_protection=self._settings.deletion_protection,
            removal_policy=self._settings.removal_policy,
            **properties,
        )
        self.arns.append(resource.table_arn)
        return Table(
            resource,
            {f"{construct_id.upper()}_TABLE": resource.table_name, **(variables or {})},
            frozenset(index.index_name for index in indexes or ()),
        )
