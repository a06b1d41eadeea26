"""Several server processes on one port, under a supervisor that starts again what ends and replaces all on SIGHUP.

    supervisor                  imports nothing of the application; opens the listening sockets and keeps them open
    └─ fork server              has loaded plugins and settings, and does nothing but fork; one for each generation
       ├─ server                accepts on the sockets of the supervisor
       └─ server

A process that was killed is back without the time of an import, because the fork server has done that. On SIGHUP the
supervisor starts another fork server, which reads code and settings anew, and replaces one server after the other; if the
new one cannot start, the old ones go on.

The processes share one socket instead of opening the port each (SO_REUSEPORT): there the kernel gives every process a
queue of its own, and resets the connections in the queue of one that ends. The shared queue outlives each of them, and
one that is dead, frozen or busy takes no connection away from the others.
"""

from config.supervision.supervisor import supervise

__all__ = ["supervise"]
