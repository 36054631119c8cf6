"""The platform for which functions and their layers are built."""

from dataclasses import dataclass

WHEELS = {"arm64": "aarch64-manylinux2014", "x86_64": "x86_64-manylinux2014"}
"""The platform tag of the wheels of each architecture."""


@dataclass(frozen=True)
class Platform:
    """The platform of the functions, which decides the wheels of their layer."""

    architecture: str
    """`arm64` or `x86_64`, in Lambda's spelling."""
    wheels: str | None
    """The platform tag of the wheels. `None` means the platform of the build machine."""
