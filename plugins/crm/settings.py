"""Settings of crm."""

from __future__ import annotations

from pydantic import Field

from plugins.api import EnvironmentSettings


class CrmSettings(EnvironmentSettings):
    """How often the pool and reminders are looked after, and what an import may be."""

    crm_pool_seconds: float = Field(
        3600, gt=0, description="How often customers that were not followed up are returned to the pool, in seconds."
    )
    crm_reminder_seconds: float = Field(
        60, gt=0, description="How often follow-ups and payments to remind people of are looked for, in seconds."
    )
    crm_import_bytes: int = Field(100 << 20, ge=1024, le=1 << 30, description="Largest file of an import, in bytes.")
    crm_import_waits_rows: int = Field(
        1000,
        ge=0,
        description="An import of up to this many rows is answered when it is done; a larger one runs on behind.",
    )
    crm_import_resume_seconds: float = Field(
        30, gt=0, description="How often imports are looked for that another instance left unfinished, in seconds."
    )
