"""Pauses the garbage collector while a function imports its modules.

Imports create many objects and hardly any garbage, but the collector searches them again and again: a tenth of the
import of the planner. A handler imports this module first; the decorator ``function`` resumes the collector.
"""

from __future__ import annotations

import gc

gc.disable()


def end() -> None:
    """Resume the collector, which never searches what the imports have created. Idempotent."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
