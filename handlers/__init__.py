"""The request machine. It knows no plugin; start reading at `lifecycle.py`."""
