"""How large a container is: only the pairs of vCPU and memory that Fargate has."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from punctual.domain.errors import Invalid

_MEMORY: dict[int, tuple[int, ...]] = {
    256: (512, 1024, 2048),
    512: tuple(range(1024, 4096 + 1, 1024)),
    1024: tuple(range(2048, 8192 + 1, 1024)),
    2048: tuple(range(4096, 16384 + 1, 1024)),
    4096: tuple(range(8192, 30720 + 1, 1024)),
    8192: tuple(range(16384, 61440 + 1, 4096)),
    16384: tuple(range(32768, 122880 + 1, 8192)),
}
"""The megabytes that go with each number of CPU units. The least is never under 2 GB for each vCPU."""

_KEYS = ("vcpu", "memory_mb", "spot")


@dataclass(frozen=True)
class Resources:
    """What one container gets. Build one from outside with ``parse_resources``; the constructor trusts."""

    cpu: int = 1024
    """In 1/1024 of a vCPU, as ECS counts."""
    memory_mb: int = 2048
    spot: bool = False
    """Whether it runs on spare capacity: cheaper, and may be stopped at two minutes' notice."""

    @property
    def vcpu(self) -> float:
        """A whole number where it can be."""
        return _vcpu(self.cpu)

    def to_spec(self) -> dict[str, Any]:
        """As the API takes and shows it; ``parse_resources`` reads it back."""
        return {"vcpu": self.vcpu, "memory_mb": self.memory_mb, "spot": self.spot}


def parse_resources(spec: Mapping[str, Any] | None) -> Resources:
    """From the API's form. Raises ``Invalid``, naming the field and the nearest sizes that there are.

    vCPU without memory gets the least memory that goes with it; memory without vCPU the smallest vCPU that takes it.
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
            raise Invalid(f"resources.{key}", f"is not known here; use {', '.join(_KEYS)}")
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
    """``cpu`` is what it has to go with; None for whatever takes it."""
    if isinstance(memory_mb, bool) or not isinstance(memory_mb, int):
        raise Invalid("resources.memory_mb", "must be a whole number of megabytes, such as 4096")
    choices = sorted(set().union(*_MEMORY.values())) if cpu is None else _MEMORY[cpu]
    if memory_mb not in choices:
        which = f"no vCPU takes {str(memory_mb)[:20]} MB" if cpu is None else _taken_by(cpu)
        raise Invalid("resources.memory_mb", f"{which}; nearest: {_either(_nearest(memory_mb, choices))}")
    return memory_mb


def _parse_spot(spot: object) -> bool:
    if not isinstance(spot, bool):
        raise Invalid("resources.spot", "can only be true or false")
    return spot


def _taken_by(cpu: int) -> str:
    """``2 vCPU take 4096 to 16384 MB in steps of 1024``."""
    first, second, *_, last = _MEMORY[cpu]
    step = second - first
    even = _MEMORY[cpu] == tuple(range(first, last + 1, step))
    choices = f"{first} to {last} MB in steps of {step}" if even else f"{_either(_MEMORY[cpu])} MB"
    return f"{_vcpu(cpu)} vCPU {'takes' if cpu <= 1024 else 'take'} {choices}"


def _vcpu(cpu: int) -> float:
    return cpu // 1024 if cpu % 1024 == 0 else cpu / 1024


def _nearest(value: float, choices: Iterable[float]) -> list[float]:
    """The choice below ``value`` and the one above it, as far as there are any. ``choices`` ascend."""
    ascending = list(choices)
    place = bisect_left(ascending, value)
    return ascending[max(place - 1, 0) : place + 1]


def _either(choices: Iterable[float]) -> str:
    *others, last = map(str, choices)
    return f"{', '.join(others)} or {last}" if others else last
