"""What plugins that require system may import."""

from plugins.system.configs import Configs
from plugins.system.records import DICTIONARIES

__all__ = ["DICTIONARIES", "Configs"]
