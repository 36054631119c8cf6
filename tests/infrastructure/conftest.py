"""Fixtures of the infrastructure tests: each stage is synthesised once per session, without bundling or downloads."""

import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App

from cdk.stack import PunctualStack
from cdk.stages import for_stage
from tests.infrastructure.deployed import Deployed

ROOT = Path(__file__).parents[2]


def new_app(stage: str, **options: Any) -> App:
    """The application of app.py, not yet synthesised, with the feature flags of cdk.json."""
    flags = json.loads((ROOT / "cdk.json").read_text())["context"]
    app = App(context={**flags, "stage": stage, "aws:cdk:bundling-stacks": []}, **options)
    PunctualStack(app, settings=for_stage(stage))
    return app


@pytest.fixture(scope="session")
def prod(tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """The stack that `cdk deploy` creates in an account."""
    return Deployed.of(new_app("prod", outdir=str(tmp_path_factory.mktemp("prod"))))


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """The stack that `make up` deploys to the emulator."""
    return Deployed.of(new_app("local", outdir=str(tmp_path_factory.mktemp("local"))))
