"""Work in processes of its own, with limits: what is costly, and what reads files of strangers."""

from __future__ import annotations

from handlers.confined.pool import (
    Confined as Confined,  # worker processes with limits of time and memory
    Lane as Lane,  # one kind of work for worker processes
    TooCostly as TooCostly,  # raised for work beyond the limits of its lane
    Work as Work,  # a job in a worker process
    WorkFailed as WorkFailed,  # raised if the function of a job raised
)
