"""Tools of a server as those of an agent library: a module for each, with `tools(client, client.list_tools())`.

With a Toolwire an agent may run in any loop and any thread; with an AsyncToolwire in its loop, where the end of an
agent's task cancels its calls. A model reads what `call_text` returns: of a call that a person must approve that it has
to wait; the same call, made again, is the one that was approved.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from toolwire._threads import in_thread
from toolwire.client import Arguments, AsyncToolwire, ToolInfo, Toolwire

Client: TypeAlias = Toolwire | AsyncToolwire


@contextlib.contextmanager
def extra(name: str) -> Iterator[None]:
    """Names the extra of this package that what is imported here needs."""
    try:
        yield
    except ImportError as error:
        error.msg = f"{error.msg}: install the wheel of toolwire with its extra [{name}]"
        raise


def check(client: Client, listed: Iterable[ToolInfo] | None) -> list[ToolInfo]:
    """The tools that were listed. Raises TypeError where these are not what `tools` of a module takes."""
    if inspect.iscoroutine(listed):
        listed.close()
    found = list(listed) if isinstance(listed, Iterable) else [None]
    infos = [it for it in found if isinstance(it, ToolInfo)]
    if not isinstance(client, Client) or len(infos) < len(found):
        listing = "await client.list_tools()" if isinstance(client, AsyncToolwire) else "client.list_tools()"
        raise TypeError(f"an agent takes the tools that its client lists: tools(client, {listing})")
    return infos


async def answer(client: Client, tool: str, arguments: Arguments) -> str:
    """What a model reads of a call."""
    if isinstance(client, AsyncToolwire):
        return await client.call_text(tool, arguments)
    return await in_thread(functools.partial(client.call_text, tool, arguments))


def answer_blocking(client: Client, tool: str, arguments: Arguments) -> str:
    """The same, for an agent that blocks its thread."""
    if isinstance(client, AsyncToolwire):
        raise TypeError("an agent that blocks its thread needs a Toolwire instead of an AsyncToolwire")
    return client.call_text(tool, arguments)
