"""What checkov finds in the template of a stage, and why it stays. `make docs` copies the table to docs/security.md."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A check that all or some resources of one type fail."""

    check: str
    resource_type: str
    asks_for: str
    reason: str


CHECKOV = (
    Finding(
        "CKV_AWS_18",
        "AWS::S3::Bucket",
        "access logs of a bucket",
        "Only functions access the bucket, and they log each access with its execution. For an audit of the bucket, "
        "turn on CloudTrail data events.",
    ),
    Finding(
        "CKV_AWS_21",
        "AWS::S3::Bucket",
        "versions of objects",
        "The key of an object contains its execution and attempt, so no other attempt overwrites it. Only the last "
        "checkpoint of an attempt is ever read.",
    ),
    Finding(
        "CKV_AWS_27",
        "AWS::SQS::Queue",
        "a key of KMS for queues",
        "SQS encrypts each queue with its own key by default. A key of KMS costs a request per batch of messages.",
    ),
    Finding(
        "CKV_AWS_65",
        "AWS::ECS::Cluster",
        "Container Insights of a cluster",
        "It bills metrics for the cluster and for each running task. Containers report heartbeats, progress and logs "
        "to the reporter, and the monitor publishes the slots in use.",
    ),
    Finding(
        "CKV_AWS_115",
        "AWS::Lambda::Function",
        "reserved concurrency of functions",
        "Reserved concurrency is taken from the rest of the account. The queues limit the concurrency of their "
        "readers.",
    ),
    Finding(
        "CKV_AWS_116",
        "AWS::Lambda::Function",
        "a dead-letter queue of functions",
        "It would serve asynchronous invocations. Readers of queues and streams have dead-letter queues at their "
        "source, a missed tick is repeated by the next one, and events of containers have an on-failure destination.",
    ),
    Finding(
        "CKV_AWS_117",
        "AWS::Lambda::Function",
        "functions in a VPC",
        "The functions call services of AWS over TLS. A VPC would need endpoints or a NAT gateway, and would protect "
        "nothing that IAM does not.",
    ),
    Finding(
        "CKV_AWS_158",
        "AWS::Logs::LogGroup",
        "a key of KMS for logs",
        "CloudWatch encrypts logs with its own key. Access is restricted by IAM in either case.",
    ),
    Finding(
        "CKV_AWS_173",
        "AWS::Lambda::Function",
        "a key of KMS for environment variables",
        "The variables are names and limits, none is secret. Lambda encrypts them with its own key.",
    ),
)
