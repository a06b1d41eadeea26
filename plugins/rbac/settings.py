"""Settings of accounts and passwords."""

from __future__ import annotations

from pydantic import Field, SecretStr

from plugins.api import EnvironmentSettings


class RbacSettings(EnvironmentSettings):
    """Passwords, and the first account."""

    admin_password: SecretStr = Field(
        SecretStr(""), description="Password of user 1, `admin`, at the first start; made up and printed if empty."
    )
    password_min_length: int = Field(10, ge=8, le=128, description="Shortest password.")
    password_min_kinds: int = Field(
        4, ge=1, le=4, description="Kinds of characters a password mixes: upper, lower, digit, symbol."
    )
    password_history: int = Field(
        5, ge=0, le=24, description="Earlier passwords, besides the current one, that may not be used again."
    )
    bcrypt_cost: int = Field(12, ge=4, le=16, description="bcrypt work factor; hashes are upgraded at log-in.")
    bcrypt_threads: int = Field(1, ge=1, le=16, description="Threads that hash passwords.")
    bcrypt_queue: int = Field(
        100, ge=1, description="Passwords that may wait for a hashing thread; more are refused with 50300."
    )
    handover_resume_seconds: float = Field(
        30, gt=0, description="Period of the job that continues handovers of an instance that stopped, in seconds."
    )
