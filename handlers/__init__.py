"""The core of the platform, which depends on no plugin. Start reading at `lifecycle.py`."""
