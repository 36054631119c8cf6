"""Progress of commands on the console: the current step, and the duration of each."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console


class Progress:
    """Prints a line per finished step; `quiet` prints nothing."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(quiet=quiet, highlight=False)

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Show `title` during the step, then its outcome and its duration."""
        start = time.monotonic()
        try:
            with self._console.status(title):
                yield
        except BaseException:
            self._console.print(f"[red]✗[/] {title}", soft_wrap=True)
            raise
        self._console.print(f"[green]✓[/] {title} [dim]{time.monotonic() - start:.1f} s[/]", soft_wrap=True)

    def say(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)
