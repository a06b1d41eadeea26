"""Worker processes for work whose cost depends on what was sent, each with limits of time and memory."""
