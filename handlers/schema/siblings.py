"""The names of the fields in which responses show a record's name beside a reference."""

from __future__ import annotations


def name_beside(field: str, many: bool = False) -> str:
    """Return the name of the field beside a reference: `owner_id` → `owner_name`, `users` → `user_names`."""
    if not many:
        return f"{field.removesuffix('_id')}_name"
    singular = field.removesuffix("_ids") if field.endswith("_ids") else field.removesuffix("s")
    return f"{singular}_names"
