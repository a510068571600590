"""`Host`: the tools of a program at a server, of its own if none is named, while a block lasts."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from toolwire._binary import LocalServer, state_beside, words_of
from toolwire._fork import import_grpc
from toolwire._log import log
from toolwire._loop import ToolLoop, end_tasks
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._target import Target
from toolwire._threads import in_thread
from toolwire._tool import REGISTRY, SERVED, Tool, make, two_of_one_name
from toolwire.errors import Refused, refusal

if TYPE_CHECKING:
    from typing_extensions import Self

    from toolwire._host import Attachment
    from toolwire._registration import Registration, Succession

TOKEN_HINT = ": the token of a host is in TOOLWIRE_HOST_TOKEN or the file TOOLWIRE_HOST_TOKEN_FILE, or token=…"


class Host:
    """Serves the tools of a list, or without one all of this process, from the start of a block to its end.

    `async with Host([…])` awaits coroutines of tools on the loop of the block, with what belongs to that loop, and
    `with Host([…])` on one of its own. All else is on a thread of its own, which a blocked loop does not hold up. At
    the end of the block calls under way have `grace` seconds; whoever is cancelled meanwhile ends them at once.

    Its options are those of `serve`, and:
    state: the folder of the state and the log of the server that is started. Else `.toolwire` beside the program, or,
        of a notebook and of a command such as uvicorn, in the working directory.
    http_port: None serves no clients of MCP.
    """

    def __init__(
        self, tools: Iterable[Callable[..., Any] | Tool] | None = None, *others: NoReturn, server: str | None = None,
        token: str | None = None, ca: str | None = None, provider: str = "", slots: int = 16, grace: float = 25.0,
        connect_timeout: float = 10.0, samples: bool = False, config: str | Path | None = None, port: int = 0,
        http_port: int | None = 0, state: str | Path | None = None, token_file: str | Path | None = None,
    ) -> None:
        if others or not isinstance(tools, Iterable | None):
            raise TypeError("a Host takes its tools as a list: Host([first, second])")
        self.tools = choose_tools(tools)
        named = os.environ.get("TOOLWIRE_SERVER") if server is None else server
        # What the program says stands above what the environment does.
        if token_file is None and token is None:
            token_file = os.environ.get("TOOLWIRE_HOST_TOKEN_FILE")
        elif token_file is not None and token is None:
            token = ""
        self._token, self._token_file = token, str(token_file or "")
        self.target = None
        if named:
            self.target = Target.read(server, token, ca, "TOOLWIRE_HOST_TOKEN", token_file=self._token_file)
        self.server: LocalServer | None = None
        if not named:
            state = state or state_beside(getattr(sys.modules["__main__"], "__file__", None))
        self.make_server: functools.partial[LocalServer] = functools.partial(
            LocalServer, state=str(state), samples=samples, config=config, port=port, http_port=http_port
        )
        # Of an edition of a program.
        self.succession: Succession | None = None
        self.grace, self._slots, self._provider = grace, slots, provider
        self._connect_timeout = connect_timeout
        # Has its result when the server has welcomed the tools, and when all of it has ended: why, unless it was left.
        self.opened: Future[host_pb2.Welcome] = Future()
        self.closed: Future[BaseException | None] = Future()
        self._leaving = asyncio.Event()
        self._attachment: Attachment | None = None
        self._thread = threading.Thread(target=self._run, name="toolwire-host", daemon=True)

    @property
    def url(self) -> str:
        """Where the server is. Raises RuntimeError where that is known within the block alone."""
        if not self.target:
            raise RuntimeError("a Host starts its server at the start of its block: `with Host(…) as host`")
        return self.target.url

    @property
    def mcp(self) -> str:
        """Where clients of MCP find the server that was started."""
        return self.server.mcp if self.url and self.server else ""

    def begin(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Begins to serve, with coroutines on this loop of this thread. `opened` tells when it does."""
        if self._thread.ident is not None:
            raise RuntimeError("a Host serves once: make another")
        self._loop, self._tool_loop = asyncio.new_event_loop(), ToolLoop("toolwire-loop", loop)
        SERVED[id(self)] = self.tools
        self._thread.start()

    def end(self, *, now: bool = False) -> None:
        """Has it end: after the grace, or now. `closed` tells when it has."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._leave, now)

    def settle(self) -> None:
        """Has the tools of the editions before this one not come back."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(lambda: self._loop.create_task(self._settle()))

    async def _settle(self) -> None:
        if self._attachment:
            await self._attachment.settle()

    async def wait(self) -> None:
        """Waits until it has ended. Raises RuntimeError if the server that it started ended first."""
        if error := await asyncio.shield(asyncio.wrap_future(self.closed)):
            raise error

    def __enter__(self) -> Self:
        self.begin()
        try:
            self.opened.result()
        except BaseException:
            self.end(now=True)
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        try:
            self.closed.result()
        except BaseException:
            self.end(now=True)
            raise
        self._thread.join()

    async def __aenter__(self) -> Self:
        self.begin(asyncio.get_running_loop())
        opened = asyncio.wrap_future(self.opened)
        # Nobody else looks at it where this is cancelled.
        opened.add_done_callback(lambda it: it.cancelled() or it.exception())
        try:
            await asyncio.shield(opened)
        except BaseException:
            self.end(now=True)
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self.end()
        closed = asyncio.wrap_future(self.closed)
        try:
            await asyncio.shield(closed)
        except asyncio.CancelledError:
            self.end(now=True)
            await asyncio.wait([closed])
            raise
        finally:
            if closed.done():
                self._thread.join()

    def _note_joined(self, joined: asyncio.Future[host_pb2.Welcome]) -> None:
        if not joined.cancelled() and not joined.exception() and self.succession and self._attachment:
            self.succession.note_joined(self._attachment.registration)

    def _leave(self, now: bool) -> None:
        self._leaving.set()
        if now:
            self.grace = 0
            if self._attachment:
                self._attachment.hurried.set()

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            self._loop.run_until_complete(self._live())
        except BaseException as raised:
            error = raised
            if isinstance(error, Refused) and error.status == "UNAUTHENTICATED":
                error.message += TOKEN_HINT
            if self.opened.done():
                log.error("%s", error)
        # gRPC takes the ends of cancelled calls in tasks of its own. Else they come to a loop that is closed.
        if left := asyncio.all_tasks(self._loop):
            self._loop.run_until_complete(asyncio.wait(left, timeout=1.0))
        end_tasks(self._loop)
        self._loop.close()
        SERVED.pop(id(self), None)
        if not self.opened.done():
            self.opened.set_exception(error or RuntimeError("the host was left before it served"))
        self.closed.set_result(error)

    async def _live(self) -> None:
        import_grpc()
        from toolwire._host import Attachment

        leaving: asyncio.Future[Any] = asyncio.ensure_future(self._leaving.wait())
        ends, own = [leaving], [leaving]
        try:
            if self.target is None:
                self.server = await in_thread(self.make_server)
                self.target = self.server.target(self._token, "TOOLWIRE_HOST_TOKEN", self._token_file)
                ends.append(asyncio.wrap_future(self.server.ended))
            replaces: list[Registration] | None = None
            if succession := self.succession:
                replaces = await in_thread(functools.partial(succession.ask_replaced, self.target, self._provider))
                if self._leaving.is_set():
                    return
            host = self._attachment = Attachment(
                self.tools, self.target, slots=self._slots, provider=self._provider, tool_loop=self._tool_loop,
                replaces=replaces,
            )
            if succession:
                host.membership.joined.add_done_callback(self._note_joined)
            joining = asyncio.ensure_future(host.join())
            own.append(joining)
            limit, first = None if self.server else self._connect_timeout, asyncio.FIRST_COMPLETED
            if not (await asyncio.wait([joining, *ends], timeout=limit, return_when=first))[0]:
                raise _unreachable(self.target, self._connect_timeout, host.membership.trouble)
            if joining.done():
                self.opened.set_result(joining.result())
                await asyncio.wait(ends, return_when=first)
            if self.server and not leaving.done():
                raise RuntimeError(f"the server has ended {words_of(self.server.ended.result())}")
        except BaseException:
            self.grace = 0
            raise
        finally:
            if self._attachment:
                await self._attachment.leave(self.grace)
            for task in own:
                task.cancel()
            if self.server:
                await in_thread(self.server.close)


def choose_tools(functions: Iterable[Callable[..., Any] | Tool] | None) -> list[Tool]:
    """The tools that these functions are; without a list, all that were decorated. Each name is one tool's."""
    registered = [tool for named in REGISTRY.values() for tool in named]
    tools = registered if functions is None else [
        it if isinstance(it, Tool) else next((tool for tool in registered if tool.is_of(it)), None) or make(it)
        for it in functions
    ]
    if not tools:
        way_out = "decorate a function with @tool" if functions is None else "of no list, all of the process are served"
        raise ValueError(f"there is no tool: {way_out}")
    known: dict[str, Tool] = {}
    for tool in tools:
        if (other := known.setdefault(tool.name, tool)) is not tool:
            raise ValueError(two_of_one_name(other, tool))
    return tools


def _unreachable(target: Target, seconds: float, trouble: Refused | None) -> Refused:
    why = f" ({trouble.message})" if trouble else ""
    return refusal(
        "UNAVAILABLE",
        f"no server answered at {target.url} within {seconds:g} s{why}. Start that server, or name another one by "
        "TOOLWIRE_SERVER; where it is unset, this program starts a server of its own",
    )
