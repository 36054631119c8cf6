"""Lambda handler of the REST API: routes HTTP requests to the stages in ``punctual.stages.api``."""

from __future__ import annotations

from typing import Any

import problems
from resolver import Resolver
from routes import (
    about,
    attention,
    calendar,
    deadlines,
    executions,
    job_detail,
    jobs,
    lane,
    messages,
    operations,
    overview,
    queues,
    revisions,
    schedules,
    statistics,
    tasks,
)

from punctual.runtime.lambdas.function import function

app = Resolver()
problems.register(app)
for routes in (
    jobs,
    job_detail,
    revisions,
    messages,
    executions,
    statistics,
    operations,
    schedules,
    calendar,
    deadlines,
    queues,
    overview,
    attention,
    lane,
    tasks,
    about,
):
    app.include_router(routes.router)
about.describe(app)


@function
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return app.resolve(event, context)
