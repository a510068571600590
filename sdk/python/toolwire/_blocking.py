"""Methods that block a thread, made of the same ones that are awaited: how a call is made is written once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine whose connection blocks, so that it never suspends."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError("it waits for an event loop")


def _begin(method: Callable[..., T], this: Any, args: tuple[Any, ...], options: dict[str, Any]) -> T:
    """Calls what is awaited later, and so fails at once only by its arguments, in the name of the class of this."""
    try:
        return method(this, *args, **options)
    except TypeError as error:
        words = str(error).replace(method.__qualname__, f"{type(this).__name__}.{method.__name__}")
        if "arguments" in method.__annotations__:
            words += f"; a tool takes one dict: {method.__name__}(tool, {{…}})"
        raise TypeError(words) from None


def blocking(method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[Any, P], T]:
    """The method of the other class that is awaited, as one that returns its result."""

    @functools.wraps(method)
    def wrapper(self: Any, /, *args: P.args, **options: P.kwargs) -> T:
        return run(_begin(method, self, args, options))

    return wrapper


def blocking_iterator(
    method: Callable[Concatenate[Any, P], AsyncGenerator[T, None]],
) -> Callable[Concatenate[Any, P], Iterator[T]]:
    """The same of an asynchronous generator."""

    @functools.wraps(method)
    def wrapper(self: Any, /, *args: P.args, **options: P.kwargs) -> Iterator[T]:
        values = _begin(method, self, args, options)
        try:
            while True:
                try:
                    value = run(values.__anext__())
                except StopAsyncIteration:
                    return
                yield value
        finally:
            run(values.aclose())

    signature = inspect.signature(method)
    returned = str(signature.return_annotation).replace("AsyncGenerator", "Iterator").replace(", None]", "]")
    wrapper.__dict__["__signature__"] = signature.replace(return_annotation=returned)
    return wrapper
