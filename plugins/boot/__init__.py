"""From settings and plugins to a serving process."""
