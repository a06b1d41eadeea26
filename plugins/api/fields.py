"""More kinds of fields, and functions over fields."""

from __future__ import annotations

from handlers.schema.fields import (
    BLANK as BLANK,  # blank characters, for a character class in a pattern
)
from handlers.schema.fields import (
    FIRST_DAY as FIRST_DAY,  # the earliest day that clients may send
)
from handlers.schema.fields import (
    LAST_DAY as LAST_DAY,  # the latest day that clients may send
)
from handlers.schema.fields import (
    NOTHING as NOTHING,  # the shape of a response without data
)
from handlers.schema.fields import (
    FieldOptions as FieldOptions,  # the options of every field, as a `TypedDict`
)
from handlers.schema.fields import (
    HasSettings as HasSettings,  # what the `check` of a field gets
)
from handlers.schema.fields import (
    fields_in as fields_in,  # the fields within a shape, with their paths
)
from handlers.schema.fields import (
    tree_of as tree_of,  # an object with `children` of the same shape
)
from handlers.schema.json_schema import (
    json_schema as json_schema,  # the JSON Schema of a field
)
from handlers.schema.shapes import (
    record_code as record_code,  # the code of a record
)
