"""How the function of a tool ended, whatever it returned or raised. What an outcome says of it: `_call`."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

from toolwire._blocking import run
from toolwire._context import Context
from toolwire._json import Foreign, Misfit, Writer, take
from toolwire._text import type_name
from toolwire._threads import in_thread
from toolwire._tool import Tool

# What is awaited may give what is to be awaited again, and would for ever.
MOST_AWAITS = 10


@dataclass(frozen=True)
class End:
    """The text of a result, or why there is none."""

    text: str = ""
    # What the function raised, or why what it returned does not show that it has ended.
    error: BaseException | None = None
    # It has ended, and this of its result is not carried.
    misfit: Misfit | None = None


def call_in_thread(tool: Tool, begin: Callable[[], Any], context: Context | None) -> End | Awaitable[Any]:
    """Calls a function that may block, on a thread. What is to be awaited is for the loop."""
    try:
        value = begin()
        if isinstance(value, concurrent.futures.Future):
            value = value.result()
        if tool.part and isinstance(value, Iterator):
            value = run(_send_parts(tool, value, context or Context()))
        is_for_loop = inspect.isawaitable(value) or (tool.part and isinstance(value, AsyncIterator))
        return value if is_for_loop else end_of(tool, value)
    except BaseException as error:
        return End(error=error)


async def call_on_loop(tool: Tool, begin: Callable[[], Any], context: Context | None) -> End:
    """Calls a function and awaits what it gives, until that is its result."""
    try:
        value = begin()
        for _ in range(MOST_AWAITS):
            if isinstance(value, concurrent.futures.Future):
                value = asyncio.wrap_future(value)
            if tool.part and isinstance(value, AsyncIterator):
                value = await _send_parts(tool, value, context or Context())
            elif tool.part and isinstance(value, Iterator):
                # Its blocks are of a function that may wait, and the loop is that of all tools.
                value = await in_thread(functools.partial(run, _send_parts(tool, value, context or Context())))
            if not inspect.isawaitable(value):
                return end_of(tool, value)
            value = await value
        raise TypeError(f"what it returned gave what is to be awaited {MOST_AWAITS} times")
    except BaseException as error:
        return End(error=error)


async def _send_parts(tool: Tool, items: Iterator[Any] | AsyncIterator[Any], context: Context) -> Any:
    """Sends what a generator yields, each as soon as it does. Returns its result."""
    made: list[Any] = []
    # Of all parts together, if they are the result: one that never ends is refused as other results are.
    whole = Writer.of_data() if tool.collects else None
    try:
        while True:
            part = await anext(items) if isinstance(items, AsyncIterator) else next(items)
            text = tool.render_part(part, whole or Writer.of_data())
            if whole:
                # A part of nothing, such as None, takes room too.
                whole.array((), whole.plain)
                made.append(part)
            await context.chunk(text)
    except (StopIteration, StopAsyncIteration) as end:
        value = getattr(end, "value", None)
        return made if tool.collects and (value is None or tool.result.schema) else value
    finally:
        # One that is stopped in its middle leaves its blocks now.
        if isinstance(items, AsyncGenerator):
            await items.aclose()
        elif isinstance(items, Generator):
            items.close()


def end_of(tool: Tool, value: Any) -> End:
    """That of a function that returned. An iterator is a part of it that is yet to be carried out."""
    if isinstance(value, Iterator) and tool.returns_iterable:
        value = take(value)
    if isinstance(value, Iterator | AsyncIterator):
        raise TypeError(f"it returned a {type_name(value)}, of which nothing was carried out: return a list")
    try:
        return End(tool.render(value))
    except Misfit as misfit:
        is_whole = misfit.pointer == ("/result" if tool.wrapped else "")
        if isinstance(misfit, Foreign) and is_whole and not tool.reads:
            # Such as what a decorator returns that is to be called, entered or waited for first.
            return End(error=TypeError(f"it returned a {type_name(value)}, which is no result"))
        return End(misfit=misfit)
    except BaseException as error:
        unread = Misfit(f"a {type_name(value)} could not be read")
        unread.__cause__ = error
        return End(misfit=unread)
