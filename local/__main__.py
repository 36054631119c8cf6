"""Commands of the Makefile: `python -m local up | down | status | logs | notices | demo | token`."""

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from local import logs as log_lines
from local import notices as published
from local.demo import Demo
from local.errors import LocalError
from local.places import Places
from local.progress import Progress
from local.stack import Stack
from local.users import USERS


def main() -> int:
    """Run the command. On failure, print one sentence to standard error and return 1."""
    arguments = _parse()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    places = Places.from_env()
    progress = Progress()
    stack = Stack(places, arguments.port, progress)
    try:
        return COMMANDS[arguments.command](stack, progress, arguments)
    except LocalError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError) as error:
        print(f"\nThe emulator returned an error: {error} (see {places.emulator_log}).", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def up(stack: Stack, progress: Progress, _arguments: argparse.Namespace) -> int:
    described = stack.up()
    progress.say(_welcome(described, stack.places))
    return 0


def down(stack: Stack, progress: Progress, _arguments: argparse.Namespace) -> int:
    with progress.step("emulator stopped, state saved"):
        was_running = stack.down()
    if not was_running:
        progress.say("Punctual was not running.")
    return 0


def status(stack: Stack, progress: Progress, _arguments: argparse.Namespace) -> int:
    progress.say(f"Punctual is running: {stack.require()['api_url']} (process {stack.emulator.pid()})")
    return 0


def logs(stack: Stack, _progress: Progress, _arguments: argparse.Namespace) -> int:
    log_lines.follow(stack.require())
    return 0


def notices(stack: Stack, _progress: Progress, _arguments: argparse.Namespace) -> int:
    published.follow(stack.require())
    return 0


def demo(stack: Stack, progress: Progress, _arguments: argparse.Namespace) -> int:
    known = stack.require()
    submitted = Demo(known).fill(progress)
    progress.say(f"{submitted} new jobs: {known['console_url']}" if submitted else "The demo is complete already.")
    return 0


def token(stack: Stack, _progress: Progress, arguments: argparse.Namespace) -> int:
    print(stack.require()["tokens"][arguments.user])
    return 0


COMMANDS = {
    "up": up,
    "down": down,
    "status": status,
    "logs": logs,
    "notices": notices,
    "demo": demo,
    "token": token,
}


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local", description="Punctual on this machine")
    parser.add_argument("--port", type=int, default=os.environ.get("PUNCTUAL_PORT") or None)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("up", help="start the stack, deploy changes, print its address")
    commands.add_parser("down", help="stop the stack and keep its state")
    commands.add_parser("status", help="show whether the stack is running, and its address")
    commands.add_parser("logs", help="follow the logs of functions and containers")
    commands.add_parser("notices", help="show notices and alarms as they arrive")
    commands.add_parser("demo", help="submit the jobs of a team, to look at")
    commands.add_parser("token", help="print an access token").add_argument(
        "user", nargs="?", default="operator", choices=list(USERS)
    )
    return parser.parse_args()


def _welcome(described: dict[str, Any], places: Places) -> str:
    return f"""
Console: {described["console_url"]}
         sign in as {", ".join(USERS)}; passwords are in {_short(places.passwords)}
         `make demo` fills it with the week of a team
API:     {described["api_url"]}
Addresses, resource names and tokens are in {_short(places.stack_file)}. Submit a job:

curl -X POST {described["api_url"]}/jobs \\
  -H "Authorization: Bearer $(.venv/bin/python -m local token)" \\
  -H "Content-Type: application/json" \\
  -d '{{"task": "echo", "parameters": {{"hello": "world"}}}}'
"""


def _short(path: Path) -> Path:
    """Relative to the working directory, if it is below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _interrupt(*_: object) -> None:
    """End the command at the first signal. Further signals are ignored while it cleans up."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
