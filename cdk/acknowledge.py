"""Saying why a rule does not hold for one resource."""

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct


def acknowledge(construct: IConstruct, rule: str, reason: str) -> None:
    """Let `construct` break cdk-nag's `rule`, for this `reason`."""
    Validations.of(construct).acknowledge(Acknowledgment(id=rule, reason=reason))
