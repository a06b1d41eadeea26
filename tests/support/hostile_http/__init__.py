"""Hostile bytes on a connection: do all readers of HTTP/1.1 here find the same requests in them?

`compare.run(count, seed)` generates that many connections. Request by request, it compares the fast connection,
Tornado's connection and llhttp with a strict reading of RFC 9112. Nothing is sent over a network, and no database is
needed. A difference is a fault unless one of `arguments.ARGUMENTS` explains why it is not.
"""
