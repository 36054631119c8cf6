"""Punctual: the public API for writing tasks.

::

    from punctual import Context, Fatal, Retry, task

    @task("greet")
    def greet(context: Context, parameters: dict) -> str:
        return f"hello, {parameters['name']}"
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from punctual.domain.errors import Fatal, Retry
    from punctual.runtime.tasks.context import Context
    from punctual.runtime.tasks.public_addresses import public_addresses
    from punctual.runtime.tasks.public_request import public_request
    from punctual.runtime.tasks.registry import calendar, collect, task

__all__ = ["Context", "Fatal", "Retry", "calendar", "collect", "public_addresses", "public_request", "task"]

_MODULES = {
    "Context": "punctual.runtime.tasks.context",
    "Fatal": "punctual.domain.errors",
    "Retry": "punctual.domain.errors",
    "calendar": "punctual.runtime.tasks.registry",
    "collect": "punctual.runtime.tasks.registry",
    "public_addresses": "punctual.runtime.tasks.public_addresses",
    "public_request": "punctual.runtime.tasks.public_request",
    "task": "punctual.runtime.tasks.registry",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use: most Lambda functions import this package but run no tasks."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
