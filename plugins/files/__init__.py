"""Files in two buckets, and attachments."""
