"""Settings of accounts and passwords."""

from __future__ import annotations

from pydantic import Field, SecretStr

from plugins.api import EnvironmentSettings


class RbacSettings(EnvironmentSettings):
    """Passwords, and the first account."""

    admin_password: SecretStr = Field(
        SecretStr(""),
        description="Password of user 1, `admin`, at the first start, within the policy; if empty, one is made up and printed.",
    )
    password_min_length: int = Field(10, ge=8, le=128, description="Least number of characters in a password.")
    password_min_kinds: int = Field(
        4,
        ge=1,
        le=4,
        description="Least number of kinds of characters in a password: upper case, lower case, digits, symbols.",
    )
    password_history: int = Field(
        5, ge=0, le=24, description="How many earlier passwords, besides the current one, may not be used again."
    )
    bcrypt_cost: int = Field(12, ge=4, le=16, description="bcrypt work factor; hashes are upgraded at log-in.")
    bcrypt_threads: int = Field(1, ge=1, le=16, description="Threads that hash passwords.")
    bcrypt_queue: int = Field(
        100, ge=1, description="How many passwords may wait for a hashing thread; more are refused with 50300."
    )
    handover_resume_seconds: float = Field(
        30, gt=0, description="How often to look for handovers that another instance left unfinished, in seconds."
    )
