"""Where the notices of a job are sent: a topic of the stage, or an SNS topic, an e-mail address or a webhook."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from punctual.domain.errors import Invalid
from punctual.domain.suggestion import hint_at, one_of

MASK = "…"
"""Replaces secrets in answers."""
MIN_SECRET_LENGTH, MAX_SECRET_LENGTH = 16, 256
MAX_URL_LENGTH = 2000
MAX_DESTINATIONS = 5

_ARN = re.compile(r"arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}")
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
MAX_ADDRESS_LENGTH = 254
_WEBHOOK_FIELDS = ("url", "secret", "format")


class Topic(StrEnum):
    """A topic of the stage."""

    NOTICE = "notice"
    """For information: no immediate action is needed."""
    PAGE = "page"
    """For the on-call operator: needs action now."""

    @property
    def key(self) -> str:
        return str(self)

    def to_spec(self) -> str:
        return str(self)

    to_stored = to_spec


class WebhookFormat(StrEnum):
    """The body of the request."""

    JSON = "json"
    """The fields of the notice."""
    SLACK = "slack"
    """A message for a Slack incoming webhook."""
    TEAMS = "teams"
    """An Adaptive Card for a webhook of a Teams workflow."""


@dataclass(frozen=True)
class SnsTopic:
    """A topic whose policy allows the notifier to publish."""

    arn: str

    @property
    def key(self) -> str:
        return f"sns:{self.arn}"

    def to_spec(self) -> dict[str, Any]:
        return {"sns": self.arn}

    to_stored = to_spec


@dataclass(frozen=True)
class Email:
    address: str

    @property
    def key(self) -> str:
        return f"email:{self.address}"

    def to_spec(self) -> dict[str, Any]:
        return {"email": self.address}

    to_stored = to_spec


@dataclass(frozen=True)
class Webhook:
    """An HTTPS address that receives each notice as a POST request."""

    url: str
    secret: str | None = None
    """Signs the requests. Never part of an answer, a message or a log line."""
    format: WebhookFormat = WebhookFormat.JSON

    @property
    def key(self) -> str:
        """Identifies it in messages, without its address: that of a Slack or Teams webhook is a credential."""
        return f"webhook:{hashlib.sha256(self.url.encode()).hexdigest()[:16]}"

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    def to_spec(self) -> dict[str, Any]:
        """The representation in answers."""
        url = self.url if self.format is WebhookFormat.JSON else f"https://{self.host}/{MASK}"
        fields = {"url": url, "secret": MASK if self.secret else None, "format": str(self.format)}
        return {"webhook": {name: value for name, value in fields.items() if value is not None}}

    def to_stored(self) -> dict[str, Any]:
        """The representation in the jobs table, with the secret."""
        return {"webhook": {"url": self.url, "secret": self.secret, "format": str(self.format)}}


Destination = Topic | SnsTopic | Email | Webhook


def check_key(key: str) -> str:
    """Raises ``ValueError`` if ``key`` is not the key of a destination."""
    if key not in list(Topic) and key.partition(":")[0] not in _PARSERS:
        raise ValueError(f"{key[:64]!r} is not the key of a destination")
    return key


def parse_destinations(field: str, value: object) -> tuple[Destination, ...]:
    """Parse one destination or a list of them. Raises ``Invalid``, naming the field; the message has no secret."""
    if not isinstance(value, list | tuple):
        return (_parse(field, value),)
    if not 1 <= len(value) <= MAX_DESTINATIONS:
        message = f'must have 1 to {MAX_DESTINATIONS} destinations, but has {len(value)}; "on": [] turns notices off'
        raise Invalid(field, message)
    found = tuple(_parse(f"{field}.{number}", one) for number, one in enumerate(value))
    keys = [one.key for one in found]
    for number, key in enumerate(keys):
        if key in keys[:number]:
            raise Invalid(f"{field}.{number}", "is listed twice: remove one of the two")
    return found


def _parse(field: str, value: object) -> Destination:
    if not isinstance(value, Mapping):
        if value in list(Topic):
            return Topic(str(value))
        forms = '{"sns": "arn:…"}, {"email": "a@b.c"} or {"webhook": {"url": "https://…", "secret": "…"}}'
        topics, hint = ", ".join(Topic), hint_at(value, Topic)
        raise Invalid(field, f"{str(value)[:64]!r} is not one of {topics}, and not of the form {forms}{hint}")
    if len(value) != 1 or not value.keys() <= _PARSERS.keys():
        names = ", ".join(str(name)[:32] for name in value) or "none"
        kinds, hint = ", ".join(_PARSERS), hint_at(names, _PARSERS)
        raise Invalid(field, f"must have exactly one of {kinds}, but has: {names}{hint}")
    [(kind, content)] = value.items()
    return _PARSERS[kind](f"{field}.{kind}", content)


def _parse_sns(field: str, value: object) -> SnsTopic:
    if not isinstance(value, str) or not _ARN.fullmatch(value):
        raise Invalid(field, "must be the ARN of a standard topic: arn:aws:sns:<region>:<account>:<name>")
    return SnsTopic(value)


def _parse_email(field: str, value: object) -> Email:
    if not isinstance(value, str) or len(value) > MAX_ADDRESS_LENGTH or not _ADDRESS.fullmatch(value):
        raise Invalid(field, "must be one e-mail address, such as team@example.com")
    return Email(value)


def _parse_webhook(field: str, value: object) -> Webhook:
    if not isinstance(value, Mapping):
        raise Invalid(field, 'must be an object: {"url": "https://…", "secret": "…"}')
    for name in value:
        if name not in _WEBHOOK_FIELDS:
            raise Invalid(f"{field}.{str(name)[:32]}", f"is not a known field; use {one_of(_WEBHOOK_FIELDS, name)}")
    kind = value.get("format") or WebhookFormat.JSON
    if kind not in list(WebhookFormat):
        raise Invalid(f"{field}.format", f"{str(kind)[:64]!r} is not one of {one_of(WebhookFormat, kind)}")
    webhook_format = WebhookFormat(kind)
    return Webhook(_url(field, value.get("url")), _secret(field, value.get("secret"), webhook_format), webhook_format)


def _url(field: str, value: object) -> str:
    field = f"{field}.url"
    if not isinstance(value, str):
        raise Invalid(field, "is required: give an https:// address")
    if MASK in value:
        raise Invalid(field, "is masked, as in the answers of the API: give the whole address again")
    if len(value) > MAX_URL_LENGTH or not value.isascii() or any(char <= " " for char in value):
        raise Invalid(field, f"must be ASCII without spaces, at most {MAX_URL_LENGTH:,} characters")
    try:
        parts = urlsplit(value)
        is_valid = parts.scheme == "https" and bool(parts.hostname) and (parts.port or 443) > 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise Invalid(field, "must be an https:// address with a host")
    if parts.username or parts.password or parts.fragment:
        raise Invalid(field, "must have no user name, password or fragment: verify the signature instead")
    return value


def _secret(field: str, value: object, webhook_format: WebhookFormat) -> str | None:
    field = f"{field}.secret"
    if value is None and webhook_format is not WebhookFormat.JSON:
        return None
    if value is None:
        raise Invalid(field, "is required: it signs the requests. Only the formats slack and teams need none")
    if value == MASK:
        raise Invalid(field, "is masked, as in the answers of the API: give the secret again")
    if not isinstance(value, str) or not MIN_SECRET_LENGTH <= len(value) <= MAX_SECRET_LENGTH:
        raise Invalid(field, f"must be text of {MIN_SECRET_LENGTH} to {MAX_SECRET_LENGTH} characters")
    return value


_PARSERS: Mapping[str, Callable[[str, object], Destination]] = {
    "sns": _parse_sns,
    "email": _parse_email,
    "webhook": _parse_webhook,
}
