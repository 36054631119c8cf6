"""The EventBridge rule of ``docs/recipes/event-triggers.md``."""

from __future__ import annotations

import json
from typing import Any

from tests.recipes import ROOT, blocks_of


def pattern_and_target() -> tuple[dict[str, Any], dict[str, Any]]:
    """The pattern and the target of the recipe."""
    blocks = [json.loads(text) for kind, text in blocks_of(ROOT / "docs/recipes/event-triggers.md") if kind == "json"]
    [pattern] = [one for one in blocks if "detail-type" in one]
    [target] = [one for one in blocks if "InputTransformer" in one]
    return pattern, target
