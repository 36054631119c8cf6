"""A DynamoDB table as functions see it: permissions, and the environment variables that name it."""

from collections.abc import Mapping
from dataclasses import dataclass

from aws_cdk import aws_dynamodb as dynamodb

from cdk.components.function import Function


@dataclass(frozen=True)
class Table:
    resource: dynamodb.TableV2
    variables: Mapping[str, str]
    """The environment variables of every function that may use the table."""
    indexes: frozenset[str] = frozenset()

    def grant(self, function: Function, *actions: str) -> None:
        """Allow `actions`, such as `GetItem`, on the table but not on its indexes, and set the table's variables."""
        self._grant(function, actions, [self.resource.table_arn])

    def grant_query(self, function: Function, *indexes: str) -> None:
        """Allow queries of `indexes` and set the table's variables. Raises `KeyError` for an unknown index."""
        if unknown := set(indexes) - self.indexes:
            raise KeyError(f"{self.resource.node.path} has no index {', '.join(sorted(unknown))}")
        self._grant(function, ["Query"], [f"{self.resource.table_arn}/index/{index}" for index in indexes])

    def _grant(self, function: Function, actions: tuple[str, ...] | list[str], arns: list[str]) -> None:
        function.allow(*(f"dynamodb:{action}" for action in actions), on=arns)
        function.add_environment(self.variables)
