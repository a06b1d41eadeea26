"""More about requests and responses: forms, streams, spans, addresses."""

from __future__ import annotations

from config.settings import (
    is_placeholder as is_placeholder,  # whether a secret is that of an example
)
from config.tracing import (
    span as span,  # a span of a trace, for calls of other services
    trace_headers as trace_headers,  # the header fields by which other services join the trace
)
from handlers.access.actor import (
    ANONYMOUS as ANONYMOUS,  # the actor of a request without a token
    SYSTEM as SYSTEM,  # the actor of jobs and of the start
)
from handlers.access.signatures import (
    Signatures as Signatures,  # signs links that need no token, and verifies them
)
from handlers.http.addresses import (
    network_of as network_of,  # the network of an address, to group clients
)
from handlers.http.multipart import (
    Form as Form,  # a multipart form that is read piece by piece
    FormFile as FormFile,  # a file of such a form
)
from handlers.idempotency import (
    respond_once as respond_once,  # run a write once for each idempotency key
)
from handlers.results import (
    Encoded as Encoded,  # the body of a response, encoded already
    encode_once as encode_once,  # encode what several responses share
    name_references as name_references,  # add the names beside the references in values of a shape
)
from handlers.route import (
    SUPER as SUPER,  # access: super administrators
    RouteOptions as RouteOptions,  # the optional arguments of `route`, as a `TypedDict`
)
from handlers.schema.envelope import (
    as_json as as_json,  # a record in JSON types
    project as project,  # the fields of a shape that a value has
)
