"""What the emulator saved when it stopped, made ready for its next start.

Two things that it saved are no longer true by then: how far the readers of a stream came, because the streams
themselves are not saved, and which messages are in the hands of a function, because all functions are gone.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def mend(state: Path) -> None:
    """Correct both in the folder `state`. Repeating it changes nothing."""
    _edit(state / "lambda.json", rewind_readers)
    _edit(state / "sqs.json", return_messages)


def move(state: Path, old_port: int, new_port: int) -> None:
    """Let the emulator start on another port: the addresses of its queues, which it hands out, name it."""
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
    """Readers that stand beyond the end of an empty stream would skip what is written until it reaches them."""
    positions = payload.get("dynamodb_stream_positions", {}).get("data", {})
    for reader in positions:
        positions[reader] = 0


def return_messages(payload: dict[str, Any]) -> None:
    """A message that was received stays hidden from others for many minutes: nobody holds it any more."""
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
