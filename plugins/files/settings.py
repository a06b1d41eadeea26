"""Settings of files: where they are stored, and which are accepted."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode

from plugins.api import EnvironmentSettings
from plugins.files.types import BY_MEDIA, PRIVATE_TYPES, PUBLIC_TYPES

S3_NEEDS = ("s3_public_bucket", "s3_private_bucket")
_ADDRESS = r"^(https?://[^\s?#]+)?$"
_BUCKET = r"^([A-Za-z0-9][A-Za-z0-9._-]{1,62})?$"
Types = Annotated[tuple[str, ...], NoDecode]


class FilesSettings(EnvironmentSettings):
    """Storage, sizes, types, and the sweep."""

    storage: Literal["local", "s3"] = Field("local", description="Where files are kept: `local` or `s3`.")
    files_base_url: str = Field(
        "", pattern=_ADDRESS, description="Address of this service in links to files; if empty, they begin with /api."
    )
    s3_endpoint: str = Field("", pattern=_ADDRESS, description="S3 endpoint that the service uses; empty for AWS.")
    s3_public_endpoint: str = Field(
        "",
        pattern=_ADDRESS,
        description="S3 endpoint that browsers use, in signed links; if empty, that of the service.",
    )
    s3_public_url: str = Field(
        "",
        pattern=_ADDRESS,
        description="Address of the public bucket, such as that of a CDN; if empty, derived from the endpoint.",
    )
    s3_region: str = Field("us-east-1", description="Region of the buckets.")
    s3_addressing: Literal["auto", "path", "virtual"] = Field(
        "auto", description="Bucket in the path or in the host name; `auto`: in the path if `s3_endpoint` is set."
    )
    s3_access_key: SecretStr = Field(SecretStr(""), description="Access key; if empty, the machine's own role is used.")
    s3_secret_key: SecretStr = Field(SecretStr(""), description="Secret key.")
    s3_public_bucket: str = Field("", pattern=_BUCKET, description="Bucket that everybody may read.")
    s3_private_bucket: str = Field("", pattern=_BUCKET, description="Bucket that nobody may read without a signature.")
    s3_connect_seconds: float = Field(3, gt=0, description="Time limit to connect to S3, in seconds.")
    s3_request_seconds: float = Field(20, gt=0, description="Time limit of one call to S3, in seconds.")
    max_upload_bytes: int = Field(100 << 20, ge=1024, le=5 << 30, description="Largest file, in bytes.")
    max_image_bytes: int = Field(20 << 20, ge=1024, le=100 << 20, description="Largest image, in bytes.")
    max_image_pixels: int = Field(
        89_478_485,
        ge=1,
        le=178_956_970,
        description="Largest image, in pixels; larger ones are refused as decompression bombs.",
    )
    public_file_types: Types = Field(PUBLIC_TYPES, description="Media types of public files, comma separated.")
    private_file_types: Types = Field(PRIVATE_TYPES, description="Media types of private files, comma separated.")
    unattached_hours: float = Field(24, gt=0, description="How long a file is kept that is not in use, in hours.")
    sweep_seconds: float = Field(3600, gt=0, description="How often files that are not in use are removed, in seconds.")

    @field_validator("public_file_types", "private_file_types", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("public_file_types", "private_file_types")
    @classmethod
    def _check_known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for media in value:
            if media not in BY_MEDIA:
                raise ValueError(f"{media} is not a type that the service can detect from the content")
        return value

    @field_validator("files_base_url", "s3_endpoint", "s3_public_endpoint", "s3_public_url", mode="before")
    @classmethod
    def _strip_slash(cls, value: object) -> object:
        return value.rstrip("/") if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check_complete(self) -> FilesSettings:
        missing = [f"TRADEWIND_{name.upper()}" for name in S3_NEEDS if not getattr(self, name)]
        if self.storage == "s3" and missing:
            raise ValueError(f"TRADEWIND_STORAGE=s3 needs {' and '.join(missing)}")
        if self.storage == "s3" and find_spec("aiobotocore") is None:
            raise ValueError("TRADEWIND_STORAGE=s3 needs a library: pip install 'tradewind[s3]'")
        if self.storage == "s3" and self.s3_public_bucket == self.s3_private_bucket:
            raise ValueError("TRADEWIND_S3_PUBLIC_BUCKET and TRADEWIND_S3_PRIVATE_BUCKET must be two buckets")
        return self
