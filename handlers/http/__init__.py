"""HTTP: connections, heads, bodies, forms, WebSockets, and the exchange of one request for one response."""
