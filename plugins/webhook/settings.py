"""Settings of webhooks."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import NoDecode

from plugins.api import EnvironmentSettings


class WebhookSettings(EnvironmentSettings):
    """Where webhooks may lead."""

    webhook_networks: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Internal networks (CIDR, comma separated) that webhooks may send to; the internet needs none."
    )

    @field_validator("webhook_networks", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("webhook_networks")
    @classmethod
    def _check(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for network in value:
            ip_network(network, strict=False)
        return value
