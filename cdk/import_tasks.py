"""Imports the modules of `tasks/` as a deployed function does, and prints the broken ones as JSON, for `task_check`.

`python -I -S import_tasks.py TASKS ENGINE VENDOR SITE`: the folders of the tasks, the engine, the packages that are
deployed, and the packages of this machine. It sees no other packages.
"""

import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from importlib.machinery import ModuleSpec, PathFinder

# The Lambda runtime and the container image contain boto3 and the packages that it needs.
RUNTIME = ("boto3", "botocore", "dateutil", "jmespath", "s3transfer", "six", "urllib3")


class SharedFolderFinder:
    """Finds packages that share a folder with others which are not deployed."""

    def __init__(self, folders: Mapping[str, str]) -> None:
        self._folders = folders

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, [self._folders[name]]) if name in self._folders else None


def main(tasks: str, engine: str, vendor: str, site: str) -> None:
    sys.path[:0] = [vendor, engine]
    sys.meta_path.append(SharedFolderFinder({"tasks": tasks, **dict.fromkeys(RUNTIME, site)}))
    with redirect_stdout(sys.stderr):  # a module may print
        from punctual.runtime.tasks.registry import Catalog

        broken = Catalog().broken
    print(json.dumps([str(module) for module in broken]))


if __name__ == "__main__":
    main(*sys.argv[1:])
