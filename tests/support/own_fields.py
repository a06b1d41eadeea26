"""A plugin with own fields of every type on every collection that can have some, for tests of everything declared.

With the environment variable `TRADEWIND_TEST_OWN_FIELDS`, the tests that are made from the declarations have it among the
plugins: whatever they prove of declared fields they then prove of own ones.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from handlers.catalogue.custom_fields import TYPES, field_of
from handlers.catalogue.extending import Extends
from handlers.data.collection import named
from handlers.schema.messages import Message
from plugins.boot.registry import freeze
from plugins.plugin import Plugin
from plugins.system.custom_fields import extensible

WANTED = "TRADEWIND_TEST_OWN_FIELDS"
FILTERED = ("day", "choice", "reference")  # a range, a set and an equality; no collection may have more


def extended(plugins: Sequence[Plugin]) -> Sequence[Plugin]:
    """These plugins and, if the environment asks for it, the one with own fields."""
    return [*plugins, _extending(plugins)] if os.environ.get(WANTED) else plugins


def _extending(plugins: Sequence[Plugin]) -> Plugin:
    catalogue = freeze(plugins, check=False)
    known = named(catalogue.collections.values())
    fields = {
        f"x_probe_{type}": field_of(
            {
                "label": f"探测{type}",
                "label_en": f"Probed {type}",
                "type": type,
                "dictionary": "crm_customer_level",
                "target": "crm_customers",
                "required": False,
                "filterable": type in FILTERED,
            },
            known,
        ).but(example="A" if type == "choice" else None)
        for type in TYPES
    }
    return Plugin(
        name="probe_fields",
        title=Message("探测字段", "Probe fields"),
        requires=tuple(plugin.name for plugin in plugins),
        extends=tuple(Extends(one, fields) for one in extensible(catalogue)),
    )
