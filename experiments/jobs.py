"""Work that several processes share. Each has an interpreter of its own, since CUDA cannot be used in a fork."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

Work = Callable[[Any], Any]


def outcomes(work: Work, jobs: Sequence[Any], processes: int) -> Iterator[tuple[Any, Any]]:
    """Each job with what `work` returns for it, in the order in which they end. All three can be pickled.

    After a job that fails no other begins. Those that have begun end and are yielded, and then an error names each that
    failed. No process is left when the iterator is closed, and none outlives this one.
    """
    waiting = list(reversed(jobs))
    with _without_interrupts():
        workers = dict(_start(work) for _ in range(min(processes, len(jobs))))
    failures: list[str] = []
    busy: dict[Any, Any] = {}

    def give(connection: Connection) -> None:
        if waiting and not failures:
            busy[connection] = waiting.pop()
            connection.send(busy[connection])

    try:
        for connection in workers:
            give(connection)
        while busy:
            for connection in wait(list(busy)):
                job = busy.pop(connection)
                result, failure = _answer(connection, workers[connection])
                if failure is None:
                    yield job, result
                else:
                    failures.append(f"{job}: {failure}")
                give(connection)
    finally:
        for process in workers.values():
            process.terminate()
        for process in workers.values():
            process.join()
    if failures:
        raise ChildProcessError("; ".join(failures))


def _start(work: Work) -> tuple[Connection, Any]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(work, theirs), daemon=True)
    process.start()
    theirs.close()
    return ours, process


def _answer(connection: Any, process: Any) -> tuple[Any, str | None]:
    """The result, or what went wrong."""
    try:
        return connection.recv()
    except (EOFError, ConnectionError):
        process.join()
        return None, f"the process ended with {process.exitcode}"


def _serve(work: Work, connection: Connection) -> None:
    """What a process does until it is ended: the traceback of a failure goes to standard error."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        job = connection.recv()
        try:
            answer = work(job), None
        except Exception as error:
            traceback.print_exc()
            answer = None, f"{type(error).__name__}: {error}"
        connection.send(answer)


def _end_with_parent() -> None:
    """The parent may be killed, and then ends nobody."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """An interrupt waits until the end, and processes that are started inside never get one: a terminal sends it to all,
    and this process ends the others."""
    resource_tracker.ensure_running()  # it would let interrupts through again
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
