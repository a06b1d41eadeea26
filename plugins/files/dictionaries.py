"""Dictionaries: the enumerations that clients show, with their labels."""

from __future__ import annotations

from plugins.api import dictionary

DICTIONARIES = (
    dictionary(
        "files_visibility",
        ("文件可见范围", "File visibility"),
        public=("公开", "Public"),
        private=("私有", "Private"),
    ),
)
