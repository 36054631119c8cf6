"""A boto3 client of a modelled service: hooks around every request, and botocore's retries.

A request is one try, as over HTTP: ``before_call``, the effect, ``after_call``. botocore repeats a request that was
throttled or whose response was lost. Then the effect takes place twice, except that a transaction keeps its token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

from botocore.exceptions import ReadTimeoutError

from tests.simulator.aws.errors import RETRIED_CODES, ConnectionLost, ErrorClasses, ServiceError, error_class

F = TypeVar("F", bound=Callable[..., Any])
Parameters = dict[str, Any]
Response = dict[str, Any]

DEFAULT_ATTEMPTS = 3
"""Tries of a request without configuration, in botocore's standard mode."""


def operation(method: F) -> F:
    """Mark a method of a service as an operation that clients can call."""
    method.is_operation = True  # type: ignore[attr-defined]
    return method


@dataclass
class Hooks:
    """What the simulator does around each request. A hook may run other functions, raise, or advance the clock.

    ``ServiceError`` and ``ConnectionLost`` count as the outcome of the request. Other exceptions propagate to the
    caller of the client: with them the simulator kills a process.
    """

    before_call: Callable[[str, str, Parameters], None] | None = None
    """Called with the service, the operation (``update_item``) and its parameters."""
    after_call: Callable[[str, str, Parameters, Response | ServiceError], None] | None = None
    """Called with the response, or with the error that the service answers with."""
    tokens: Iterator[int] = field(default_factory=count)
    """Numbers of transaction tokens."""


class Events:
    """The part of botocore's event system that Punctual uses in every function: ``after-call`` of one client.

    Powertools registers for ``request-created`` to change the user agent, which the model lacks.
    """

    def __init__(self) -> None:
        self.after_call: list[Callable[..., None]] = []

    def register(self, name: str, handler: Callable[..., None]) -> None:
        if name == "after-call":
            self.after_call.append(handler)
        elif name != "request-created":
            raise NotImplementedError(f"event {name}")


@dataclass(frozen=True)
class Meta:
    events: Events = field(default_factory=Events)


@dataclass(frozen=True)
class Paginator:
    """Pages of an operation that answers in a single page."""

    call: Callable[..., Response]

    def paginate(self, **parameters: Any) -> Iterator[Response]:
        yield self.call(**parameters)


class Client:
    """Calls the operations of ``service``. An operation that the service lacks raises ``NotImplementedError``."""

    def __init__(self, name: str, service: object, hooks: Hooks, attempts: int = DEFAULT_ATTEMPTS) -> None:
        self.meta = Meta()
        self.exceptions = ErrorClasses()
        self._name, self._service, self._hooks, self._attempts = name, service, hooks, attempts

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        method = getattr(self._service, name, None)
        if not getattr(method, "is_operation", False):
            raise NotImplementedError(f"{self._name}.{name}")

        def call(**parameters: Any) -> Response:
            return self._call(name, method, parameters)

        setattr(self, name, call)  # the next call does not get here
        return call

    def get_paginator(self, name: str) -> Paginator:
        return Paginator(getattr(self, name))

    def generate_presigned_url(self, name: str, Params: Parameters, ExpiresIn: int) -> str:
        """Sign locally: not a request."""
        return f"https://{self._name}.test/{name}?{'&'.join(f'{k}={v}' for k, v in Params.items())}&for={ExpiresIn}"

    def _call(self, name: str, method: Any, parameters: Parameters) -> Response:
        if name == "transact_write_items" and "ClientRequestToken" not in parameters:
            # botocore chooses the token once for all tries
            parameters["ClientRequestToken"] = f"token-{next(self._hooks.tokens)}"
        for remaining in reversed(range(self._attempts)):
            try:
                outcome = self._request(name, method, parameters)
            except ConnectionLost:
                if remaining:
                    continue
                raise ReadTimeoutError(endpoint_url=f"https://{self._name}.test") from None
            if isinstance(outcome, ServiceError) and outcome.code in RETRIED_CODES and remaining:
                continue
            break
        answer = outcome if isinstance(outcome, dict) else outcome.response()
        for handler in self.meta.events.after_call:
            handler(parsed=answer)
        if isinstance(outcome, ServiceError):
            raise error_class(outcome.code)(answer, "".join(word.title() for word in name.split("_")))
        return answer

    def _request(self, name: str, method: Any, parameters: Parameters) -> Response | ServiceError:
        """Make one try. Returns the response, or the error that the service or a hook answers with."""
        hooks = self._hooks
        try:
            if hooks.before_call:
                hooks.before_call(self._name, name, parameters)
            outcome: Response | ServiceError
            try:
                outcome = method(**parameters)
            except ServiceError as error:
                outcome = error
            if hooks.after_call:
                hooks.after_call(self._name, name, parameters, outcome)
        except ServiceError as error:
            return error
        return outcome
