"""The lock files of the packages that are deployed: every version with the hashes of its files.

`make lock` writes them after a change of `layers/vendor/requirements.txt`, to which a team adds the packages that its
tasks import.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
VENDOR = ROOT / "layers" / "vendor"
REQUIREMENTS = VENDOR / "requirements.txt"
FOR_FUNCTIONS = VENDOR / "functions.lock"
FOR_CONTAINERS = VENDOR / "containers.lock"
# The Lambda runtime contains boto3, the image of the containers does not.
LOCKS = {FOR_FUNCTIONS: "", FOR_CONTAINERS: "boto3"}
OLDEST_PYTHON = "3.11"


class LockOutdated(Exception):
    """A lock file was written for other requirements."""


def require_current(requirements: Path = REQUIREMENTS, locks: tuple[Path, ...] = tuple(LOCKS)) -> None:
    """Raise `LockOutdated`, unless each lock file was written for the `requirements`."""
    for lock in locks:
        if not lock.exists() or lock.read_text().partition("\n")[0] != _header(requirements):
            raise LockOutdated(
                f"layers/vendor/{lock.name} was not written for the packages in layers/vendor/{requirements.name}; "
                "run `make lock`"
            )


def command(*, python: str = sys.executable) -> list[str]:
    """The command that reads more requirements from its input, and prints the content of a lock file."""
    compile_ = [python, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", OLDEST_PYTHON]
    compile_ += ["--generate-hashes", "--only-binary", ":all:", "--no-header", "--no-annotate", "--no-emit-index-url"]
    return [*compile_, "--constraint", str(CONSTRAINTS), str(REQUIREMENTS), "-"]


def main() -> int:
    """Write both lock files."""
    for lock, more in LOCKS.items():
        done = subprocess.run(command(), input=more, text=True, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            return done.returncode
        lock.write_text(f"{_header(REQUIREMENTS)}\n{done.stdout}")
        print(f"wrote {lock.relative_to(ROOT)}")
    return 0


def _header(requirements: Path) -> str:
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    return f"# Written by `make lock` for {requirements.name} {digest}"


if __name__ == "__main__":
    sys.exit(main())
