"""Builds Lambda assets without Docker: a function's folder with the tasks, and the layer of wheels."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from platform import machine

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_

from cdk.platform import Platform

ROOT = Path(__file__).parents[1]
CONSOLE = ROOT / "console"
WHEELS = ROOT / ".build" / "wheels"
LAMBDA_PYTHON = "3.13"
NOT_SHIPPED = ("__pycache__", "*.pyc")
# BundlingOptions requires an image. CDK never pulls it, because each local bundler below succeeds.
_NO_IMAGE = "scratch"


def plain(folder: Path) -> lambda_.Code:
    """A folder without Python's cache files."""
    return lambda_.Code.from_asset(str(folder), exclude=[f"**/{name}" for name in NOT_SHIPPED])


def with_tasks(function: Path) -> lambda_.Code:
    """The folder of a function, with the package `tasks` added beside its handler."""
    return lambda_.Code.from_asset(
        str(function),
        asset_hash_type=AssetHashType.OUTPUT,
        bundling=BundlingOptions(image=DockerImage.from_registry(_NO_IMAGE), local=TasksBeside(function)),
    )


def with_console(function: Path) -> lambda_.Code:
    """The folder of a function, with the built console in `dist`."""
    return lambda_.Code.from_asset(
        str(function),
        asset_hash_type=AssetHashType.OUTPUT,
        bundling=BundlingOptions(image=DockerImage.from_registry(_NO_IMAGE), local=BuiltConsole(function)),
    )


def wheels(lock: Path, platform: Platform) -> lambda_.Code:
    """A layer with the packages of the lock file `lock`, for `platform`."""
    bundler = Wheels(lock, platform)
    return lambda_.Code.from_asset(
        str(lock.parent),
        asset_hash=bundler.fingerprint,
        bundling=BundlingOptions(image=DockerImage.from_registry(_NO_IMAGE), local=bundler),
    )


@jsii.implements(ILocalBundling)
class TasksBeside:
    def __init__(self, function: Path) -> None:
        self._function = function

    def try_bundle(self, output_dir: str, *_options: object, **_more: object) -> bool:
        ignore = shutil.ignore_patterns(*NOT_SHIPPED)
        shutil.copytree(self._function, output_dir, ignore=ignore, dirs_exist_ok=True)
        shutil.copytree(ROOT / "tasks", Path(output_dir, "tasks"), ignore=ignore)
        return True


@jsii.implements(ILocalBundling)
class BuiltConsole:
    def __init__(self, function: Path) -> None:
        self._function = function

    def try_bundle(self, output_dir: str, *_options: object, **_more: object) -> bool:
        ignore = shutil.ignore_patterns(*NOT_SHIPPED)
        shutil.copytree(self._function, output_dir, ignore=ignore, dirs_exist_ok=True)
        vite = ROOT / "node_modules" / ".bin" / "vite"
        command = [str(vite), "build", "--logLevel", "warn", "--outDir", str(Path(output_dir, "dist").absolute())]
        subprocess.run([*command, "--emptyOutDir"], cwd=CONSOLE, check=True)
        return True


@jsii.implements(ILocalBundling)
class Wheels:
    """Installs packages once per fingerprint. Later synths reuse the folder in `.build/`."""

    def __init__(self, lock: Path, platform: Platform) -> None:
        self._lock = lock
        self._platform = platform

    @property
    def fingerprint(self) -> str:
        """A hash that changes whenever the installed packages would."""
        host = f"{sys.platform}-{machine()}-{sys.implementation.cache_tag}"
        python = LAMBDA_PYTHON if self._platform.wheels else host
        parts = (self._lock.read_text(), repr(self._platform), python)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def try_bundle(self, output_dir: str, *_options: object, **_more: object) -> bool:
        shutil.copytree(self.folder(), Path(output_dir, "python"))
        return True

    def folder(self) -> Path:
        """The installed packages. The first call installs them."""
        cache = WHEELS / self.fingerprint
        if not cache.exists():
            self._install(cache)
        return cache

    def command(self, target: Path) -> list[str]:
        """The command that installs the packages into `target`."""
        command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-config"]
        command += ["--python", sys.executable, "--target", str(target), "--only-binary", ":all:"]
        if self._platform.wheels:
            command += ["--python-platform", self._platform.wheels, "--python-version", LAMBDA_PYTHON]
        return [*command, "--require-hashes", "--no-deps", "--requirement", str(self._lock)]

    def _install(self, cache: Path) -> None:
        WHEELS.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=WHEELS) as scratch:
            target = Path(scratch, "python")
            subprocess.run(self.command(target), check=True)
            _strip(target)
            with suppress(OSError):  # a concurrent synth has already put the same files there
                target.rename(cache)


def _strip(target: Path) -> None:
    """Remove files that no function imports."""
    for name in ("bin", "__pycache__", "tests"):
        for folder in sorted(target.rglob(name), reverse=True):
            if folder.is_dir():
                shutil.rmtree(folder)
