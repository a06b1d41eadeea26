"""All kinds of errors, and helpers that raise them."""

from __future__ import annotations

from config.database import (
    DatabaseUnavailable as DatabaseUnavailable,  # the database cannot be reached: 50300
)
from handlers.access.requests import (
    missing_permission as missing_permission,  # the 40300 that names a permission
)
from handlers.lifecycle import (
    refusal as refusal,  # why a person may not use a route
)
from handlers.schema.errors import (
    DUPLICATE as DUPLICATE,  # 40900: a value that must be unique exists
    INVALID as INVALID,  # 40001: invalid fields
    LOCKED as LOCKED,  # 42300: too many failed log-ins
    MEDIA_TYPE as MEDIA_TYPE,  # 41500: a media type that is not accepted
    PASSWORD_CHANGE_REQUIRED as PASSWORD_CHANGE_REQUIRED,  # 40301
    RANGE as RANGE,  # 41600: a range that cannot be satisfied
    RATE_LIMITED as RATE_LIMITED,  # 42900: too many requests
    STALE as STALE,  # 40902: a `version` that is not the current one
    SUPER_ONLY as SUPER_ONLY,  # 40302: for super administrators only
    TOKEN_EXPIRED as TOKEN_EXPIRED,  # 40101: an expired access token
    TOO_LARGE as TOO_LARGE,  # 41300: a body or file that is too large
    UNAUTHENTICATED as UNAUTHENTICATED,  # 40100: no valid token
    UNAVAILABLE as UNAVAILABLE,  # 50300: a back end that cannot be reached
    FieldError as FieldError,  # a field at fault and the rule that it breaks
    ValidationFailed as ValidationFailed,  # raise it: 40001 with several fields
    unavailable as unavailable,  # make a 50300 with `Retry-After`
)
from handlers.service import (
    StartError as StartError,  # refuses the start with a sentence
)
