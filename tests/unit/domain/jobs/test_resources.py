"""Container sizes that Fargate supports."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.errors import Invalid
from punctual.domain.jobs.resources import Resources, parse_resources

# vCPU, then the valid memory in GB: minimum, maximum, step
TABLE = [(0.5, 1, 4, 1), (1, 2, 8, 1), (2, 4, 16, 1), (4, 8, 30, 1), (8, 16, 60, 4), (16, 32, 120, 8)]
PAIRS = {(0.25, 512), (0.25, 1024), (0.25, 2048)} | {
    (vcpu, 1024 * gigabytes) for vcpu, low, high, step in TABLE for gigabytes in range(low, high + 1, step)
}


def refusal(spec: object) -> Invalid:
    with pytest.raises(Invalid) as refused:
        parse_resources(spec)
    return refused.value


def test_the_default_container_has_one_vcpu_and_two_gigabytes() -> None:
    assert parse_resources(None) == parse_resources({}) == Resources(cpu=1024, memory_mb=2048, spot=False)
    assert parse_resources({"spot": True}) == Resources(spot=True)
    assert parse_resources({"vcpu": None, "memory_mb": None, "spot": None}) == Resources()


@pytest.mark.parametrize(("vcpu", "memory_mb"), sorted(PAIRS))
def test_every_fargate_size_is_accepted_and_round_trips(vcpu: float, memory_mb: int) -> None:
    spec = {"vcpu": vcpu, "memory_mb": memory_mb, "spot": True}
    resources = parse_resources(spec)
    assert resources == Resources(int(vcpu * 1024), memory_mb, spot=True)
    assert resources.to_spec() == spec
    assert parse_resources(json.loads(json.dumps(resources.to_spec()))) == resources


def test_whole_vcpus_are_shown_as_whole_numbers() -> None:
    assert json.dumps(parse_resources({"vcpu": 2.0}).to_spec()) == '{"vcpu": 2, "memory_mb": 4096, "spot": false}'
    assert json.dumps(Resources(cpu=512, memory_mb=1024).vcpu) == "0.5"


@pytest.mark.parametrize(
    ("vcpu", "memory_mb"),
    [(0.25, 512), (0.5, 1024), (1, 2048), (2, 4096), (4, 8192), (8, 16384), (16, 32768)],
)
def test_vcpu_alone_gets_two_gigabytes_per_vcpu(vcpu: float, memory_mb: int) -> None:
    assert parse_resources({"vcpu": vcpu}).memory_mb == memory_mb


@pytest.mark.parametrize(
    ("memory_mb", "vcpu"),
    [(512, 0.25), (2048, 0.25), (3072, 0.5), (5120, 1), (9216, 2), (30720, 4), (32768, 8), (61440, 8), (122880, 16)],
)
def test_memory_alone_gets_the_smallest_vcpu_valid_for_it(memory_mb: int, vcpu: float) -> None:
    assert parse_resources({"memory_mb": memory_mb}).vcpu == vcpu


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (
            {"vcpu": 3},
            "resources.vcpu",
            "Fargate has 0.25, 0.5, 1, 2, 4, 8 or 16 vCPU; nearest to 3: 2 or 4",
        ),
        ({"vcpu": 0}, "resources.vcpu", "nearest to 0: 0.25"),
        ({"vcpu": -1, "memory_mb": 4096}, "resources.vcpu", "nearest to -1: 0.25"),
        ({"vcpu": 0.3}, "resources.vcpu", "nearest to 0.3: 0.25 or 0.5"),
        ({"vcpu": 64}, "resources.vcpu", "nearest to 64: 16"),
        ({"vcpu": 10**400}, "resources.vcpu", "nearest to 10000000000000000000: 16"),
        ({"vcpu": 1e308}, "resources.vcpu", "nearest to 1e+308: 16"),
        ({"vcpu": float("nan")}, "resources.vcpu", "must be a number, such as 0.5 or 2"),
        ({"vcpu": float("inf")}, "resources.vcpu", "must be a number"),
        ({"vcpu": "2"}, "resources.vcpu", "must be a number"),
        ({"vcpu": True}, "resources.vcpu", "must be a number"),
        (
            {"vcpu": 2, "memory_mb": 2000},
            "resources.memory_mb",
            "2 vCPU take 4096 to 16384 MB in steps of 1024; nearest: 4096",
        ),
        ({"vcpu": 2, "memory_mb": 5000}, "resources.memory_mb", "nearest: 4096 or 5120"),
        (
            {"vcpu": 8, "memory_mb": 17408},
            "resources.memory_mb",
            "16384 to 61440 MB in steps of 4096; nearest: 16384 or",
        ),
        ({"vcpu": 16, "memory_mb": 999_999}, "resources.memory_mb", "in steps of 8192; nearest: 122880"),
        ({"vcpu": 1, "memory_mb": 0}, "resources.memory_mb", "1 vCPU takes 2048 to 8192 MB"),
        (
            {"vcpu": 0.25, "memory_mb": 1536},
            "resources.memory_mb",
            "0.25 vCPU takes 512, 1024 or 2048 MB; nearest: 1024 or 2048",
        ),
        ({"memory_mb": 9000}, "resources.memory_mb", "no vCPU takes 9000 MB; nearest: 8192 or 9216"),
        ({"memory_mb": 1}, "resources.memory_mb", "no vCPU takes 1 MB; nearest: 512"),
        ({"memory_mb": 4096.0}, "resources.memory_mb", "must be a whole number of megabytes, such as 4096"),
        ({"memory_mb": True}, "resources.memory_mb", "must be a whole number"),
        ({"memory_mb": "4 GB"}, "resources.memory_mb", "must be a whole number"),
        ({"spot": 1}, "resources.spot", "must be true or false"),
        ({"memory": 4096}, "resources.memory", "is not a known field; use vcpu, memory_mb, spot"),
        ("large", "resources", "must be an object"),
        ([], "resources", "must be an object"),
    ],
)
def test_an_invalid_size_is_rejected_with_the_valid_sizes(spec: object, field: str, message: str) -> None:
    refused = refusal(spec)
    assert refused.field == field
    assert message in refused.message


@given(st.sampled_from([0.25, 0.5, 1, 2, 4, 8, 16]), st.integers(-1, 130_000))
def test_only_the_sizes_in_the_table_are_accepted(vcpu: float, memory_mb: int) -> None:
    spec = {"vcpu": vcpu, "memory_mb": memory_mb}
    if (vcpu, memory_mb) in PAIRS:
        assert parse_resources(spec).to_spec() == {**spec, "spot": False}
    else:
        nearest = refusal(spec).message.rpartition(": ")[2].split(" or ")
        assert all((vcpu, int(choice)) in PAIRS for choice in nearest)
