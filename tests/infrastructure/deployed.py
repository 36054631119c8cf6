"""Queries on a synthesised stack by the names of the design instead of CloudFormation's logical ids."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aws_cdk import App

Resource = dict[str, Any]
SHORT_LANE = ("api", "console", "planner", "dispatcher", "worker", "settler", "intake")
LONG_LANE = ("conductor", "reporter", "observer", "admission", "reconciler")
WATCH = ("monitor", "notifier", "bulk")
FUNCTIONS = (*SHORT_LANE, *LONG_LANE, *WATCH)
QUEUES = ("high", "normal", "low", "intake", "checks", "notices", "bulk")
DEAD_LETTER_READERS = (*QUEUES, "planner", "settler", "admission", "observer")


@dataclass(frozen=True)
class Deployed:
    directory: Path
    template: dict[str, Any]

    @classmethod
    def of(cls, app: App) -> "Deployed":
        directory = Path(app.synth().directory)
        return cls(directory, json.loads(_file(directory, "template").read_text()))

    @property
    def template_file(self) -> Path:
        return _file(self.directory, "template")

    @property
    def assets_file(self) -> Path:
        return _file(self.directory, "assets")

    def all(self, kind: str) -> dict[str, Resource]:
        """The properties of every resource of one type, by readable name."""
        found = self.template["Resources"].items()
        return {_name(key): value["Properties"] for key, value in found if value["Type"] == kind}

    def one(self, kind: str, name: str) -> Resource:
        return self.all(kind)[name]

    def function(self, name: str) -> Resource:
        return self.one("AWS::Lambda::Function", f"{name.title()}Function")

    def environment(self, name: str) -> dict[str, str]:
        """The function's environment variables; references to resources are replaced by readable names."""
        variables = self.function(name)["Environment"]["Variables"]
        return {key: readable(value) for key, value in variables.items()}

    def permissions(self, role: str) -> set[tuple[str, str]]:
        """Every (action, resource) pair that the policies of the role allow."""
        return self._pairs(role, "Allow")

    def denials(self, role: str) -> set[tuple[str, str]]:
        """Every (action, resource) pair that the policies of the role deny."""
        return self._pairs(role, "Deny")

    def _pairs(self, role: str, effect: str) -> set[tuple[str, str]]:
        return {
            (action, readable(resource))
            for statement in self._statements(role)
            if statement["Effect"] == effect
            for action in _list(statement["Action"])
            for resource in _list(statement["Resource"])
        }

    def conditions(self, role: str, action: str) -> list[dict[str, Any]]:
        """The conditions under which the role allows the action, one per statement that contains it."""
        return [
            {
                name: {key: readable(value) for key, value in keys.items()}
                for name, keys in statement.get("Condition", {}).items()
            }
            for statement in self._statements(role)
            if action in _list(statement["Action"])
        ]

    def trust(self, role: str) -> Resource:
        """The only statement of the role's trust policy."""
        (statement,) = self.one("AWS::IAM::Role", role)["AssumeRolePolicyDocument"]["Statement"]
        return dict(statement)

    def ticks(self, function: str) -> list[Resource]:
        """The schedules that invoke a function."""
        target = f"{function.title()}Function.Arn"
        schedules = self.all("AWS::Scheduler::Schedule").values()
        return [schedule for schedule in schedules if readable(schedule["Target"]["Arn"]) == target]

    def alarms(self) -> dict[str, Resource]:
        """The alarms, by name without the prefix of the stack."""
        alarms = self.all("AWS::CloudWatch::Alarm").values()
        return {alarm["AlarmName"].split("-", 2)[2]: alarm for alarm in alarms}

    def state_machine(self) -> Resource:
        """The deployed definition; references to resources are replaced by readable names."""
        (machine,) = self.all("AWS::StepFunctions::StateMachine").values()
        text = (self.directory / f"asset.{machine['DefinitionS3Location']['Key']}").read_text()
        for name, value in machine["DefinitionSubstitutions"].items():
            text = text.replace(f"${{{name}}}", readable(value))
        return dict(json.loads(text))

    def sources(self, function: str) -> dict[str, Resource]:
        """The event source mappings of a function, by the readable name of the source."""
        target = f"{function.title()}Function.Arn"
        mappings = self.all("AWS::Lambda::EventSourceMapping").values()
        return {
            readable(mapping["EventSourceArn"]): mapping
            for mapping in mappings
            if readable(mapping["FunctionName"]) == target
        }

    def _statements(self, role: str) -> list[Resource]:
        return [
            statement
            for policy in self.all("AWS::IAM::Policy").values()
            if {"Ref": self._id(role)} in policy["Roles"]
            for statement in policy["PolicyDocument"]["Statement"]
        ]

    def _id(self, name: str) -> str:
        (found,) = (key for key in self.template["Resources"] if _name(key) == name)
        return str(found)


def readable(value: Any) -> str:
    """Render a value: `{"Fn::GetAtt": ["TablesJobs1A2B3C4D", "Arn"]}` becomes `TablesJobs.Arn`; joins are evaluated."""
    match value:
        case str():
            return value
        case {"Ref": name}:
            return _name(name)
        case {"Fn::GetAtt": [name, attribute]}:
            return f"{_name(name)}.{attribute}"
        case {"Fn::Join": ["", parts]}:
            return "".join(readable(part) for part in parts)
        case {"Fn::Sub": str(text)}:
            return re.sub(r"\$\{([^}]+)}", r"\1", text)
    raise AssertionError(f"cannot read {value}")


def patterns(source: Resource) -> list[dict[str, Any]]:
    """The filters of an event source. A record must match at least one of them."""
    return [dict(json.loads(one["Pattern"])) for one in source["FilterCriteria"]["Filters"]]


def pattern(source: Resource) -> dict[str, Any]:
    """The only filter of an event source."""
    (only,) = patterns(source)
    return only


def _name(logical_id: str) -> str:
    return re.sub(r"[0-9A-F]{8}$", "", logical_id)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _file(directory: Path, kind: str) -> Path:
    (file,) = directory.glob(f"Punctual-*.{kind}.json")
    return file
