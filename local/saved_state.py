"""Repairs the saved state of the emulator before its next start.

Two parts of the saved state are invalid then: the positions of stream consumers, because the streams themselves are not
saved, and the messages in flight, because their functions have ended.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def repair(state: Path) -> None:
    """Correct both in the folder `state`. Idempotent."""
    _edit(state / "lambda.json", rewind_readers)
    _edit(state / "sqs.json", return_messages)


def move(state: Path, old_port: int, new_port: int) -> None:
    """Prepare the state for another port: the URLs of queues contain the port."""
    for file in state.glob("*.json"):
        text = file.read_text()
        moved = text.replace(f"http://localhost:{old_port}/", f"http://localhost:{new_port}/")
        if moved != text:
            _replace(file, moved)


def saved_at(state: Path) -> datetime | None:
    """When the emulator last saved its tables."""
    file = state / "dynamodb.json"
    return datetime.fromtimestamp(file.stat().st_mtime, tz=UTC) if file.exists() else None


def rewind_readers(payload: dict[str, Any]) -> None:
    """Reset consumer positions: consumers beyond the end of the empty stream would skip new records."""
    positions = payload.get("dynamodb_stream_positions", {}).get("data", {})
    for reader in positions:
        positions[reader] = 0


def return_messages(payload: dict[str, Any]) -> None:
    """End the visibility timeout of messages in flight: their consumers no longer exist."""
    for queue in payload.get("queues", {}).get("data", {}).values():
        for message in queue["messages"]:
            if message["receive_count"] > 0:
                message["visible_at"] = 0


def _edit(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    if not file.exists():
        return
    saved = json.loads(file.read_text())
    change(saved["payload"])
    _replace(file, json.dumps(saved))


def _replace(file: Path, text: str) -> None:
    temporary = file.with_suffix(".new")
    temporary.write_text(text)
    temporary.replace(file)
