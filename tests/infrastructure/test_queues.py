"""The queues and their readers."""

import pytest

from tests.infrastructure.deployed import DEAD_LETTER_READERS, QUEUES, Deployed, readable

READERS = {
    **{"high": "worker", "normal": "worker", "low": "worker", "intake": "intake"},
    **{"checks": "monitor", "notices": "notifier", "bulk": "bulk"},
}


@pytest.mark.parametrize("name", QUEUES)
def test_a_message_goes_to_the_queues_own_dead_letter_queue_after_100_receives(prod: Deployed, name: str) -> None:
    """So many receives outlast hours of failures."""
    redrive = prod.one("AWS::SQS::Queue", f"Queues{name.title()}")["RedrivePolicy"]
    assert readable(redrive["deadLetterTargetArn"]) == f"Queues{name.title()}DeadLetters.Arn"
    assert redrive["maxReceiveCount"] == 100


@pytest.mark.parametrize("name", DEAD_LETTER_READERS)
def test_a_dead_letter_is_kept_for_two_weeks(prod: Deployed, name: str) -> None:
    queue = prod.one("AWS::SQS::Queue", f"Queues{name.title()}DeadLetters")
    assert queue["MessageRetentionPeriod"] == 14 * 24 * 3600


@pytest.mark.parametrize("name", QUEUES)
def test_the_visibility_timeout_exceeds_the_time_out_of_the_reader(prod: Deployed, name: str) -> None:
    hidden = prod.one("AWS::SQS::Queue", f"Queues{name.title()}")["VisibilityTimeout"]
    assert hidden > prod.function(READERS[name])["Timeout"]


def test_a_message_of_a_dead_worker_becomes_visible_within_16_minutes(prod: Deployed) -> None:
    for name in ("high", "normal", "low"):
        hidden = prod.one("AWS::SQS::Queue", f"Queues{name.title()}")["VisibilityTimeout"]
        assert hidden <= prod.function("worker")["Timeout"] + 60


def test_every_queue_is_encrypted(prod: Deployed) -> None:
    for name, queue in prod.all("AWS::SQS::Queue").items():
        assert queue["SqsManagedSseEnabled"] is True, name


def test_every_queue_refuses_plain_http(prod: Deployed) -> None:
    protected = set()
    for policy in prod.all("AWS::SQS::QueuePolicy").values():
        for statement in policy["PolicyDocument"]["Statement"]:
            if statement["Effect"] == "Deny" and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}:
                protected |= {readable(queue) for queue in policy["Queues"]}
    assert protected == set(prod.all("AWS::SQS::Queue"))


@pytest.mark.parametrize(
    ("name", "batch", "concurrency"),
    [
        ("high", 1, 200),
        ("normal", 1, 100),
        ("low", 1, 20),
        ("intake", 10, 20),
        ("checks", 10, 5),
        ("notices", 10, 5),
        ("bulk", 1, 2),
    ],
)
def test_each_queue_has_its_own_batch_size_and_concurrency(
    prod: Deployed, name: str, batch: int, concurrency: int
) -> None:
    source = prod.sources(READERS[name])[f"Queues{name.title()}.Arn"]
    assert source["BatchSize"] == batch
    assert source["ScalingConfig"] == {"MaximumConcurrency": concurrency}


@pytest.mark.parametrize("name", QUEUES)
def test_a_failed_message_does_not_redeliver_its_batch(prod: Deployed, name: str) -> None:
    source = prod.sources(READERS[name])[f"Queues{name.title()}.Arn"]
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


@pytest.mark.parametrize("name", ["checks", "notices"])
def test_a_check_or_a_notice_of_a_dead_reader_becomes_visible_within_3_minutes(prod: Deployed, name: str) -> None:
    assert prod.one("AWS::SQS::Queue", f"Queues{name.title()}")["VisibilityTimeout"] == 180


def test_each_queue_has_one_reader(prod: Deployed) -> None:
    assert set(prod.sources("worker")) == {"QueuesHigh.Arn", "QueuesNormal.Arn", "QueuesLow.Arn"}
    assert set(prod.sources("intake")) == {"QueuesIntake.Arn"}
    assert set(prod.sources("monitor")) == {"QueuesChecks.Arn"}
    assert set(prod.sources("notifier")) == {"QueuesNotices.Arn"}


def test_only_eventbridge_rules_of_this_account_may_send_to_a_queue(prod: Deployed) -> None:
    allowed = {
        readable(queue): statement
        for policy in prod.all("AWS::SQS::QueuePolicy").values()
        for queue in policy["Queues"]
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    }
    assert set(allowed) == {"QueuesIntake", "QueuesObserverDeadLetters"}
    (own_rule,) = allowed["QueuesObserverDeadLetters"]["Condition"].values()
    assert readable(own_rule["aws:SourceArn"]) == "ObserverTaskChanges.Arn"
    statement = allowed["QueuesIntake"]
    assert (statement["Principal"], statement["Action"]) == ({"Service": "events.amazonaws.com"}, "sqs:SendMessage")
    assert readable(statement["Resource"]) == "QueuesIntake.Arn"
    assert readable(statement["Condition"]["StringEquals"]["aws:SourceAccount"]) == "AWS::AccountId"
    rules = readable(statement["Condition"]["ArnLike"]["aws:SourceArn"])
    assert rules == "arn:AWS::Partition:events:*:AWS::AccountId:rule/*"
