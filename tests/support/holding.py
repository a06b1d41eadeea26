"""Collections that refer to each other by every rule: boxes, and what is in them, on them and below them."""

from handlers.data.collection import Collection
from handlers.schema.fields import array, obj, object_id, text
from handlers.schema.messages import Message

BOXES = Collection(
    name="hold_boxes",
    title="HoldBox",
    noun=Message("箱子", "box"),
    fields={"name": text(), "below_id": object_id(ref="hold_boxes")},
)
LABELS = Collection(
    name="hold_labels",
    title="HoldLabel",
    noun=Message("标签", "label"),
    fields={
        "box_id": object_id(ref=BOXES.name, on_delete="cascade"),
        "old_box_id": object_id(ref=BOXES.name, on_delete="clear"),
        "box_ids": array(object_id(ref=BOXES.name, on_delete="clear"), default=[]),
        "last_box_id": object_id(ref=BOXES.name, on_delete="keep"),
    },
)
MARKS = Collection(
    name="hold_marks",
    title="HoldMark",
    noun=Message("标记", "mark"),
    fields={"label_id": object_id(ref=LABELS.name), "box_id": object_id(ref=BOXES.name, on_delete="cascade")},
)
LISTS = Collection(
    name="hold_lists",
    title="HoldList",
    noun=Message("清单", "list"),
    scoped=True,
    fields={"lines": array(obj("HoldLine", {"box_id": object_id(ref=BOXES.name)}), default=[])},
)
HOLDING = (BOXES, LABELS, MARKS, LISTS)
