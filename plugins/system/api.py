"""What plugins that require system may import."""

from plugins.system.configs import CHANGING_EVENT as CONFIG_CHANGING_EVENT, Configs, change_configs
from plugins.system.dictionary_items import put_item
from plugins.system.records import DICTIONARIES

__all__ = ["CONFIG_CHANGING_EVENT", "DICTIONARIES", "Configs", "change_configs", "put_item"]
