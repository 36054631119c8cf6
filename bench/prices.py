"""On-demand prices in us-east-1, in dollars per million."""

from __future__ import annotations

WRITE_UNITS = 0.625
READ_UNITS = 0.125
SQS_REQUESTS = 0.40
LAMBDA_REQUESTS = 0.20
