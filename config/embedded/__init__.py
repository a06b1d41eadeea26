"""A MongoDB of one's own for development and small installations: `acquire` starts it or joins it.

Every process that uses the database holds a shared lock on `users.lock`. One supervisor for each data folder
(`python -m config.embedded`) runs `mongod` as a one-member replica set, starts it again when it ends by itself, and stops it when nobody holds that
lock any more. The kernel drops locks with their holder, so no kind of death leaves a `mongod` behind.
"""

from config.embedded.client import Embedded, acquire
from config.embedded.diagnosis import EmbeddedError
from config.embedded.keeper import keep

__all__ = ["Embedded", "EmbeddedError", "acquire", "keep"]
