"""An object in S3 starts an execution, with the rule of ``docs/recipes/event-triggers.md``."""

from __future__ import annotations

import json
import uuid

from tests.e2e.punctual import Punctual
from tests.event_rule import pattern_and_target


def test_an_object_in_s3_starts_an_execution_with_its_event(punctual: Punctual) -> None:
    job = punctual.submit(schedule={"queue": True})
    pattern, target = pattern_and_target()
    transformer = target["InputTransformer"]
    template = transformer["InputTemplate"].replace("JOB_ID", job["job_id"])
    bucket, rule = f"incoming-{uuid.uuid4()}", f"import-{job['job_id']}"
    pattern["detail"]["bucket"]["name"] = [bucket]
    s3, events, sqs = punctual.aws("s3"), punctual.aws("events"), punctual.aws("sqs")
    intake = sqs.get_queue_attributes(QueueUrl=punctual.stack["queues"]["intake"], AttributeNames=["QueueArn"])
    events.put_rule(Name=rule, EventPattern=json.dumps(pattern))
    changed = {"Arn": intake["Attributes"]["QueueArn"], "InputTransformer": {**transformer, "InputTemplate": template}}
    events.put_targets(Rule=rule, Targets=[{**target, **changed}])
    s3.create_bucket(Bucket=bucket)
    notification = {"EventBridgeConfiguration": {}}
    s3.put_bucket_notification_configuration(Bucket=bucket, NotificationConfiguration=notification)
    for key in ("invoices/1.csv", "orders/1.csv"):
        s3.put_object(Bucket=bucket, Key=key, Body=b"a,b")
    [execution] = punctual.wait_for_end(job)
    event = execution["parameters"]["event"]
    assert (execution["status"], event["bucket"]["name"], event["object"]["key"]) == (
        "succeeded",
        bucket,
        "orders/1.csv",
    )
