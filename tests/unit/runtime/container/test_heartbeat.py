"""What a container says while it runs, told by what reaches the reporter."""

from __future__ import annotations

import io
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from punctual.aws.reporter_client import Deaf, Desk
from punctual.domain.executions.progress import Progress
from punctual.domain.long_lane.assignment import Assignment
from punctual.runtime.container.heartbeat import Leaving, Pulse, leaving_on_term, remember_term
from punctual.runtime.tasks.time_limit import TimeLimitReached, time_limit


@pytest.fixture(autouse=True)
def _as_in_a_new_container() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    remember_term()
    yield
    signal.signal(signal.SIGTERM, before)


ASSIGNMENT = Assignment(job_id="j", execution_id="e", part="all", attempt=1, key="k")


class Lambda:
    """The Lambda service as far as a container uses it: answers each call as the test says."""

    def __init__(self, answer: Callable[[dict[str, Any]], Any]) -> None:
        self.heard: list[dict[str, Any]] = []
        self._answer = answer

    def invoke(self, FunctionName: str, Payload: bytes) -> dict[str, Any]:
        assert FunctionName == "reporter"
        said = json.loads(Payload)
        self.heard.append(said)
        answer = self._answer(said)
        if isinstance(answer, Exception):
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(json.dumps(str(answer)).encode())}
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}

    def of(self, what: str) -> list[dict[str, Any]]:
        return [said for said in self.heard if said["do"] == what]


def pulse(client: Lambda, every: float = 0.02) -> Pulse:
    return Pulse(Desk("reporter", ASSIGNMENT, client, sleep=lambda _: None), every, lambda _: None)


def awaited(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def fine(_said: dict[str, Any]) -> dict[str, Any]:
    return {"ok": True, "leave": None}


def test_it_beats_and_tells_progress_only_when_there_is_news() -> None:
    client = Lambda(fine)
    with pulse(client) as beating:
        beating.report(Progress(percent=40, message="on it"))
        awaited(lambda: len(client.of("beat")) >= 3)
    told = [beat["progress"] for beat in client.of("beat")]
    assert [one["percent"] for one in told if one] == [40]
    assert client.heard[0]["assignment"]["key"] == "k"


def test_of_many_checkpoints_the_first_and_the_last_are_handed_in() -> None:
    client = Lambda(fine)
    with pulse(client, every=0.2) as beating:
        for number in range(100):
            beating.checkpoint({"number": number})
        awaited(lambda: len(client.of("checkpoint")) == 2)
    assert [said["state"]["number"] for said in client.of("checkpoint")] == [0, 99]


def test_a_checkpoint_is_what_the_state_was_when_it_was_given() -> None:
    client = Lambda(fine)
    with pulse(client, every=0.1) as beating:
        state = {"done": [1]}
        beating.checkpoint({})
        beating.checkpoint(state)
        state["done"].append(2)
        awaited(lambda: len(client.of("checkpoint")) == 2)
    assert client.of("checkpoint")[1]["state"] == {"done": [1]}


def test_whoever_is_asked_to_leave_does_so_at_the_next_checkpoint_and_hands_it_in() -> None:
    client = Lambda(lambda said: {"ok": True, "leave": "somebody is in a hurry" if said["do"] == "beat" else None})
    with pulse(client) as beating:
        awaited(lambda: beating.leaving)
        with pytest.raises(Leaving):
            beating.checkpoint({"last": True})
    beating.hand_in()
    assert client.of("checkpoint")[-1]["state"] == {"last": True}


def test_one_that_was_superseded_stops_at_its_next_checkpoint_and_hands_nothing_in() -> None:
    client = Lambda(lambda _: {"ok": False, "leave": None})
    with pulse(client) as beating:
        awaited(lambda: beating.lost)
        with pytest.raises(Leaving):
            beating.checkpoint({"late": True})
    beating.hand_in()
    assert client.of("checkpoint") == []


def test_a_reporter_in_trouble_is_told_again() -> None:
    troubles = iter([RuntimeError("throttled")] * 3)
    client = Lambda(lambda said: next(troubles, None) or fine(said))
    with pulse(client) as beating:
        beating.report(Progress(percent=10))
        awaited(lambda: len(client.of("beat")) >= 5)
        assert not beating.lost
    assert [beat["progress"]["percent"] for beat in client.of("beat") if beat["progress"]] == [10, 10, 10, 10]


def test_what_must_get_through_is_said_until_it_does_or_it_is_hopeless() -> None:
    troubles = iter([RuntimeError("down")] * 4)
    desk = Desk("reporter", ASSIGNMENT, Lambda(lambda said: next(troubles, None) or fine(said)), sleep=lambda _: None)
    assert desk.insist("conclude")["ok"] is True
    deaf = Desk("reporter", ASSIGNMENT, Lambda(lambda _: RuntimeError("down")), sleep=lambda _: None)
    with pytest.raises(Deaf):
        deaf.insist("conclude")


@pytest.mark.parametrize("state", [{"a": {1, 2}}, {"a": float("nan")}])
def test_a_checkpoint_that_is_no_json_is_the_tasks_own_failure(state: Any) -> None:
    with pulse(Lambda(fine)) as beating, pytest.raises((TypeError, ValueError)):
        beating.checkpoint(state)


def test_a_checkpoint_that_is_too_large_is_refused_with_the_remedy() -> None:
    with pulse(Lambda(fine)) as beating, pytest.raises(ValueError, match="keep where it is"):
        beating.checkpoint("x" * 4_000_001)


def test_sigterm_means_leave_at_the_next_checkpoint() -> None:
    client = Lambda(fine)
    with pulse(client, every=60) as beating, time_limit(60), leaving_on_term(beating, 60):
        os.kill(os.getpid(), signal.SIGTERM)
        awaited(lambda: beating.leaving)  # it has asked what for, without waiting for its next beat
        with pytest.raises(Leaving):
            beating.checkpoint({"last": 1})


def test_sigterm_means_leave_also_when_the_reporter_cannot_be_asked_what_for() -> None:
    client = Lambda(lambda _: RuntimeError("down"))
    with pulse(client, every=60) as beating, time_limit(60), leaving_on_term(beating, 60):
        os.kill(os.getpid(), signal.SIGTERM)
        awaited(lambda: beating.leaving)


def stop_in(seconds: float) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda _said: {"ok": True, "leave": None, "stop_in": seconds}


def test_whoever_is_to_stop_for_good_may_go_on_to_its_own_end() -> None:
    with pulse(Lambda(stop_in(30)), every=60) as beating, time_limit(60), leaving_on_term(beating, 60):
        assert not beating.stopping
        os.kill(os.getpid(), signal.SIGTERM)
        awaited(lambda: beating.stopping)
        beating.checkpoint({"tidied": "up"})


@pytest.mark.parametrize("signalled", [True, False])
def test_whoever_is_to_stop_for_good_has_as_long_as_it_was_given(*, signalled: bool) -> None:
    def linger(beating: Pulse) -> None:
        with time_limit(60), leaving_on_term(beating, 60):
            if signalled:
                os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)

    began = time.monotonic()
    with pulse(Lambda(stop_in(0.2))) as beating, pytest.raises(Leaving):
        linger(beating)
    assert 0.2 <= time.monotonic() - began < 4


def test_the_time_limit_holds_for_whoever_was_told_nothing() -> None:
    def linger(beating: Pulse) -> None:
        with time_limit(0.05), leaving_on_term(beating, 60):
            time.sleep(5)

    with pulse(Lambda(fine)) as beating, pytest.raises(TimeLimitReached):
        linger(beating)


def test_sigterm_before_the_task_begins_is_remembered() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    with pulse(Lambda(fine)) as beating, time_limit(60), leaving_on_term(beating, 60):
        awaited(lambda: beating.leaving)
        with pytest.raises(Leaving):
            beating.checkpoint({})
    os.kill(os.getpid(), signal.SIGTERM)  # and after it, while the word gets out, it ends nothing


def test_a_progress_that_cannot_be_sent_does_not_stop_the_beat() -> None:
    client, warned = Lambda(fine), []
    with Pulse(Desk("reporter", ASSIGNMENT, client), 0.02, warned.append) as beating:
        beating.report(Progress(percent=1, message="", done={1, 2}))  # type: ignore[arg-type]
        awaited(lambda: warned)
        beating.report(Progress(percent=2))
        awaited(lambda: [beat for beat in client.of("beat") if beat["progress"]])
    assert [beat["progress"]["percent"] for beat in client.of("beat") if beat["progress"]] == [2]


def test_a_task_that_makes_no_checkpoint_leaves_when_its_grace_is_over() -> None:
    def linger(beating: Pulse) -> None:
        with time_limit(60), leaving_on_term(beating, 0.05):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)

    with pulse(Lambda(fine)) as beating, pytest.raises(Leaving):
        linger(beating)
