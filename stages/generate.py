"""Writes `stages/prod.toml.example`, which lists every setting with its default: `make docs`."""

import ast
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "layers" / "punctual" / "python")]

from cdk import settings as source  # noqa: E402 - needs the path above
from cdk.section import Section  # noqa: E402
from cdk.settings import PROD  # noqa: E402
from cdk.stages import EXAMPLE, FIXED  # noqa: E402

STATEMENTS = '[{ actions = ["s3:GetObject", "s3:PutObject"], resources = ["arn:aws:s3:::example-bucket/*"] }]'
HEAD = """\
# Settings of the stage `prod`, with their defaults. Copy this file to `stages/prod.toml`, or to `stages/<stage>.toml`
# for another stage, and keep only the lines that you change. `make deploy STAGE=<stage>` deploys the stage.
"""


def example() -> str:
    """The text of the file."""
    return "\n".join([HEAD, *_lines(PROD)])


def _lines(section: Section) -> Iterator[str]:
    texts, inner = _docstrings(type(section).__name__), []
    for one in fields(section):
        value = getattr(section, one.name)
        if isinstance(value, Section):
            inner.append((one.name, value))
        elif one.name not in FIXED:
            yield f"# {texts[one.name]}"
            yield f"# {one.name} = {STATEMENTS if one.name == 'statements' else _toml(value)}\n"
    for name, value in inner:
        yield f"# {_class_docstring(type(value))}"
        yield f"[{name}]"
        yield from _lines(value)


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return '{ name = "registry.example.com/image:1" }'
    return '""' if value is None else json.dumps(list(value) if isinstance(value, tuple) else value)


def _class_docstring(kind: type[Section]) -> str:
    return (kind.__doc__ or "").split("\n")[0]


def _docstrings(name: str) -> dict[str, str]:
    """The docstrings of the attributes of a class."""
    tree = ast.parse(Path(source.__file__).read_text())
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name).body
    return {
        node.target.id: after.value.value
        for node, after in pairwise(body)
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    }


if __name__ == "__main__":
    EXAMPLE.write_text(example())
