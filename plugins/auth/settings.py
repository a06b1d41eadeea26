"""Settings of tokens, log-ins and WeCom."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from plugins.api import EnvironmentSettings

WECOM_NEEDS = ("wecom_corp_id", "wecom_agent_id", "wecom_secret", "wecom_redirect_uri")
_ADDRESS = r"^https?://[^\s?#]+$"


class AuthSettings(EnvironmentSettings):
    """Tokens, lockout, log-in rate, WeCom."""

    access_token_minutes: float = Field(30, gt=0, description="Lifetime of an access token, in minutes.")
    refresh_token_days: float = Field(7, gt=0, description="Lifetime of a refresh token, in days.")
    refresh_grace_seconds: float = Field(
        10, ge=0, description="How long a rotated refresh token still returns its unused successor, in seconds."
    )
    session_days: float = Field(
        0, ge=0, description="Longest lifetime of a session, even in use, in days; 0: as long as it is refreshed."
    )
    session_seen_seconds: float = Field(
        60, gt=0, description="How often `last_seen_at` of the sessions in use is written, in seconds."
    )
    lockout_failures: int = Field(5, ge=1, description="Failed log-ins in a row after which an account is locked.")
    lockout_minutes: float = Field(15, gt=0, description="How long a locked account stays locked, in minutes.")
    lock_unknown_names: bool = Field(
        False,
        description="Lock unknown names like accounts, so that a log-in does not reveal which names exist; "
        "failed log-ins are then forgotten after `lockout_minutes`.",
    )
    logins_per_minute: int = Field(
        20, ge=1, description="Log-in attempts allowed per minute from one address, over all instances."
    )
    wecom_corp_id: str = Field(
        "", description="WeCom corporation ID; without it or one of the next three, WeCom log-in is off."
    )
    wecom_agent_id: str = Field("", description="Agent ID of the WeCom application.")
    wecom_secret: SecretStr = Field(SecretStr(""), description="Secret of the WeCom application.")
    wecom_redirect_uri: str = Field("", description="Page of the front end that WeCom sends `code` and `state` to.")
    wecom_api_base: str = Field("https://qyapi.weixin.qq.com", pattern=_ADDRESS, description="Address of WeCom's API.")
    wecom_login_base: str = Field(
        "https://login.work.weixin.qq.com",
        pattern=_ADDRESS,
        description="Address of WeCom's log-in page, which shows the QR code.",
    )
    wecom_oauth_base: str = Field(
        "https://open.weixin.qq.com",
        pattern=_ADDRESS,
        description="Address of the page that tells WeCom's own browser who asks, without a QR code.",
    )
    wecom_first_scan: Literal["link", "create", "refuse"] = Field(
        "link", description="At the first scan: `link` to the user of that name, `create` one, or `refuse`."
    )
    wecom_default_role: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Codes of the roles that a user made by `create` gets, comma separated."
    )
    wecom_connect_seconds: float = Field(3, gt=0, description="Time limit to connect to WeCom, in seconds.")
    wecom_request_seconds: float = Field(5, gt=0, description="Time limit of one call to WeCom, in seconds.")

    @field_validator("wecom_default_role", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("wecom_api_base", "wecom_login_base", "wecom_oauth_base", mode="before")
    @classmethod
    def _without_slash(cls, value: object) -> object:
        return value.rstrip("/") if isinstance(value, str) else value

    @property
    def wecom_missing(self) -> tuple[str, ...]:
        """The settings that are missing for WeCom log-in; empty when it is on."""
        return tuple(name for name in WECOM_NEEDS if not getattr(self, name))
