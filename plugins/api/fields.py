"""More kinds of fields, and functions over fields."""

from __future__ import annotations

from handlers.catalogue.custom_fields import (
    DECLARATION as DECLARATION,  # the fields of a field that people declare: name, labels, type
    TYPES as TYPES,  # the types that such a field may have
    declaration_faults as declaration_faults,  # what is wrong with such a declaration
    field_of as field_of,  # the field that it describes
)
from handlers.schema.fields import (
    BLANK as BLANK,  # blank characters, for a character class in a pattern
    FIRST_DAY as FIRST_DAY,  # the earliest day that clients may send
    LAST_DAY as LAST_DAY,  # the latest day that clients may send
    NOTHING as NOTHING,  # the shape of a response without data
    FieldOptions as FieldOptions,  # the options of every field, as a `TypedDict`
    HasSettings as HasSettings,  # what the `check` of a field gets
    fields_in as fields_in,  # the fields within a shape, with their paths
    record_code as record_code,  # the code of a record
    takes_file as takes_file,  # whether a field holds the address or the key of a stored file
    tree_of as tree_of,  # an object with `children` of the same shape
)
from handlers.schema.json_schema import (
    json_schema as json_schema,  # the JSON Schema of a field
)
from handlers.schema.validation import (
    Checker as Checker,  # the compiled check of one shape
)
