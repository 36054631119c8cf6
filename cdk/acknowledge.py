"""Suppression of cdk-nag rules, with a reason for each."""

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct


def acknowledge(construct: IConstruct, rule: str, reason: str) -> None:
    """Suppress cdk-nag's `rule` for `construct`."""
    Validations.of(construct).acknowledge(Acknowledgment(id=rule, reason=reason))
