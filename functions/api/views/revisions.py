"""Convert the revisions of a job to the response models of the API."""

from __future__ import annotations

from answers.revisions import FieldChange, Revision, RevisionPage

from punctual.domain.instant import to_text
from punctual.domain.jobs import revision
from punctual.domain.requests.page import Page
from views.pages import page_fields


def revisions_view(page: Page[revision.Revision], cursor: str | None) -> RevisionPage:
    return RevisionPage(items=[_revision_view(one) for one in page.items], **page_fields(page, cursor))


def _revision_view(one: revision.Revision) -> Revision:
    changes = [
        FieldChange(field=change.field, old=change.old, new=change.new, restorable=change.is_restorable)
        for change in one.changes
    ]
    return Revision(revision=one.number, by=one.by, at=to_text(one.at), changes=changes)
