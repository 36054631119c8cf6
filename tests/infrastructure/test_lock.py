"""Deployed packages are pinned by the hashes of their files, and the base image of containers by its digest."""

import hashlib
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from cdk.bundling import Wheels
from cdk.lock import FOR_CONTAINERS, FOR_FUNCTIONS, LOCKS, ROOT, LockOutdated, require_current
from cdk.settings import LOCAL

PINNED = re.compile(r"([a-z0-9-]+)==(\S+)(?: ; .*)?((?: --hash=sha256:[0-9a-f]{64})+)")
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def pinned(lock: Path) -> dict[str, str]:
    """The versions in a lock file. Fails if a line has no version or no hash."""
    lines = re.sub(r" \\\n +", " ", lock.read_text()).splitlines()[1:]
    found = [PINNED.fullmatch(line) for line in lines]
    assert all(found), lines
    return {match[1]: match[2] for match in found if match}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_each_deployed_package_has_a_version_and_hashes(lock: Path) -> None:
    tested = dict(line.split(" ")[0].split("==") for line in (ROOT / "constraints.txt").read_text().splitlines()[1:])
    for name, version in pinned(lock).items():
        assert tested.get(name, version) == version, f"{name} is tested in another version: run `make lock`"


def test_functions_and_containers_have_the_same_packages_but_for_boto3() -> None:
    functions, containers = pinned(FOR_FUNCTIONS), pinned(FOR_CONTAINERS)
    assert functions.items() < containers.items()
    assert {"boto3", "botocore"} <= containers.keys() - functions.keys()


def test_the_lock_files_belong_to_the_requirements() -> None:
    require_current()


def test_a_changed_requirement_without_make_lock_is_refused(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("pandas\n")
    with pytest.raises(LockOutdated, match="run `make lock`"):
        require_current(requirements)


@pytest.mark.parametrize("is_tampered", [False, True])
def test_a_package_with_other_content_than_locked_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_tampered: bool
) -> None:
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    digest = hashlib.sha256(wheel(tmp_path / "sample-1-py3-none-any.whl").read_bytes()).hexdigest()
    lock = tmp_path / "functions.lock"
    lock.write_text(f"sample==1 --hash=sha256:{'0' * 64 if is_tampered else digest}\n")
    command = Wheels(lock, LOCAL.platform).command(tmp_path / "target")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (tmp_path / "target" / "sample.py").exists() != is_tampered
    assert ("Hash mismatch" in done.stderr) == is_tampered


def test_the_image_is_built_from_a_digest_and_installs_only_locked_files() -> None:
    (base,) = re.findall(r"^FROM (\S+)$", DOCKERFILE, re.MULTILINE)
    assert re.fullmatch(r"python:3\.13-slim@sha256:[0-9a-f]{64}", base)
    (install,) = re.findall(r"^RUN pip install (.*)$", DOCKERFILE, re.MULTILINE)
    assert {"--require-hashes", "--no-deps"} < set(install.split())
    assert install.endswith(f"--requirement {FOR_CONTAINERS.name}")


def wheel(file: Path) -> Path:
    """A package of one module, as a wheel."""
    folder = "sample-1.dist-info"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("sample.py", "")
        archive.writestr(f"{folder}/METADATA", "Metadata-Version: 2.1\nName: sample\nVersion: 1\n")
        archive.writestr(f"{folder}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{folder}/RECORD", f"sample.py,,\n{folder}/METADATA,,\n{folder}/WHEEL,,\n{folder}/RECORD,,\n")
    return file
