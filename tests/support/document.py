"""The OpenAPI document of the built-in plugins, as it is served; made once, as that takes a second."""

import json
from typing import Any

from config.version import VERSION
from handlers.docs.openapi import describe
from handlers.schema.envelope import to_json
from tests.support.catalogue import CATALOGUE

_DESCRIBED = describe(CATALOGUE.routes, VERSION, collections=CATALOGUE.collections.values())
DOCUMENT: dict[str, Any] = json.loads(to_json(_DESCRIBED))
