"""Settings of finance."""

from __future__ import annotations

from pydantic import Field

from plugins.api import EnvironmentSettings


class FinanceSettings(EnvironmentSettings):
    """The intervals of the audit of the ledgers."""

    finance_audit_seconds: float = Field(
        86_400, gt=0, description="How often all ledgers are compared with their entries, in seconds."
    )
    finance_audit_resume_seconds: float = Field(
        30, gt=0, description="How often to check whether a comparison is due or was left unfinished, in seconds."
    )
