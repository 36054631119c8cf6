"""Settings that fit the quotas of an account."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk.quotas import RESERVABLE, UNRESERVED, Quotas, fitted, needed_quota
from cdk.settings import PROD, Provisioned, Settings, WorkerConcurrency
from tests.infrastructure.conftest import new_app
from tests.infrastructure.deployed import Deployed

few = st.integers(0, 300)
settings = st.builds(
    lambda workers, provisioned, shards, rate: replace(
        PROD,
        concurrency=WorkerConcurrency(**dict(zip(("high", "normal", "low", "intake"), workers, strict=True))),
        provisioned=Provisioned(**dict(zip(("api", "planner", "worker"), provisioned, strict=True))),
        timer_shards=shards,
        requests_per_second=rate,
    ),
    st.tuples(*[st.integers(2, 400)] * 4),
    st.tuples(few, few, few),
    st.integers(1, 64),
    st.integers(1, 2000),
)


def fit(wanted: Settings, quota: int) -> Settings:
    return fitted(wanted, Quotas(lambda_concurrency=quota))


def total(concurrency: WorkerConcurrency) -> int:
    return concurrency.high + concurrency.normal + concurrency.low


@given(settings, st.integers(10, 5000))
def test_enough_stays_unreserved(wanted: Settings, quota: int) -> None:
    reserved = fit(wanted, quota).reserved
    assert not reserved or quota - sum(reserved.values()) >= UNRESERVED


@given(settings, st.integers(10, 5000))
def test_a_reservation_covers_the_provisioned_instances(wanted: Settings, quota: int) -> None:
    for name, reserved in fit(wanted, quota).reserved.items():
        assert reserved >= getattr(wanted.provisioned, name, 0)


@given(settings, st.integers(10, 5000))
def test_the_reservation_of_the_workers_covers_the_pollers_of_their_queues(wanted: Settings, quota: int) -> None:
    result = fit(wanted, quota)
    if "worker" in result.reserved:
        assert result.reserved["worker"] >= total(result.concurrency)


@given(settings, st.integers(10, 5000))
def test_the_workers_leave_concurrency_to_the_other_functions(wanted: Settings, quota: int) -> None:
    result = fit(wanted, quota)
    engine = sum(one for name, one in result.reserved.items() if name != "worker")
    shares = [total(result.concurrency), result.concurrency.intake]
    assert sum(shares) <= max(quota - engine - 10, 0) + 8  # at least 2 in each of the four queues


@given(settings)
def test_the_quota_that_is_requested_allows_everything(wanted: Settings) -> None:
    result = fit(wanted, needed_quota(wanted))
    assert (result.concurrency, set(result.reserved)) == (wanted.concurrency, set(RESERVABLE))


@pytest.mark.parametrize(
    ("quota", "reserved"),
    [
        (10, ""),
        (100, ""),
        (150, "dispatcher settler"),
        (200, "dispatcher planner settler"),
        (300, "dispatcher planner settler api"),
        (594, "dispatcher planner settler api"),
        (595, "dispatcher planner settler api worker"),
        (1000, "dispatcher planner settler api worker"),
    ],
)
def test_reservations_by_quota(quota: int, reserved: str) -> None:
    assert list(fit(PROD, quota).reserved) == reserved.split()


def test_an_unknown_quota_changes_nothing_and_reserves_nothing() -> None:
    assert fitted(PROD, Quotas.of(None, None)) == PROD
    assert not PROD.reserved


def test_a_function_gets_its_reservation(tmp_path_factory: pytest.TempPathFactory, prod: Deployed) -> None:
    small = replace(PROD, stage="small", long=replace(PROD.long, enabled=False), is_protected=False)
    stack = Deployed.of(new_app(fit(small, 1000), outdir=str(tmp_path_factory.mktemp("small"))))
    found = {
        name: one["ReservedConcurrentExecutions"]
        for name, one in stack.all("AWS::Lambda::Function").items()
        if "ReservedConcurrentExecutions" in one
    }
    expected = {"dispatcher": 11, "planner": 48, "settler": 16, "api": 100, "worker": 320}
    assert found == {f"{name.title()}Function": one for name, one in expected.items()}
    assert "ReservedConcurrentExecutions" not in str(prod.template)
    # While a stack is created, nothing is protected: its rollback would fail.
    assert '"DeletionProtectionEnabled": true' not in stack.template_file.read_text()
    (pool,) = stack.all("AWS::Cognito::UserPool").values()
    assert pool.get("DeletionProtection") in {None, "INACTIVE"}
