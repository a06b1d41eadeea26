"""Several server processes on one port, under a supervisor that restarts those that end and replaces all on SIGHUP.

    supervisor                  imports nothing of the application; opens the listening sockets and keeps them open
    └─ fork server              has loaded plugins and settings, and does nothing but fork; one for each generation
       ├─ server                accepts on the sockets of the supervisor
       └─ server

When a server ends, another one is forked. It imports nothing, because the fork server has done that already. On SIGHUP
the supervisor starts another fork server, which loads code and settings afresh, and replaces the servers one after the
other; if a new one cannot start, the old ones keep running.

The processes share one socket instead of each opening the port with SO_REUSEPORT. With SO_REUSEPORT, the kernel gives
every process its own queue, and resets the connections in the queue of a process that ends. The shared queue outlives
each process, and one that is dead, frozen or busy takes no connections away from the others.
"""

from config.supervision.supervisor import supervise

__all__ = ["supervise"]
