"""The emulator's process: whose it is, and what is done to its saved state before it starts again."""

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
from local.saved_state import mend, move


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = Places(tmp_path / "local")
    places.create()
    return places


def test_a_recorded_process_that_does_not_hold_the_lock_is_not_the_emulator(places: Places) -> None:
    places.lock.write_text(json.dumps({"pid": os.getpid(), "port": 4700}))
    emulator = Emulator(places, 4700)
    assert emulator.pid() is None
    assert emulator.stop() is False  # and this process is still here to say so


def test_a_process_that_holds_the_lock_is_the_emulator(places: Places) -> None:
    places.lock.write_text(json.dumps({"pid": 4242, "port": 4700}))
    with exclusive(places.lock, "not expected"):
        assert Emulator(places, 4700).pid() == 4242


def test_a_port_in_use_is_said_in_one_sentence_and_starts_nothing(places: Places) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortTaken, match=f"Port {port} is in use by something else"):
            Emulator(places, port).start()
    assert not places.state.exists()


def test_two_at_once_are_refused(places: Places) -> None:
    lock = places.directory / "up.lock"
    with exclusive(lock, "first"), pytest.raises(EmulatorFailed, match="busy"), exclusive(lock, "busy"):
        pass


def test_the_last_port_is_remembered(places: Places) -> None:
    assert recorded_port(places) is None
    places.lock.write_text(json.dumps({"pid": 1, "port": 4711}))
    assert recorded_port(places) == 4711


def test_readers_begin_at_the_start_of_streams_that_were_not_saved(places: Places) -> None:
    saved = _save(places, "lambda.json", {"dynamodb_stream_positions": {"data": {"one": 12, "two": 7}}})
    mend(places.state)
    assert _payload(saved)["dynamodb_stream_positions"]["data"] == {"one": 0, "two": 0}


def test_messages_that_a_dead_function_held_come_back_and_delayed_ones_wait_on(places: Places) -> None:
    messages = [
        {"id": "held", "receive_count": 1, "visible_at": 9e9},
        {"id": "delayed", "receive_count": 0, "visible_at": 9e9},
    ]
    saved = _save(places, "sqs.json", {"queues": {"data": {"queue": {"messages": messages}}}})
    mend(places.state)
    held, delayed = _payload(saved)["queues"]["data"]["queue"]["messages"]
    assert held["visible_at"] == 0
    assert delayed["visible_at"] == 9e9


def test_queues_keep_their_messages_on_another_port(places: Places) -> None:
    saved = _save(places, "sqs.json", {"queues": {"data": {"http://localhost:4566/0/q": {"messages": []}}}})
    move(places.state, 4566, 4711)
    assert list(_payload(saved)["queues"]["data"]) == ["http://localhost:4711/0/q"]


def test_a_first_start_has_nothing_to_mend(places: Places) -> None:
    mend(places.state)
    assert not places.state.exists()


def test_secrets_are_for_their_owner_alone(places: Places) -> None:
    write_private(places.stack_file, {"tokens": {}})
    write_private(places.stack_file, {"tokens": {"admin": "…"}})
    assert places.stack_file.stat().st_mode & 0o777 == 0o600
    assert places.directory.stat().st_mode & 0o777 == 0o700


def test_forgetting_keeps_the_logs(places: Places) -> None:
    places.state.mkdir()
    places.emulator_log.write_text("why it failed")
    write_private(places.stack_file, {})
    places.forget()
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
