"""Response models of the revisions of a job."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from answers.page import CountedPage


class FieldChange(BaseModel):
    field: str
    old: Any = Field(description="The former value, as an edit takes it: null is the default.")
    new: Any
    restorable: bool = Field(description="False if an edit cannot set it to `old`: the owner, or a secret.")


class Revision(BaseModel):
    """A revision of a job: its submission, an edit or a transfer."""

    revision: int
    by: str
    at: str
    changes: list[FieldChange] = Field(description="Empty for the first revision, which is the submission.")


class RevisionPage(CountedPage):
    items: list[Revision] = Field(description="Newest first.")
