"""Settings of crm."""

from __future__ import annotations

from pydantic import Field

from plugins.api import EnvironmentSettings


class CrmSettings(EnvironmentSettings):
    """Intervals of the pool and of reminders, and limits of imports."""

    crm_pool_seconds: float = Field(
        3600, gt=0, description="How often customers that were not followed up are returned to the pool, in seconds."
    )
    crm_reminder_seconds: float = Field(
        60, gt=0, description="How often reminders of follow-ups and payments are sent, in seconds."
    )
    crm_import_bytes: int = Field(100 << 20, ge=1024, le=1 << 30, description="Largest file of an import, in bytes.")
    crm_import_waits_rows: int = Field(
        1000,
        ge=0,
        description="Imports of up to this many rows finish before the response; larger ones run in the background.",
    )
    crm_import_resume_seconds: float = Field(
        30, gt=0, description="How often to look for imports that another instance left unfinished, in seconds."
    )
