"""`serve()`: attaches the tools of this process to a server, of its own if none is named."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import os
import sys
import threading
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwire._binary import LocalServer, state_beside, words_of
from toolwire._example import command
from toolwire._fork import import_grpc
from toolwire._log import log
from toolwire._signals import Signals
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._target import Target
from toolwire._tool import REGISTRY, Tool, make
from toolwire.errors import Refused, refusal

if TYPE_CHECKING:
    from toolwire._host import Host

TOKEN_HINT = ": the token of a host is in TOOLWIRE_HOST_TOKEN, or serve(token=…)"


def serve(
    *functions: Callable[..., Any], server: str | None = None, token: str | None = None, ca: str | None = None,
    provider: str = "", slots: int = 16, grace: float = 25.0, connect_timeout: float = 10.0,
    samples: bool = False, config: str | Path | None = None, port: int = 0, http_port: int = 0,
) -> None:
    """Serves all tools of this process, or those given, until SIGTERM, SIGINT or SIGHUP.

    server, token, ca: where it joins. Else TOOLWIRE_SERVER, TOOLWIRE_HOST_TOKEN and TOOLWIRE_CA; and without a server
    the one inside the package is started on this machine, with its state in `.toolwire` beside the program.
    provider: the name under which the server knows this host, if the token does not say it. At a server without tokens
    that is `local`, which one program has at a time: a second one is refused unless it names another, or the same.
    slots: how many calls are carried out at once.
    grace: for how many seconds calls under way may go on at the end.
    connect_timeout: for how many seconds a server that is named may take to welcome it first.

    Of the server that is started:
    samples: whether it offers its own samples too.
    config: the file of its settings. Without one, and without TOOLWIRE_CONFIG, it reads none.
    port, http_port: where it listens, and where it serves clients of MCP. Else where TOOLWIRE_LISTEN and TOOLWIRE_HTTP
    say, or on free ports.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    tools = choose_tools(functions)
    named = server or os.environ.get("TOOLWIRE_SERVER")
    target = Target.read(named, token, ca, "TOOLWIRE_HOST_TOKEN") if named else None
    if target:
        # Where the environment names it, that may be left from other work.
        origin = "" if server else ": TOOLWIRE_SERVER is set. Without it, this program starts a server of its own"
        print(f"toolwire joins the server at {target.url}{origin}", file=sys.stderr, flush=True)

    def start() -> LocalServer:
        state = state_beside(getattr(sys.modules["__main__"], "__file__", None))
        return LocalServer(state, samples=samples, config=config, port=port, http_port=http_port)

    made = functools.partial(_new_host, tools, slots=slots, provider=provider)
    with Signals() as signals:
        status = asyncio.run(_serve(made, signals, target, start, token, grace, connect_timeout))
    if status:
        raise SystemExit(status)


def _new_host(*arguments: Any, **options: Any) -> Host:
    """A host on the loop that runs."""
    import_grpc()
    from toolwire._host import Host

    return Host(*arguments, **options)


def choose_tools(functions: Iterable[Callable[..., Any]]) -> list[Tool]:
    """The tools that these functions are; without functions, all that were decorated."""
    tools = [_find_tool(it) or make(it) for it in functions] or [*REGISTRY.values()]
    if not tools:
        raise ValueError("there is no tool: decorate a function with @tool")
    return tools


def _find_tool(function: Callable[..., Any]) -> Tool | None:
    """The tool that it is already. A method is another object each time; equality of others may mean anything."""
    is_method = inspect.ismethod(function)
    known = (it for it in REGISTRY.values() if it.function is function or (is_method and it.function == function))
    return next(known, None)


async def _serve(
    make_host: Callable[[Target], Host], signals: Signals, target: Target | None, start: Callable[[], LocalServer],
    token: str | None, grace: float, connect_timeout: float,
) -> int:
    """Returns the exit status. Without a target the server is started."""
    local = None
    if target is None:
        try:
            local = start()
        except (OSError, RuntimeError) as error:
            log.error("%s", error)
            return 1
        target = local.target(token, "TOOLWIRE_HOST_TOKEN")
    host = make_host(target)
    joining: asyncio.Future[Any] = asyncio.ensure_future(host.join())
    stopped = asyncio.ensure_future(signals.wait())
    ends: list[asyncio.Future[Any]] = [stopped]
    ends += [asyncio.wrap_future(local.ended)] if local else []
    try:
        limit, first = None if local else connect_timeout, asyncio.FIRST_COMPLETED
        done, _ = await asyncio.wait([joining, *ends], timeout=limit, return_when=first)
        if not done:
            raise _unreachable(target, connect_timeout, host.membership.trouble)
        if joining.done():
            _announce(host, target, joining.result(), local.mcp if local else "")
            await asyncio.wait(ends, return_when=first)
        if local and not stopped.done():
            raise RuntimeError(f"the server has ended {words_of(local.ended.result())}, and this program with it")
        time_left = f"calls under way have {grace:g} s, unless the next signal comes"
        print(f"toolwire ends on {stopped.result().name}: {time_left}", file=sys.stderr, flush=True)
        return 0
    except (Refused, RuntimeError) as error:
        log.error("%s%s", error, TOKEN_HINT if getattr(error, "status", "") == "UNAUTHENTICATED" else "")
        grace = 0
        return 1
    finally:
        joining.cancel()
        stopped.cancel()
        await host.leave(grace)
        if local:
            local.close()


def _unreachable(target: Target, seconds: float, trouble: Refused | None) -> Refused:
    why = f" ({trouble.message})" if trouble else ""
    return refusal(
        "UNAVAILABLE",
        f"no server answered at {target.url} within {seconds:g} s{why}. Start that server, or name another one by "
        "TOOLWIRE_SERVER; where it is unset, this program starts a server of its own",
    )


def _announce(host: Host, target: Target, welcome: host_pb2.Welcome, mcp: str) -> None:
    refused = {it.tool for it in welcome.verdicts if it.state == host_pb2.VERDICT_STATE_REFUSED}
    names = [name for name in sorted(host.tools) if name not in refused]
    counted = f"{len(names)} tool{'' if len(names) == 1 else 's'}"
    lines = [
        f"toolwire serves {counted} of {welcome.provider or 'this host'} at {target.url}",
        f"  tools  {', '.join(names)}",
    ]
    if mcp:
        lines.append(f"  mcp    {mcp}")
    if names:
        # What is tried first should change nothing.
        tried = min((host.tools[name] for name in names), key=lambda tool: not tool.reads)
        lines.append(f"  try    {command(tried, target)}")
    # In one write, since the server logs to the same terminal, and `print` writes the end of a line by itself.
    sys.stdout.write("\n".join([*lines, ""]))
    sys.stdout.flush()


class BackgroundHost:
    """A host on a thread of its own, for programs that do something else."""

    def __init__(self, tools: list[Tool], target: Target, slots: int = 16) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="toolwire-host", daemon=True)
        self._thread.start()
        self._host: Host = self._run(_make_host(tools, target, slots))
        try:
            self._run(self._host.join())
        except Refused:
            self.close()
            raise

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        self._run(self._host.leave(1.0))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _make_host(tools: list[Tool], target: Target, slots: int) -> Host:
    return _new_host(tools, target, slots=slots)
