"""HTTP → the submit and browse stages."""

from __future__ import annotations

from typing import Any

import problems
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from routes import about, executions, jobs, overview, schedules
from strictness import refuse_what_would_be_ignored

from punctual.runtime.lambdas.function import function

app = APIGatewayHttpResolver(enable_validation=True)
app.use([refuse_what_would_be_ignored])
problems.register(app)
for routes in (jobs, executions, schedules, overview, about):
    app.include_router(routes.router)
about.describe(app)


@function
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return app.resolve(event, context)
