"""Where things lie: the project, and the folder that holds one local stack's state."""

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
    """The files of one local stack. Whoever removes `directory` starts anew."""

    directory: Path

    @classmethod
    def from_env(cls) -> "Places":
        """`PUNCTUAL_LOCAL_DIR`, or `.local` in the project."""
        return cls(Path(os.environ.get("PUNCTUAL_LOCAL_DIR") or ROOT / ".local").absolute())

    def create(self) -> None:
        """Make the folder, for its owner alone: it holds passwords and tokens."""
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)

    def forget(self) -> None:
        """Remove what the emulator kept and what was known about it; the logs stay."""
        for folder in (self.state, self.objects, self.scratch):
            shutil.rmtree(folder, ignore_errors=True)
        for file in (self.passwords, self.stack_file):
            file.unlink(missing_ok=True)

    @property
    def state(self) -> Path:
        """What the emulator keeps: tables, queues, functions, users."""
        return self.directory / "state"

    @property
    def objects(self) -> Path:
        """What the emulator's S3 keeps."""
        return self.directory / "s3"

    @property
    def scratch(self) -> Path:
        """The emulator's temporary files, emptied before each start."""
        return self.directory / "tmp"

    @property
    def lock(self) -> Path:
        """Held by the running emulator; holds its process id."""
        return self.directory / "emulator.lock"

    @property
    def emulator_log(self) -> Path:
        return self.directory / "emulator.log"

    @property
    def fargate_lock(self) -> Path:
        """Held by the stand-in for Fargate; holds its process id."""
        return self.directory / "fargate.lock"

    @property
    def fargate_log(self) -> Path:
        return self.directory / "fargate.log"

    @property
    def containers(self) -> Path:
        """The files of what the stand-in for Fargate runs: a lock and a folder each, until it ended."""
        return self.directory / "containers"

    @property
    def deploy_log(self) -> Path:
        return self.directory / "deploy.log"

    @property
    def assembly(self) -> Path:
        """What `cdk synth` made."""
        return self.directory / "cdk.out"

    @property
    def passwords(self) -> Path:
        return self.directory / "passwords.json"

    @property
    def stack_file(self) -> Path:
        """What a client needs to know: see `local.stack_file`."""
        return self.directory / "stack.json"
