"""How responses call the field with the name of a record, which stands beside the reference to it."""

from __future__ import annotations


def name_beside(field: str, many: bool = False) -> str:
    """Return the name of the field beside a reference: `owner_id` → `owner_name`, `users` → `user_names`."""
    if not many:
        return f"{field.removesuffix('_id')}_name"
    singular = field.removesuffix("_ids") if field.endswith("_ids") else field.removesuffix("s")
    return f"{singular}_names"
