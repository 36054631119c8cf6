"""Convert the catalog of tasks and calendars to its response models."""

from __future__ import annotations

from collections.abc import Iterator

from answers import tasks as answers

from punctual.domain.lane import Lane
from punctual.domain.schedules.named_calendars import WEEKENDS
from punctual.runtime.tasks import registry
from punctual.stages.api.task_usage import TaskUsage, UsageByTask
from views.instants import text_of
from views.pages import only_page

UNREGISTERED = "no module of tasks/ registers it, but live jobs use it: restore the task, or change these jobs"


def tasks_view(catalog: registry.Catalog, usage: UsageByTask | None) -> answers.Tasks:
    """The registered tasks, those of modules that cannot be imported, and other tasks that live jobs use."""
    items = sorted(_task_views(catalog, usage), key=lambda one: one.name)
    return answers.Tasks(
        items=items,
        **only_page(items),
        unavailable=[answers.BrokenModule(module=one.name, reason=str(one)) for one in catalog.broken],
        usage_is_exact=usage.is_exact if usage else None,
    )


def _task_views(catalog: registry.Catalog, usage: UsageByTask | None) -> Iterator[answers.Task]:
    registered = {task.name: task for task in catalog.tasks}
    broken = {name: module for module in catalog.broken for name in module.tasks if name not in registered}
    for name in {*registered, *broken, *(usage.tasks if usage else ())}:
        task, module = registered.get(name), broken.get(name)
        collects = task is not None and catalog.collects(name)
        reason = None if task else str(module) if module else UNREGISTERED
        file = task.file if task else registry.file_of(module.name) if module else None
        yield answers.Task(
            name=name,
            description=task.description if task else None,
            parameters=dict(task.parameters) if task and task.parameters is not None else None,
            lane=Lane.LONG if collects else None,
            has_collect_step=collects,
            file=file,
            is_available=task is not None,
            reason=reason,
            usage=_usage_view(usage.tasks.get(name, TaskUsage())) if usage else None,
        )


def _usage_view(usage: TaskUsage) -> answers.TaskUsage:
    outcomes = {str(status): count for status, count in (usage.outcomes or {}).items()}
    return answers.TaskUsage(live_jobs=usage.live_jobs, outcomes=outcomes, last_ended_at=text_of(usage.last_ended_at))


def calendars_view(catalog: registry.Catalog) -> answers.NamedCalendars:
    declared = [
        answers.NamedCalendar(name=one.name, dates=sorted(one.dates), file=one.file)
        for one in catalog.declared_calendars
    ]
    built_in = answers.NamedCalendar(name=WEEKENDS, dates=[], file=None)
    items = sorted([*declared, built_in], key=lambda one: one.name)
    return answers.NamedCalendars(items=items, **only_page(items))
