"""What the name beside a reference is called in responses."""

from __future__ import annotations


def name_beside(field: str, many: bool = False) -> str:
    """The name of the sibling of a reference: `owner_id` → `owner_name`, `users` → `user_names`."""
    if not many:
        return f"{field.removesuffix('_id')}_name"
    singular = field.removesuffix("_ids") if field.endswith("_ids") else field.removesuffix("s")
    return f"{singular}_names"
