"""Log-in, tokens, sessions."""
