"""The stand-in for Fargate: `python -m local.fargate`, a process beside the emulator.

The emulator's ECS keeps book of tasks and runs none. This process looks there every moment: what
shall run is started as a process, what was stopped is asked to leave, and what ended is marked as stopped and told
to EventBridge, as ECS would.

A task is begun once. If this process dies, the next one kills what it left over and reports it as ended.
"""

import argparse
import logging
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from local.aws import client
from local.container import Container, End, Host, kill_left_over, remove
from local.ecs_cluster import PATIENCE, EcsCluster
from local.ecs_task import EcsTask

EVERY_SECONDS = 0.3
EVERY_SECONDS_LEAVING = 0.05
READY = "looking for tasks"
TERMINATION = "TerminationNotice"
LEAVING = "The stand-in for Fargate is stopped"
LEFT_OVER = End("The stand-in for Fargate ended while it ran this task", TERMINATION, 137)
TROUBLE = (BotoCoreError, ClientError)


class Fargate:
    """Runs the tasks of one cluster. Every step can be repeated: what fails is tried again at the next look."""

    def __init__(self, cluster: EcsCluster, host: Host) -> None:
        self._cluster = cluster
        self._host = host
        self._containers: dict[str, Container] = {}
        self._left_over = set(kill_left_over(host.folder))
        self._begun = set(self._left_over)

    def look(self) -> None:
        """Once around: what was left over, what is stopped, what is new, what ended."""
        self._report_left_over()
        wanted = self._cluster.wanted()
        for arn, container in self._containers.items():
            if arn not in wanted and not container.stopping:
                logging.info("%s is stopped from outside", container.task.id)
                container.stop()
        self._begin(wanted - self._begun)
        self._attend()

    def leave(self) -> None:
        """Let every container leave, and report them if the emulator answers."""
        for container in self._containers.values():
            container.stop(End(LEAVING, TERMINATION))
        while any(container.end() is None for container in self._containers.values()):
            self._attend()
            time.sleep(EVERY_SECONDS_LEAVING)
        self._attend()

    def _begin(self, arns: Iterable[str]) -> None:
        for task in self._cluster.described(arns):
            # After a restart the emulator still lists as wanted what it shows as stopped.
            if task.described["lastStatus"] == "RUNNING":
                container = Container(task, self._host)
                container.start()
                self._containers[task.arn] = container
            self._begun.add(task.arn)

    def _attend(self) -> None:
        """Tell what the containers wrote, and which began and ended. The trouble of one is not that of others."""
        for container in list(self._containers.values()):
            try:
                self._attend_to(container)
            except TROUBLE as error:
                logging.warning("%s: %s", container.task.id, error)

    def _attend_to(self, container: Container) -> None:
        end = container.end()
        if container.began and not container.told_start:
            self._cluster.tell_start(container.task)
            container.told_start = True
        container.log.forward()
        if end:
            container.log.finish()
            self._report(container.task, end)

    def _report_left_over(self) -> None:
        for arn in sorted(self._left_over):
            for task in self._cluster.described([arn]):
                self._report(task, LEFT_OVER)
            remove(self._host.folder, arn)
            self._left_over.remove(arn)

    def _report(self, task: EcsTask, end: End) -> None:
        self._cluster.report_end(task, end)
        logging.info("%s ended with %s: %s", task.id, end.exit_code, end.reason)
        self._containers.pop(task.arn, None)
        remove(self._host.folder, task.arn)


class Termination:
    """Whether this process was asked to end."""

    def __init__(self) -> None:
        self.asked = False
        signal.signal(signal.SIGTERM, self._ask)

    def _ask(self, *_: object) -> None:
        self.asked = True


def main() -> int:
    """Look for tasks until asked to end."""
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(asctime)s %(message)s")
    termination = Termination()
    arguments = _parse()
    logs = client("logs", arguments.endpoint, PATIENCE)
    host = Host(arguments.folder, arguments.endpoint, arguments.longest_grace, logs)
    fargate = Fargate(EcsCluster(arguments.cluster, arguments.endpoint), host)
    logging.info("%s of cluster %s", READY, arguments.cluster)
    trouble = ""
    while not termination.asked:
        try:
            fargate.look()
            trouble = ""
        except Exception as error:  # whatever it is, the containers are not lost with it
            if repr(error) != trouble:
                logging.exception("in trouble, and trying again")
            trouble = repr(error)
        time.sleep(EVERY_SECONDS)
    fargate.leave()
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local.fargate", description="Runs ECS tasks as processes")
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--cluster", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--longest-grace", required=True, type=float)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
