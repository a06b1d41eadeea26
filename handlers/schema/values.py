"""Type aliases for values whose fields are known only at run time, from a `Field`: type checkers cannot check them.

Each alias says what such a value is for. Signatures call a value that is only passed on, and not looked into, `object`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypedDict

from bson import Decimal128, ObjectId
from typing_extensions import TypeVar  # with `default`, which `typing` has since Python 3.13

# a record as the store returns it and as a handler may return it: the name of a field → its value for MongoDB
Record: TypeAlias = dict[str, Any]
# a record that is only read
ReadOnlyRecord: TypeAlias = Mapping[str, Any]
# the fields to store: of a new record, or of an update
Values: TypeAlias = Mapping[str, Any]
# update operators such as `{"$set": …}`, or a stage of an aggregation pipeline
Operators: TypeAlias = Mapping[str, Any]
# the validated query string of a request: the name of a parameter → its value, or its default
Query: TypeAlias = Mapping[str, Any]
# the validated body of a request, converted for MongoDB: a `Record` if the declared shape is an object
Body: TypeAlias = Any
# a value as `json.loads` returns it
Json: TypeAlias = Any
# what an event carries: the name of an argument of `emit` → its value
Payload: TypeAlias = Mapping[str, Any]
# the keywords of JSON Schema
Keywords: TypeAlias = Mapping[str, Any]
# the id of a record: an `ObjectId`, an integer or a text, as its collection declares
RecordId: TypeAlias = Any
# a money or quantity as it is stored: `exact` makes a `Decimal` of it
StoredAmount: TypeAlias = Decimal128
# the id of a business record, as it is stored
StoredId: TypeAlias = ObjectId


class TypedRecord(TypedDict):
    """Any record whose fields type checkers know, from the `record_types.py` of its plugin."""


# what a `Collection` declares: a `TypedRecord`, or records whose fields are not known
Declared = TypeVar("Declared", bound=ReadOnlyRecord, default=ReadOnlyRecord, covariant=True)
# the type of a record in a `Store`
Row = TypeVar("Row", bound=ReadOnlyRecord, default=Record)
Typed = TypeVar("Typed", bound=TypedRecord)
# what a `Page` shows: records, or what a handler makes of them
Item = TypeVar("Item", default=Any)
