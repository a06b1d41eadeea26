"""The notification centre: an inbox for each user, and a WebSocket that sends what is new."""
