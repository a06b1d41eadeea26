"""Collections for the tests of the data layer."""

from handlers.data.collection import Collection
from handlers.data.index import Index
from handlers.schema.fields import integer, object_id, text

NOTES = Collection(
    name="probe_notes",
    title="ProbeNote",
    watched=True,
    internal=("seen",),
    fields={
        "title": text(required=True, sort=True),
        "code": text(),
        "likes": integer(default=0),
    },
    indexes=(Index("code", unique=True, where={"code": {"$type": "string"}}),),
)
CHILDREN = Collection(
    name="probe_children",
    title="ProbeChild",
    ids="integer",
    scoped=True,
    shared=True,
    fields={"name": text(required=True), "note_id": object_id(ref="probe_notes", on_delete="keep")},
)
COUNTERS_LOG = Collection(
    name="probe_log",
    title="ProbeLog",
    plain=True,
    ids="text",
    fields={"at": integer(sort=True)},
    default_sort="-at",
)
