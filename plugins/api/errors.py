"""All kinds of errors, and helpers that raise them."""

from __future__ import annotations

from config.database import (
    DatabaseUnavailable as DatabaseUnavailable,  # the database cannot be reached: 50300
)
from handlers.access.missing_permission import (
    missing_permission as missing_permission,  # the 40300 that names a permission
)
from handlers.lifecycle import (
    refusal as refusal,  # why a person may not use a route
)
from handlers.schema.errors import (
    ACCOUNT_DISABLED as ACCOUNT_DISABLED,  # 40303
)
from handlers.schema.errors import (
    DUPLICATE as DUPLICATE,  # 40900: a value that must be unique exists
)
from handlers.schema.errors import (
    INVALID as INVALID,  # 40001: invalid fields
)
from handlers.schema.errors import (
    LOCKED as LOCKED,  # 42300: too many failed log-ins
)
from handlers.schema.errors import (
    LOGIN_REFUSED as LOGIN_REFUSED,  # 40010: wrong user name or password
)
from handlers.schema.errors import (
    MEDIA_TYPE as MEDIA_TYPE,  # 41500: a media type that is not accepted
)
from handlers.schema.errors import (
    PASSWORD_CHANGE_REQUIRED as PASSWORD_CHANGE_REQUIRED,  # 40301
)
from handlers.schema.errors import (
    RANGE as RANGE,  # 41600: a range that cannot be satisfied
)
from handlers.schema.errors import (
    RATE_LIMITED as RATE_LIMITED,  # 42900: too many requests
)
from handlers.schema.errors import (
    REFRESH_REFUSED as REFRESH_REFUSED,  # 40102: an invalid refresh token
)
from handlers.schema.errors import (
    STALE as STALE,  # 40902: a `version` that is not the current one
)
from handlers.schema.errors import (
    SUPER_ONLY as SUPER_ONLY,  # 40302: for super administrators only
)
from handlers.schema.errors import (
    TOKEN_EXPIRED as TOKEN_EXPIRED,  # 40101: an expired access token
)
from handlers.schema.errors import (
    TOO_LARGE as TOO_LARGE,  # 41300: a body or file that is too large
)
from handlers.schema.errors import (
    UNAUTHENTICATED as UNAUTHENTICATED,  # 40100: no valid token
)
from handlers.schema.errors import (
    UNAVAILABLE as UNAVAILABLE,  # 50300: a back end that cannot be reached
)
from handlers.schema.errors import (
    WECOM_REFUSED as WECOM_REFUSED,  # 40011: a refused WeCom log-in
)
from handlers.schema.errors import (
    FieldError as FieldError,  # a field at fault and the rule that it breaks
)
from handlers.schema.errors import (
    ValidationFailed as ValidationFailed,  # raise it: 40001 with several fields
)
from handlers.schema.errors import (
    unavailable as unavailable,  # make a 50300 with `Retry-After`
)
from handlers.service import (
    StartError as StartError,  # refuses the start with a sentence
)
