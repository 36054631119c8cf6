"""How assets come to be, without Docker: a copy of a function with the tasks, and the layer of wheels."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_

from cdk.settings import Platform

ROOT = Path(__file__).parents[1]
WHEELS = ROOT / ".build" / "wheels"
LAMBDA_PYTHON = "3.13"
NOT_SHIPPED = ("__pycache__", "*.pyc")
# Bundling options ask for an image. It is never pulled: each bundler below does the work itself.
_NO_IMAGE = "scratch"


def plain(folder: Path) -> lambda_.Code:
    """A folder as it is, without what Python left in it."""
    return lambda_.Code.from_asset(str(folder), exclude=[f"**/{name}" for name in NOT_SHIPPED])


def with_tasks(function: Path) -> lambda_.Code:
    """The folder of a function with the package `tasks` beside its handler."""
    return lambda_.Code.from_asset(
        str(function),
        asset_hash_type=AssetHashType.OUTPUT,
        bundling=BundlingOptions(image=DockerImage.from_registry(_NO_IMAGE), local=_TasksBeside(function)),
    )


def wheels(requirements: Path, platform: Platform) -> lambda_.Code:
    """The packages that `requirements` pins, as a layer for `platform`."""
    fingerprint = _fingerprint(requirements, platform)
    return lambda_.Code.from_asset(
        str(requirements.parent),
        asset_hash=fingerprint,
        bundling=BundlingOptions(
            image=DockerImage.from_registry(_NO_IMAGE), local=_Wheels(requirements, platform, fingerprint)
        ),
    )


@jsii.implements(ILocalBundling)
class _TasksBeside:
    def __init__(self, function: Path) -> None:
        self._function = function

    def try_bundle(self, output_dir: str, *_options: object, **_more: object) -> bool:
        ignore = shutil.ignore_patterns(*NOT_SHIPPED)
        shutil.copytree(self._function, output_dir, ignore=ignore, dirs_exist_ok=True)
        shutil.copytree(ROOT / "tasks", Path(output_dir, "tasks"), ignore=ignore)
        return True


@jsii.implements(ILocalBundling)
class _Wheels:
    """Installs once per fingerprint: a second synth takes the folder that the first one left in `.build/`."""

    def __init__(self, requirements: Path, platform: Platform, fingerprint: str) -> None:
        self._requirements = requirements
        self._platform = platform
        self._cache = WHEELS / fingerprint

    def try_bundle(self, output_dir: str, *_options: object, **_more: object) -> bool:
        if not self._cache.exists():
            self._install()
        shutil.copytree(self._cache, Path(output_dir, "python"))
        return True

    def _install(self) -> None:
        WHEELS.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=WHEELS) as scratch:
            target = Path(scratch, "python")
            self._pip_install(target)
            _strip(target)
            # Whoever else installed the same meanwhile put the same files there.
            if not self._cache.exists():
                target.rename(self._cache)

    def _pip_install(self, target: Path) -> None:
        command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-config"]
        command += ["--python", sys.executable, "--target", str(target), "--only-binary", ":all:"]
        if self._platform.wheels:
            command += ["--python-platform", self._platform.wheels, "--python-version", LAMBDA_PYTHON]
        subprocess.run([*command, "--requirement", str(self._requirements)], check=True)


def _strip(target: Path) -> None:
    """Remove what no function ever imports."""
    for name in ("bin", "__pycache__", "tests"):
        for folder in sorted(target.rglob(name), reverse=True):
            if folder.is_dir():
                shutil.rmtree(folder)


def _fingerprint(requirements: Path, platform: Platform) -> str:
    host = f"{sys.platform}-{sys.implementation.cache_tag}"
    parts = (requirements.read_text(), str(platform), LAMBDA_PYTHON if platform.wheels else host)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
