"""Container sizes: the combinations of vCPU and memory that Fargate supports."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from punctual.domain.errors import Invalid
from punctual.domain.suggestion import one_of

_MEMORY: dict[int, tuple[int, ...]] = {
    256: (512, 1024, 2048),
    512: tuple(range(1024, 4096 + 1, 1024)),
    1024: tuple(range(2048, 8192 + 1, 1024)),
    2048: tuple(range(4096, 16384 + 1, 1024)),
    4096: tuple(range(8192, 30720 + 1, 1024)),
    8192: tuple(range(16384, 61440 + 1, 4096)),
    16384: tuple(range(32768, 122880 + 1, 8192)),
}
"""The valid memory sizes in MB for each number of CPU units. The smallest is never less than 2 GB per vCPU."""

_KEYS = ("vcpu", "memory_mb", "spot")


@dataclass(frozen=True)
class Resources:
    """The size of one container. Parse user input with ``parse_resources``; the constructor does not validate."""

    cpu: int = 1024
    """In ECS CPU units: 1024 per vCPU."""
    memory_mb: int = 2048
    spot: bool = False
    """Whether it runs on Fargate Spot: cheaper, but it may be stopped with two minutes' notice."""

    @property
    def vcpu(self) -> float:
        """The number of vCPUs, as an ``int`` if it is whole."""
        return _vcpu(self.cpu)

    def to_spec(self) -> dict[str, Any]:
        """The API's representation; the inverse of ``parse_resources``."""
        return {"vcpu": self.vcpu, "memory_mb": self.memory_mb, "spot": self.spot}


def parse_resources(spec: Mapping[str, Any] | None) -> Resources:
    """Parse the API's representation. Raises ``Invalid``, naming the field and the nearest valid sizes.

    vCPU without memory gets the smallest memory valid for it; memory without vCPU gets the smallest vCPU valid for it.
    """
    given = _given({} if spec is None else spec)
    spot = _parse_spot(given.get("spot", False))
    cpu = _parse_vcpu(given["vcpu"]) if "vcpu" in given else None
    memory_mb = _parse_memory(given["memory_mb"], cpu) if "memory_mb" in given else None
    if cpu is None and memory_mb is None:
        return Resources(spot=spot)
    if cpu is None:
        cpu = next(size for size, choices in _MEMORY.items() if memory_mb in choices)
    return Resources(cpu, memory_mb or _MEMORY[cpu][0], spot)


def _given(spec: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(spec, Mapping):
        raise Invalid("resources", 'must be an object, such as {"vcpu": 2, "memory_mb": 4096}')
    for key in spec:
        if key not in _KEYS:
            raise Invalid(f"resources.{key}", f"is not a known field; use {one_of(_KEYS, key)}")
    return {key: value for key, value in spec.items() if value is not None}


def _parse_vcpu(vcpu: object) -> int:
    if isinstance(vcpu, bool) or not isinstance(vcpu, int | float) or (isinstance(vcpu, float) and not isfinite(vcpu)):
        raise Invalid("resources.vcpu", "must be a number, such as 0.5 or 2")
    sizes = {_vcpu(cpu): cpu for cpu in _MEMORY}
    if vcpu not in sizes:
        nearest = _either(_nearest(vcpu, sizes))
        raise Invalid(
            "resources.vcpu",
            f"Fargate has {_either(sizes)} vCPU; nearest to {str(vcpu).removesuffix('.0')[:20]}: {nearest}",
        )
    return sizes[vcpu]


def _parse_memory(memory_mb: object, cpu: int | None) -> int:
    """``cpu`` is the number of CPU units to combine it with; None allows any."""
    if isinstance(memory_mb, bool) or not isinstance(memory_mb, int):
        raise Invalid("resources.memory_mb", "must be a whole number of megabytes, such as 4096")
    choices = sorted(set().union(*_MEMORY.values())) if cpu is None else _MEMORY[cpu]
    if memory_mb not in choices:
        problem = f"no vCPU takes {str(memory_mb)[:20]} MB" if cpu is None else _memory_sizes_text(cpu)
        raise Invalid("resources.memory_mb", f"{problem}; nearest: {_either(_nearest(memory_mb, choices))}")
    return memory_mb


def _parse_spot(spot: object) -> bool:
    if not isinstance(spot, bool):
        raise Invalid("resources.spot", "must be true or false")
    return spot


def _memory_sizes_text(cpu: int) -> str:
    """``2 vCPU take 4096 to 16384 MB in steps of 1024``."""
    first, second, *_, last = _MEMORY[cpu]
    step = second - first
    even = _MEMORY[cpu] == tuple(range(first, last + 1, step))
    choices = f"{first} to {last} MB in steps of {step}" if even else f"{_either(_MEMORY[cpu])} MB"
    return f"{_vcpu(cpu)} vCPU {'takes' if cpu <= 1024 else 'take'} {choices}"


def _vcpu(cpu: int) -> float:
    return cpu // 1024 if cpu % 1024 == 0 else cpu / 1024


def _nearest(value: float, choices: Iterable[float]) -> list[float]:
    """The next smaller and the next larger choice, where they exist. ``choices`` are ascending."""
    ascending = list(choices)
    place = bisect_left(ascending, value)
    return ascending[max(place - 1, 0) : place + 1]


def _either(choices: Iterable[float]) -> str:
    *others, last = map(str, choices)
    return f"{', '.join(others)} or {last}" if others else last
