"""Settings of content."""

from __future__ import annotations

from pydantic import Field

from plugins.api import EnvironmentSettings


class CmsSettings(EnvironmentSettings):
    """Caching, scheduled publication, previews, revisions, view counts."""

    cms_max_age_seconds: int = Field(
        15, ge=0, le=3600, description="How long clients and proxies may cache public content, in seconds."
    )
    cms_publish_seconds: float = Field(
        10, gt=0, le=30, description="How often scheduled articles that are due are marked published, in seconds."
    )
    cms_preview_minutes: float = Field(30, gt=0, le=1440, description="How long a preview link is valid, in minutes.")
    cms_revisions: int = Field(50, ge=1, le=1000, description="Number of revisions kept of each article.")
    cms_views_seconds: float = Field(15, gt=0, description="How often counted views are written, in seconds.")
