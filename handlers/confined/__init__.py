"""Worker processes for work whose cost depends on its input, each with limits of time and memory."""
