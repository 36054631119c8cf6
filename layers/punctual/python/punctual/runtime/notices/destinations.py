"""Delivers each notice to its destination, by the kind of the destination's key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.aws.ses.mail import SesMail
from punctual.aws.sns.topics import SnsTopics
from punctual.domain.errors import Undeliverable
from punctual.domain.jobs.destination import Webhook
from punctual.domain.notices.notice import Notice

if TYPE_CHECKING:
    from punctual.ports.jobs import Jobs


@dataclass(frozen=True)
class StageDestinations:
    topics: SnsTopics
    mail: SesMail
    jobs: Jobs
    """The jobs, from which the address and the secret of a webhook are read: no message contains them."""
    clock: Callable[[], datetime]
    api_url: str
    """The address of the API, for links in the console: a browser has no token for the API."""

    def publish(self, notice: Notice) -> None:
        linked = self._with_link(notice)
        kind, _, name = notice.to.partition(":")
        if kind in self.topics.arns:
            self.topics.publish(linked)
        elif kind == "sns":
            self.topics.publish_elsewhere(linked, name)
        elif kind == "email":
            self.mail.send(linked, name)
        else:
            self._post(linked)

    def _with_link(self, notice: Notice) -> Notice:
        subject = f"executions/{notice.execution_id}" if notice.execution_id else f"jobs/{notice.job_id}"
        link = f"{self.api_url}/console/{subject}"
        return replace(notice, text=f"{notice.text}\nLink: {link}", facts={**notice.facts, "link": link})

    def _post(self, notice: Notice) -> None:
        """Read the webhook from the job's current rule. Raises ``Undeliverable`` if an edit has removed it."""
        job = self.jobs.get(notice.job_id)
        destinations = job.notify.to if job is not None and job.notify is not None else ()
        for one in destinations:
            if isinstance(one, Webhook) and one.key == notice.to:
                from punctual.runtime.notices.webhooks import post  # imports urllib3

                return post(notice, one, self.clock)
        raise Undeliverable("the job does not name this webhook any more")


if TYPE_CHECKING:
    from punctual.ports.notices import Destinations

    _destinations: type[Destinations] = StageDestinations
