"""The model of AWS where no other implementation can be compared: hooks, stale reads, streams, TTL, and SQS's clock."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ReadTimeoutError

from tests.simulator.aws.account import Account
from tests.simulator.aws.errors import THROTTLED, ConnectionLost, ServiceError
from tests.simulator.random_operations import PLAIN, RANGED, create_tables

START = datetime(2026, 11, 16, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def account(clock: Clock) -> Account:
    account = Account(clock)
    create_tables(account.client("dynamodb"))
    return account


def text(value: str) -> dict[str, str]:
    return {"S": value}


def row(s: str, p: str = "p", **more: Any) -> dict[str, Any]:
    return {"p": text(p), "s": text(s), **more}


def count_up(client: Any, key: str = "k") -> Any:
    """Add one to a counter, unless it is 10."""
    return client.update_item(
        TableName=PLAIN,
        Key={"id": text(key)},
        UpdateExpression="ADD #n :one",
        ConditionExpression="attribute_not_exists(#n) OR #n < :ten",
        ExpressionAttributeNames={"#n": "n"},
        ExpressionAttributeValues={":one": {"N": "1"}, ":ten": {"N": "10"}},
        ReturnValues="ALL_NEW",
    )["Attributes"]["n"]["N"]


def code(act: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as caught:
        act()
    return str(caught.value.response["Error"]["Code"])


# hooks and retries


def test_hooks_see_every_request_and_its_outcome(account: Account) -> None:
    seen: list[Any] = []
    account.hooks.before_call = lambda service, operation, _: seen.append((service, operation))
    account.hooks.after_call = lambda *call: seen.append(type(call[3]))
    client = account.client("dynamodb")
    client.put_item(TableName=PLAIN, Item={"id": text("k")})
    assert code(lambda: client.get_item(TableName="missing", Key={})) == "ResourceNotFoundException"
    assert seen == [("dynamodb", "put_item"), dict, ("dynamodb", "get_item"), ServiceError]


def test_a_process_killed_before_a_call_leaves_nothing_and_after_it_the_effect(account: Account) -> None:
    class Killed(BaseException):
        pass

    def kill(*_: Any) -> None:
        raise Killed

    client = account.client("dynamodb")
    account.hooks.before_call = kill
    with pytest.raises(Killed):
        count_up(client)
    account.hooks.before_call, account.hooks.after_call = None, kill
    with pytest.raises(Killed):
        count_up(client)
    account.hooks.after_call = None
    assert count_up(client) == "2"


def failing(times: int, fault: Exception) -> Callable[..., None]:
    remaining = [fault] * times

    def fail(*_: Any) -> None:
        if remaining:
            raise remaining.pop()

    return fail


def test_a_lost_response_is_retried_and_the_effect_takes_place_twice(account: Account) -> None:
    account.hooks.after_call = failing(1, ConnectionLost())
    assert count_up(account.client("dynamodb")) == "2"


def test_a_transaction_whose_response_was_lost_takes_effect_once(account: Account) -> None:
    client = account.client("dynamodb")
    add = {
        "TableName": PLAIN,
        "Key": {"id": text("k")},
        "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    account.hooks.after_call = failing(1, ConnectionLost())
    client.transact_write_items(TransactItems=[{"Update": add}])
    account.hooks.after_call = None
    assert client.get_item(TableName=PLAIN, Key={"id": text("k")})["Item"]["n"] == {"N": "1"}
    client.transact_write_items(TransactItems=[{"Update": add}])  # another call has another token
    assert client.get_item(TableName=PLAIN, Key={"id": text("k")})["Item"]["n"] == {"N": "2"}


@pytest.mark.parametrize(("retries", "tries"), [({"max_attempts": 3}, 4), ({"total_max_attempts": 1}, 1)])
def test_the_last_fault_is_raised_when_all_tries_failed(account: Account, retries: dict[str, int], tries: int) -> None:
    client = account.client("dynamodb", config=Config(retries=retries))
    account.hooks.before_call = failing(tries - 1, ServiceError(THROTTLED, "slow down"))
    assert count_up(client) == "1"
    account.hooks.before_call = failing(tries, ServiceError(THROTTLED, "slow down"))
    assert code(lambda: count_up(client)) == THROTTLED
    account.hooks.before_call = failing(tries, ConnectionLost())
    with pytest.raises(ReadTimeoutError):
        count_up(client)


def test_after_call_events_receive_the_parsed_error(account: Account) -> None:
    client = account.client("dynamodb")
    parsed: list[Any] = []
    client.meta.events.register("after-call", lambda parsed: parsed_codes(parsed))

    def parsed_codes(answer: Any) -> None:
        parsed.append(answer.get("Error", {}).get("Code"))

    account.hooks.before_call = failing(3, ServiceError(THROTTLED, "slow down"))
    assert code(lambda: count_up(client)) == THROTTLED
    count_up(client)
    assert parsed == [THROTTLED, None]


def test_an_unknown_operation_or_parameter_is_refused(account: Account) -> None:
    with pytest.raises(NotImplementedError, match=r"dynamodb\.describe_table"):
        account.client("dynamodb").describe_table(TableName=PLAIN)
    with pytest.raises(TypeError, match="ReturnConsumedCapacity"):
        account.client("dynamodb").get_item(TableName=PLAIN, Key={"id": text("k")}, ReturnConsumedCapacity="TOTAL")


# DynamoDB


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"UpdateExpression": "SET #n = :one REMOVE #n"}, "overlap"),
        ({"UpdateExpression": "SET #n = :one SET #m = :one"}, "only be used once"),
        ({"UpdateExpression": "SET n.x = :one"}, "nested"),
        ({"UpdateExpression": "SET status = :one"}, "reserved"),
        ({"UpdateExpression": "SET id = :one"}, "part of the key"),
        ({"UpdateExpression": "SET n = :two"}, "not defined"),
        ({"UpdateExpression": "SET n = :one", "ExpressionAttributeNames": {"#n": "n"}}, "unused"),
        ({"UpdateExpression": "REMOVE n"}, "unused"),
        ({"UpdateExpression": "SET n = :one", "ExpressionAttributeNames": {}}, "must not be empty"),
        ({"UpdateExpression": "SET n = :one", "ConditionExpression": "((n = :one))"}, "redundant parentheses"),
        ({"UpdateExpression": "SET n = :one", "ConditionExpression": "n = :one AND"}, "Syntax error"),
        ({"UpdateExpression": "SET n = :one", "ConditionExpression": "exists(n)"}, "Invalid function name"),
    ],
)
def test_a_malformed_update_is_rejected_before_its_condition_is_evaluated(
    account: Account, change: dict[str, Any], message: str
) -> None:
    request = {"TableName": PLAIN, "Key": {"id": text("k")}, "ExpressionAttributeValues": {":one": {"N": "1"}}}
    if "#" in change["UpdateExpression"]:
        request["ExpressionAttributeNames"] = {"#n": "n", "#m": "m"}
    with pytest.raises((ClientError, NotImplementedError), match=message):
        account.client("dynamodb").update_item(**request | change)


def test_bounds_in_the_wrong_order_are_rejected(account: Account) -> None:
    request = {
        "TableName": RANGED,
        "KeyConditionExpression": "p = :p AND s BETWEEN :low AND :high",
        "ExpressionAttributeValues": {":p": text("p"), ":low": text("b"), ":high": text("a")},
    }
    assert code(lambda: account.client("dynamodb").query(**request)) == "ValidationException"


@pytest.mark.parametrize("forward", [True, False])
def test_pages_of_an_index_are_in_order_and_complete(account: Account, forward: bool) -> None:
    client = account.client("dynamodb")
    for number in (3, 1, 4, 0, 2):
        client.put_item(TableName=RANGED, Item=row(f"s{number}", g=text("g"), h=text(f"h{number // 2}")))
    request = {
        "TableName": RANGED,
        "IndexName": "all",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": text("g")},
        "ScanIndexForward": forward,
        "Limit": 2,
    }
    found: list[str] = []
    while True:
        page = client.query(**request)
        found += [item["s"]["S"] for item in page["Items"]]
        if "LastEvaluatedKey" not in page:
            break
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    expected = ["s0", "s1", "s2", "s3", "s4"]
    assert found == (expected if forward else expected[::-1])


def test_a_stale_read_sees_the_table_before_the_last_writes(account: Account) -> None:
    client = account.client("dynamodb")
    client.put_item(TableName=RANGED, Item=row("a", g=text("g"), h=text("1")))
    client.put_item(TableName=RANGED, Item=row("b", g=text("g"), h=text("2")))
    client.put_item(TableName=RANGED, Item=row("a", g=text("g"), h=text("3")))
    client.delete_item(TableName=RANGED, Key=row("b"))
    hidden = 0
    account.dynamodb.stale = lambda table, index: hidden if (table, index) in ((RANGED, "all"), (RANGED, None)) else 0

    def listed(index: str) -> list[str]:
        values = {":g": text("g")}
        request = {"KeyConditionExpression": "g = :g", "ExpressionAttributeValues": values}
        items = client.query(TableName=RANGED, IndexName=index, **request)["Items"]
        return [item["s"]["S"] + item.get("h", text(""))["S"] for item in items]

    views = []
    for hidden in range(5):  # noqa: B007 - the hook reads it
        views.append(listed("all"))
    assert views == [["a3"], ["b2", "a3"], ["a1", "b2"], ["a1"], []]
    assert listed("keys") == ["a"]
    assert "Item" not in client.get_item(TableName=RANGED, Key=row("a"))
    assert "Item" in client.get_item(TableName=RANGED, Key=row("a"), ConsistentRead=True)


def test_the_stream_has_a_record_of_each_change_and_tells_expiry_from_deletion(account: Account, clock: Clock) -> None:
    client = account.client("dynamodb")
    specification = {"AttributeName": "expires_at", "Enabled": True}
    client.update_time_to_live(TableName=RANGED, TimeToLiveSpecification=specification)
    late = {"N": str(int(START.timestamp()) + 60)}
    client.put_item(TableName=RANGED, Item=row("a", expires_at=late))
    client.put_item(TableName=RANGED, Item=row("a", expires_at=late))  # changes nothing
    client.put_item(TableName=RANGED, Item=row("b"))
    client.delete_item(TableName=RANGED, Key=row("b"))
    assert account.dynamodb.expire(clock.now) == 0
    clock.pass_time(61)
    assert account.dynamodb.expire(clock.now) == 1
    records = account.dynamodb.tables[RANGED].records()
    assert [(one["eventName"], one["dynamodb"]["Keys"]["s"]["S"]) for one in records] == [
        ("INSERT", "a"),
        ("INSERT", "b"),
        ("REMOVE", "b"),
        ("REMOVE", "a"),
    ]
    assert [one.get("userIdentity", {}).get("type") for one in records] == [None, None, None, "Service"]
    numbers = [one["dynamodb"]["SequenceNumber"] for one in records]
    assert numbers == sorted(set(numbers))
    assert records[3]["dynamodb"]["ApproximateCreationDateTime"] == int(clock.now.timestamp())
    assert account.dynamodb.tables[PLAIN].records() == []


def test_the_same_seed_gives_the_same_order(clock: Clock) -> None:
    def order(seed: int) -> list[str]:
        client = Account(clock, random.Random(seed)).client("dynamodb")
        create_tables(client)
        keys = [{"id": text(str(number))} for number in range(20)]
        client.batch_write_item(RequestItems={PLAIN: [{"PutRequest": {"Item": key}} for key in keys]})
        items = client.batch_get_item(RequestItems={PLAIN: {"Keys": keys}})["Responses"][PLAIN]
        return [item["id"]["S"] for item in items]

    assert order(1) == order(1) != order(2)


# SQS


@pytest.fixture
def sqs(account: Account) -> Any:
    client = account.client("sqs")
    client.create_queue(QueueName="dead")
    policy = {"deadLetterTargetArn": account.sqs.queues["dead"].arn, "maxReceiveCount": 2}
    client.create_queue(QueueName="work", Attributes={"VisibilityTimeout": "60", "RedrivePolicy": json.dumps(policy)})
    return client


def received(account: Account, sqs: Any, queue: str = "work") -> list[Any]:
    return list(sqs.receive_message(QueueUrl=account.sqs.queues[queue].url, MaxNumberOfMessages=10).get("Messages", ()))


def depths(account: Account, sqs: Any) -> list[int]:
    names = ["", "Delayed", "NotVisible"]
    url = account.sqs.queues["work"].url
    answer = sqs.get_queue_attributes(
        QueueUrl=url, AttributeNames=[f"ApproximateNumberOfMessages{one}" for one in names]
    )
    return [int(number) for number in answer["Attributes"].values()]


def test_a_message_is_delayed_then_visible_then_in_flight(account: Account, sqs: Any, clock: Clock) -> None:
    sqs.send_message(QueueUrl=account.sqs.queues["work"].url, MessageBody="hello", DelaySeconds=5)
    assert depths(account, sqs) == [0, 1, 0]
    clock.pass_time(4.9)
    assert received(account, sqs) == []
    clock.pass_time(0.1)
    assert depths(account, sqs) == [1, 0, 0]
    [message] = received(account, sqs)
    assert (message["Body"], message["Attributes"]["ApproximateReceiveCount"]) == ("hello", "1")
    assert depths(account, sqs) == [0, 0, 1]
    sqs.delete_message(QueueUrl=account.sqs.queues["work"].url, ReceiptHandle=message["ReceiptHandle"])
    assert depths(account, sqs) == [0, 0, 0]


def test_a_message_returns_after_its_timeout_and_goes_to_the_dead_letters(
    account: Account, sqs: Any, clock: Clock
) -> None:
    url = account.sqs.queues["work"].url
    sqs.send_message(QueueUrl=url, MessageBody="poison")
    [first] = received(account, sqs)
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=first["ReceiptHandle"], VisibilityTimeout=10)
    clock.pass_time(10)
    [second] = received(account, sqs)
    sqs.delete_message(QueueUrl=url, ReceiptHandle=first["ReceiptHandle"])  # superseded: no effect
    clock.pass_time(60)
    stale = {"QueueUrl": url, "ReceiptHandle": second["ReceiptHandle"], "VisibilityTimeout": 5}
    assert code(lambda: sqs.change_message_visibility(**stale)).endswith("MessageNotInflight")
    assert received(account, sqs) == []
    assert [message["Body"] for message in received(account, sqs, "dead")] == ["poison"]


def test_an_invalid_entry_of_a_batch_fails_alone(account: Account, sqs: Any) -> None:
    entries = [{"Id": "0", "MessageBody": "a"}, {"Id": "1", "MessageBody": "b", "DelaySeconds": 901}]
    answer = sqs.send_message_batch(QueueUrl=account.sqs.queues["work"].url, Entries=entries)
    assert [one["Id"] for one in answer["Successful"]] == ["0"]
    assert [(one["Id"], one["SenderFault"]) for one in answer["Failed"]] == [("1", True)]
    assert code(lambda: sqs.send_message(QueueUrl="https://sqs/none", MessageBody="a")).endswith("NonExistentQueue")


# Step Functions, the scheduler, ECS


def test_a_run_starts_once_per_name_and_its_tokens_end_with_it(account: Account, clock: Clock) -> None:
    states = account.client("stepfunctions")
    start = {"stateMachineArn": "arn:machine", "name": "one", "input": "{}"}
    arn = states.start_execution(**start)["executionArn"]
    assert states.start_execution(**start)["executionArn"] == arn
    assert code(lambda: states.start_execution(**start | {"input": "[]"})) == "ExecutionAlreadyExists"
    granted, waiting = account.states.issue_token(arn), account.states.issue_token(arn)
    clock.pass_time(5)
    states.send_task_heartbeat(taskToken=waiting.token)
    states.send_task_success(taskToken=granted.token, output='{"a": 1}')
    assert (granted.succeeded, granted.output, waiting.heartbeat_at) == (True, '{"a": 1}', clock.now)
    assert code(lambda: states.send_task_failure(taskToken=granted.token)) == "TaskTimedOut"
    states.stop_execution(executionArn=arn)
    assert code(lambda: states.send_task_heartbeat(taskToken=waiting.token)) == "TaskTimedOut"
    assert code(lambda: states.send_task_heartbeat(taskToken="unknown")) == "InvalidToken"
    assert code(lambda: states.start_execution(**start)) == "ExecutionAlreadyExists"
    [page] = states.get_paginator("list_executions").paginate(stateMachineArn="arn:machine", statusFilter="ABORTED")
    assert [(one["executionArn"], one["stopDate"]) for one in page["executions"]] == [(arn, clock.now)]
    assert states.describe_execution(executionArn=arn)["status"] == "ABORTED"


def test_a_schedule_is_due_until_it_is_completed_or_replaced(account: Account, clock: Clock) -> None:
    scheduler = account.client("scheduler")
    schedule = {
        "Name": "one",
        "GroupName": "long",
        "ScheduleExpression": "at(2026-11-16T12:01:00)",
        "ScheduleExpressionTimezone": "UTC",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "ActionAfterCompletion": "DELETE",
        "Target": {"Arn": "arn:machine", "RoleArn": "arn:role", "Input": "{}"},
    }
    scheduler.create_schedule(**schedule)
    assert code(lambda: scheduler.create_schedule(**schedule)) == "ConflictException"
    assert account.scheduler.due(clock.now) == []
    clock.pass_time(60)
    [due] = account.scheduler.due(clock.now)
    scheduler.update_schedule(**schedule | {"ScheduleExpression": "at(2026-11-16T13:00:00)"})
    account.scheduler.complete(due)
    assert [one["Name"] for one in scheduler.list_schedules(GroupName="long")["Schedules"]] == ["one"]
    scheduler.delete_schedule(Name="one", GroupName="long")
    gone = {"Name": "one", "GroupName": "long"}
    assert code(lambda: scheduler.delete_schedule(**gone)) == "ResourceNotFoundException"


def test_a_container_stops_when_the_simulator_stops_it(account: Account) -> None:
    ecs = account.client("ecs")
    [task] = ecs.run_task(cluster="long", taskDefinition="runner")["tasks"]
    ecs.stop_task(cluster="long", task=task["taskArn"], reason="cancelled")
    running = account.ecs.tasks[task["taskArn"]]
    assert running.is_stop_requested
    running.stop("cancelled", "UserInitiated", exit_code=143)
    answer = ecs.describe_tasks(cluster="long", tasks=[task["taskArn"], "arn:missing"])
    assert [one["lastStatus"] for one in answer["tasks"]] == ["STOPPED"]
    assert [one["arn"] for one in answer["failures"]] == ["arn:missing"]
    unknown = {"cluster": "long", "task": "arn:missing", "reason": ""}
    assert code(lambda: ecs.stop_task(**unknown)) == "InvalidParameterException"


def test_the_other_services_keep_what_they_receive(account: Account) -> None:
    s3 = account.client("s3")
    s3.put_object(Bucket="results", Key="a.json", Body=b"{}", ContentType="application/json")
    assert s3.get_object(Bucket="results", Key="a.json")["Body"].read() == b"{}"
    assert code(lambda: s3.get_object(Bucket="results", Key="b.json")) == "NoSuchKey"
    account.client("sns").publish(TopicArn="arn:topic", Message="hello")
    assert [one["Message"] for one in account.sns.published] == ["hello"]
    account.client("cloudwatch").put_metric_data(Namespace="Punctual", MetricData=[{"MetricName": "Lag", "Value": 1}])
    assert account.cloudwatch.data == [("Punctual", {"MetricName": "Lag", "Value": 1})]
    account.functions.functions["reporter"] = lambda event: {"ok": event["do"]}
    answer = account.client("lambda").invoke(FunctionName="reporter", Payload=b'{"do": "beat"}')
    assert json.loads(answer["Payload"].read()) == {"ok": "beat"}
    assert "FunctionError" in account.client("lambda").invoke(FunctionName="reporter", Payload=b"{}")
