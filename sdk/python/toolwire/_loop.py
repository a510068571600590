"""Loops that nothing but their owner ends. A task or a callback of a tool that raises SystemExit or KeyboardInterrupt
ends the loop that it runs on, and with it all calls."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from toolwire._call import note

T = TypeVar("T")
RAISED = "what a tool began has raised %s: the calls of others go on"


def run(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` of such a loop. An interrupt of the operator, where no handler takes it, ends it."""
    loop = asyncio.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        task = loop.create_task(main)
        while True:
            try:
                return loop.run_until_complete(task)
            except (SystemExit, KeyboardInterrupt) as error:
                if task.done() or (isinstance(error, KeyboardInterrupt) and _is_of_operator()):
                    raise
                note(error, RAISED, type(error).__name__)
    finally:
        _end(loop)


def run_forever(loop: asyncio.AbstractEventLoop) -> None:
    """Runs it until it is stopped, on a thread of its own."""
    while True:
        try:
            return loop.run_forever()
        except BaseException as error:
            note(error, RAISED, type(error).__name__)


def _is_of_operator() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _end(loop: asyncio.AbstractEventLoop) -> None:
    """What `asyncio.run` does at its end."""
    try:
        if left := asyncio.all_tasks(loop):
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.wait(left))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        asyncio.set_event_loop(None)
        loop.close()
