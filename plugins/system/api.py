"""What plugins that require system may import."""

from plugins.api.events import CONFIG_CHANGING as CONFIG_CHANGING_EVENT
from plugins.system.configs import Configs, change_configs
from plugins.system.dictionary_items import put_item
from plugins.system.records import DICTIONARIES

__all__ = ["CONFIG_CHANGING_EVENT", "DICTIONARIES", "Configs", "change_configs", "put_item"]
