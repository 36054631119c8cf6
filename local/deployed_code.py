"""The code that containers run: the deployed worker function and its layers, as the image on AWS contains them."""

import io
import logging
import shutil
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

DOWNLOAD_SECONDS = 30


class DeployedCode:
    """Extracts code of the function `worker` into `folder`, once per version. Not for concurrent processes."""

    def __init__(self, lambda_: Any, worker: str, folder: Path) -> None:
        self._lambda = lambda_
        self._worker = worker
        self._folder = folder

    def paths(self) -> list[Path]:
        """The folders of the tasks, the engine and the packages, in the order in which the function searches them.

        Raises `ClientError` if the function does not exist.
        """
        found = self._lambda.get_function(FunctionName=self._worker)
        layers = [one["Arn"] for one in found["Configuration"].get("Layers", [])]
        contents = [self._lambda.get_layer_version_by_arn(Arn=arn)["Content"] for arn in layers]
        tasks = self._extracted(found["Configuration"]["CodeSha256"], found["Code"]["Location"])
        return [tasks, *(self._extracted(one["CodeSha256"], one["Location"]) / "python" for one in contents)]

    def prepare(self) -> None:
        """Extract the current version, and remove all others. Call it while no container runs."""
        current = {path.relative_to(self._folder).parts[0] for path in self.paths()}
        for other in self._folder.iterdir():
            if other.name not in current:
                shutil.rmtree(other)

    def _extracted(self, version: str, location: str) -> Path:
        folder = self._folder / version.replace("/", "_")
        if not folder.exists():
            partial = folder.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            with urllib.request.urlopen(location, timeout=DOWNLOAD_SECONDS) as answer:
                zipfile.ZipFile(io.BytesIO(answer.read())).extractall(partial)
            partial.rename(folder)
            logging.info("extracted deployed code to %s", folder)
        return folder
