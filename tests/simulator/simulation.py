"""One run: Punctual's functions on the modelled account, its users, and faults, all derived from one seed.

A run has three phases. First the operator makes requests while faults take place. Then faults end, and the run
continues until every execution that came due has ended; now the invariants of ``AtRest`` must hold. Finally all jobs
are deleted, and nothing may be left. Invariants of single steps are checked throughout (``Observer``).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from math import inf
from types import ModuleType
from typing import Any
from unittest import mock

from punctual.aws.dynamodb import shards as dynamodb_shards
from punctual.aws.dynamodb.items import plain
from punctual.aws.dynamodb.job_item import item_to_job
from punctual.domain import shards
from punctual.domain.jobs.job import REMOVED_STATES
from punctual.domain.status import FINAL
from punctual.stages.run import gates
from tests.permissions import PERMISSIONS, refused
from tests.simulator.at_rest import AtRest
from tests.simulator.aws.account import Account
from tests.simulator.aws.states import RUNNING
from tests.simulator.choices import Choices, Decision, Profile
from tests.simulator.containers import Containers
from tests.simulator.contention import ContentionObserver
from tests.simulator.deployment import PARTS, Deployment, installed
from tests.simulator.event_sources import QUEUES, Invoker, OneTimeSchedules, QueueSource, Streams, Ticks
from tests.simulator.faults import Faults
from tests.simulator.grant_order import GrantOrderObserver
from tests.simulator.kernel import Kernel
from tests.simulator.long_lane import LongLaneObserver
from tests.simulator.observer import Observer, describe
from tests.simulator.operator import Operator
from tests.simulator.outcome import SWEEPS, Lasting, Outcome
from tests.simulator.state_machine import StateMachines
from tests.simulator.tasks import SimulatedRunner

REQUESTS = (12, 3, 6, 25)
SETTLING_TIME = timedelta(minutes=60)
"""How long it may take until every execution that came due has ended, after the last fault."""
GATES_CHECK_INTERVAL = timedelta(seconds=50)
"""Once between two sweeps."""
TAILS = (timedelta(), timedelta(), timedelta(minutes=75))
"""How long a run continues without faults: longer than a timer's expiry, or not at all."""
DEPLOYMENT_INTERVAL = 45.0
"""Seconds between two instants at which all functions may be deployed again."""
UPGRADES: tuple[dict[str, str], ...] = (
    {},
    *({"TIMER_SHARDS": number} for number in ("1", "2", "5")),
    {"LONG_TASKS": "6"},
    {"HEARTBEAT_SECONDS": "20"},
)
"""The settings that a deployment changes. Each is safe to change in this direction while executions run."""
ROLLOUT = 40.0
"""Seconds between the first and the last function that a deployment with another number of shards replaces."""
SHARDS_MARGIN = timedelta(minutes=20)
"""For so long a number of shards is kept after its last use: longer than functions run, but shorter than on AWS."""
ABORT_INTERVAL = 70.0
"""Seconds between two instants at which a state machine run may be stopped."""
EXPIRY_DELAYS = (timedelta(minutes=1), timedelta(minutes=40))
GATE_TRIES = (20, 20, 2)
"""After how many failed tries a process gives up at a gate. The first one is that of production."""
LATE_EXPIRY, LATE_TAIL = timedelta(hours=3), timedelta(hours=4, minutes=30)
"""In some runs TTL is hours late, and the run goes on for so long."""


def simulate(
    seed: int,
    only: Iterable[Decision] | None = None,
    *,
    without: Iterable[str] = (),
    profile: Profile | None = None,
    tracing: bool = False,
    stop_at: float = inf,
) -> Outcome:
    """Run one seed.

    ``only``: take the default for all other decisions. ``without``: kinds of faults to leave out. ``profile``: narrows
    the options of decisions. ``stop_at``: the value of ``time.monotonic`` at which the run is cut off.
    """
    kernel, choices = Kernel(), Choices(seed, only, profile)
    kernel.tracing = tracing
    account = Account(lambda: kernel.now)
    with installed(kernel, account) as deployment:
        simulation = Simulation(kernel, account, deployment, choices, frozenset(without), stop_at)
        try:
            with (
                simulation.contention.observed(),
                mock.patch.object(gates, "MAX_GATE_TRIES", simulation.gate_tries),
                mock.patch.object(shards, "MARGIN", SHARDS_MARGIN),
                mock.patch.object(dynamodb_shards, "MARGIN", SHARDS_MARGIN),
                mock.patch.object(dynamodb_shards, "RENEWED_FOR", SHARDS_MARGIN / 2),
            ):
                simulation.run()
        finally:
            simulation.stop()
    return Outcome(
        seed=seed,
        violations=tuple(simulation.observer.violations),
        decisions=tuple(choices.taken),
        steps=kernel.steps,
        executions=len(simulation.observer.executions) + len(simulation.observer.removed),
        faults=simulation.faults.counts,
        coverage=simulation.observer.coverage.counts,
        profile=profile,
        jobs=tuple(simulation.observer.jobs),
        trace=tuple(kernel.trace),
        is_complete=time.monotonic() < stop_at,
    )


class Simulation:
    def __init__(
        self,
        kernel: Kernel,
        account: Account,
        deployment: Deployment,
        choices: Choices,
        without: frozenset[str],
        stop_at: float,
    ) -> None:
        self._stop_at = stop_at
        self.kernel, self.account, self.deployment, self.choices = kernel, account, deployment, choices
        self.faults = Faults(kernel, choices, without)
        self.observer = Observer(kernel, account, on_change=self._on_change)
        self.observer.starts.may_be_frozen = self.faults.probability["delay"] > 0
        self.contention = ContentionObserver(self.observer)
        self.grant_order = GrantOrderObserver(self.observer, self.observer.coverage.counts)
        self.long_lane = LongLaneObserver(self.observer)
        self.invoker = Invoker(kernel, deployment, self.faults, self.observer.process_ended, self._on_change)
        self.streams = Streams(account, self.invoker, self._delivered)
        self.queues = [QueueSource(queue, account, self.invoker) for queue in QUEUES]
        self.containers = Containers(account, self.invoker, self.long_lane.observed, self.long_lane.reports)
        self.state_machines = StateMachines(account, self.invoker, self.containers.start)
        self.schedules = OneTimeSchedules(account, self.invoker)
        self.operator = Operator(self.invoker, self.observer, choices.any("requests", REQUESTS))
        self.at_rest = AtRest(account, self.observer)
        self.gate_tries = choices.any("gates/tries", GATE_TRIES)
        self._is_expiry_late = choices.happens("expiry/late", 0.05)
        self._workers = 0
        deployment.prepare["worker"] = self._prepare_worker
        account.dynamodb.stale = self.faults.stale_writes
        account.hooks.before_call = self._before_call
        account.hooks.after_call = self._after_call

    def run(self) -> None:
        Ticks(self.invoker)
        self._expire()
        self._deploy()
        self._abort_run()
        self.operator.start()
        while not self.operator.is_done and self._step():
            pass
        self.faults.enabled = False
        self.kernel.log("— no more faults —")
        self._settle()
        tail = max(self.choices.any("tail", TAILS), LATE_TAIL if self._is_expiry_late else timedelta())
        if not self.observer.violations and tail:
            self._wait(tail)
            self._settle()
        if not self.observer.violations:
            self._delete_all()

    def stop(self) -> None:
        """End all processes, so that their greenlets are released."""
        self.account.hooks.before_call = self.account.hooks.after_call = None
        for process in list(self.kernel.running):
            process.kill("the run is over")

    def _step(self) -> bool:
        """Handle the next event, and return whether the run continues."""
        self.kernel.step()
        return not self.observer.violations and time.monotonic() < self._stop_at

    def _settle(self) -> None:
        """Continue until every execution that was due has ended and nothing is in flight; at least for a few sweeps.

        What violates a rule at rest must be repaired by the next sweeps: it may have happened just now. At the gates,
        and for cancelled executions, that holds even while executions run.
        """
        ended_at = self.kernel.now
        late: list[str] = []
        lasting = Lasting(self.kernel, self.observer.violated)
        meanwhile = Lasting(self.kernel, self.observer.violated)
        while self._step():
            settled_for = self.kernel.now - ended_at
            if self.kernel.now - meanwhile.checked_at > GATES_CHECK_INTERVAL:
                meanwhile.check(chain(self.at_rest.of_gates(), self._unsettled_cancellations()))
                self._check_claims(ended_at)
            if settled_for > SWEEPS and self._is_quiet() and not (late := self.at_rest.unfinished(ended_at)):
                lasting.check(chain(self.at_rest.violations(), self.long_lane.at_rest()))
                if not lasting.since:
                    return
            if settled_for > SETTLING_TIME:
                self.observer.violated(
                    f"not finished after {SETTLING_TIME}: {late[:5] or list(lasting.since)[:5] or 'never quiet'}"
                )

    def _check_claims(self, ended_at: datetime) -> None:
        """Check that a dead worker delays no start, unless the check of a start has read an outdated index."""
        if not self.faults.counts.get("stale"):
            for rule in self.at_rest.unclaimed(max(ended_at, self.faults.last_until)):
                self.observer.violated(rule)

    def _unsettled_cancellations(self) -> Iterator[str]:
        return self.long_lane.cancelled() if self.streams.is_settled else iter(())

    def _wait(self, duration: timedelta) -> None:
        """Let time pass: TTL removes the timers an hour after their instant."""
        until = self.kernel.now + duration
        while self.kernel.now < until and self._step():
            pass

    def _delete_all(self) -> None:
        """Delete all jobs: afterwards nothing is live, at a gate, or driven by a state machine."""
        for job_id, versions in self.observer.jobs.items():
            if versions[-1].job.state not in REMOVED_STATES:
                self.operator.request("DELETE", f"/jobs/{job_id}")
        give_up_at = self.kernel.now + SETTLING_TIME
        while self._step():
            left = self._left() if self._is_quiet() else ["a process, a record or a message"]
            if not left:
                for rule in self.at_rest.uncovered():
                    self.observer.violated(rule)
                return
            if self.kernel.now > give_up_at:
                self.observer.violated(f"after the deletion of all jobs there is still: {left[:5]}")

    def _left(self) -> list[str]:
        live = [describe(one) for one in self.observer.executions.values() if one.status not in FINAL]
        gates = [f"{gate} {entry}" for gate, entry in self.account.dynamodb.tables["gates"].items]
        runs = [run.name for run in self.account.states.runs.values() if run.status == RUNNING]
        return [*live, *(gate for gate in gates if gate.startswith(("holders#", "queue#"))), *runs]

    def _is_quiet(self) -> bool:
        """Whether no process runs, and no record or message waits for its delivery."""
        now = self.kernel.now
        return (
            not self.invoker.running
            and self.streams.is_idle
            and not any(self.account.sqs.queues[queue].visible(now) for queue in QUEUES)
        )

    # what AWS does

    def _before_call(self, service: str, operation: str, parameters: dict[str, Any]) -> None:
        self.contention.before_call()
        process = self.kernel.current
        function = process.name.partition("-")[0] if process else ""
        if function in PERMISSIONS:
            name = "".join(word.title() for word in operation.split("_"))
            for permission in refused(function, service, name, parameters):
                self.observer.violated(f"{function} may not {permission}")
        self.faults.before_call(service, operation, parameters)

    def _after_call(self, service: str, operation: str, parameters: dict[str, Any], outcome: Any) -> None:
        self.contention.after_call()
        update = parameters["TransactItems"][0].get("Update", {}) if operation == "transact_write_items" else {}
        if update.get("TableName") == "operations":
            self.observer.coverage.counts["bulk step" if isinstance(outcome, dict) else "bulk step lost"] += 1
        if update and isinstance(outcome, dict):
            is_eviction = update.get("TableName") == "gates" and "REMOVE" in update["UpdateExpression"]
            self.observer.coverage.counts["holder evicted"] += is_eviction
        self.observer.poll()
        self.grant_order.after_call(operation, parameters)
        if operation == "send_message_batch":
            self.long_lane.check_orders(parameters["QueueUrl"].rpartition("/")[2], parameters["Entries"])
        self.faults.after_call(service, operation, parameters, outcome)

    def _on_change(self) -> None:
        self.long_lane.poll()
        self.streams.poll()
        for queue in self.queues:
            queue.poll()
        self.schedules.poll()
        self.containers.poll()
        self.state_machines.poll()

    def _delivered(self, table: str, records: list[dict[str, Any]]) -> None:
        if table == "jobs":
            for record in records:
                self.observer.job_known(item_to_job(plain(record["dynamodb"]["NewImage"])))

    def _expire(self) -> None:
        """TTL removes expired items, some time after their expiry."""
        delay = LATE_EXPIRY if self._is_expiry_late else self.choices.any("expiry", EXPIRY_DELAYS)
        self.kernel.after(300, self._expire)
        timers = len(self.account.dynamodb.tables["timers"].items)
        if self.account.dynamodb.expire(self.kernel.now - delay):
            removed = timers - len(self.account.dynamodb.tables["timers"].items)
            self.observer.coverage.counts["TTL removed a timer"] += removed
            self.observer.poll()

    def _deploy(self) -> None:
        self.kernel.after(DEPLOYMENT_INTERVAL, self._deploy)
        if self.faults.happens("deploy", "all"):
            settings = self.choices.any("settings", UPGRADES)
            self.kernel.log(f"all functions are deployed again {settings}")
            first = [one for one in PARTS if "TIMER_SHARDS" in settings and self.choices.happens(f"first/{one}", 0.5)]
            self.deployment.redeploy(settings, first)
            rest = [one for one in PARTS if one not in first]
            self.kernel.after(ROLLOUT if first else 0.0, partial(self.deployment.redeploy, settings, rest))
            self.observer.coverage.counts["deployed with other settings"] += bool(settings)

    def _abort_run(self) -> None:
        """An administrator stops a state machine run in the AWS console."""
        self.kernel.after(ABORT_INTERVAL, self._abort_run)
        runs = [run.arn for run in self.account.states.runs.values() if run.status == RUNNING]
        if runs and self.faults.happens("abort", "run"):
            arn = self.choices.any("aborted", runs)
            self.kernel.log(f"{arn} is stopped in the console")
            self.account.states.stop_execution(executionArn=arn)
            self._on_change()

    def _prepare_worker(self, module: ModuleType) -> None:
        self._workers += 1
        runner = SimulatedRunner(module.executions, self.kernel, self.choices, self.observer, self.faults)
        module.worker = replace(module.worker, runner=runner, worker_id=f"environment-{self._workers}")
