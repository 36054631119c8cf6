"""Rewrites the generated blocks of the documentation: ``make docs``.

A block stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``. A unit test fails when a block is out of date.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

DOCS = Path(__file__).parent
PACKAGE = DOCS.parent / "layers" / "punctual" / "python" / "punctual"
sys.path.insert(0, str(PACKAGE.parent))

sys.path.insert(1, str(DOCS.parent))

from cdk.findings import CHECKOV  # noqa: E402 - needs the path above
from punctual.domain.status import FINAL, TRANSITIONS, Status  # noqa: E402 - needs the path above
from punctual.domain.triggers import TRIGGERS, Effect, Trigger, Values  # noqa: E402

BLOCK = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
START = "[*]"
EDGES = {
    (START, "scheduled"): "planner, due beyond the horizon",
    (START, "queued"): "planner, due within the horizon; intake, message; api, manual run, manual retry or backfill",
    (START, "waiting"): "api, backfill with a concurrency limit",
    (START, "skipped"): "planner, covered instant or changed job; api, overlap rule",
    (START, "missed"): "planner, misfire rule",
    ("scheduled", "queued"): "dispatcher, due timer; conductor, one-time schedule; planner, resumed job",
    ("scheduled", "cancelled"): "job deleted or changed, or an operator cancels",
    ("scheduled", "skipped"): "planner, a scheduling rule",
    ("scheduled", "missed"): "planner, misfire rule",
    ("queued", "scheduled"): "planner, message of a paused job",
    ("queued", "queued"): "worker, delayed by a rate limit; dispatcher, sent again",
    ("queued", "running"): "worker, claim",
    ("queued", "waiting"): "planner or worker, upstream or gate; conductor, requests a slot",
    ("queued", "cancelled"): "job deleted or changed, or an operator cancels",
    ("queued", "skipped"): "planner or worker, a scheduling rule",
    ("queued", "missed"): "planner, misfire rule",
    ("waiting", "scheduled"): "planner, message of a paused job",
    ("waiting", "queued"): "upstream or gate released; dispatcher, re-check",
    ("waiting", "starting"): "admission, slot granted",
    ("waiting", "retrying"): "reconciler, state machine stopped",
    ("waiting", "skipped"): "planner, worker or settler, a scheduling rule",
    ("waiting", "failed"): "conductor, no slot within 14 days",
    ("waiting", "cancelled"): "job deleted or changed, or an operator cancels",
    ("starting", "running"): "container, claim",
    ("starting", "retrying"): "conductor, container did not start",
    ("starting", "succeeded"): "custom image, exit code 0",
    ("starting", "failed"): "conductor, attempts exhausted",
    ("starting", "timed_out"): "conductor, attempts exhausted",
    ("starting", "cancelled"): "operator",
    ("running", "running"): "next worker, lease expired",
    ("running", "succeeded"): "worker or container",
    ("running", "failed"): "worker or container, fatal or attempts exhausted",
    ("running", "timed_out"): "worker or container, attempts exhausted",
    ("running", "retrying"): "worker or container, attempt failed",
    ("running", "cancelled"): "operator, or job deleted",
    ("retrying", "queued"): "dispatcher, retry timer or sent again",
    ("retrying", "waiting"): "conductor, requests a slot",
    ("retrying", "running"): "worker, claim",
    ("retrying", "cancelled"): "job deleted or changed, or an operator cancels",
}
"""The component that makes each transition, and the reason."""


def lifecycle() -> str:
    """The state diagram of an execution."""
    lines = [f"    {START} --> {target}: {EDGES[START, target]}" for source, target in EDGES if source == START]
    for source in Status:
        targets = [target for target in Status if target in TRANSITIONS[source]]
        lines += [f"    {source} --> {target}: {EDGES[str(source), str(target)]}" for target in targets]
    lines += [f"    {status} --> {START}" for status in Status if status in FINAL]
    return _mermaid("stateDiagram-v2", lines)


def triggers() -> str:
    """The table of writes and the functions that they trigger."""
    rows = [_row(trigger) for trigger in TRIGGERS]
    return "\n".join(
        ["| table | write | function | effect | filter |", "|---|---|---|---|---|", *rows, "", *_effects()]
    )


def _row(one: Trigger) -> str:
    return f"| `{one.table}` | {one.write} | {one.function} | `{one.effect}` | {_conditions(one)} |"


def _conditions(one: Trigger) -> str:
    conditions = [f"`{name}`" for name in one.filter.events] + list(_values("old", one.filter.old))
    conditions += list(_values("new", one.filter.new))
    conditions += ["deleted by TTL"] if one.filter.by_ttl else []
    beyond = [
        *_values("old", one.was),
        *(["changed " + " or ".join(f"`{n}`" for n in one.changed)] if one.changed else []),
    ]
    return "; ".join(conditions) + (f" — then in the function: {'; '.join(beyond)}" if beyond else "")


def _values(image: str, wanted: Mapping[str, Values]) -> Iterator[str]:
    for name, values in wanted.items():
        yield f"{image} `{name}` " + (", ".join(f"`{value}`" for value in values) if values else "exists")


def _effects() -> Iterator[str]:
    source = (PACKAGE / "domain" / "triggers.py").read_text()
    body = next(node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == "Effect")
    texts = [node.value.value for node in body.body[1:] if isinstance(node, ast.Expr)]  # type: ignore[attr-defined]
    yield "| effect | meaning |"
    yield "|---|---|"
    for effect, text in zip(Effect, texts, strict=True):
        yield f"| `{effect}` | {text} |"


def packages() -> str:
    """The packages of the engine and which of them import which."""
    edges = {(source, target) for source, target in _imports() if source != target}
    return _mermaid("flowchart LR", [f"    {source} --> {target}" for source, target in sorted(edges)])


def topics(layer: str) -> str:
    """The packages of one layer and which of them import which."""
    edges = {
        (source, target)
        for source, target in _imports(depth=2, under=layer)
        if source != target and target.startswith(f"{layer}/") and "/" in source
    }
    names = [(source.split("/")[1], target.split("/")[1]) for source, target in sorted(edges)]
    return _mermaid("flowchart LR", [f"    {source} --> {target}" for source, target in names])


def _imports(depth: int = 1, under: str = "") -> Iterator[tuple[str, str]]:
    for path in sorted((PACKAGE / under).rglob("*.py")):
        source = path.relative_to(PACKAGE).parent.parts
        if not source:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("punctual."):
                parts = str(node.module).split(".")[1:]
                folder = parts if (PACKAGE / Path(*parts)).is_dir() else parts[:-1]
                if folder:
                    yield "/".join(source[:depth]), "/".join(folder[:depth])


def _mermaid(kind: str, lines: list[str]) -> str:
    return "\n".join(["```mermaid", kind, *lines, "```"])


def checkov() -> str:
    """The findings of checkov that stay, with their reasons."""
    rows = [f"| {one.check} | `{one.resource_type}` | {one.asks_for} | {one.reason} |" for one in CHECKOV]
    return "\n".join(["| check | resources | asks for | reason |", "|---|---|---|---|", *rows])


def acknowledged() -> str:
    """The rules of cdk-nag that are acknowledged at a resource, with the reasons, read from the calls in cdk/."""
    rows = set()
    for path in sorted((DOCS.parent / "cdk").rglob("*.py")):
        text = path.read_text()
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        for call in (one for one in calls if isinstance(one.func, ast.Name) and one.func.id == "acknowledge"):
            rule = _literal(call.args[1]) or (re.findall(r"AwsSolutions-\w+", text) or [""])[0]
            reason = _literal(call.args[2]) or "Each has a reason of its own in this file."
            rows.add(f"| {rule.partition('[')[0]} | `{path.relative_to(DOCS.parent)}` | {reason} |")
    return "\n".join(["| rule | at | reason |", "|---|---|---|", *sorted(rows)])


def _literal(expression: ast.expr) -> str:
    """The text of a literal, up to its first placeholder. Empty for a variable."""
    match expression:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            return text
    return ""


GENERATED = {
    "checkov": checkov,
    "cdk-nag": acknowledged,
    "lifecycle": lifecycle,
    "triggers": triggers,
    "packages": packages,
    "domain-packages": partial(topics, "domain"),
    "stage-packages": partial(topics, "stages"),
}


def up_to_date(text: str) -> str:
    """The text with its generated blocks as they should be."""
    return BLOCK.sub(lambda block: f"{block[1]}{GENERATED[block[2]]()}\n{block[3]}", text)


def main() -> None:
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text()
        if (new := up_to_date(text)) != text:
            page.write_text(new)
            print(f"rewrote {page.relative_to(DOCS.parent)}")


if __name__ == "__main__":
    main()
