"""Hostile bytes on a connection: does everybody who reads HTTP/1.1 here find the same requests in them?

`compare.run(count, seed)` generates that many connections and compares, request by request, the fast connection and
Tornado's with a strict reading of RFC 9112, and llhttp's own with it. Nothing is sent over a network and no database is
needed. A difference is a fault unless `arguments.ARGUMENTS` says why it is none.
"""
