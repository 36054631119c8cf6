"""The stand-in for Fargate: `python -m local.fargate`, a process beside the emulator.

The emulator's ECS records tasks but runs none. This process polls it: it starts each task as a process, sends SIGTERM
when a task was stopped, and marks a task as stopped and publishes the event to EventBridge when its process has ended.

A task is started at most once. If this process crashes, its successor kills the orphaned processes and reports their
tasks as stopped.
"""

import argparse
import logging
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from local.aws import client
from local.container import Container, End, Host, kill_orphans, remove
from local.deployed_code import DeployedCode
from local.ecs_cluster import PATIENCE, EcsCluster
from local.ecs_task import EcsTask

POLL_SECONDS = 0.3
SHUTDOWN_POLL_SECONDS = 0.05
READY = "looking for tasks"
TERMINATION = "TerminationNotice"
SHUTDOWN = "The stand-in for Fargate is stopped"
ORPHANED = End("The stand-in for Fargate ended while it ran this task", TERMINATION, 137)
AWS_ERRORS = (BotoCoreError, ClientError)


class Fargate:
    """Runs the tasks of one cluster. Every step is idempotent, and a failed step is retried at the next poll."""

    def __init__(self, cluster: EcsCluster, host: Host) -> None:
        self._cluster = cluster
        self._host = host
        self._containers: dict[str, Container] = {}
        self._orphaned = set(kill_orphans(host.folder))
        self._started = set(self._orphaned)

    def poll(self) -> None:
        """Report orphaned tasks, stop containers of stopped tasks, start new tasks, report ended containers."""
        self._report_orphaned()
        wanted = self._cluster.wanted()
        for arn, container in self._containers.items():
            if arn not in wanted and not container.stopping:
                logging.info("%s was stopped through the API", container.task.id)
                container.stop()
        self._start(wanted - self._started)
        self._report_progress()

    def shut_down(self) -> None:
        """Stop every container, and report their ends if the emulator answers."""
        for container in self._containers.values():
            container.stop(End(SHUTDOWN, TERMINATION))
        while any(container.end() is None for container in self._containers.values()):
            self._report_progress()
            time.sleep(SHUTDOWN_POLL_SECONDS)
        self._report_progress()

    def _start(self, arns: Iterable[str]) -> None:
        for task in self._cluster.described(arns):
            # After a restart, the emulator lists stopped tasks with the desired status RUNNING.
            if task.described["lastStatus"] == "RUNNING":
                container = Container(task, self._host)
                container.start()
                self._containers[task.arn] = container
            self._started.add(task.arn)

    def _report_progress(self) -> None:
        """Forward logs, and report starts and ends. An error of one container does not affect the others."""
        for container in list(self._containers.values()):
            try:
                self._report_container(container)
            except AWS_ERRORS as error:
                logging.warning("%s: %s", container.task.id, error)

    def _report_container(self, container: Container) -> None:
        end = container.end()
        if container.has_started and not container.start_reported:
            self._cluster.report_start(container.task)
            container.start_reported = True
        container.log.forward()
        if end:
            container.log.finish()
            self._report(container.task, end)

    def _report_orphaned(self) -> None:
        for arn in sorted(self._orphaned):
            for task in self._cluster.described([arn]):
                self._report(task, ORPHANED)
            remove(self._host.folder, arn)
            self._orphaned.remove(arn)

    def _report(self, task: EcsTask, end: End) -> None:
        self._cluster.report_end(task, end)
        logging.info("%s ended with %s: %s", task.id, end.exit_code, end.reason)
        self._containers.pop(task.arn, None)
        remove(self._host.folder, task.arn)


class Termination:
    """Whether this process has received SIGTERM."""

    def __init__(self) -> None:
        self.requested = False
        signal.signal(signal.SIGTERM, self._request)

    def _request(self, *_: object) -> None:
        self.requested = True


def main() -> int:
    """Poll for tasks until SIGTERM."""
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(asctime)s %(message)s")
    termination = Termination()
    arguments = _parse()
    logs = client("logs", arguments.endpoint, PATIENCE)
    code = DeployedCode(client("lambda", arguments.endpoint, PATIENCE), arguments.worker, arguments.code)
    host = Host(arguments.folder, arguments.endpoint, arguments.longest_grace, logs, code)
    fargate = Fargate(EcsCluster(arguments.cluster, arguments.endpoint), host)
    with suppress(*AWS_ERRORS, OSError):  # each start of a container tries it again
        code.prepare()
    logging.info("%s of cluster %s", READY, arguments.cluster)
    last_error = ""
    while not termination.requested:
        try:
            fargate.poll()
            last_error = ""
        except Exception as error:  # any error: the containers must survive it
            if repr(error) != last_error:
                logging.exception("polling failed, will be retried")
            last_error = repr(error)
        time.sleep(POLL_SECONDS)
    fargate.shut_down()
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local.fargate", description="Runs ECS tasks as processes")
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--cluster", required=True)
    parser.add_argument("--worker", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--code", required=True, type=Path)
    parser.add_argument("--longest-grace", required=True, type=float)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
