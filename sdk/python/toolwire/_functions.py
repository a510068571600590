"""What a callable is: where it stands, what it says of itself, and how it is called."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
from collections import abc
from collections.abc import Callable
from typing import Any, get_args, get_origin

from toolwire._text import cut

GENERATORS = (inspect.isgeneratorfunction, inspect.isasyncgenfunction)
STREAMED = (abc.AsyncGenerator, abc.AsyncIterable, abc.AsyncIterator, abc.Generator, abc.Iterator)
AWAITED = (abc.Awaitable, abc.Coroutine, asyncio.Future, asyncio.Task, concurrent.futures.Future)


def place_of(function: Callable[..., Any]) -> tuple[str, str, int]:
    """Its name, file and line."""
    code = getattr(inspect.unwrap(origin_of(function)), "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if code else ("?", 0)
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', '?')}", file, line


def origin_of(function: Any) -> Any:
    """Where hints and words of a callable stand."""
    while isinstance(function, functools.partial | staticmethod) or inspect.ismethod(function):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    if inspect.isroutine(function) or hasattr(function, "__wrapped__"):
        return function
    call = vars(type(function)).get("__call__")
    return call if inspect.isfunction(call) else function


def check_function(function: Any) -> None:
    if isinstance(function, classmethod):
        raise TypeError("a classmethod has no class yet: call tool(…)(Class.method) below the class")
    if isinstance(function, type) or not callable(function):
        way_out = "; name each function by itself, as serve(*tools) does" if isinstance(function, list | tuple) else ""
        raise TypeError(f"it is no function, but {cut(repr(function), 100)}{way_out}")


def fixed_names(function: Any) -> set[str]:
    """The arguments that a partial gives by name, which no caller may."""
    names: set[str] = set()
    while isinstance(function, functools.partial):
        names |= function.keywords.keys()
        function = function.func
    return names


def unwrap_awaitable(hint: Any) -> tuple[Any, bool]:
    """The result of a function that says what is awaited for it, and whether that takes a loop."""
    kind = get_origin(hint) or hint
    if kind not in AWAITED:
        return hint, False
    return (get_args(hint) or (type(None),))[-1], kind is not concurrent.futures.Future


def unwrap_stream(hint: Any, function: Any, origin: Any) -> tuple[Any, Any] | None:
    """What a generator yields, and what it returns if it says that."""
    is_generator = any(is_kind(it) for is_kind in GENERATORS for it in (function, origin))
    kind, args = get_origin(hint) or hint, get_args(hint)
    if kind not in STREAMED and not (is_generator and kind in (abc.Iterable, type(None))):
        if is_generator:
            raise TypeError(f"it is a generator, and its hint says {inspect.formatannotation(hint)}: say Iterator[…]")
        return None
    item = args[0] if args else Any
    has_result = kind is abc.Generator and args[2:] and args[2] not in (None, type(None))
    return item, args[2] if has_result else None
