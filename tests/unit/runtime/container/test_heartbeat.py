"""The heartbeat of a container, observed by the calls that reach the reporter."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from punctual.domain.executions.progress import Progress
from punctual.runtime.container.heartbeat import Heartbeat, TaskInterrupted, interrupt_on_sigterm, record_sigterm
from punctual.runtime.tasks.time_limit import TimeLimitReached, time_limit
from tests.unit.reporters import Lambda, accepted, reporter


@pytest.fixture(autouse=True)
def _new_container() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    record_sigterm()
    yield
    signal.signal(signal.SIGTERM, before)


def heartbeat_of(client: Lambda, interval: float = 0.02) -> Heartbeat:
    return Heartbeat(reporter(client), interval, lambda _: None)


def wait_until(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_heartbeats_carry_progress_only_when_it_has_changed() -> None:
    client = Lambda(accepted)
    with heartbeat_of(client) as heartbeat:
        heartbeat.report(Progress(percent=40, message="on it"))
        wait_until(lambda: len(client.of("heartbeat")) >= 3)
    sent = [beat["progress"] for beat in client.of("heartbeat")]
    assert [progress["percent"] for progress in sent if progress] == [40]
    assert client.requests[0]["assignment"]["key"] == "k"


def test_of_many_checkpoints_the_first_and_the_last_are_sent() -> None:
    client = Lambda(accepted)
    with heartbeat_of(client, interval=0.2) as heartbeat:
        for number in range(100):
            heartbeat.checkpoint({"number": number})
        wait_until(lambda: len(client.of("checkpoint")) == 2)
    assert [request["state"]["number"] for request in client.of("checkpoint")] == [0, 99]


def test_a_checkpoint_is_a_snapshot_of_the_state() -> None:
    client = Lambda(accepted)
    with heartbeat_of(client, interval=0.1) as heartbeat:
        state = {"done": [1]}
        heartbeat.checkpoint({})
        heartbeat.checkpoint(state)
        state["done"].append(2)
        wait_until(lambda: len(client.of("checkpoint")) == 2)
    assert client.of("checkpoint")[1]["state"] == {"done": [1]}


def test_a_request_to_leave_interrupts_at_the_next_checkpoint_which_is_sent() -> None:
    reason = "execution e2 needs its slot to be in time"
    client = Lambda(lambda request: {"ok": True, "preempt_reason": reason if request["do"] == "heartbeat" else None})
    with heartbeat_of(client) as heartbeat:
        wait_until(lambda: heartbeat.is_preempted)
        with pytest.raises(TaskInterrupted):
            heartbeat.checkpoint({"last": True})
    heartbeat.flush_checkpoint()
    assert client.of("checkpoint")[-1]["state"] == {"last": True}


def test_a_superseded_attempt_is_interrupted_at_its_next_checkpoint_and_sends_nothing() -> None:
    client = Lambda(lambda _: {"ok": False, "preempt_reason": None})
    with heartbeat_of(client) as heartbeat:
        wait_until(lambda: heartbeat.superseded)
        with pytest.raises(TaskInterrupted):
            heartbeat.checkpoint({"late": True})
    heartbeat.flush_checkpoint()
    assert client.of("checkpoint") == []


def test_progress_is_repeated_until_the_reporter_accepts_it() -> None:
    failures = iter([RuntimeError("throttled")] * 3)
    client = Lambda(lambda request: next(failures, None) or accepted(request))
    with heartbeat_of(client) as heartbeat:
        heartbeat.report(Progress(percent=10))
        wait_until(lambda: len(client.of("heartbeat")) >= 5)
        assert not heartbeat.superseded
    assert [beat["progress"]["percent"] for beat in client.of("heartbeat") if beat["progress"]] == [10, 10, 10, 10]


@pytest.mark.parametrize("state", [{"a": {1, 2}}, {"a": float("nan")}])
def test_a_checkpoint_that_is_not_json_raises_in_the_task(state: Any) -> None:
    with heartbeat_of(Lambda(accepted)) as heartbeat, pytest.raises((TypeError, ValueError)):
        heartbeat.checkpoint(state)


def test_a_checkpoint_that_is_too_large_raises_with_the_remedy() -> None:
    with heartbeat_of(Lambda(accepted)) as heartbeat, pytest.raises(ValueError, match="checkpoint its location"):
        heartbeat.checkpoint("x" * 4_000_001)


def test_sigterm_interrupts_at_the_next_checkpoint() -> None:
    client = Lambda(accepted)
    with heartbeat_of(client, interval=60) as heartbeat, time_limit(60), interrupt_on_sigterm(heartbeat, 60):
        os.kill(os.getpid(), signal.SIGTERM)
        wait_until(lambda: heartbeat.is_preempted)  # it asked for the reason at once, without waiting for the interval
        with pytest.raises(TaskInterrupted):
            heartbeat.checkpoint({"last": 1})


def test_sigterm_means_leave_also_when_the_reporter_is_unreachable() -> None:
    client = Lambda(lambda _: RuntimeError("down"))
    with heartbeat_of(client, interval=60) as heartbeat, time_limit(60), interrupt_on_sigterm(heartbeat, 60):
        os.kill(os.getpid(), signal.SIGTERM)
        wait_until(lambda: heartbeat.is_preempted)


def stop_in(seconds: float) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda _request: {"ok": True, "preempt_reason": None, "stop_in": seconds}


def test_a_cancelled_task_may_finish_by_itself() -> None:
    with (
        heartbeat_of(Lambda(stop_in(30)), interval=60) as heartbeat,
        time_limit(60),
        interrupt_on_sigterm(heartbeat, 60),
    ):
        assert not heartbeat.should_stop
        os.kill(os.getpid(), signal.SIGTERM)
        wait_until(lambda: heartbeat.should_stop)
        heartbeat.checkpoint({"tidied": "up"})


@pytest.mark.parametrize("signalled", [True, False])
def test_a_cancelled_task_is_interrupted_when_its_time_is_over(*, signalled: bool) -> None:
    def linger(heartbeat: Heartbeat) -> None:
        with time_limit(60), interrupt_on_sigterm(heartbeat, 60):
            if signalled:
                os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(100)

    began = time.monotonic()
    with heartbeat_of(Lambda(stop_in(0.2))) as heartbeat, pytest.raises(TaskInterrupted):
        linger(heartbeat)
    assert 0.2 <= time.monotonic() - began < 60


def test_a_cancellation_before_the_task_starts_is_applied_when_it_starts() -> None:
    began = time.monotonic()
    with heartbeat_of(Lambda(stop_in(0.2))) as heartbeat:
        wait_until(lambda: heartbeat.should_stop)
        with pytest.raises(TaskInterrupted), time_limit(60), interrupt_on_sigterm(heartbeat, 60):
            time.sleep(100)
    assert time.monotonic() - began < 60


def test_the_time_limit_applies_without_any_request_to_stop() -> None:
    def linger(heartbeat: Heartbeat) -> None:
        with time_limit(0.05), interrupt_on_sigterm(heartbeat, 60):
            time.sleep(100)

    with heartbeat_of(Lambda(accepted)) as heartbeat, pytest.raises(TimeLimitReached):
        linger(heartbeat)


def test_sigterm_before_the_task_starts_is_applied_when_it_starts() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    with heartbeat_of(Lambda(accepted)) as heartbeat, time_limit(60), interrupt_on_sigterm(heartbeat, 60):
        wait_until(lambda: heartbeat.is_preempted)
        with pytest.raises(TaskInterrupted):
            heartbeat.checkpoint({})
    os.kill(os.getpid(), signal.SIGTERM)  # after the task, while the result is reported, SIGTERM is ignored


def test_a_progress_that_is_not_json_does_not_stop_the_heartbeats() -> None:
    client, warned = Lambda(accepted), []
    with Heartbeat(reporter(client), 0.02, warned.append) as heartbeat:
        heartbeat.report(Progress(percent=1, message="", done={1, 2}))  # type: ignore[arg-type]
        wait_until(lambda: warned)
        heartbeat.report(Progress(percent=2))
        wait_until(lambda: [beat for beat in client.of("heartbeat") if beat["progress"]])
    assert [beat["progress"]["percent"] for beat in client.of("heartbeat") if beat["progress"]] == [2]


def test_a_task_without_checkpoints_is_interrupted_when_the_grace_is_over() -> None:
    def linger(heartbeat: Heartbeat) -> None:
        with time_limit(60), interrupt_on_sigterm(heartbeat, 0.05):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(100)

    with heartbeat_of(Lambda(accepted)) as heartbeat, pytest.raises(TaskInterrupted):
        linger(heartbeat)
