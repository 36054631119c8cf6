"""The process of the emulator: how it is identified, and how its saved state is repaired before a restart."""

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from local.emulator import Emulator, exclusive, recorded_port
from local.errors import EmulatorFailed, PortTaken
from local.places import Places
from local.private_file import write_private
from local.saved_state import move, repair


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = Places(tmp_path / "local")
    places.create()
    return places


def test_a_recorded_process_that_does_not_hold_the_lock_is_not_the_emulator(places: Places) -> None:
    places.lock.write_text(json.dumps({"pid": os.getpid(), "port": 4700}))
    emulator = Emulator(places, 4700)
    assert emulator.pid() is None
    assert emulator.stop() is False  # it did not kill this process


def test_a_process_that_holds_the_lock_is_the_emulator(places: Places) -> None:
    places.lock.write_text(json.dumps({"pid": 4242, "port": 4700}))
    with exclusive(places.lock, "not expected"):
        assert Emulator(places, 4700).pid() == 4242


def test_a_port_in_use_is_reported_and_nothing_starts(places: Places) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortTaken, match=f"Port {port} is in use by another program"):
            Emulator(places, port).start()
    assert not places.state.exists()


def test_a_lock_is_held_by_one_process_at_a_time(places: Places) -> None:
    lock = places.directory / "up.lock"
    with exclusive(lock, "first"), pytest.raises(EmulatorFailed, match="busy"), exclusive(lock, "busy"):
        pass


def test_the_last_port_is_recorded(places: Places) -> None:
    assert recorded_port(places) is None
    places.lock.write_text(json.dumps({"pid": 1, "port": 4711}))
    assert recorded_port(places) == 4711


def test_stream_positions_are_reset_because_streams_are_not_saved(places: Places) -> None:
    saved = _save(places, "lambda.json", {"dynamodb_stream_positions": {"data": {"one": 12, "two": 7}}})
    repair(places.state)
    assert _payload(saved)["dynamodb_stream_positions"]["data"] == {"one": 0, "two": 0}


def test_messages_in_flight_become_visible_and_delayed_ones_stay_delayed(places: Places) -> None:
    messages = [
        {"id": "in flight", "receive_count": 1, "visible_at": 9e9},
        {"id": "delayed", "receive_count": 0, "visible_at": 9e9},
    ]
    saved = _save(places, "sqs.json", {"queues": {"data": {"queue": {"messages": messages}}}})
    repair(places.state)
    in_flight, delayed = _payload(saved)["queues"]["data"]["queue"]["messages"]
    assert in_flight["visible_at"] == 0
    assert delayed["visible_at"] == 9e9


def test_queues_keep_their_messages_when_the_port_changes(places: Places) -> None:
    saved = _save(places, "sqs.json", {"queues": {"data": {"http://localhost:4566/0/q": {"messages": []}}}})
    move(places.state, 4566, 4711)
    assert list(_payload(saved)["queues"]["data"]) == ["http://localhost:4711/0/q"]


def test_a_first_start_has_nothing_to_repair(places: Places) -> None:
    repair(places.state)
    assert not places.state.exists()


def test_secrets_are_readable_only_by_their_owner(places: Places) -> None:
    write_private(places.stack_file, {"tokens": {}})
    write_private(places.stack_file, {"tokens": {"admin": "…"}})
    assert places.stack_file.stat().st_mode & 0o777 == 0o600
    assert places.directory.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_existed_becomes_readable_only_by_its_owner(tmp_path: Path) -> None:
    places = Places(tmp_path / "shared")
    places.directory.mkdir(mode=0o755)
    places.create()
    assert places.directory.stat().st_mode & 0o777 == 0o700


def test_a_reset_keeps_the_logs(places: Places) -> None:
    places.state.mkdir()
    places.emulator_log.write_text("why it failed")
    write_private(places.stack_file, {})
    places.reset()
    assert not places.state.exists()
    assert not places.stack_file.exists()
    assert places.emulator_log.exists()


def _save(places: Places, name: str, payload: dict[str, Any]) -> Path:
    places.state.mkdir()
    file = places.state / name
    file.write_text(json.dumps({"__ministack_format__": 1, "payload": payload}))
    return file


def _payload(file: Path) -> dict[str, Any]:
    return dict(json.loads(file.read_text())["payload"])
