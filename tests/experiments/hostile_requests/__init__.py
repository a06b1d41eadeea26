"""Hostile requests against a server that is started for them: tokens, operators, types, other people's records."""
