"""The console's types are generated from the OpenAPI document that the API serves."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.integration.world import World

ROOT = Path(__file__).parents[2]
TYPES = ROOT / "console" / "src" / "api" / "schema.ts"
GENERATOR = ROOT / "node_modules" / ".bin" / "openapi-typescript"


def test_the_types_of_the_console_match_the_openapi_document(world: World, tmp_path: Path) -> None:
    """`make console-types` sets UPDATE_CONSOLE_TYPES, which writes the file instead."""
    _, document = world.request("GET", "/openapi.json")
    source = tmp_path / "openapi.json"
    source.write_text(json.dumps(document))
    target = TYPES if os.environ.get("UPDATE_CONSOLE_TYPES") else tmp_path / "schema.ts"
    subprocess.run([GENERATOR, source, "--output", target, "--alphabetize"], check=True, capture_output=True)
    assert target.read_text() == TYPES.read_text(), "the API has changed: run `make console-types`"
