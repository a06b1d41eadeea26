"""An embedded MongoDB for development and small installations: `acquire` starts it or joins it.

Every process that uses the database holds a shared lock on `users.lock`. One supervisor for each data folder
(`python -m config.embedded`) runs `mongod` as a one-member replica set, restarts it when it ends by itself, and stops
it when nobody holds that lock any more. The kernel releases the locks of a dead process, so no crash leaves a `mongod`
behind.
"""

from config.embedded.client import Embedded, acquire, keep
from config.embedded.diagnosis import EmbeddedError

__all__ = ["Embedded", "EmbeddedError", "acquire", "keep"]
