"""Finds what blocks an event loop: a thread samples it and keeps the stack of a call that does not return.

A busy machine delays everybody, so a delay alone proves nothing. What counts is that the loop's thread stands at one
place while it waits (the kernel says that it sleeps), or has itself used processor time for as long; and that the
watching thread, which a busy machine would delay too, was on time.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

_EVERY_SECONDS = 0.02
_FRAMES = 15
_NEW_THREAD = ("threading.py", "start")  # it waits for the new thread to run: that is the machine's to let it
_WAITING = frozenset("SD")  # of proc(5), `state`: asleep, interruptible or not


@dataclass(frozen=True)
class Block:
    """The loop stood for `seconds` so far, at `stack`; `busy`: it computed rather than waited."""

    seconds: float
    busy: bool
    stack: str

    def __str__(self) -> str:
        return (
            f"the event loop was blocked for {self.seconds:.2f} s ({'busy' if self.busy else 'waiting'}):\n{self.stack}"
        )


@dataclass(frozen=True)
class _Sample:
    """What the loop's thread did at one moment: where it was, whether it slept, and its processor time so far."""

    place: tuple[int, int] = (0, 0)
    waiting: bool = False
    processor: float = 0.0


@dataclass
class LoopWatchdog:
    """Watches `loop`, which runs in the thread that enters the block; `blocks` are those of `limit` seconds or more."""

    loop: asyncio.AbstractEventLoop
    limit: float = 0.1
    blocks: list[Block] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._thread = threading.current_thread()
        self._ended = threading.Event()
        self._paused = False
        self._began = time.monotonic()  # the turn of the loop that runs
        self._sampler = threading.Thread(target=self._sample, name="loop-watchdog", daemon=True)
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> LoopWatchdog:
        self._clock = time.pthread_getcpuclockid(self._thread.ident or 0)
        self._tick()
        self._sampler.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._sampler.join()
        if self._timer is not None:
            self._timer.cancel()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Count nothing while the block runs: for what a process does before it serves."""
        self._paused = True
        yield
        self._began = time.monotonic()
        self._paused = False

    def _tick(self) -> None:
        self._began = time.monotonic()
        self._timer = self.loop.call_later(_EVERY_SECONDS, self._tick)

    def _sample(self) -> None:
        before, known, looked = _Sample(), -1.0, time.monotonic()
        used = 0.0  # by the loop's thread, when the turn that runs was first seen
        while not self._ended.wait(_EVERY_SECONDS):
            now = time.monotonic()
            on_time, looked = now - looked < 3 * _EVERY_SECONDS, now
            if not self.loop.is_running() or self._paused:
                self._began = now
            began, sample, frame = self._began, *self._look()
            if began != known:
                known, used = began, sample.processor
            elif now - began >= self.limit and on_time:
                busy = sample.processor - used >= 0.8 * self.limit
                if busy or (sample.waiting and before.waiting and sample.place == before.place):
                    self._keep(now - began, busy, frame, same_turn=began)
            before = sample if on_time else _Sample()

    def _look(self) -> tuple[_Sample, FrameType | None]:
        frame = sys._current_frames().get(self._thread.ident or 0)
        place = (id(frame.f_code), frame.f_lasti) if frame is not None else (0, 0)
        status = Path(f"/proc/self/task/{self._thread.native_id}/stat").read_text()
        waiting = status.rpartition(")")[2].split()[0] in _WAITING
        return _Sample(place, waiting, time.clock_gettime(self._clock)), frame

    def _keep(self, seconds: float, busy: bool, frame: FrameType | None, same_turn: float) -> None:
        stack = traceback.extract_stack(frame)
        if any((Path(one.filename).name, one.name) == _NEW_THREAD for one in stack[-3:]):
            return
        if self.blocks and self._kept == same_turn:
            self.blocks[-1] = Block(seconds, self.blocks[-1].busy, self.blocks[-1].stack)
            return
        self._kept = same_turn
        self.blocks.append(Block(seconds, busy, "".join(traceback.format_list(stack[-_FRAMES:]))))
