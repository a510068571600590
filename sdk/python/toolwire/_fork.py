"""What a process that is forked from this one must not share with it: signals, connections, and the loop of a host.

multiprocessing forks, and so do libraries below tools. Children that execute another program inherit none of it.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Collection

from toolwire._log import log

GRPC_SWITCH = "GRPC_ENABLE_FORK_SUPPORT"
# The signals that ask a process to end; there is no SIGHUP on Windows.
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]

_numbers = itertools.count()
# What a child gives up.
_held: dict[int, Callable[[], None]] = {}
_saved = threading.local()
_is_child = False
# Whether gRPC has handlers of fork.
_grpc_handles_forks = False


@functools.cache
def import_grpc() -> None:
    """Imports gRPC for a host, without its handlers of fork: beside its threads they crash the children.

    gRPC reads the switch when it is imported. A program that only calls tools has the handlers, which let its children
    call tools too.
    """
    global _grpc_handles_forks
    switch = os.environ.get(GRPC_SWITCH)
    is_off = (switch or "").lower() in ("0", "false", "no", "n", "f")
    _grpc_handles_forks = "grpc" in sys.modules if switch is None else not is_off
    if switch is None:
        os.environ[GRPC_SWITCH] = "false"
    try:
        import grpc.aio  # noqa: F401
    finally:
        if switch is None:
            del os.environ[GRPC_SWITCH]


def keep_from_children(give_up: Callable[[], None]) -> Callable[[], None]:
    """Has every forked child call this first. What is returned ends that."""
    number = next(_numbers)
    _held[number] = give_up

    def release() -> None:
        _held.pop(number, None)

    return release


def is_child() -> bool:
    """Whether this process was forked from one that gave something up in it: gRPC does not work here then."""
    return _is_child


def let_go(descriptors: Collection[int]) -> None:
    """Closes descriptors, whose numbers stay taken, since code that knows them may close them once more."""
    if descriptors:
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in descriptors:
            os.dup2(null, descriptor, inheritable=False)
        os.close(null)


def sockets_to(peers: Collection[tuple[str, int]]) -> list[int]:
    """The descriptors of this process that are connections to one of these addresses."""
    found = []
    for descriptor in map(int, os.listdir("/dev/fd")):
        try:
            connection = socket.socket(fileno=descriptor)
        except OSError:
            continue
        with contextlib.suppress(OSError, TypeError, ValueError):
            host, port, *_ = connection.getpeername()
            if (host.removeprefix("::ffff:"), port) in peers:
                found.append(descriptor)
        connection.detach()
    return found


def end_child(error: BaseException | None = None) -> None:
    """Ends a child that comes back from the function that forked it: the calls are those of its parent."""
    if isinstance(error, SystemExit):
        code = error.code
        os._exit(code if isinstance(code, int) else int(code is not None))
    if error:
        traceback.print_exception(error)
    text = "toolwire: a process that a tool forks must end by itself, as by os._exit; this one is ended"
    print(text, file=sys.stderr, flush=True)
    os._exit(1)


def _before() -> None:
    if not _held:
        return
    global _grpc_handles_forks
    if _grpc_handles_forks:
        _grpc_handles_forks = False
        log.warning(
            "a process is forked, which gRPC may crash, since it was imported before toolwire served: set %s=false, or "
            "start processes by spawn", GRPC_SWITCH,
        )
    # A signal to the child that comes before it has handlers of its own would be taken by those of this process.
    _saved.mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)


def _after() -> None:
    if (mask := _saved.__dict__.pop("mask", None)) is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _in_child() -> None:
    global _is_child
    try:
        _is_child = _is_child or bool(_held)
        for give_up in [*_held.values()]:
            give_up()
        _held.clear()
    finally:
        _after()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_in_child)
