"""The notification centre: an inbox for everybody, and a WebSocket that tells what is new."""
