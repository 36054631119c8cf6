"""Fixtures of the infrastructure tests: each stage is synthesised once per session, without bundling or downloads."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App

from cdk.settings import LOCAL, PROD, Settings
from cdk.stack import PunctualStack
from tests.infrastructure.deployed import Deployed

WITHOUT_LONG_LANE = replace(PROD, stage="short", long=replace(PROD.long, enabled=False))
ROOT = Path(__file__).parents[2]


def new_app(settings: Settings, **options: Any) -> App:
    """The application of app.py, not yet synthesised, with the feature flags of cdk.json."""
    flags = json.loads((ROOT / "cdk.json").read_text())["context"]
    app = App(context={**flags, "aws:cdk:bundling-stacks": []}, **options)
    PunctualStack(app, settings=settings)
    return app


@pytest.fixture(scope="session")
def prod(tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """The stack that `cdk deploy` creates in an account."""
    return Deployed.of(new_app(PROD, outdir=str(tmp_path_factory.mktemp("prod"))))


@pytest.fixture(scope="session")
def short(tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """The stack of a stage without the long lane."""
    return Deployed.of(new_app(WITHOUT_LONG_LANE, outdir=str(tmp_path_factory.mktemp("short"))))


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """The stack that `make up` deploys to the emulator."""
    return Deployed.of(new_app(LOCAL, outdir=str(tmp_path_factory.mktemp("local"))))
