"""Files that only their owner may read."""

import json
import os
from pathlib import Path
from typing import Any


def write_private(path: Path, content: dict[str, Any]) -> None:
    """Replace `path` atomically with `content` as JSON. The file is never readable by others."""
    temporary = path.with_suffix(".new")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(content, file, indent=2)
        file.write("\n")
    temporary.replace(path)
