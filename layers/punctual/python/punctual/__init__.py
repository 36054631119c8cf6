"""Punctual: what a task needs.

::

    from punctual import Context, Fatal, Retry, task

    @task("greet")
    def greet(context: Context, parameters: dict) -> str:
        return f"hello, {parameters['name']}"
"""

from punctual.domain.errors import Fatal, Retry
from punctual.runtime.tasks.context import Context
from punctual.runtime.tasks.registry import calendar, collect, task

__all__ = ["Context", "Fatal", "Retry", "calendar", "collect", "task"]
