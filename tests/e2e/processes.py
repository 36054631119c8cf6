"""The processes of the emulator, read from /proc."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

LISTENING = "0A"


def children(parent: int) -> dict[int, str]:
    """The processes started by ``parent``, with their command lines."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process may end meanwhile
            status = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(status[1]) == parent:
                found[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
    return found


def descendants(ancestor: int) -> dict[int, str]:
    """The processes started by ``ancestor``, directly or indirectly, with their environments."""
    found: dict[int, str] = {}
    for pid in children(ancestor):
        with suppress(OSError):
            found[pid] = Path(f"/proc/{pid}/environ").read_text(errors="replace")
        found |= descendants(pid)
    return found


def listening(pid: int) -> list[tuple[str, int]]:
    """The addresses and ports on which a process listens. Addresses are hexadecimal, as in /proc/net/tcp."""
    own_sockets = {link.readlink().name for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and f"socket:[{fields[9]}]" in own_sockets:
                address, port = fields[1].split(":")
                found.append((address, int(port, 16)))
    return found
