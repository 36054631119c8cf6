"""The steps of an example: requests, deliveries of AWS, and faults. ``steps.py`` registers their frequencies."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from punctual.domain.executions.execution import LeaseState
from punctual.domain.executions.lease import LEASE_DURATION
from punctual.domain.instant import to_text
from punctual.domain.jobs.job import JobState
from punctual.domain.status import FINAL, LIVE_STATUSES, Status
from tests.integration.rules.checks import Checks, describe, picked
from tests.integration.rules.process import Manner
from tests.integration.rules.stage import Stage
from tests.integration.rules.steps import (
    calls,
    changes,
    conditions,
    happens,
    keys,
    misfires,
    numbers,
    overlaps,
    retries,
    schedules,
)
from tests.resources import DEAD_LETTER_QUEUE_OWNERS

MOST_JOBS = 5


class Story(Checks):
    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.outages = 0

    # requests

    @happens(
        when=lambda story: len(story.jobs) < MOST_JOBS,
        schedule=schedules,
        overlap=overlaps,
        misfire=misfires,
        key=keys,
        retry=retries,
        stop=calls,
    )
    def submit(self, schedule: Any, overlap: str, misfire: Any, key: Any, retry: Any, stop: int | None) -> None:
        if "in_seconds" in schedule:
            schedule = {"at": to_text(self.world.now + timedelta(seconds=schedule["in_seconds"]))}
        job = {"task": "echo", "schedule": schedule, "overlap": overlap, "misfire": misfire}
        self.ask("POST", "/jobs", {**job, "retry": retry, **({"concurrency": key} if key else {})}, stop)

    @happens(
        when=lambda story: len(story.jobs) < MOST_JOBS - 1,
        schedule=schedules,
        overlap=overlaps,
        retry=retries,
        condition=conditions,
        stop=calls,
    )
    def submit_one_and_who_waits_for_it(
        self, schedule: Any, overlap: str, retry: Any, condition: str, stop: int | None
    ) -> None:
        if "in_seconds" in schedule:
            schedule = {"at": to_text(self.world.now + timedelta(seconds=schedule["in_seconds"]))}
        job = {"task": "echo", "schedule": schedule, "overlap": overlap, "retry": retry}
        after = [{"job": "first", "condition": condition}]
        jobs = [{**job, "name": "first"}, {**job, "name": "second", "depends_on": after}]
        self.ask("POST", "/jobs/batch", {"jobs": jobs}, stop)

    @happens(often=2, number=numbers, change=changes, stop=calls)
    def edit(self, number: int, change: Any, stop: int | None) -> None:
        self.ask("PATCH", f"/jobs/{self.job(number)}", change, stop)

    @happens(number=numbers, stop=calls)
    def pause(self, number: int, stop: int | None) -> None:
        self.ask("POST", f"/jobs/{self.job(number)}/pause", None, stop)

    @happens(often=2, number=numbers, stop=calls)
    def resume(self, number: int, stop: int | None) -> None:
        self.ask("POST", f"/jobs/{self.job(number)}/resume", None, stop)

    @happens(when=lambda story: len(story.jobs) > 1, number=numbers, stop=calls)
    def cancel_job(self, number: int, stop: int | None) -> None:
        self.ask("PUT", f"/jobs/{self.job(number)}/cancel", None, stop)

    @happens(when=lambda story: len(story.jobs) > 1, number=numbers, stop=calls)
    def delete(self, number: int, stop: int | None) -> None:
        self.ask("DELETE", f"/jobs/{self.job(number)}", None, stop)

    @happens(often=2, number=numbers, stop=calls)
    def run_now(self, number: int, stop: int | None) -> None:
        self.ask("POST", f"/jobs/{self.job(number)}/run", {}, stop)

    @happens(number=numbers, stop=calls)
    def retry(self, number: int, stop: int | None) -> None:
        if one := picked(self.executions(*FINAL - {Status.SUCCEEDED}), number):
            self.ask("POST", f"/executions/{one.execution_id}/retry", {}, stop)

    @happens(
        number=numbers,
        minutes=st.integers(1, 6),
        which=st.sampled_from(["missing", "all"]),
        order=st.sampled_from(["oldest_first", "newest_first"]),
        at_once=st.sampled_from([{}, {"at_once": 1}, {"at_once": 2}]),
        stop=calls,
    )
    def backfill(self, number: int, minutes: int, which: str, order: str, at_once: Any, stop: int | None) -> None:
        since, until = self.world.now - timedelta(minutes=minutes), self.world.now
        span = {"from": to_text(since), "to": to_text(until), "which": which, "order": order, **at_once}
        self.ask("POST", f"/jobs/{self.job(number)}/backfill", span, stop)

    @happens(number=numbers, grace=st.sampled_from([0, 30]), stop=calls)
    def cancel(self, number: int, grace: int, stop: int | None) -> None:
        if one := picked(self.executions(*LIVE_STATUSES), number):
            self.ask("PUT", f"/executions/{one.execution_id}/cancel?grace_seconds={grace}", None, stop)

    @happens(number=numbers, stop=calls)
    def cancel_before_its_time(self, number: int, stop: int | None) -> None:
        if one := picked(self.executions(Status.SCHEDULED), number):
            self.ask("PUT", f"/executions/{one.execution_id}/cancel", None, stop)

    # deliveries and faults

    @happens(often=3, stop=calls)
    def tick(self, stop: int | None) -> None:
        self.start("dispatcher", self.world.tick, stop)

    @happens(often=6, number=numbers, count=st.integers(1, 10), stop=calls, again=st.booleans())
    def deliver_records(self, number: int, count: int, stop: int | None, again: bool) -> None:
        self.read_streams()
        if key := picked(sorted(key for key, some in self.pending.items() if some and key not in self.busy), number):
            self.deliver([key], count, stop, again=again)

    @happens(
        often=6,
        number=numbers,
        manner=st.sampled_from([Manner.THROUGH, Manner.FAILS, Manner.STAYS, Manner.STAYS]),
        stop=calls,
        again=st.booleans(),
    )
    def deliver_message(self, number: int, manner: str, stop: int | None, again: bool) -> None:
        self.read_queues()
        if mail := picked([mail for mail in self.mail if self.is_visible(mail)], number):
            self.work(mail, manner, stop, again=again)

    @happens(often=3, when=lambda story: story.stopped(), number=numbers, stop=calls)
    def go_on(self, number: int, stop: int | None) -> None:
        self.advance(self.stopped()[number % len(self.stopped())], stop)

    @happens(often=2, when=lambda story: story.processes, number=numbers)
    def die(self, number: int) -> None:
        self.kill(self.processes[number % len(self.processes)])

    @happens(
        often=3,
        when=lambda story: story.inside(),
        number=numbers,
        manner=st.sampled_from([Manner.THROUGH, Manner.FAILS]),
        stop=calls,
    )
    def task_ends(self, number: int, manner: str, stop: int | None) -> None:
        process = self.inside()[number % len(self.inside())]
        process.manner = manner
        self.advance(process, stop)

    @happens(often=1, when=lambda story: story.inside(), number=numbers)
    def renew(self, number: int) -> None:
        run = self.inside()[number % len(self.inside())].run
        assert run is not None
        hold = self.world.function("worker").executions.renew(run.execution, self.world.now, None)
        if hold is not LeaseState.LOST:
            run.lease_until = self.world.now + LEASE_DURATION
        run.stopping = run.stopping or hold is LeaseState.STOPPING

    @happens(often=4, seconds=st.sampled_from([1, 10, 31, 60, 125]))
    def time_passes(self, seconds: int) -> None:
        self.pass_time(seconds)

    @happens(when=lambda story: story.outages < 2, seconds=st.sampled_from([600, 1000, 3600]))
    def outage(self, seconds: int) -> None:
        self.outages += 1
        self.pass_time(seconds)

    @happens(often=3, seconds=st.sampled_from([0, 31, 60]))
    def all_is_delivered(self, seconds: int) -> None:
        self.pass_time(seconds)
        self.run_until_idle()
        self.check_idle()

    @happens(when=lambda story: story.outages < 2)
    def all_runs_dry(self) -> None:
        """Executions that are due now finish within 25 minutes, although more fall due."""
        self.outages += 1
        self.end_tasks()
        until = self.world.now
        for _ in range(25):
            self.run_until_idle()
            live = [one for one in self.executions(*LIVE_STATUSES) if one.earliest_start <= until]
            stuck = [describe(one) for one in live if not self.may_wait_on(one)]
            if not stuck:
                break
            self.pass_time(60)
        assert not stuck, f"not finished: {stuck}"
        self.check_idle()

    # end of an example

    def come_to_an_end(self) -> None:
        """Pause, resume and delete all jobs. After the pause and the deletion, no execution is live."""
        self.run_until_idle()
        self.check_idle()
        self.end_tasks()
        self.each_job("POST", "pause", JobState.ACTIVE)
        self.nothing_lives_any_more()
        self.each_job("POST", "resume", JobState.PAUSED)
        self.run_until_idle()
        self.check_idle()
        self.each_job("DELETE", "", JobState.ACTIVE)
        self.nothing_lives_any_more()
        for name in DEAD_LETTER_QUEUE_OWNERS:
            assert not (dead := self.world.receive(f"{name}-dead")), dead
