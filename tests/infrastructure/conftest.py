"""One synth of each stage per session; bundling is off, so nothing is downloaded."""

import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App

from cdk.settings import for_stage
from cdk.stack import PunctualStack
from tests.infrastructure.deployed import Deployed

ROOT = Path(__file__).parents[2]


def new_app(stage: str, **options: Any) -> App:
    """The application of app.py, not yet synthesised, with the feature flags that the CLI would pass."""
    flags = json.loads((ROOT / "cdk.json").read_text())["context"]
    app = App(context={**flags, "stage": stage, "aws:cdk:bundling-stacks": []}, **options)
    PunctualStack(app, "Punctual", settings=for_stage(stage))
    return app


@pytest.fixture(scope="session")
def prod(tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """What `cdk deploy` would put into an account."""
    return Deployed.of(new_app("prod", outdir=str(tmp_path_factory.mktemp("prod"))))


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """What `make up` puts onto the emulator."""
    return Deployed.of(new_app("local", outdir=str(tmp_path_factory.mktemp("local"))))
