"""Paths of the project and of the state folder of a local stack."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
REGION = "us-east-1"
ACCOUNT = "000000000000"
DEFAULT_PORT = 4566


@dataclass(frozen=True)
class Places:
    """The files of one local stack. Removing `directory` resets the stack."""

    directory: Path

    @classmethod
    def from_env(cls) -> "Places":
        """`PUNCTUAL_LOCAL_DIR`, or `.local` in the project."""
        return cls(Path(os.environ.get("PUNCTUAL_LOCAL_DIR") or ROOT / ".local").absolute())

    def create(self) -> None:
        """Create the folder, readable by its owner only: it contains passwords and tokens."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self.directory.chmod(0o700)  # also if the folder existed

    def reset(self) -> None:
        """Remove the emulator's state and everything derived from it. Keeps the logs."""
        for folder in (self.state, self.objects, self.scratch, self.code):
            shutil.rmtree(folder, ignore_errors=True)
        for file in (self.passwords, self.stack_file):
            file.unlink(missing_ok=True)

    @property
    def state(self) -> Path:
        """The emulator's saved state: tables, queues, functions, users."""
        return self.directory / "state"

    @property
    def objects(self) -> Path:
        """The objects of the emulator's S3."""
        return self.directory / "s3"

    @property
    def scratch(self) -> Path:
        """The emulator's temporary files, emptied before each start."""
        return self.directory / "tmp"

    @property
    def lock(self) -> Path:
        """Locked by the running emulator; contains its process id."""
        return self.directory / "emulator.lock"

    @property
    def emulator_log(self) -> Path:
        return self.directory / "emulator.log"

    @property
    def fargate_lock(self) -> Path:
        """Locked by the stand-in for Fargate; contains its process id."""
        return self.directory / "fargate.lock"

    @property
    def fargate_log(self) -> Path:
        return self.directory / "fargate.log"

    @property
    def containers(self) -> Path:
        """A lock file and a working folder for each running task of the stand-in for Fargate."""
        return self.directory / "containers"

    @property
    def code(self) -> Path:
        """The deployed code that containers run, by version."""
        return self.directory / "code"

    @property
    def deploy_log(self) -> Path:
        return self.directory / "deploy.log"

    @property
    def assembly(self) -> Path:
        """The cloud assembly that `cdk synth` wrote."""
        return self.directory / "cdk.out"

    @property
    def passwords(self) -> Path:
        return self.directory / "passwords.json"

    @property
    def stack_file(self) -> Path:
        """The description of the stack for clients: see `local.stack_file`."""
        return self.directory / "stack.json"
